"""Instructions on the registers of a warp: `mma`, `ldmatrix`, `stmatrix` and `movmatrix` (TIM-003, TIM-004).

| call                                                  | registers of a lane                                         |
|-------------------------------------------------------|-------------------------------------------------------------|
| `T.ptx_legacy.mma(shape, …, a, i, b, j, c, k, s)`     | elements behind pointers; c is C and D                      |
| `T.ptx_legacy.ldmatrix(trans, n, ".b16", d, i, p, o)` | elements behind d; p + o is the row of the lane             |
| `T.ptx.mma.sync.aligned.…(d…, a…, b…, c…)`            | elements of 32 or 64 bits, in this order                    |
| `T.ptx.ldmatrix.sync.aligned.m8n8.x4.…(d…, p)`        | elements of 32 bits; p is the row of the lane               |
| `T.ptx.stmatrix.sync.aligned.m8n8.x4.…(p, s…)`        | the same                                                    |
| `T.ptx.stmatrix.sync.aligned.m16n8.x4.trans.…(p, s…)` | the same, of bytes (PTX-025)                                |
| `T.ptx.movmatrix.sync.aligned.m8n8.trans.b16(d, s)`   | the same                                                    |
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TypeAlias, cast

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_POINTER
from refmlc.lang.dtypes import SCALARS, DType
from refmlc.lang.ir import tir
from refmlc.lang.ir.ptx import PtxCall
from refmlc.lang.ops.matrix.forms import NAMES, MmaForm, NoSuchForm
from refmlc.lang.ops.matrix.fragments import (
    LANES,
    ROWS,
    Matrix,
    bits_of_lane,
    bytes_moved_out,
    gathered,
    moved_in,
    moved_out,
    scattered,
)
from refmlc.lang.ops.matrix.products import product
from refmlc.run.interp.tensorir.addresses import touching
from refmlc.run.interp.tensorir.frame import Frame
from refmlc.run.interp.tensorir.scope import Scope
from refmlc.run.interp.threads.matrix.operands import read, written
from refmlc.run.interp.threads.matrix.registers import ElementCodes, joined, place_of, pointee, scope_of, split, word_of
from refmlc.run.interp.threads.matrix.work import NotExecuted, Posted, WarpWork
from refmlc.run.memory.pointer import Pointer

BYTE, REGISTER, ROW_BYTES, CODES, BYTES = 8, 32, 16, SCALARS["uint16"], SCALARS["uint8"]
LEAST, MOST = 13, 14
Places: TypeAlias = Iterable[tuple[Pointer, int]]
"""Places in memory, and how many bytes of each."""
MOVES = re.compile(r"sync aligned m8n8 x(?P<count>[124])(?P<transposed> trans)?(?: shared(?:::cta)?)? b16")
MOVES_OF_BYTES = re.compile(r"sync aligned m16n8 x(?P<count>[124]) trans(?: shared(?:::cta)?)? b8")


# ----------------------------------------------------------------------------------------------- mma


def _multiplied(form: MmaForm, posted: Posted) -> Posted:
    """What each lane holds of D, from what each holds of A, B and C."""
    lanes = cast("Sequence[tuple[int, int, int]]", posted)
    matrices = [gathered(form, name, [lane[i] for lane in lanes]) for i, name in enumerate("abc")]
    return scattered(form, "d", [product(form, *operands) for operands in zip(*matrices, strict=True)])


def _legacy_mma(scope: Scope, call: tir.Call) -> WarpWork:
    args = call.args
    if len(args) not in (LEAST, MOST):
        raise NotExecuted(f"has {len(args)} operands")
    shape, a_layout, b_layout, *dtypes = (word_of(arg) for arg in args[:6])
    a, b, c = (_ptx_name(dtype) for dtype in dtypes)
    saturates = isinstance(args[12], tir.IntImm) and bool(args[12].value)
    form = MmaForm(shape, a_layout, b_layout, c, a, b, c, saturates, word_of(args[13]) if len(args) == MOST else "")
    for data in args[6:12:2]:
        _check_scope(data)
    places = [place_of(scope, data, offset) for data, offset in zip(args[6:12:2], args[7:12:2], strict=True)]
    bits = [bits_of_lane(form, name) for name in "abc"]

    def post(frame: Frame) -> object:
        return tuple([place(frame).read(size) for place, size in zip(places, bits, strict=True)])

    def finish(frame: Frame, held: object) -> None:
        places[2](frame).write(bits[2], cast("int", held))

    return WarpWork(post, partial(_multiplied, form), finish)


def _ptx_name(dtype: str) -> str:
    if dtype not in NAMES:
        raise NotExecuted(f"has elements of {dtype[:40]}")
    return NAMES[dtype]


def _check_scope(data: tir.Attr) -> None:
    """Memory of `m16n8k8.matrixA` and so on has the shape of a matrix until TVM lays it out."""
    scope = scope_of(data)
    if scope.startswith("m16n8k8"):
        raise NotExecuted(f"on memory of scope `{scope}`, which TVM lays out later")


def _mma(scope: Scope, modifiers: Sequence[str], operands: Sequence[tir.Attr]) -> WarpWork:
    form = MmaForm.of(modifiers)
    wide = 64 if form.d == "f64" else REGISTER
    counts = [bits_of_lane(form, name) // wide for name in "dabc"]
    if sum(counts) != len(operands):
        raise NotExecuted(f"has {len(operands)} operands, of which {sum(counts)} are expected")
    ends = [sum(counts[: i + 1]) for i in range(4)]
    groups = [operands[end - count : end] for count, end in zip(counts, ends, strict=True)]
    finish = written(scope, groups[0], wide)
    sources = [read(scope, group, wide) for group in groups[1:]]

    def post(frame: Frame) -> object:
        return tuple([joined(source(frame), wide) for source in sources])

    def act(posted: Posted) -> Posted:
        return [split(cast("int", held), wide, counts[0]) for held in _multiplied(form, posted)]

    return WarpWork(post, act, finish)


# ------------------------------------------------------------------------------------------ movement


def _rows(lanes: Sequence[ElementCodes], number: int, codes: DType = CODES) -> list[ElementCodes]:
    """The rows of matrix `number`, which 8 lanes point to. Fails: RM313 where one is not aligned."""
    rows = lanes[ROWS * number : ROWS * (number + 1)]
    for row in rows:
        if row.pointer.byte_offset % ROW_BYTES:
            message = f"a row of a matrix begins at byte {row.pointer.byte_offset}, which 16 does not divide"
            raise fail(BAD_POINTER, message)
    return [ElementCodes(row.pointer, codes) for row in rows]


def _loaded(count: int, posted: Posted, *, transposed: bool) -> Posted:
    """The registers of each lane."""
    lanes = cast("Sequence[ElementCodes]", posted)
    matrices = [
        moved_in([row.codes(ROWS) for row in _rows(lanes, number)], transposed=transposed) for number in range(count)
    ]
    return list(zip(*matrices, strict=True))


def _read_by(count: int, posted: Posted, lane: int, *, transposed: bool) -> Places:
    """The bytes that a lane gets: of row `lane` div 4 two elements, or of two rows element `lane` div 4."""
    lanes, (major, minor) = cast("Sequence[ElementCodes]", posted), divmod(lane, 4)
    for number in range(count):
        rows = lanes[ROWS * number : ROWS * (number + 1)]
        if transposed:
            yield from ((rows[2 * minor + i].pointer.moved(2 * major), 2) for i in range(2))
        else:
            yield rows[major].pointer.moved(4 * minor), 4


def _bytes_read_by(posted: Posted, lane: int) -> Places:
    return ((own.pointer, 1) for own in _bytes_of(posted, lane))


def _seen(scope: Scope, memory: tir.Attr, work: WarpWork, read_by: Callable[[Posted, int], Places]) -> WarpWork:
    """The same work, of which hooks see what each lane reads."""
    reads = touching(scope, getattr(memory, "span", None), written=False)
    if reads is None:
        return work

    def act(posted: Posted) -> Posted:
        return [(result, list(read_by(posted, lane))) for lane, result in enumerate(work.act(posted))]

    def finish(frame: Frame, result: object) -> None:
        registers, places = cast("tuple[object, list[tuple[Pointer, int]]]", result)
        for place, nbytes in places:
            reads(frame, place, nbytes, None)
        work.finish(frame, registers)

    return WarpWork(work.post, act, finish)


def _moves(modifiers: Sequence[str]) -> tuple[int, bool]:
    """The number of matrices, and whether each is transposed."""
    match = MOVES.fullmatch(" ".join(modifiers))
    if match is None:
        raise NotExecuted(f"with the modifiers {' '.join(modifiers)[:100]}")
    return int(match["count"]), match["transposed"] is not None


def _ldmatrix(scope: Scope, modifiers: Sequence[str], operands: Sequence[tir.Attr]) -> WarpWork:
    count, transposed = _moves(modifiers)
    if len(operands) != count + 1:
        raise NotExecuted(f"has {len(operands)} operands, of which {count + 1} are expected")
    finish = written(scope, operands[:-1], REGISTER)
    work = WarpWork(place_of(scope, operands[-1]), partial(_loaded, count, transposed=transposed), finish)
    return _seen(scope, operands[-1], work, partial(_read_by, count, transposed=transposed))


def _stmatrix(scope: Scope, modifiers: Sequence[str], operands: Sequence[tir.Attr]) -> WarpWork:
    of_bytes = MOVES_OF_BYTES.fullmatch(" ".join(modifiers))
    if of_bytes is not None:
        return _stored(scope, operands, int(of_bytes["count"]), bytes_moved_out, BYTES)  # PTX-025
    count, transposed = _moves(modifiers)
    return _stored(scope, operands, count, partial(moved_out, transposed=transposed), CODES)


def _stored(
    scope: Scope, operands: Sequence[tir.Attr], count: int, matrix_of: Callable[[list[int]], Matrix], codes: DType
) -> WarpWork:
    if len(operands) != count + 1:
        raise NotExecuted(f"has {len(operands)} operands, of which {count + 1} are expected")
    place, registers = place_of(scope, operands[0]), read(scope, operands[1:], REGISTER)
    writes, lane_of = touching(scope, getattr(operands[0], "span", None), written=True), scope.axes.get("threadIdx.x")

    def post(frame: Frame) -> object:
        row = place(frame)
        if writes is not None and lane_of is not None and cast("int", frame[lane_of]) % LANES < ROWS * count:
            writes(frame, row.pointer, ROW_BYTES, None)
        return row, registers(frame)

    def act(posted: Posted) -> Posted:
        lanes = cast("Sequence[tuple[ElementCodes, Sequence[int]]]", posted)
        for number in range(count):
            matrix = matrix_of([held[number] for _, held in lanes])
            for row, elements in zip(_rows([lane for lane, _ in lanes], number, codes), matrix, strict=True):
                row.put(elements)
        return [None] * LANES

    return WarpWork(post, act, lambda _frame, _result: None)


def _movmatrix(scope: Scope, modifiers: Sequence[str], operands: Sequence[tir.Attr]) -> WarpWork:
    if list(modifiers) != ["sync", "aligned", "m8n8", "trans", "b16"] or len(operands) != 2:
        raise NotExecuted(f"with the modifiers {' '.join(modifiers)[:100]}")
    source = read(scope, operands[1:], REGISTER)

    def act(posted: Posted) -> Posted:
        held = [registers[0] for registers in cast("Sequence[Sequence[int]]", posted)]
        return [[register] for register in moved_in(moved_out(held, transposed=False), transposed=True)]

    return WarpWork(source, act, written(scope, operands[:1], REGISTER))


def _legacy_ldmatrix(scope: Scope, call: tir.Call) -> WarpWork:
    if len(call.args) != 7:
        raise NotExecuted(f"has {len(call.args)} operands")
    turned, number, kind, data, offset, memory, distance = call.args
    if not isinstance(turned, tir.IntImm) or not isinstance(number, tir.IntImm):
        raise NotExecuted("has a number of matrices, or a direction, that is no constant")
    transposed, count = bool(turned.value), number.value
    if word_of(kind) != ".b16" or count not in (1, 2, 4):
        raise NotExecuted(f"of {count} matrices of {word_of(kind)[:20]}")
    _check_scope(data)
    place, rows = place_of(scope, data, offset), place_of(scope, memory, distance)
    if transposed and pointee(data).bits == BYTE:
        if count != 4:
            raise NotExecuted(f"transposes {count} matrices of bytes")
        work = _bytes_by_a_loop(place, place_of(scope, memory), scope.int(cast("tir.Expr", distance)))
        return _seen(scope, memory, work, _bytes_read_by)

    def finish(frame: Frame, registers: object) -> None:
        place(frame).write(REGISTER * count, joined(cast("Sequence[int]", registers), REGISTER))

    work = WarpWork(rows, partial(_loaded, count, transposed=transposed), finish)
    return _seen(scope, memory, work, partial(_read_by, count, transposed=transposed))


def _bytes_by_a_loop(
    place: Callable[[Frame], ElementCodes], memory: Callable[[Frame], ElementCodes], stride: Callable[[Frame], int]
) -> WarpWork:
    """Two pairs of 8 by 8 bytes for each thread: `ldmatrix` cannot transpose bytes, TVM writes a loop in its place."""

    def act(posted: Posted) -> Posted:
        return [[own.codes(1)[0] for own in _bytes_of(posted, lane)] for lane in range(len(posted))]

    return WarpWork(
        lambda frame: (memory(frame), stride(frame)),
        act,
        lambda frame, codes: place(frame).put(cast("Sequence[int]", codes)),
    )


def _bytes_of(posted: Posted, lane: int) -> list[ElementCodes]:
    """The places of the bytes that a lane gets."""
    start, step = cast("Sequence[tuple[ElementCodes, int]]", posted)[lane]
    rows = [16 * (i % 8 // 4) + 4 * (lane % 4) + i % 4 for i in range(16)]
    columns = [8 * (i // 8) + lane // 4 for i in range(16)]
    return [start.moved(row * step + column) for row, column in zip(rows, columns, strict=True)]


LEGACY: Mapping[str, Callable[[Scope, tir.Call], WarpWork]] = {
    "ptx_legacy.mma": _legacy_mma,
    "ptx_legacy.ldmatrix": _legacy_ldmatrix,
}
FAMILIES: Mapping[str, Callable[[Scope, Sequence[str], Sequence[tir.Attr]], WarpWork]] = {
    "ptx.mma": _mma,
    "ptx.ldmatrix": _ldmatrix,
    "ptx.stmatrix": _stmatrix,
    "ptx.movmatrix": _movmatrix,
}


def instruction(scope: Scope, call: tir.Call, family: str) -> WarpWork:
    """A call of an instruction."""
    ptx = cast("PtxCall", PtxCall.of(call))
    if call.attrs or ptx.predicate is not None:
        raise NotExecuted(f"with `{next(iter(call.attrs), 'pred')}`")
    if ptx.predicates or ptx.has_sinks:
        raise NotExecuted("has a predicate, or what stands for no register, among its operands")
    try:
        return FAMILIES[family](scope, ptx.modifiers, ptx.operands)
    except NoSuchForm as reason:
        raise NotExecuted(f"has no form with {reason}") from None
