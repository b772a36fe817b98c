"""Products in tensor memory: `tcgen05.mma`, and `tcgen05.commit` (TIM-016, TIM-018, TIM-019).

| call of one thread                                                       | behind D, A, B and the descriptor        |
|--------------------------------------------------------------------------|------------------------------------------|
| `T.ptx.tcgen05.mma.cta_group__1.kind__f16(d, a, b, i, m0, …, m3, p)`     | which lanes stay; whether D is added     |
| `T.ptx.tcgen05.mma.ws.cta_group__1.kind__f16(d, a, b, i, p, z)`          | whether D is added; 0                    |
| `T.ptx.tcgen05.mma.cta_group__1.kind__mxf4.block_scale.scale_vec__2X(…)` | scales of A and of B; whether D is added |
| `T.ptx.tcgen05.commit.cta_group__1.mbarrier__arrive__one.b64(bar)`       |                                          |

D, and the scales, are addresses in tensor memory; A is one, of 32 bits, or as B is a descriptor of 64 bits of a matrix
in shared memory. A product takes what it reads when it is issued; D has its values when a thread has waited for the
barrier of a commit.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import cast

from refmlc.diag import fail
from refmlc.diag.catalogue import UNSUPPORTED_CONSTRUCT
from refmlc.lang.ir import tir
from refmlc.lang.ops.matrix.descriptors import TCGEN05
from refmlc.lang.ops.matrix.forms import NoSuchForm
from refmlc.lang.ops.matrix.fragments import Matrix
from refmlc.lang.ops.matrix.products import Scales, Unspecified, product, scaled_product, signed
from refmlc.lang.ops.matrix.tensor_products import SCALES, TensorForm
from refmlc.run.interp.asynchronous.operands import NotExecutedError
from refmlc.run.interp.asynchronous.operations import Move, OperationSource
from refmlc.run.interp.asynchronous.place import signal
from refmlc.run.interp.tensorir.addresses import Touch, touching
from refmlc.run.interp.tensorir.frame import Frame, IntEval
from refmlc.run.interp.threads.matrix.registers import split
from refmlc.run.interp.threads.matrix.shared_matrices import BYTE, chunk_at, described, read_matrix
from refmlc.run.interp.threads.matrix.tensor_memory import pipeline
from refmlc.run.interp.threads.matrix.tensor_memory.addresses import descriptor
from refmlc.run.interp.threads.matrix.tensor_memory.cells import rows
from refmlc.run.interp.threads.matrix.tensor_memory.pipeline import TensorOperation, content, issue
from refmlc.run.interp.threads.matrix.tensor_memory.place import GROUPS, TensorInstruction
from refmlc.run.interp.threads.matrix.work import NotExecuted, ThreadWork
from refmlc.run.memory.pointer import Pointer
from refmlc.run.memory.tensor_memory import CELL, LANE_BITS

KIND = "kind::"
MASKS, MASK_BITS = 4, 32
"""The numbers of a mask for the lanes of a block, and their bits."""
SCALE_ROWS, SCALE_COPIES = 32, 4
READS = "a product"
DESCRIPTORS = (1, 2)
"""The operands that may be descriptors of matrices."""
VECTORS = {
    ("mxf8f6f4", "scale_vec::1X"): 1,
    ("mxf8f6f4", "block32"): 1,
    ("mxf4", "scale_vec::2X"): 2,
    ("mxf4", "block32"): 2,
    ("mxf4nvf4", "scale_vec::2X"): 2,
    ("mxf4nvf4", "block32"): 2,
    ("mxf4nvf4", "scale_vec::4X"): 4,
    ("mxf4nvf4", "block16"): 4,
}
"""How many scales a row has, by the kind and what the modifiers say of them."""


@dataclass(frozen=True, slots=True)
class _Values:
    """The operands of a product. `masks`: lanes that stay as they are; `scales`: addresses of those of A and B."""

    d: int
    a: int
    b: int
    code: int
    adds: bool
    masks: Sequence[int] = ()
    scales: Sequence[int] = ()


@dataclass(frozen=True, slots=True)
class _Modifiers:
    """What the modifiers of a product say. `vector`: how many scales a row has, 0 of none."""

    blocks: int
    kind: str
    stationary: bool = False
    vector: int = 0

    @classmethod
    def of(cls, words: Sequence[str]) -> "_Modifiers":
        """Those of the words behind `mma`. Fails: NotExecuted."""
        match words:
            case ["ws", group, kind] if group in GROUPS and kind.startswith(KIND):
                return cls(GROUPS[group], kind.removeprefix(KIND), stationary=True)
            case [group, kind] if group in GROUPS and kind.startswith(KIND):
                return cls(GROUPS[group], kind.removeprefix(KIND))
            case [group, kind, "block_scale", size] if group in GROUPS and kind.startswith(KIND):
                name = kind.removeprefix(KIND)
                if (name, size) in VECTORS:
                    return cls(GROUPS[group], name, vector=VECTORS[name, size])
        raise NotExecuted(f"with the modifiers mma {' '.join(words)[:100]}")


def multiply(here: TensorInstruction) -> ThreadWork:  # TIM-016
    """A product that a thread issues."""
    modifiers = _Modifiers.of(here.modifiers[1:])
    values, in_shared = _values(here, modifiers), _is_descriptor(here.operands)
    watch = _Watch(here)

    def run(frame: Frame) -> None:
        operands = values(frame)
        try:
            form = TensorForm.of(
                modifiers.kind,
                modifiers.blocks,
                operands.code,
                stationary=modifiers.stationary,
                vector=modifiers.vector,
            )
            work = _Product(here, frame, form, operands)
            work.multiply(in_shared=in_shared)
        except NoSuchForm as reason:
            raise fail(UNSUPPORTED_CONSTRUCT, f"`tcgen05.mma` has no form with {reason}", here.span) from None
        except Unspecified as reason:
            raise fail(UNSUPPORTED_CONSTRUCT, f"`tcgen05.mma`: {reason}", here.span) from None
        work.issue(watch)

    return ThreadWork(run)


def _is_descriptor(operands: Sequence[tir.Attr]) -> bool:
    """Whether A is in shared memory. Fails: NotExecuted."""
    a = operands[1] if len(operands) > 1 else None
    if not isinstance(a, tir.Expr) or a.dtype.kind not in ("int", "uint") or a.dtype.bits not in (32, 64):
        raise NotExecuted("has an operand A that is neither a descriptor nor an address")
    return a.dtype.bits == 64


def _values(here: TensorInstruction, modifiers: _Modifiers) -> Callable[[Frame], _Values]:
    if modifiers.vector:
        here.check_count(7)
    elif modifiers.stationary:
        here.check_count(6)
    else:
        here.check_count(5 + MASKS * modifiers.blocks)
    numbers = [_number(here, place) for place in range(len(here.operands))]

    def read(frame: Frame) -> _Values:
        d, a, b, code, *rest = (number(frame) for number in numbers)
        if modifiers.vector:
            return _Values(d, a, b, code, bool(rest[2]), scales=rest[:2])
        if modifiers.stationary:
            if rest[1]:
                raise fail(UNSUPPORTED_CONSTRUCT, "`tcgen05.mma.ws` with a mask of columns is not executed", here.span)
            return _Values(d, a, b, code, bool(rest[0]))
        return _Values(d, a, b, code, bool(rest[-1]), masks=rest[:-1])

    return read


def _number(here: TensorInstruction, place: int) -> IntEval:
    operand = here.integer(place)
    if place in DESCRIPTORS:
        return descriptor(here.scope, operand)
    value = here.scope.number(operand)
    return lambda frame: int(cast("int", value(frame)))


class _Product:
    """A product while it is issued: in each block a part of the rows, and of the columns of B."""

    def __init__(self, here: TensorInstruction, frame: Frame, form: TensorForm, operands: _Values) -> None:
        self._here, self._frame, self._form, self._operands = here, frame, form, operands
        self._blocks = here.blocks(frame, form.group)
        self._operation = TensorOperation((), "tmem", here.span, lambda _frame, _phase: None)
        self._operation.pipeline, self._operation.form = here.thread(frame), form
        self._sources: list[OperationSource] = []

    def multiply(self, *, in_shared: bool) -> None:
        """Compute D. Fails: NoSuchForm, Unspecified; RM304, RM305, RM341, RM351 of what is read."""
        form = self._form
        lines = [
            line
            for block in self._blocks
            for line in self._from_shared(block, self._operands.b, 1, form.n // form.group)
        ]
        b = signed(form.element("b"), lines, form.signs[1])
        turned = [list(row) for row in zip(*b, strict=True)]
        self._operation.moves = [
            move
            for number, block in enumerate(self._blocks)
            for move in self._of_block(number, block, turned, in_shared)
        ]

    def _of_block(self, number: int, block: int, columns: Matrix, in_shared: bool) -> list[Move]:
        """What a block gets of D."""
        form, operands = self._form, self._operands
        shared = self._from_shared(block, operands.a, 0, form.rows) if in_shared else None
        scales, width, moves = self._scales(block), form.n // len(form.banks), list[Move]()
        for bank, lanes in enumerate(form.banks):
            a = shared if shared is not None else self._from_tensor_memory(block, operands.a, lanes)
            cells = [self._cells(block, operands.d, (form.lane(row) + lanes, 0, width)) for row in range(form.rows)]
            before = [self._before(place, width) for place in cells]
            own = [row[bank * width : (bank + 1) * width] for row in columns]
            rows = signed(form.element("a"), a, form.signs[0])
            part = None if scales is None else scales.of_columns(bank * width, width)
            d = product(form, rows, own, before) if part is None else scaled_product(form, rows, own, before, part)
            moves += [
                Move(place, None, b"".join(code.to_bytes(CELL, "little") for code in codes))
                for row, (place, codes) in enumerate(zip(cells, d, strict=True))
                if not self._stays(number, form.lane(row) + lanes)
            ]
        return moves

    def issue(self, watch: "_Watch") -> None:
        """From now on it is open."""
        operation, sources, moves = self._operation, self._sources, self._operation.moves

        def report(at: Frame, phase: object) -> None:
            watch.writes(at, moves, phase)

        watch.reads(self._frame, sources)
        report(self._frame, None)
        operation.sources, operation.written = sources, report
        issue(self._here.block(self._frame), self._here.thread(self._frame), operation)

    def _stays(self, number: int, lane: int) -> bool:
        masks = self._operands.masks
        return bool(masks) and bool(masks[MASKS * number + lane // MASK_BITS] >> lane % MASK_BITS & 1)

    def _before(self, place: Pointer, width: int) -> list[int]:
        if not self._operands.adds:
            return [0] * width
        return split(int.from_bytes(content(place, width * CELL, self._operation, READS), "little"), 32, width)

    def _from_shared(self, block: int, code: int, number: int, lines: int) -> Matrix:
        """A matrix, or the part of it that a block has."""
        form, same = self._form, self._here.in_block(self._frame, block)
        numbers = self._here.group(self._frame).numbers(self._frame)
        read = read_matrix(
            described(code, TCGEN05),
            (lines, form.k),
            form.element("ab"[number]),
            partial(chunk_at, numbers=numbers, place_of=same),
            along_k=form.along_k[number],
        )
        self._sources += [OperationSource.read(place, len(data)) for place, data in read.chunks]
        return read.lines

    def _from_tensor_memory(self, block: int, address: int, lanes: int) -> Matrix:
        """A, whose rows are where those of D are."""
        form, bits = self._form, self._form.element("a").bits
        if form.scatters:
            raise NoSuchForm("A in tensor memory with 64 rows in 128 lanes")
        cells = form.k * bits // (BYTE * CELL)
        return [
            split(int.from_bytes(self._source(block, address, (row + lanes, 0, cells)), "little"), bits, form.k)
            for row in range(form.rows)
        ]

    def _scales(self, block: int) -> Scales | None:
        form = self._form
        if not form.vector:
            return None
        pairs = zip(self._operands.scales, (form.rows, form.n), form.offsets, strict=True)
        return Scales(SCALES[form.scale], *(self._scales_at(block, at, count, first) for at, count, first in pairs))

    def _scales_at(self, block: int, address: int, count: int, first: int) -> Matrix:
        """The scales of `count` rows: those of 32 are in a column, and each quarter of the lanes has them."""
        found: Matrix = []
        for row in range(count):
            column, lane = divmod(row, SCALE_ROWS)
            copies = {
                self._source(block, address, (lane + SCALE_ROWS * quarter, column, 1))
                for quarter in range(SCALE_COPIES)
            }
            if len(copies) > 1:
                raise NoSuchForm("scales that are not the same in all quarters of the lanes")
            found.append(list(copies.pop()[first : first + self._form.vector]))
        return found

    def _source(self, block: int, address: int, where: tuple[int, int, int]) -> bytes:
        place = self._cells(block, address, where)
        data = content(place, where[2] * CELL, self._operation, READS)
        self._sources.append(OperationSource.read(place, len(data)))
        return data

    def _cells(self, block: int, address: int, where: tuple[int, int, int]) -> Pointer:
        """Cells of a lane: the lane, the first column and their number, after an address. Fails: RM304, RM351."""
        start = address >> LANE_BITS, address & (1 << LANE_BITS) - 1
        lane, column, count = where
        memory = self._here.memory(self._frame, block)
        return rows(self._here, memory, start, range(lane, lane + 1), (column, count))[0].place


class _Watch:
    """What reports the accesses of a product to hooks, through the async proxy."""

    def __init__(self, here: TensorInstruction) -> None:
        self._reads = touching(here.scope, here.span, written=False, proxied=True)
        self._writes = touching(here.scope, here.span, written=True, proxied=True)

    def reads(self, frame: Frame, sources: Sequence[OperationSource]) -> None:
        """What it reads."""
        _report(self._reads, frame, [(source.place, source.nbytes) for source in sources], None)

    def writes(self, frame: Frame, moves: Sequence[Move], phase: object) -> None:
        """What it writes."""
        _report(self._writes, frame, [(move.destination, move.nbytes) for move in moves], phase)


def _report(touch: Touch | None, frame: Frame, places: Sequence[tuple[Pointer, int]], phase: object) -> None:
    if touch is not None:
        for place, nbytes in places:
            touch(frame, place, nbytes, phase)


# ---------------------------------------------------------------------------------------------------- commits: TIM-019

MULTICAST = "multicast::cluster"
COMMITS = frozenset(
    ("mbarrier::arrive::one", *space, *several, "b64")
    for space in ((), ("shared::cluster",))
    for several in ((), (MULTICAST,))
)
"""What may follow the number of blocks."""


def commit(here: TensorInstruction) -> ThreadWork:  # TIM-019
    """A barrier, or one in each of several blocks, gets an arrival when what the thread has issued is complete."""
    several = MULTICAST in here.modifiers
    blocks = GROUPS.get(here.modifiers[1] if len(here.modifiers) > 1 else "")
    if blocks is None or here.modifiers[2:] not in COMMITS:
        raise NotExecuted(f"with the modifiers {' '.join(here.modifiers)[:100]}")
    here.check_count(1 + several)
    try:
        at, mask = here.address(0), here.number(1) if several else None
    except NotExecutedError as reason:
        raise NotExecuted(f"is not executed: {reason}") from None

    def run(frame: Frame) -> None:
        here.blocks(frame, blocks)
        first = at.at(frame)
        places = [first] if mask is None else [there for _, there in here.in_blocks(first, mask(frame), frame)]
        for there in places:
            barrier = here.barrier(at, frame, place=there)
            pipeline.commit(here.block(frame), here.thread(frame), barrier)
            signal(here, barrier, frame)
            barrier.arrive(1, here.span)

    return ThreadWork(run)
