"""`Schedule`: the methods of TVM's, over the steps of `refmlc.rewrite.schedule`.

Fails, each step: RM112 where a handle holds nothing any more, RM504 where the step is not shown to be legal, and with
`validate`, RM705 where it changes the meaning (`InvalidStep`). A step that fails changes nothing.

`check_legality=False` lets a step through of which only the order of accesses is in doubt (`reorder`, `parallel`,
`vectorize`, `bind`, `compute_at`, `reverse_compute_at`): with `validate`, running decides then.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import count
from typing import Protocol, TypeVar

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_USAGE, UNSUPPORTED_CONSTRUCT
from refmlc.diag.entry import entry_points
from refmlc.frontends.programs import Program, as_module
from refmlc.lang.ir import IRModule, tir
from refmlc.lang.ir.visit import walk
from refmlc.lazy import provided
from refmlc.rewrite import schedule as steps
from refmlc.rewrite.schedule import TensorIntrin
from refmlc.rewrite.schedule.notes import written
from refmlc.rewrite.schedule.session.handles import BlockRV, LoopRV
from refmlc.rewrite.schedule.session.others import refusing
from refmlc.rewrite.schedule.session.trace import Step, Trace

Made = TypeVar("Made")
Change = Callable[[tir.PrimFunc], tuple[tir.PrimFunc, Made]]
MAIN = "main"
LAST = -1  # the place of a block that is moved into a loop: the last possible one


class Validator(Protocol):
    """What judges a step by running; rooms above define it (`refmlc.testing.Validation`)."""

    def check(self, before: IRModule, after: IRModule, func: str, step: str) -> None:
        """Refuse a step that changes what `func` means. Fails: RM705."""
        ...


@entry_points
class Schedule:
    """A module that is changed step by step."""

    def __init__(
        self,
        mod: Program,
        *,
        validate: bool | Validator = False,
        check_legality: bool = True,
    ) -> None:
        """Begin with a module (`frontends.programs` says what may be one), or with one function, then called `main`.

        `validate`: each step is run before and after on generated calls; a `refmlc.testing.Validation` says on which.
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
        self.trace = Trace()
        """The steps that were taken."""

    @property
    def mod(self) -> IRModule:
        """The module as it is now."""
        return self._module

    def copy(self) -> "Schedule":
        """Another schedule that goes on from here; it has handles of its own."""
        other = Schedule(self._module, validate=self._validation or False, check_legality=self._checked)
        other.work_on(self._func)
        return other

    def work_on(self, func_name: str) -> None:
        """The function in which blocks are looked up where none is named."""
        self._func = func_name

    def show(self, *, dialect: str | None = None) -> None:
        """Print the module."""
        self._module.show(dialect=dialect)

    def __getattr__(self, name: str) -> object:
        """What other methods of TVM's schedule are: refused when they are called."""
        return refusing(name)

    def get(self, rv: BlockRV | LoopRV) -> tir.SBlock | tir.For:
        """The block or the loop that a handle holds now. Fails: RM112."""
        func = self._function(rv.func)
        return steps.get_block(func, rv.name).block if isinstance(rv, BlockRV) else steps.get_loop(func, rv.var)

    # ------------------------------------------------------------------------------------------------ places

    def get_block(self, name: str, func_name: str | None = None) -> BlockRV:
        """The block called `name`. Fails: RM112."""
        where = func_name or self._func
        steps.get_block(self._function(where), name)
        found = self._block(where, name)
        options = {"func_name": where} if where != MAIN else {}
        self.trace.steps.append(Step("get_block", (name,), options, (found,)))
        return found

    get_sblock = get_block

    def get_loops(self, block: BlockRV | str) -> list[LoopRV]:
        """The loops around a block up to the block around it, outermost first. Fails: RM112."""
        one = self._given(block)
        found = [self._loop(one.func, var) for var in steps.get_loops(self._function(one.func), one.name)]
        self.trace.steps.append(Step("get_loops", (one,), {}, tuple(found)))
        return found

    def get_child_blocks(self, target: BlockRV | LoopRV) -> list[BlockRV]:
        """The blocks directly in a block or a loop. Fails: RM112."""
        return self._found("get_child_blocks", steps.get_child_blocks, target)

    def get_producers(self, block: BlockRV | str) -> list[BlockRV]:
        """The blocks that write what the block reads. Fails: RM112."""
        return self._found("get_producers", steps.get_producers, self._given(block))

    def get_consumers(self, block: BlockRV | str) -> list[BlockRV]:
        """The blocks that read what the block writes. Fails: RM112."""
        return self._found("get_consumers", steps.get_consumers, self._given(block))

    def get_output_blocks(self, scope_block: BlockRV | str = "root") -> list[BlockRV]:
        """The blocks in a block that write what lives outside of it. Fails: RM112."""
        return self._found("get_output_blocks", steps.get_output_blocks, self._given(scope_block))

    # ------------------------------------------------------------------------------------------------- loops

    def split(self, loop: LoopRV, factors: Sequence[int | None], *, preserve_unit_iters: bool = True) -> list[LoopRV]:
        """The loop as several, outermost first; one of the factors may be None."""
        del preserve_unit_iters
        known = self._factors(loop, factors)
        new = self._step("split", (loop,), {"factors": list(factors)}, loop.func, self._splitting(loop, known))
        return list(new)

    def _splitting(self, loop: LoopRV, factors: Sequence[int | None]) -> Change[tuple[LoopRV, ...]]:
        def change(func: tir.PrimFunc) -> tuple[tir.PrimFunc, tuple[LoopRV, ...]]:
            found, new = steps.split(func, loop.var, factors)
            return found, tuple(self._loop(loop.func, var) for var in new)

        return change

    def _factors(self, loop: LoopRV, factors: Sequence[int | None]) -> list[int | None]:
        """The factors, with what None stands for where it is not the first."""
        known = list(factors)
        if None not in known[1:]:
            return known
        extent = steps.get_loop(self._function(loop.func), loop.var).extent
        if not isinstance(extent, tir.IntImm) or known.count(None) > 1:
            raise fail(BAD_USAGE, "one factor may be None; of a loop of unknown extent the first only")
        volume = 1
        for one in known:
            volume *= one or 1
        return [-(-extent.value // volume) if one is None else one for one in known]

    def fuse(self, *loops: LoopRV, preserve_unit_iters: bool = True) -> LoopRV:
        """Loops, each all that the one before contains, as one."""
        del preserve_unit_iters
        first, *others = loops

        def change(func: tir.PrimFunc) -> tuple[tir.PrimFunc, tuple[LoopRV]]:
            var = first.var
            for other in others:
                func, var = steps.fuse(func, var, other.var)
            return func, (self._loop(first.func, var),)

        return self._step("fuse", loops, {}, first.func, change)[0]

    def reorder(self, *loops: LoopRV) -> None:
        """The loops in this order, at the places that they have."""
        wanted = [one.var for one in loops]
        self._plain(
            "reorder", loops, {}, loops[0].func, lambda func: steps.reorder(func, wanted, checked=self._checked)
        )

    def parallel(self, loop: LoopRV) -> None:
        """The loop parallel."""
        self._plain("parallel", (loop,), {}, loop.func, lambda f: steps.parallel(f, loop.var, checked=self._checked))

    def vectorize(self, loop: LoopRV) -> None:
        """The loop vectorised."""
        self._plain("vectorize", (loop,), {}, loop.func, lambda f: steps.vectorize(f, loop.var, checked=self._checked))

    def unroll(self, loop: LoopRV) -> None:
        """The loop unrolled."""
        self._plain("unroll", (loop,), {}, loop.func, lambda func: steps.unroll(func, loop.var))

    def bind(self, loop: LoopRV, thread_axis: str) -> None:
        """The loop bound to a thread axis."""
        checked = self._checked
        args = (loop, thread_axis)
        self._plain("bind", args, {}, loop.func, lambda f: steps.bind(f, loop.var, thread_axis, checked=checked))

    def add_unit_loop(self, block_or_loop: BlockRV | LoopRV | str) -> LoopRV:
        """A loop of one iteration around the block, or the loop."""
        target = block_or_loop if isinstance(block_or_loop, LoopRV) else self._given(block_or_loop)

        def change(func: tir.PrimFunc) -> tuple[tir.PrimFunc, tuple[LoopRV]]:
            found, var = steps.add_unit_loop(func, _held(target))
            return found, (self._loop(target.func, var),)

        return self._step("add_unit_loop", (target,), {}, target.func, change)[0]

    # ------------------------------------------------------------------------------------------------ blocks

    def compute_at(
        self,
        block: BlockRV | str,
        loop: LoopRV,
        preserve_unit_loops: bool = False,
        index: int = LAST,
    ) -> None:
        """The producer into a loop of what reads it, directly before that."""
        self._at("compute_at", steps.compute_at, block, loop, (preserve_unit_loops, index))

    def reverse_compute_at(
        self,
        block: BlockRV | str,
        loop: LoopRV,
        preserve_unit_loops: bool = False,
        index: int = LAST,
    ) -> None:
        """The consumer into a loop of what it reads, at its end."""
        self._at("reverse_compute_at", steps.reverse_compute_at, block, loop, (preserve_unit_loops, index))

    def _at(
        self,
        name: str,
        step: Callable[..., tir.PrimFunc],
        block: BlockRV | str,
        loop: LoopRV,
        how: tuple[bool, int],
    ) -> None:
        unit, index = how
        if index != LAST:
            raise fail(
                UNSUPPORTED_CONSTRUCT, f"`{name}` puts a block at the last place only: index {index} is not there"
            )
        one = self._given(block)
        options = {"preserve_unit_loops": True} if unit else {}

        def change(func: tir.PrimFunc) -> tir.PrimFunc:
            return step(func, one.name, loop.var, preserve_unit_loops=unit, checked=self._checked)

        self._plain(name, (one, loop), options, one.func, change)

    def compute_inline(self, block: BlockRV | str) -> None:
        """What a block computes, in the place of what reads it."""
        one = self._given(block)
        self._plain("compute_inline", (one,), {}, one.func, lambda func: steps.compute_inline(func, one.name))

    def reverse_compute_inline(self, block: BlockRV | str) -> None:
        """What a block computes, in the place of what it reads."""
        one = self._given(block)
        self._plain("reverse_compute_inline", (one,), {}, one.func, lambda f: steps.reverse_compute_inline(f, one.name))

    def decompose_reduction(self, block: BlockRV | str, loop: LoopRV) -> BlockRV:
        """The init as a block of its own, before `loop`; that block. The handle goes on as the update."""
        one = self._given(block)
        old = one.name
        new = self._adding(
            "decompose_reduction", (one, loop), one, lambda f: steps.decompose_reduction(f, one.name, loop.var), "_init"
        )
        names = [node.name for node in walk(self._function(one.func)) if isinstance(node, tir.SBlock)]
        one.name = next(name for name in names if name.startswith(f"{old}_update"))
        self._blocks[one.func, one.name] = one
        self._blocks.pop((one.func, old), None)
        return new

    def blockize(self, target: LoopRV, *, preserve_unit_iters: bool = True) -> BlockRV:
        """The loop and what is in it as a block; that block. Axes of extent 1 stay."""
        if not isinstance(target, LoopRV):
            raise fail(UNSUPPORTED_CONSTRUCT, "`blockize` makes a block of a loop; of blocks it is not there")
        del preserve_unit_iters

        def change(func: tir.PrimFunc) -> tuple[tir.PrimFunc, tuple[BlockRV]]:
            found, name = steps.blockize(func, target.var)
            return found, (self._block(target.func, name),)

        return self._step("blockize", (target,), {}, target.func, change)[0]

    def tensorize(
        self, block_or_loop: BlockRV | LoopRV | str, tensor_intrin: TensorIntrin, *, preserve_unit_iters: bool = True
    ) -> None:
        """The block, or the loop made a block, as the intrinsic.

        The intrinsic is the pair itself: there is no register of names.
        """
        if not isinstance(tensor_intrin, TensorIntrin):
            raise fail(BAD_USAGE, f"`tensorize` takes a TensorIntrin(desc, impl), not {tensor_intrin!r}")
        del preserve_unit_iters
        target = block_or_loop if isinstance(block_or_loop, LoopRV) else self._given(block_or_loop)
        args, held = (target, tensor_intrin), _held(target)
        self._plain("tensorize", args, {}, target.func, lambda f: steps.tensorize(f, held, tensor_intrin)[0])

    def cache_read(self, block: BlockRV | str, read_buffer_index: int, storage_scope: str = "global") -> BlockRV:
        """The block reads a copy; the block that copies."""
        one = self._given(block)
        found = steps.get_block(self._function(one.func), one.name).block
        loads = [node.buffer for node in walk(found) if isinstance(node, tir.BufferLoad)]
        read = list(dict.fromkeys(loads if found.reads is None else [region.buffer for region in found.reads]))
        if not 0 <= read_buffer_index < len(read):
            raise fail(BAD_USAGE, f"`{one.name}` reads {len(read)} buffers; there is none of index {read_buffer_index}")
        buffer = read[read_buffer_index]
        args = (one, read_buffer_index, storage_scope)
        return self._adding("cache_read", args, one, lambda f: steps.cache_read(f, one.name, buffer, storage_scope))

    def cache_write(self, block: BlockRV | str, write_buffer_index: int, storage_scope: str = "global") -> BlockRV:
        """The block writes a copy; the block that copies back."""
        one = self._given(block)
        written(self._function(one.func), one.name, write_buffer_index)
        args = (one, write_buffer_index, storage_scope)
        return self._adding("cache_write", args, one, lambda f: steps.cache_write(f, one.name, storage_scope))

    def rfactor(self, loop: LoopRV, factor_axis: int = 0) -> BlockRV:
        """The reduction around which the loop stands, in parts; the block that computes them."""
        inside = steps.get_child_blocks(self._function(loop.func), loop.var)
        if len(inside) != 1:
            raise fail(BAD_USAGE, f"{len(inside)} blocks are in the loop over `{loop.var.name}`")

        def change(func: tir.PrimFunc) -> tuple[tir.PrimFunc, tuple[BlockRV]]:
            found, name = steps.rfactor(func, inside[0], loop.var, factor_axis)
            return found, (self._block(loop.func, name),)

        return self._step("rfactor", (loop, factor_axis), {}, loop.func, change)[0]

    def annotate(self, target: BlockRV | LoopRV, ann_key: str, ann_val: tir.Attr) -> None:
        """An annotation of a block or a loop."""
        held = _held(target)
        args = (target, ann_key, ann_val)
        self._plain("annotate", args, {}, target.func, lambda func: steps.annotate(func, held, ann_key, ann_val))

    def unannotate(self, target: BlockRV | LoopRV, ann_key: str) -> None:
        """No such annotation any more."""
        held = _held(target)
        self._plain("unannotate", (target, ann_key), {}, target.func, lambda f: steps.unannotate(f, held, ann_key))

    def storage_align(self, block: BlockRV | str, buffer_index: int, axis: int, factor: int, offset: int) -> None:
        """The stride of `axis` of an output is said to be k · factor + offset."""
        one, row = self._given(block), (buffer_index, axis, factor, offset)
        self._plain("storage_align", (one, *row), {}, one.func, lambda f: steps.storage_align(f, one.name, *row))

    def set_scope(self, block: BlockRV | str, buffer_index: int, storage_scope: str) -> None:
        """The scope of an output."""
        one, row = self._given(block), (buffer_index, storage_scope)
        self._plain("set_scope", (one, *row), {}, one.func, lambda func: steps.set_scope(func, one.name, *row))

    # ------------------------------------------------------------------------------------------- how it works

    def _step(
        self, name: str, args: Sequence[object], options: Mapping[str, object], func: str, change: "Change[Made]"
    ) -> Made:
        """Take a step: what comes of it is kept when it is legal and, where that is asked for, validated."""
        found, made = change(self._function(func))
        after = replace(self._module, functions={**self._module.functions, func: found})
        outputs = made if isinstance(made, tuple) else ()
        step = Step(name, tuple(args), options, outputs)
        if self._validation is not None:
            self._validation.check(self._module, after, func, str(step))
        self._module = after
        self.trace.steps.append(step)
        return made

    def _plain(
        self,
        name: str,
        args: Sequence[object],
        options: Mapping[str, object],
        func: str,
        change: Callable[[tir.PrimFunc], tir.PrimFunc],
    ) -> None:
        """A step of which nothing comes but the function."""
        self._step(name, args, options, func, lambda one: (change(one), None))

    def _adding(
        self,
        name: str,
        args: Sequence[object],
        block: BlockRV,
        change: Callable[[tir.PrimFunc], tir.PrimFunc],
        ending: str = "",
    ) -> BlockRV:
        """A step that adds a block; that block."""

        def changed(func: tir.PrimFunc) -> tuple[tir.PrimFunc, tuple[BlockRV]]:
            before = {node.name for node in walk(func) if isinstance(node, tir.SBlock)}
            found = change(func)
            names = [node.name for node in walk(found) if isinstance(node, tir.SBlock)]
            new = [one for one in names if one not in before | {"root"} and ending in one]
            return found, (self._block(block.func, new[0]),)

        return self._step(name, args, {}, block.func, changed)[0]

    def _found(self, name: str, question: Callable[..., tuple[str, ...]], target: BlockRV | LoopRV) -> list[BlockRV]:
        names = question(self._function(target.func), _held(target))
        found = [self._block(target.func, one) for one in names]
        self.trace.steps.append(Step(name, (target,), {}, tuple(found)))
        return found

    def _function(self, name: str) -> tir.PrimFunc:
        found = self._module.functions.get(name)
        if not isinstance(found, tir.PrimFunc):
            raise fail(BAD_USAGE, f"the module has no TensorIR function `{name}`")
        return found

    def _given(self, block: BlockRV | str) -> BlockRV:
        return self._block(self._func, block) if isinstance(block, str) else block

    def _block(self, func: str, name: str) -> BlockRV:
        if (func, name) not in self._blocks:
            self._blocks[func, name] = BlockRV(name, func, f"b{next(self._numbers)}")
        return self._blocks[func, name]

    def _loop(self, func: str, var: tir.Var) -> LoopRV:
        if var not in self._loops:
            self._loops[var] = LoopRV(var, func, f"l{next(self._numbers)}")
        return self._loops[var]


def _held(target: BlockRV | LoopRV) -> str | tir.Var:
    return target.name if isinstance(target, BlockRV) else target.var
