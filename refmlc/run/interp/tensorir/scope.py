"""The state of preparing a function: the machine, the slots, the loops around the place, how to prepare parts."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias, cast

from refmlc.diag import Diagnostic, Related, error, fail
from refmlc.diag.catalogue import OUT_OF_SCOPE, UNSUPPORTED_CONSTRUCT, Code
from refmlc.diag.errors import RefmlcError
from refmlc.diag.source import Span
from refmlc.lang.ir import tir
from refmlc.lang.ir.attrs import CommReducer
from refmlc.lang.ir.scopes import is_thread
from refmlc.lang.ir.threads import Threads
from refmlc.run.interp.tensorir.domains import Domain, narrowed
from refmlc.run.interp.tensorir.frame import (
    ACTIVATION,
    Eval,
    Frame,
    IntEval,
    LanesEval,
    Layout,
    Loops,
    NumberEval,
    Run,
    Slot,
)
from refmlc.run.interp.tensorir.loop_sums import WORTHWHILE, LoopSums
from refmlc.run.interp.tensorir.views import BufferPlace, Form, View
from refmlc.run.interp.threads.group import Group
from refmlc.run.interp.threads.private_memory import Outside, Privates

if TYPE_CHECKING:
    from refmlc.run.interp.machine import Machine

Integer: TypeAlias = int  # `Scope.int` is a method


@dataclass(slots=True)
class Scope:
    """The state of preparing one function.

    `loops` are the `For` loops around the current place, outermost first; `domains` the domain of each slot whose
    values are known to lie in one; `threads` variable and extent of each thread axis that is bound around the place;
    `axes` the slot of each thread axis of the function; `looping` whether any loop is around the place; `jumps` whether
    a break or continue of the loop being prepared was seen; `steps` whether the threads around the place take turns;
    `reducer` how threads reduce here; `sums` what is computed at each entry of the innermost loop, None where such an
    entry is not seen; `exchanged` the results of the calls that the threads of a part of the block execute together,
    and of the expressions around that evaluate them on a condition.
    """

    machine: "Machine"
    function: str
    prepare_expr: Callable[["Scope", tir.Expr], Eval]
    prepare_stmt: Callable[["Scope", tir.Stmt], Run]
    layout: Layout = field(default_factory=Layout)
    loops: Loops = ()
    domains: dict[Slot[Integer], Domain] = field(default_factory=dict)
    threads: dict[str, tuple[tir.Var, tir.Expr]] = field(default_factory=dict)
    buffers: dict[tir.Buffer, BufferPlace] = field(default_factory=dict)
    axes: dict[str, Slot[Integer | None]] = field(default_factory=dict)
    func: tir.PrimFunc | None = None
    steps: bool = False
    reducer: CommReducer | None = None
    _exchange: Threads | None = None
    memories: Slot[Privates | None] = field(init=False)
    group: Slot[Group | None] = field(init=False)
    outer: Slot[Outside | None] = field(init=False)
    looping: bool = False
    jumps: bool = False
    sums: LoopSums | None = None
    exchanged: dict[tir.Expr, Slot[object]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """The slots that every activation has: private memory, its group of threads, what is seen outside of it."""
        self.layout.func = self.func
        self.memories = cast("Slot[Privates | None]", self.layout.new())
        self.group = cast("Slot[Group | None]", self.layout.new())
        self.outer = cast("Slot[Outside | None]", self.layout.new())

    @property
    def exchange(self) -> Threads:
        """The accesses and barriers of the function's threads, from its text; read at the first use."""
        if self._exchange is None:
            assert self.func is not None  # noqa: S101 - only functions have threads
            self._exchange = Threads(self.func, events=self.machine.schedule is not None)
        return self._exchange

    def declare_buffer(self, buffer: tir.Buffer, *, strided: bool = False) -> BufferPlace:
        """Give `buffer` its slots; from here on it is in scope."""
        view = cast("Slot[View]", self.layout.new())
        forms: dict[Integer, Form] = {1: "vector", 2: "matrix"}
        form = "any" if strided or buffer.strides else forms.get(len(buffer.shape), "compact")
        place = BufferPlace(buffer, view, self.layout.new(), form)
        self.buffers[buffer] = place
        return place

    def buffer(self, buffer: tir.Buffer, span: Span | None = None) -> BufferPlace:
        """The slots of `buffer`. Fails: RM203 when it was not declared before."""
        if buffer not in self.buffers:
            raise fail(OUT_OF_SCOPE, f"buffer `{buffer.name}` is used where it has no storage", span or buffer.span)
        return self.buffers[buffer]

    def declare(self, var: tir.Var) -> Slot[Integer]:
        """The slot of an integer variable, from here on in scope."""
        return cast("Slot[Integer]", self.layout.declare(var))

    def slot(self, var: tir.Var) -> Slot[Integer]:
        """The slot of an integer variable. Fails: RM203."""
        return cast("Slot[Integer]", self.layout.slot(var, var.span))

    def expr(self, node: tir.Expr) -> Eval:
        """`node` as a closure on frames."""
        return self.prepare_expr(self, node)

    def int(self, node: tir.Expr) -> IntEval:
        """The same for an expression that its dtype makes an int; one of another dtype fails when it is reached."""
        if node.dtype.is_vector or node.dtype.is_float or node.dtype.kind in ("handle", "void"):
            return cast(
                "IntEval", self.unsupported(UNSUPPORTED_CONSTRUCT, f"{node.dtype} in place of an integer", node.span)
            )
        return cast("IntEval", self.prepare_expr(self, node))

    def number(self, node: tir.Expr) -> NumberEval:
        """The same for a scalar."""
        return cast("NumberEval", self.prepare_expr(self, node))

    def lanes(self, node: tir.Expr) -> LanesEval:
        """The same for a vector."""
        return cast("LanesEval", self.prepare_expr(self, node))

    def stmt(self, node: tir.Stmt) -> Run:
        """`node` as a closure on frames."""
        return self.prepare_stmt(self, node)

    def atom(self, node: tir.Expr) -> Slot[Integer] | None:
        """The slot whose content is the value of `node`: variables and integer constants have one."""
        match node:
            case tir.Var():
                return cast("Slot[Integer]", self.layout.slot(node, node.span))
            case tir.IntImm() if node.dtype.kind != "bool":
                return cast("Slot[Integer]", self.layout.constant(node.value))
            case _:
                return None

    @contextmanager
    def loop(self, var: tir.Var, domain: Domain | None, tag: str) -> Iterator[Slot[Integer]]:
        """Declare the variable of a loop for the preparation of its body; loops over one thread axis share a slot."""
        outer, jumps, looping, sums = self.loops, self.jumps, self.looping, self.sums
        if is_thread(tag):
            axis = self.axes.setdefault(tag, cast("Slot[Integer | None]", self.layout.new()))
            slot = self.layout.alias(var, cast("Slot[object]", axis))
        else:
            slot = self.layout.declare(var)
        self.loops = (*outer, (var.name, slot))
        self.jumps, self.looping, self.sums = False, True, None
        values = cast("Slot[Integer]", slot)
        if domain is None:
            self.domains.pop(values, None)
        else:
            self.domains[values] = domain
        try:
            yield values
        finally:
            self.loops, self.jumps, self.looping, self.sums = outer, jumps, looping, sums

    @property
    def in_thread(self) -> bool:
        """Whether a thread of several executes what is prepared."""
        threads = {cast("Slot[object]", slot) for slot in self.axes.values()}
        return any(slot in threads for _, slot in self.loops)

    def loop_sums(self, extent: tir.Expr) -> LoopSums:
        """The sums of the loop of this extent that is prepared next; nothing in it is declared yet."""
        outer, threads = frozenset(slot for _, slot in self.loops), frozenset(self.axes.values())
        count = extent.value if isinstance(extent, tir.IntImm) else WORTHWHILE
        iterations = count * (1 if self.sums is None else self.sums.iterations)
        first = len(self.layout.template)
        return LoopSums(first, outer, cast("frozenset[Slot[object]]", threads), self.sums, iterations)

    @contextmanager
    def assuming(self, condition: tir.Expr, *, holds: bool) -> Iterator[None]:
        """What the condition says of variables is known for the preparation of its branch."""
        smaller = {self.slot(var): domain for var, domain in narrowed(self.domain, condition, holds=holds).items()}
        before = {slot: self.domains[slot] for slot in smaller}
        self.domains.update(smaller)
        try:
            yield
        finally:
            self.domains.update(before)

    @contextmanager
    def thread(self, tag: str, var: tir.Var, extent: tir.Expr) -> Iterator[None]:
        """Remember that the thread axis `tag` is bound; virtual threads and no thread (an empty tag) nest freely."""
        bound = is_thread(tag)
        if bound:
            self.threads[tag] = (var, extent)
        try:
            yield
        finally:
            if bound:
                del self.threads[tag]

    def domain(self, var: tir.Var) -> Domain | None:
        """The domain that the values of `var` are known to lie in, if there is one."""
        return self.domains.get(self.slot(var)) if self.layout.knows(var) else None

    def within(self, index: tir.Expr, least: tir.Expr, extent: tir.Expr) -> bool:
        """Whether the domain of a loop or axis proves that `index` is in least … least + extent - 1."""
        domain = self.domain(index) if isinstance(index, tir.Var) else None
        if isinstance(index, tir.IntImm):
            domain = (index, tir.IntImm(index.dtype, 1))
        match domain, (least, extent):
            case (tir.IntImm(value=low), tir.IntImm(value=size)), (tir.IntImm(value=first), tir.IntImm(value=count)):
                return first <= low and low + size <= first + count
            case (tir.IntImm(value=low), tir.Var() as size), (tir.IntImm(value=first), tir.Var() as count):
                return first == low and size is count
            case _:
                return False

    def failing(self, code: Code, span: Span | None, *related: Related) -> Callable[..., RefmlcError]:
        """A maker of exceptions for this place: `raise failing(frame, message, *notes)`."""
        return failing_in(self.loops, code, span, *related)

    def failing_by_code(self, span: Span | None) -> Callable[..., RefmlcError]:
        """The same for a code known at run time: `raise failing(frame, code, message)`."""
        loops = self.loops

        def failure(frame: Frame, code: Code, message: str, *notes: str) -> RefmlcError:
            frame[ACTIVATION].failed_in = loops
            return error(Diagnostic(code, message, span, notes=notes))

        return failure

    def unsupported(self, code: Code, message: str, span: Span | None) -> Eval:
        """A closure that fails when it is reached: code that is never executed need not be supported."""
        failure = self.failing(code, span)

        def stop(frame: Frame) -> object:
            raise failure(frame, message)

        return stop


def failing_in(loops: Loops, code: Code, span: Span | None, *related: Related) -> Callable[..., RefmlcError]:
    """A maker of exceptions for a place within `loops`."""

    def failure(frame: Frame, message: str, *notes: str, label: str = "") -> RefmlcError:
        frame[ACTIVATION].failed_in = loops
        return error(Diagnostic(code, message, span, label, notes, related))

    return failure
