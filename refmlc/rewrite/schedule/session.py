"""What every step of `Schedule` shares: the module as it is, handles, the trace, how a step is taken.

A file of a step defines the step as a function, and a class with its method, a `Session`. `Schedule` is all of these
classes (`refmlc.rewrite.schedule`). The helpers here name the step by its function, give it what the handles among its
arguments hold, and make handles of what it returns:

| helper          | the step returns                       | the method returns |
|-----------------|----------------------------------------|--------------------|
| `_change`       | the function                           | nothing            |
| `_change_loop`  | the function and a variable            | a loop             |
| `_change_loops` | the function and variables             | loops              |
| `_change_block` | the function and the name of a block   | a block            |
| `_add_block`    | the function, which has one block more | that block         |

`shown` are the options that the trace shows; others are given to the step only.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import count
from random import Random
from typing import ClassVar, Concatenate, Protocol, Self, TypeVar

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_USAGE
from refmlc.diag.entry import entry_points
from refmlc.frontends.programs import Program, as_module
from refmlc.lang.ir import IRModule, tir
from refmlc.lang.ir.visit import walk
from refmlc.lazy import provided
from refmlc.rewrite.schedule import places
from refmlc.rewrite.schedule.draws import Draw
from refmlc.rewrite.schedule.handles import BlockRV, ExprRV, LoopRV
from refmlc.rewrite.schedule.trace import Step, Trace

Outputs = TypeVar("Outputs", bound=tuple[object, ...])
Result = TypeVar("Result")
StepFunction = Callable[Concatenate[tir.PrimFunc, ...], Result]
MAIN = "main"
NONE: Mapping[str, object] = {}


class Validator(Protocol):
    """What judges a step by running; rooms above define it (`refmlc.testing.Validation`)."""

    def check(self, before: IRModule, after: IRModule, func: str, step: str) -> None:
        """Refuse a step that changes what `func` means. Fails: RM705."""
        ...


@entry_points
class Session:
    """A module that is changed step by step. `draws` draw a target for a step, by name (`refmlc.strategies`)."""

    draws: ClassVar[Mapping[str, Draw]] = {}

    def __init__(
        self,
        mod: Program,
        *,
        validate: bool | Validator = False,
        check_legality: bool = True,
        seed: int | None = None,
    ) -> None:
        """Begin with a module (`frontends.programs` says what may be one), or with one function, then called `main`.

        `validate`: each step is run before and after on generated calls; a `refmlc.testing.Validation` says on which.
        `seed`: of the numbers that `sample_…` draws; None: other ones each time.
        """
        self._module = as_module(mod)
        self._validation: Validator | None = (
            (provided("schedule.validation")() if validate else None) if isinstance(validate, bool) else validate
        )
        self._checked = check_legality
        self._func = MAIN
        self._blocks: dict[tuple[str, str], BlockRV] = {}
        self._loops: dict[tir.Var, LoopRV] = {}
        self._numbers = count()
        self._random = Random(seed)  # noqa: S311 - a search for fast schedules
        self.trace = Trace()
        """The steps that were taken."""

    @property
    def mod(self) -> IRModule:
        """The module as it is now."""
        return self._module

    def copy(self) -> Self:
        """A schedule of the same module, with handles of its own; both can take further steps."""
        schedule = type(self)(self._module, validate=self._validation or False, check_legality=self._checked)
        schedule.work_on(self._func)
        return schedule

    def work_on(self, func_name: str) -> None:
        """Look up blocks in this function where none is named."""
        self._func = func_name

    def show(self, *, dialect: str | None = None) -> None:
        """Print the module as it is now."""
        self._module.show(dialect=dialect)

    def get(self, rv: BlockRV | LoopRV) -> tir.SBlock | tir.For:
        """The block or the loop that a handle holds now. Fails: RM112."""
        func = self._function(rv.func)
        return places.get_block(func, rv.name).block if isinstance(rv, BlockRV) else places.get_loop(func, rv.var)

    def get_block(self, name: str, func_name: str | None = None) -> BlockRV:
        """The block called `name`. Fails: RM112."""
        where = func_name or self._func
        places.get_block(self._function(where), name)
        block = self._block(where, name)
        options = {"func_name": where} if where != MAIN else {}
        self.trace.steps.append(Step("get_block", (name,), options, (block,)))
        return block

    get_sblock = get_block

    def get_loops(self, block: BlockRV | str) -> list[LoopRV]:
        """The loops around a block up to the block around it, outermost first. Fails: RM112."""
        target = self._block_handle(block)
        variables = places.get_loops(self._function(target.func), target.name)
        loops = [self._loop(target.func, var) for var in variables]
        self.trace.steps.append(Step("get_loops", (target,), {}, tuple(loops)))
        return loops

    # -------------------------------------------------------------------------------------------- taking a step

    def _apply(
        self,
        name: str,
        args: tuple[object, ...],
        change: Callable[[tir.PrimFunc], tuple[tir.PrimFunc, Outputs]],
        shown: Mapping[str, object] = NONE,
    ) -> Outputs:
        """Take a step in the function of the first argument. A step that fails, or is not valid, changes nothing."""
        target = args[0]
        assert isinstance(target, BlockRV | LoopRV)  # noqa: S101 - every step begins with its target
        func, outputs = change(self._function(target.func))
        after = replace(self._module, functions={**self._module.functions, target.func: func})
        step = Step(name, args, shown, outputs)
        if self._validation is not None:
            self._validation.check(self._module, after, target.func, str(step))
        self._module = after
        self.trace.steps.append(step)
        return outputs

    def _change(
        self, step: StepFunction[tir.PrimFunc], *args: object, shown: Mapping[str, object] = NONE, **options: object
    ) -> None:
        self._apply(_name(step), args, lambda func: (step(func, *_targets(args), **shown, **options), ()), shown)

    def _change_loop(self, step: StepFunction[tuple[tir.PrimFunc, tir.Var]], target: BlockRV | LoopRV) -> LoopRV:
        def change(func: tir.PrimFunc) -> tuple[tir.PrimFunc, tuple[LoopRV]]:
            after, var = step(func, *_targets((target,)))
            return after, (self._loop(target.func, var),)

        return self._apply(_name(step), (target,), change)[0]

    def _change_block(
        self, step: StepFunction[tuple[tir.PrimFunc, str]], target: BlockRV | LoopRV, *args: object
    ) -> BlockRV:
        def change(func: tir.PrimFunc) -> tuple[tir.PrimFunc, tuple[BlockRV]]:
            after, name = step(func, *_targets((target, *args)))
            return after, (self._block(target.func, name),)

        return self._apply(_name(step), (target, *args), change)[0]

    def _add_block(
        self,
        name: str,
        args: tuple[object, ...],
        block: BlockRV,
        change: Callable[[tir.PrimFunc], tir.PrimFunc],
        ending: str = "",
    ) -> BlockRV:
        """Take a step that adds one block, whose name has `ending`."""

        def change_and_name(func: tir.PrimFunc) -> tuple[tir.PrimFunc, tuple[BlockRV]]:
            after = change(func)
            earlier = {*_blocks(func), "root"}
            added = [name for name in _blocks(after) if name not in earlier and ending in name]
            return after, (self._block(block.func, added[0]),)

        return self._apply(name, args, change_and_name)[0]

    def _related(self, question: StepFunction[tuple[str, ...]], target: BlockRV | LoopRV) -> list[BlockRV]:
        """The blocks that a question names, which changes nothing."""
        names = question(self._function(target.func), *_targets((target,)))
        blocks = [self._block(target.func, name) for name in names]
        self.trace.steps.append(Step(_name(question), (target,), {}, tuple(blocks)))
        return blocks

    def _function(self, name: str) -> tir.PrimFunc:
        func = self._module.functions.get(name)
        if not isinstance(func, tir.PrimFunc):
            raise fail(BAD_USAGE, f"the module has no TensorIR function `{name}`")
        return func

    def _block_handle(self, block: BlockRV | str) -> BlockRV:
        return self.get_block(block) if isinstance(block, str) else block

    def _target(self, target: BlockRV | LoopRV | str) -> BlockRV | LoopRV:
        return target if isinstance(target, LoopRV) else self._block_handle(target)

    def _block(self, func: str, name: str) -> BlockRV:
        if (func, name) not in self._blocks:
            self._blocks[func, name] = BlockRV(name, func, self._label("b"))
        return self._blocks[func, name]

    def _rename(self, block: BlockRV, name: str) -> None:
        """The handle holds the block of another name from now on."""
        self._blocks.pop((block.func, block.name), None)
        block.name = name
        self._blocks[block.func, name] = block

    def _loop(self, func: str, var: tir.Var) -> LoopRV:
        if var not in self._loops:
            self._loops[var] = LoopRV(var, func, self._label("l"))
        return self._loops[var]

    def _label(self, kind: str) -> str:
        return f"{kind}{next(self._numbers)}"


def _targets(args: tuple[object, ...]) -> tuple[object, ...]:
    """The arguments, a block by its name, a loop by its variable, a number that was drawn by its value."""
    return tuple(_target(arg) for arg in args)


def _target(arg: object) -> object:
    match arg:
        case BlockRV(name=name):
            return name
        case LoopRV(var=var):
            return var
        case ExprRV(value=value):
            return value
        case _:
            return arg


def _name(step: StepFunction[object]) -> str:
    name: str = getattr(step, "__name__", "")
    return name


def _blocks(func: tir.PrimFunc) -> list[str]:
    return [node.name for node in walk(func) if isinstance(node, tir.SBlock)]
