"""Tile primitives, executed by the threads of their scope together (TIX-005, TIX-006).

Each thread evaluates the operands; when all threads of the warp, warpgroup, block or cluster have come, a primitive is
executed once, on logical elements. A primitive of a thread is executed by it alone.

| operand                            | its elements                                                        |
|------------------------------------|---------------------------------------------------------------------|
| of memory that the threads share   | the same region of the same buffer in all of them                   |
| whose layout has axes of threads   | each in the memory of the threads whose coordinates it has          |
| of scope `local` without such axes | of a primitive of one thread only                                   |
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import count
from math import prod
from typing import TYPE_CHECKING, TypeAlias, cast

from refmlc.diag import Span
from refmlc.diag.catalogue import BAD_EXTENT, OPERANDS_DIFFER, UNSUPPORTED_CONSTRUCT
from refmlc.diag.errors import RefmlcError
from refmlc.lang.dtypes import INT32
from refmlc.lang.ir import tir
from refmlc.lang.ir.node import Node
from refmlc.lang.ir.scopes import axes_of
from refmlc.lang.ir.tirx import LambdaExpr, TilePrimitiveCall
from refmlc.lang.ir.unexecuted import name_of
from refmlc.lang.ir.visit import walk
from refmlc.run.interp.tensorir.frame import Eval, Frame, IntEval, Run
from refmlc.run.interp.tensorir.placed import is_owned
from refmlc.run.interp.tensorir.scope import Scope
from refmlc.run.interp.tensorir.tensor_memory import bound_in_tensor_memory
from refmlc.run.interp.tensorir.views import BufferPlace, View
from refmlc.run.interp.threads.group import PARTS, Go, Meeting, Steps, Thread
from refmlc.run.interp.tirx import tile_copies
from refmlc.run.interp.tirx.primitives import execute, operands_of_call, work
from refmlc.run.interp.tirx.tensor_gemm import TensorGemm
from refmlc.run.interp.tirx.tile_view import Scalar
from refmlc.run.interp.tirx.tiles import Corner, MemoryTile, OwnedTile, Report, alike, clear

if TYPE_CHECKING:
    from refmlc.run.interp.hooks import Hooks

Posted: TypeAlias = tuple[object, ...]
FEWEST = {**PARTS, "cta": 1, "cluster": 1}
"""The number of threads that a primitive of a scope is executed by, at least."""

BYTES_OF_ELEMENT = 256
"""What is held of an element while a primitive is executed: its index, value and place. Decision: a round number."""

BETWEEN_LOOKS = 256
"""The number of accesses between two looks at the clock."""


@dataclass(frozen=True, slots=True)
class RegionOperand:
    """A region of a buffer. `bind`: what finds a buffer in tensor memory by its address."""

    place: BufferPlace
    mins: tuple[IntEval, ...]
    extents: tuple[IntEval, ...]
    accesses: tuple[tir.BufferLoad, tir.BufferStore]
    bind: Run | None = None

    def post(self, frame: Frame) -> Corner:
        """The region as a thread sees it."""
        if self.bind is not None:
            self.bind(frame)
        view = frame[self.place.view]
        return Corner(tuple([low(frame) for low in self.mins]), tuple([size(frame) for size in self.extents]), view)


class TileCall:
    """A call of a tile primitive, prepared."""

    def __init__(self, scope: Scope, node: TilePrimitiveCall) -> None:
        self.node = node
        self.name = name_of(node)
        self._scope, self._machine = scope, scope.machine
        self._operands = tuple(_operand(scope, arg, node.span) for arg in node.args)
        self._owned = any(is_owned(item.place.buffer) for item in self._operands if isinstance(item, RegionOperand))
        self._failure = scope.failing_by_code(node.span)
        self._loaded = tuple((buffer, scope.buffer(buffer).view) for buffer in _loaded(node))
        self._copy = tile_copies.prepare(scope, node) if node.op == "copy_async" else None
        self._workspace = tuple(scope.buffer(buffer).view for buffer in node.workspace.values())

    def post(self, frame: Frame) -> Posted:
        """The operands as a thread has them."""
        return tuple(
            [
                operand.post(frame) if isinstance(operand, RegionOperand) else operand(frame)
                for operand in self._operands
            ]
        )

    def run(self, members: Sequence[Thread], posted: Sequence[Posted]) -> None:
        """Execute it once, for threads with these operands."""
        frame = members[0].frame
        try:
            self._run(members, posted, frame)
        except RefmlcError as failure:
            if failure.diagnostic.span is None:
                failure.diagnostic = failure.diagnostic.at(self.node.span)
            self._machine.locate(failure, frame)
            raise

    def _run(self, members: Sequence[Thread], posted: Sequence[Posted], frame: Frame) -> None:
        size = FEWEST.get(self.node.scope, 1)
        if self.node.scope != "thread" and len(members) < size:
            message = f"`{self.name}` is not executed by {len(members)} threads"
            raise self._failure(frame, UNSUPPORTED_CONSTRUCT, message)
        for number, operand in enumerate(self._operands):
            self._check(members, number, operand, posted)
        written = cast("Corner", posted[0][0]).view.data.storage if self._loaded else None
        for buffer, slot in self._loaded:
            if frame[slot].data.storage is written:
                message = f"`{self.name}` with a function of `{buffer.name}`, whose memory it writes, is not executed"
                raise self._failure(frame, UNSUPPORTED_CONSTRUCT, message)
        self._check_workspace(posted[0], frame)
        values = [
            self._tile(members, operand, cast("list[Corner]", [thread[number] for thread in posted]))
            if isinstance(operand, RegionOperand)
            else posted[0][number]
            for number, operand in enumerate(self._operands)
        ]
        budget, elements = (
            self._machine.budget,
            [value for value in values if isinstance(value, MemoryTile | OwnedTile)],
        )
        budget.charge_steps(work(self.node, values), self.node.span)
        held = BYTES_OF_ELEMENT * sum(prod(tile.shape) for tile in elements)
        budget.charge_bytes(held, self.node.span, what=f"`{self.name}`")
        try:
            if self._copy is not None:
                self._copy.issue(members, operands_of_call(self.node, values), frame)
            elif self.node.op == "gemm_async":
                TensorGemm(self.node, self._scope, operands_of_call(self.node, values), members, frame).issue()
            else:
                execute(self.node, values, self._machine.scalar_ops, self._machine.allow)
        finally:
            budget.release_bytes(held)
        for member in members:
            for slot in self._workspace:
                clear(member.frame[slot])

    def _check_workspace(self, operands: Posted, frame: Frame) -> None:
        """Fails: RM504 where a workspace is an operand too: when it is overwritten is left to the variant."""
        scratch = [frame[slot].data.storage for slot in self._workspace]
        for corner in operands:
            if isinstance(corner, Corner) and any(corner.view.data.storage is storage for storage in scratch):
                message = (
                    f"`{self.name}` with the memory of `{corner.view.buffer.name}` as its workspace is not executed"
                )
                raise self._failure(frame, UNSUPPORTED_CONSTRUCT, message)

    def _check(
        self, members: Sequence[Thread], number: int, operand: "RegionOperand | Eval", posted: Sequence[Posted]
    ) -> None:
        """Fails: RM315 where an extent is negative, RM329 where the threads have different operands."""
        first = posted[0][number]
        if isinstance(first, Corner) and min(first.extents, default=0) < 0:
            message = f"a region of `{first.view.buffer.name}` has the extents {first.extents}"
            raise self._failure(members[0].frame, BAD_EXTENT, message)
        for member, values in zip(members, posted, strict=True):
            value = values[number]
            if isinstance(operand, RegionOperand):
                difference = _difference(cast("Corner", first), cast("Corner", value), operand.place.buffer)
            else:
                difference = _unlike(first, value)
            if difference:
                message = (
                    f"operand {number} of `{self.name}` is {difference}, in threads {members[0].index}, {member.index}"
                )
                raise self._failure(member.frame, OPERANDS_DIFFER, message)

    def _tile(
        self, members: Sequence[Thread], operand: RegionOperand, corners: Sequence[Corner]
    ) -> MemoryTile | OwnedTile:
        corner, buffer = corners[0], operand.place.buffer
        if is_owned(buffer):
            views = {member.number: corner.view for member, corner in zip(members, corners, strict=True)}
            return OwnedTile.of(corner, self.name, self.node.span, self._watch(), views)
        if len(members) > 1 and _is_private(buffer):
            message = (
                f"`{buffer.name}` in scope `{buffer.scope}` is of one thread each: `{self.name}` on it is not executed"
            )
            raise self._failure(members[0].frame, UNSUPPORTED_CONSTRUCT, message)
        reports = self._reports(members[0].frame, operand, corner.view)
        return MemoryTile(corner, self.name, self.node.span, self._watch(), *reports)

    def _watch(self) -> Callable[[], None] | None:
        """What looks at the clock at some of the accesses; nothing where there is no limit of time."""
        budget, accesses = self._machine.budget, count(1)
        if budget.max_seconds is None:
            return None

        def watch() -> None:
            if next(accesses) % BETWEEN_LOOKS == 0:
                budget.look(self.node.span)

        return watch

    def _reports(self, frame: Frame, operand: RegionOperand, view: View) -> tuple[Report | None, Report | None]:
        """What reports the elements that are read and written: nothing where nobody watches."""
        hooks = self._machine.hooks
        if self._owned or not hooks.watches("touch_tile"):
            return None, None
        read, write = (partial(_touched, hooks, access, view, frame) for access in operand.accesses)
        return read, write


def _is_private(buffer: tir.Buffer) -> bool:
    return "threadIdx" in axes_of(buffer.scope)


def _difference(a: Corner, b: Corner, buffer: tir.Buffer) -> str:
    if (a.mins, a.extents) != (b.mins, b.extents):
        return f"`{buffer.name}` from {a.mins} with the extents {a.extents}, and from {b.mins} with {b.extents}"
    shared = not _is_private(buffer)
    if shared and (a.view.data.storage is not b.view.data.storage or _start(a.view) != _start(b.view)):
        return f"`{buffer.name}` at two places"
    return ""


def _start(view: View) -> tuple[int, int]:
    return view.data.byte_offset, view.offset


def _unlike(a: object, b: object) -> str:
    """How two operands that are no regions differ; empty: they do not."""
    if isinstance(a, Predicate) and isinstance(b, Predicate):
        pairs = zip(a.names, a.captured, b.captured, strict=True)
        return next((f"a function of `{name}`, {_unlike(x, y)}" for name, x, y in pairs if _unlike(x, y)), "")
    numbers = isinstance(a, int | float) and isinstance(b, int | float)
    same = alike(cast("Scalar", a), cast("Scalar", b)) if numbers else a == b
    return "" if same else f"{a} and {b}"


def _touched(hooks: "Hooks", access: tir.BufferLoad | tir.BufferStore, view: View, frame: Frame, offset: int) -> None:
    hooks.touch_tile(access, view, offset, frame)


def _operand(scope: Scope, arg: tir.Attr, span: Span | None) -> "RegionOperand | Eval":
    match arg:
        case tir.BufferRegion(buffer=buffer, region=ranges):
            place = scope.buffer(buffer, arg.span)
            mins = tuple(scope.int(axis.min) for axis in ranges)
            corner, zero = tuple(axis.min for axis in ranges), tir.IntImm(INT32, 0)
            accesses = (
                tir.BufferLoad(buffer, corner, span=span),
                tir.BufferStore(buffer, zero, corner, span=span),
            )
            bind = bound_in_tensor_memory(scope, buffer) if buffer.allocated_addr else None
            return RegionOperand(place, mins, tuple(scope.int(axis.extent) for axis in ranges), accesses, bind)
        case LambdaExpr():
            return _function(scope, arg)
        case tuple():
            parts = [_operand(scope, part, span) for part in arg]
            return lambda frame: tuple([part(frame) for part in parts if not isinstance(part, RegionOperand)])
    if isinstance(arg, tir.Expr):
        return scope.expr(arg)
    return lambda _frame: arg


@dataclass(frozen=True, slots=True)
class Predicate:
    """A function of indices in one thread, and the values there of the variables `names` that it takes from outside."""

    value: Callable[..., object]
    names: tuple[str, ...]
    captured: tuple[object, ...]

    def __call__(self, *indices: int) -> object:
        """The value at these indices."""
        return self.value(*indices)


def _function(scope: Scope, node: LambdaExpr) -> Eval:
    slots = [scope.declare(param) for param in node.params]
    body = scope.expr(node.body)
    own = {*node.params, *(part.var for part in walk(node.body) if isinstance(part, tir.Let))}
    used = dict.fromkeys(part for part in walk(node.body) if isinstance(part, tir.Var))
    outer = tuple(var for var in used if var not in own and (var.dtype.is_integer or var.dtype.is_float))
    names, values = tuple(var.name for var in outer), tuple(scope.expr(var) for var in outer)

    def function(frame: Frame) -> Predicate:
        def value(*indices: int) -> object:
            for slot, index in zip(slots, indices, strict=True):
                frame[slot] = index
            return body(frame)

        return Predicate(value, names, tuple([captured(frame) for captured in values]))

    return function


def _loaded(node: TilePrimitiveCall) -> tuple[tir.Buffer, ...]:
    """The buffers that functions of indices read."""
    parts = (part for arg in node.args if isinstance(arg, LambdaExpr) for part in walk(arg.body))
    return tuple(dict.fromkeys(part.buffer for part in parts if isinstance(part, tir.BufferLoad)))


def together(scope: Scope, node: TilePrimitiveCall) -> Go:
    """A tile primitive as a meeting of the threads of its scope."""
    reason = _refusal(scope, node)
    if reason:
        stop = scope.unsupported(UNSUPPORTED_CONSTRUCT, reason, node.span)
        return _stopping(stop)
    call, slot = TileCall(scope, node), scope.layout.new()

    def act(members: Sequence[Thread]) -> None:
        call.run(members, [cast("Posted", member.frame[slot]) for member in members])

    meets = Meeting(node, implied=False, part=node.scope, act=act, orders=False)

    def steps(frame: Frame) -> Steps:
        frame[slot] = call.post(frame)
        yield meets

    return steps


def alone(scope: Scope, node: TilePrimitiveCall) -> Run:
    """A tile primitive of a thread, or one that no threads of a kernel reach."""
    threads = [scope.axes[tag] for tag in scope.threads if tag.startswith("threadIdx")]
    reason = _refusal(scope, node)
    if not reason and node.scope != "thread":
        reason = f"`{name_of(node)}` is executed by the threads of a kernel only"
    if reason:
        stop = scope.unsupported(UNSUPPORTED_CONSTRUCT, reason, node.span)
        return lambda frame: cast("None", stop(frame))
    call, (thread,), group_of = TileCall(scope, node), threads, scope.group

    def run(frame: Frame) -> None:
        group = frame[group_of]
        block = 0 if group is None else group.block
        member = Thread(cast("int", frame[thread]), frame, _nothing(), None, block)
        call.run([member], [call.post(frame)])

    return run


def _nothing() -> Steps:
    yield from ()


def _stopping(stop: Eval) -> Go:
    def steps(frame: Frame) -> Steps:
        stop(frame)
        yield from ()

    return steps


def _buffers(node: TilePrimitiveCall) -> Sequence[tir.Buffer]:
    """The buffers of the operands."""
    return [part for arg in node.args if isinstance(arg, Node) for part in walk(arg) if isinstance(part, tir.Buffer)]


def _refusal(scope: Scope, node: TilePrimitiveCall) -> str:
    """Why a call is not executed; empty: it is."""
    name = name_of(node)
    if sum(tag.startswith("threadIdx") for tag in scope.threads) != 1:
        return f"`{name}` is executed by the threads of a kernel only"
    if node.scope == "cluster":
        own = [buffer.name for buffer in _buffers(node) if axes_of(buffer.scope)]
        if own:
            return f"`{name}` on `{own[0]}`, of which each block has its own, is not executed"
        if node.op.endswith("_async"):
            return f"`{name}` is not executed: which threads of a cluster issue it is not known"
    private = [] if node.scope == "thread" else [buffer.name for buffer in _loaded(node) if _is_private(buffer)]
    return (
        f"`{name}` with a function of `{private[0]}`, which is of one thread each, is not executed" if private else ""
    )
