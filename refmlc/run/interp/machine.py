"""The machine: a module with its hooks and its budget. It prepares each function once and calls it by name.

A call charges one level of depth and one step, then runs the prepared function, with the hooks around it.
"""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Literal

from refmlc.diag import fail
from refmlc.diag.catalogue import DEPTH_EXHAUSTED, UNKNOWN_FUNCTION
from refmlc.diag.errors import RefmlcError
from refmlc.diag.source import Span
from refmlc.lang.ir import IRModule, relax, tir
from refmlc.lang.ir.subtree import nodes_of
from refmlc.lang.ops.contract import ScalarOp
from refmlc.lang.ops.scalar import SCALAR_OPS
from refmlc.lang.ops.scalar.libm import C_FUNCTIONS, LIBM_OPS
from refmlc.run.interp.graph import prepare_function
from refmlc.run.interp.hooks import Hooks
from refmlc.run.interp.substitutes import Prepared, Substitutes
from refmlc.run.interp.tensorir.expressions import prepare_expr
from refmlc.run.interp.tensorir.frame import ACTIVATION, Frame
from refmlc.run.interp.tensorir.functions import prepare_prim_func
from refmlc.run.interp.tensorir.statements import prepare_stmt
from refmlc.run.interp.threads.schedule import ThreadSchedule
from refmlc.run.interp.tirx.kernels import as_loops
from refmlc.run.memory.budget import Budget
from refmlc.run.memory.registry import DEFAULT, FunctionRegistry

FRAMES = 20  # of Python for one call of a function, with the loops and branches around the call
FREE = "TVMBackendFreeWorkspace"
MOST_LEVELS = 1000  # of calls that the stack is enlarged for; deeper ones end at Python's limit


def write_line(text: str) -> None:
    """Write `text` to the standard output, as the program's own output."""
    sys.stdout.write(f"{text}\n")


@contextmanager
def stack_for(levels: int) -> Iterator[None]:
    """Let Python's stack hold calls that nest `levels` deep.

    Decision: calls nest as deep as the budget says, from any caller; Python's own limit would end them earlier, and
    the earlier the deeper the caller is nested.
    """
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(before + min(levels, MOST_LEVELS) * FRAMES)
    try:
        yield
    finally:
        sys.setrecursionlimit(before)


