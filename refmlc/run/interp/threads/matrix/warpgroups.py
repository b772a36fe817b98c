"""Products by the 128 threads of a warpgroup: `wgmma` (TIM-011, TIM-013).

| call                                                           | operands                                           |
|----------------------------------------------------------------|----------------------------------------------------|
| `T.ptx.wgmma.mma_async.sync.aligned.m64n…k….…(d…, a, b, p, …)` | registers of D; a descriptor of A, or 4 registers; |
|                                                                | a descriptor of B; whether D is added; the signs   |
|                                                                | of A and B; whether the other index comes first    |
| `T.ptx.wgmma.fence.sync.aligned()`                             | none                                               |
| `T.ptx.wgmma.commit_group.sync.aligned()`                      | none                                               |
| `T.ptx.wgmma.wait_group.sync.aligned(n)`                       | how many groups may stay open                      |

A product takes what it reads when it is issued; D has its values when the thread has waited for its group.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import cast

from refmlc.diag import Span, fail
from refmlc.diag.catalogue import UNINITIALISED, UNSUPPORTED_CONSTRUCT
from refmlc.lang.dtypes import HANDLE
from refmlc.lang.ir import tir
from refmlc.lang.ir.ptx import PtxCall
from refmlc.lang.ops.matrix.descriptors import WGMMA
from refmlc.lang.ops.matrix.fragments import LANES, gathered, scattered
from refmlc.lang.ops.matrix.products import product, signed
from refmlc.lang.ops.matrix.warpgroups import REGISTER, WARP_ROWS, WARPS, WarpgroupForm
from refmlc.run.interp.asynchronous.operations import OpenOperation, OperationSource
from refmlc.run.interp.asynchronous.place import InstructionSite
from refmlc.run.interp.tensorir.addresses import Touch, name_of, touching
from refmlc.run.interp.tensorir.frame import Frame
from refmlc.run.interp.tensorir.intrinsics import pointer
from refmlc.run.interp.tensorir.scope import Scope
from refmlc.run.interp.threads.matrix.open_products import OpenProduct, pending
from refmlc.run.interp.threads.matrix.operands import element_of, read
from refmlc.run.interp.threads.matrix.registers import joined, split
from refmlc.run.interp.threads.matrix.shared_matrices import (
    BYTE,
    SharedMatrix,
    chunk_at,
    described,
    read_matrix,
)
from refmlc.run.interp.threads.matrix.work import Apart, NotExecuted, Posted, WarpWork
from refmlc.run.memory.pointer import Pointer
from refmlc.run.memory.space_numbers import SpaceNumbers

KIND, A_REGISTERS, WORD = "wgmma", 4, REGISTER // BYTE
"""The groups of products; the registers of A; the bytes of a register."""


def prepare_warpgroup(scope: Scope, call: tir.Call) -> WarpWork:
    """An instruction of the family. Fails: NotExecuted, NoSuchForm."""
    ptx = cast("PtxCall", PtxCall.of(call))
    modifiers, action = ptx.modifiers, ptx.modifiers[0] if ptx.modifiers else ""
    if ptx.predicate is not None or modifiers[1:3] != ("sync", "aligned"):
        raise NotExecuted(f"with the modifiers {' '.join(modifiers)[:100]}, or under a predicate")
    if action == "mma_async":
        form = WarpgroupForm.of(modifiers)
        return _product(_site(scope, ptx), form, _Operands.of(form, ptx.unconverted, ptx.predicates))
    if len(modifiers) > 3 or action not in OF_GROUPS:
        raise NotExecuted(f"with the modifiers {' '.join(modifiers)[:100]}")
    do = OF_GROUPS[action](_site(scope, ptx))
    return WarpWork(lambda _frame: None, list, lambda frame, _result: do(frame))


def _site(scope: Scope, ptx: PtxCall) -> InstructionSite:
    """The instruction at its place. Fails: NotExecuted."""
    if sum(tag.startswith("threadIdx") for tag in scope.threads) != 1:
        raise NotExecuted("by threads of several axes")
    return InstructionSite(scope, ptx)


# ------------------------------------------------------------------------------------- groups of products: TIM-013


def _fence(here: InstructionSite) -> Callable[[Frame], None]:
    _check_count(here.operands, 0)
    hooks = here.hooks
    return (lambda frame: hooks.fence((KIND,), frame)) if hooks.watches("fence") else lambda _frame: None


def _commit(here: InstructionSite) -> Callable[[Frame], None]:
    _check_count(here.operands, 0)
    return lambda frame: here.groups(KIND, frame).commit()


def _wait(here: InstructionSite) -> Callable[[Frame], None]:
    _check_count(here.operands, 1)
    left = _constant(here.operands[0])
    if left < 0:
        raise NotExecuted(f"waits until {left} groups are left")

    return lambda frame: here.groups(KIND, frame).wait(here.thread(frame), left, frame)


def _check_count(operands: Sequence[tir.Attr], count: int) -> None:
    if len(operands) != count:
        raise NotExecuted(f"has {len(operands)} operands, of which {count} are expected")


def _constant(operand: tir.Attr) -> int:
    if not isinstance(operand, tir.IntImm):
        raise NotExecuted("has an operand that is no constant")
    return operand.value


OF_GROUPS: Mapping[str, Callable[[InstructionSite], Callable[[Frame], None]]] = {
    "fence": _fence,
    "commit_group": _commit,
    "wait_group": _wait,
}


# ------------------------------------------------------------------------------------------------ products: TIM-011


@dataclass(frozen=True, slots=True)
class _Operands:
    """The operands of a product. `a`: one descriptor, or registers; `signs`, `along_k`: of A, then of B."""

    sums: Sequence[tir.Attr]
    a: Sequence[tir.Attr]
    b: tir.Attr
    adds: tir.Expr
    signs: tuple[int, int] = (1, 1)
    along_k: tuple[bool, bool] = (True, True)

    @classmethod
    def of(cls, form: WarpgroupForm, operands: Sequence[tir.Attr], predicates: Collection[int]) -> "_Operands":
        """The operands of a call, of which those with the numbers `predicates` are. Fails: NotExecuted."""
        sums, rest = operands[: form.sum_registers], operands[form.sum_registers :]
        signs, layouts = 2 * form.kind.signs, int(form.kind.layouts)
        if len(rest) not in (3 + signs + 2 * layouts, 2 + A_REGISTERS + signs + layouts):
            raise NotExecuted(f"has {len(operands)} operands")
        count = A_REGISTERS if len(rest) == 2 + A_REGISTERS + signs + layouts else 1
        values = [_constant(operand) for operand in rest[count + 2 :]]
        own, turned = values[:signs] or [1, 1], [*[0] * (2 - len(values[signs:])), *values[signs:]]
        if not {*own} <= {1, -1} or not {*turned} <= {0, 1}:
            raise NotExecuted(f"has the signs and layouts {', '.join(map(str, values))}")
        if not {*predicates} <= {form.sum_registers + count + 1}:
            raise NotExecuted("has other predicates than whether D is added")
        adds = cast("tir.Expr", rest[count + 1])
        return cls(sums, rest[:count], rest[count], adds, (own[0], own[1]), (not turned[0], not turned[1]))

    @property
    def in_registers(self) -> bool:
        """Whether A is in registers."""
        return len(self.a) == A_REGISTERS


@dataclass(frozen=True, slots=True)
class _Share:
    """What a thread brings. `a`, `b`: descriptors, or the registers of A; `sums`: those of D, before."""

    a: int
    b: int
    adds: bool
    sums: int
    numbers: SpaceNumbers


def _product(here: InstructionSite, form: WarpgroupForm, operands: _Operands) -> WarpWork:
    scope, span, watch = here.scope, here.span, _Watch(here.scope, here.span)
    sums = [_register(scope, operand) for operand in operands.sums]
    fragments = [_register(scope, operand) for operand in operands.a] if operands.in_registers else []
    adds = scope.expr(operands.adds)
    descriptors = read(scope, [operands.b, *(() if operands.in_registers else operands.a)], 2 * REGISTER)
    multiply = _Multiplication(form, operands)

    def post(frame: Frame) -> object:
        continues = bool(adds(frame))
        before = _before([place(frame) for place in sums], form, span) if continues else 0
        b, *others = descriptors(frame)
        a = others[0] if others else _held([place(frame) for place in fragments], span)
        return _Share(a, b, continues, before, here.group(frame).numbers(frame))

    def finish(frame: Frame, result: object) -> None:
        held, chunks = cast("tuple[int, list[OperationSource]]", result)
        places, own = [place(frame) for place in sums], [place(frame) for place in fragments]
        if len(set(places)) < len(places):
            raise fail(UNSUPPORTED_CONSTRUCT, "a product with one register for two elements is not executed", span)
        watch.registers(frame, own, written=False)
        watch.registers(frame, places, written=True)
        watch.chunks(frame, chunks)
        issued = OpenProduct.of(
            form, places, [code.to_bytes(WORD, "little") for code in split(held, REGISTER, len(places))], span
        )
        issued.waits_for.add(here.thread(frame))
        issued.sources = [*chunks, *(OperationSource.read(place, WORD) for place in own)]
        issued.written = lambda at, _phase: watch.chunks(at, chunks)
        here.block(frame).issue(issued)
        here.groups(KIND, frame).uncommitted.append(issued)

    return WarpWork(post, lambda posted: multiply(cast("Sequence[_Share]", posted)), finish, part="warpgroup")


def _register(scope: Scope, operand: tir.Attr) -> Callable[[Frame], Pointer]:
    element = element_of(operand, REGISTER)
    if not isinstance(element, tir.BufferLoad):
        raise NotExecuted("has a register that is no element of a buffer")
    if element.buffer.scope != "local":
        raise NotExecuted(f"has a register in {element.buffer.scope} memory")
    return pointer(scope, tir.Call("address_of", (element,), HANDLE, span=element.span))


def _content(place: Pointer) -> bytes:
    return bytes(place.storage.bytes[place.byte_offset : place.byte_offset + WORD])


def _before(places: Sequence[Pointer], form: WarpgroupForm, span: Span | None) -> int:
    """The contents of the registers of D, joined: after the product that is open on them. Fails: RM305, RM341."""
    earlier = pending(places, form, span)
    if earlier is not None:
        return joined([int.from_bytes(move.data, "little") for move in earlier.moves], REGISTER)
    return _held(places, span)


def _held(places: Sequence[Pointer], span: Span | None) -> int:
    """The contents of registers, joined. Fails: RM305, RM341."""
    for place in places:
        if not place.storage.is_initialised(place.byte_offset, WORD):
            owner = next((item.owner for item in place.storage.reserved_at(place.byte_offset, WORD)), None)
            if isinstance(owner, OpenOperation):
                raise owner.failure("a product of matrices reads memory", span, written=True)
            message = f"a product of matrices reads a register in `{name_of(place)}`, which was never written"
            raise fail(UNINITIALISED, message, span)
    return joined([int.from_bytes(_content(place), "little") for place in places], REGISTER)


@dataclass(frozen=True, slots=True)
class _Multiplication:
    """From what the threads bring to what each gets: its registers of D, and the chunks that its warp has read."""

    form: WarpgroupForm
    operands: _Operands

    def __call__(self, shares: Sequence[_Share]) -> Posted:
        """Fails: Apart, Unspecified; RM304, RM305, RM341 of what is read."""
        form, operands, first = self.form, self.operands, shares[0]
        for share in shares:
            if (share.b, share.adds) != (first.b, first.adds) or (not operands.in_registers and share.a != first.a):
                raise Apart("descriptors, or whether D is added")
        b = self._matrix(first.b, 1, form.n, first.numbers)
        columns = signed(form.element("b"), b.lines, operands.signs[1])
        rows = None if operands.in_registers else self._matrix(first.a, 0, WARPS * WARP_ROWS, first.numbers)
        result: list[object] = []
        for warp in range(WARPS):
            own = shares[LANES * warp : LANES * (warp + 1)]
            if rows is None:
                (a,), chunks = gathered(form, "a", [share.a for share in own]), b.of_warp(warp)
            else:
                a = rows.lines[WARP_ROWS * warp : WARP_ROWS * (warp + 1)]
                chunks = [*rows.of_warp(warp), *b.of_warp(warp)]
            (sums,) = gathered(form, "c", [share.sums for share in own])
            turned = [list(row) for row in zip(*columns, strict=True)]
            d = product(form, signed(form.element("a"), a, operands.signs[0]), turned, sums)
            held = scattered(form, "d", [d])
            sources = [OperationSource.read(place, len(data)) for place, data in chunks]
            result += [(code, sources if lane == 0 else []) for lane, code in enumerate(held)]
        return result

    def _matrix(self, code: int, number: int, lines: int, numbers: SpaceNumbers) -> SharedMatrix:
        along_k, dtype = self.operands.along_k[number], self.form.element("ab"[number])
        return read_matrix(
            described(code, WGMMA), (lines, self.form.k), dtype, partial(chunk_at, numbers=numbers), along_k=along_k
        )


class _Watch:
    """What reports the accesses of a product to hooks, through the async proxy."""

    def __init__(self, scope: Scope, span: Span | None) -> None:
        self._reads = touching(scope, span, written=False, proxied=True)
        self._writes = touching(scope, span, written=True, proxied=True)

    def registers(self, frame: Frame, places: Sequence[Pointer], *, written: bool) -> None:
        """Registers of the thread."""
        _report(self._writes if written else self._reads, frame, [(place, WORD) for place in places])

    def chunks(self, frame: Frame, chunks: Sequence[OperationSource]) -> None:
        """What hooks see the warp of the thread read from shared memory."""
        _report(self._reads, frame, [(chunk.place, chunk.nbytes) for chunk in chunks])


def _report(touch: Touch | None, frame: Frame, places: Sequence[tuple[Pointer, int]]) -> None:
    if touch is not None:
        for place, nbytes in places:
            touch(frame, place, nbytes, None)