class Machine:
    """Executes the functions of one module.

    `allow` holds ids of codes (RM3xx) whose undefinedness continues with the value that hardware gives, where the
    clause names one (RM306: the wrapped result; RM312: the value outside of the domain). Any `hooks` count as watching.
    Packed functions are looked up in `registry`; `output` takes each line that the program prints.
    `math` chooses the transcendentals (NUM-506): `scalar_ops` holds the operators, `c_functions` what a program calls
    by C's or LLVM's name. `substitutes` executes parts in the interpreter's place. Decision: not with hooks, which
    would see nothing (except calls that they declare quiet), nor with a code in `allow`, after which only the
    interpreter can continue.
    `as_written`: hooks see no implied barrier (TIR-229), so that a missing barrier is a race.
    `fast` off: every node is executed by its case of the `match`, none by `refmlc.run.interp.fast`.
    Not for concurrent use.
    """

    def __init__(  # noqa: PLR0913 - each is a choice of its own
        self,
        module: IRModule,
        *,
        hooks: Hooks | None = None,
        budget: Budget | None = None,
        allow: frozenset[str] = frozenset(),
        registry: FunctionRegistry = DEFAULT,
        output: Callable[[str], object] = write_line,
        math: Literal["cr", "libm"] = "cr",
        substitutes: Substitutes | None = None,
        as_written: bool = False,
        fast: bool = True,
    ) -> None:
        """Hold the parts; functions are prepared when first called."""
        self.module = module
        self.as_written = as_written
        self.fast = fast
        self.hooks = Hooks() if hooks is None else hooks
        self.budget = Budget() if budget is None else budget
        self.allow = allow
        self.registry = registry
        self.output = output
        self.scalar_ops: Mapping[str, ScalarOp] = SCALAR_OPS if math == "cr" else LIBM_OPS
        self.c_functions: Mapping[str, ScalarOp] = SCALAR_OPS if math == "cr" else C_FUNCTIONS
        self.substitutes = None if allow or hooks is not None else substitutes
        self._quiet = substitutes if not allow and self.hooks.watches("is_quiet") else None
        self.schedule: ThreadSchedule | None = None  # of threads, before functions are prepared
        self.depth = 0
        self.groups = 0  # of threads in execution, for functions that they call
        self.sums: dict[object, object] = {}  # of floats, that threads of the present call add to
        self._prepared: dict[str, Prepared] = {}
        self._located: RefmlcError | None = None
        self._watched = self.hooks.watches("enter_function") or self.hooks.watches("leave_function")

    @cached_property
    def frees_memory(self) -> bool:
        """True if a function of the module frees a workspace (TIR-325); otherwise stores need no check."""
        bodies = (func for func in self.module.functions.values() if isinstance(func, tir.PrimFunc))
        return any(call.callee == FREE for func in bodies for call in nodes_of(func.body, tir.Call))

    def function(self, name: str, span: Span | None = None) -> Prepared:
        """The function `name`, prepared. Fails: RM207, RM402 (an extern function that is not registered), RM602."""
        func = self._prepared.get(name)
        if func is None:
            try:
                func = self._prepared[name] = self._prepare(name, span)
            except RecursionError:
                raise fail(DEPTH_EXHAUSTED, f"`{name}` nests too deep to be prepared", span) from None
        return func

    def call(self, name: str, args: Sequence[object], span: Span | None = None) -> object:
        """Call function `name`; destination-passing ones write into the tensors among `args`.

        Fails: RM207, RM111 (arguments of the outermost call), RM602, and whatever the function does.
        """
        if self.depth:
            return self.invoke(name, self.function(name, span), args, span)
        self.sums.clear()
        with stack_for(self.budget.max_depth):
            return self.invoke(name, self.function(name, span), args, span)

    def invoke(self, name: str, prepared: Prepared, args: Sequence[object], span: Span | None = None) -> object:
        """Call `prepared` as the function `name`: counts depth, reports to hooks. Fails: RM602, and as it does."""
        self.budget.enter(span)
        self.depth += 1
        try:
            if not self._watched:
                return prepared(args)
            self.hooks.enter_function(name, args)
            result = prepared(args)
            self.hooks.leave_function(name, result)
        except RecursionError:
            raise fail(DEPTH_EXHAUSTED, f"`{name}` nests too deep to be executed", span) from None
        except RefmlcError as failure:
            if failure.diagnostic.span is None and span is not None:  # of a function that has no text
                failure.diagnostic = failure.diagnostic.at(span)
            raise
        else:
            return result
        finally:
            self.depth -= 1
            self.budget.leave()

    def _prepare(self, name: str, span: Span | None) -> Prepared:
        func = self.module.functions.get(name)
        match func:
            case None:
                raise fail(UNKNOWN_FUNCTION, f"the module has no function `{name}`", span)
            case tir.PrimFunc():
                return self._prepare_prim_func(func, name)
            case relax.Function():
                return prepare_function(func, name, self)
            case relax.ExternFunc():
                return self.registry.get_func(func.symbol)

    def _prepare_prim_func(self, func: tir.PrimFunc, name: str) -> Prepared:
        if self._quiet is not None:
            return self._quiet_or_watched(func, name, self._quiet)
        if self.substitutes is None:
            return self.prim_func(func, name)
        return self.substitutes.function(name, lambda: self.prim_func(func, name))

    def prim_func(self, func: tir.PrimFunc, name: str) -> Prepared:
        """A function of TensorIR, prepared. A machine with elements other than numbers overrides this."""
        return prepare_prim_func(as_loops(func), name, self, prepare_expr, prepare_stmt)

    def _quiet_or_watched(self, func: tir.PrimFunc, name: str, substitutes: Substitutes) -> Prepared:
        """The function; a substitute executes the calls that hooks declare quiet."""
        watched = self.prim_func(func, name)
        unwatched = substitutes.function(name, lambda: watched)

        def call(args: Sequence[object]) -> object:
            return (unwatched if self.hooks.is_quiet(name, args) else watched)(args)

        return call

    def locate(self, failure: RefmlcError, frame: Frame) -> None:
        """Note where in the run `failure` happened, unless a function called from there noted it."""
        if failure is self._located:
            return
        self._located = failure
        activation = frame[ACTIVATION]
        values = [f"{name} = {frame[slot]}" for name, slot in activation.failed_in]
        loops = f"{', '.join(values)} " if values else ""
        note = f"{loops}in `{activation.function}`, step {self.budget.steps}"
        failure.diagnostic = failure.diagnostic.noting(note)
