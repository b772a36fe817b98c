"""Whole matrices of a warp: WMMA fragments and the matrices of Metal's SIMD groups (TIM-001).

| call                                                     | meaning                                                   |
|----------------------------------------------------------|-----------------------------------------------------------|
| `tvm_fill_fragment(d, m, n, k, i, x)`                    | each element of matrix i is x                             |
| `tvm_load_matrix_sync(d, m, n, k, i, p, stride, layout)` | matrix i is what lies at p, by rows or by columns         |
| `tvm_store_matrix_sync(…)`                               | the other way                                             |
| `tvm_mma_sync(d, i, a, j, b, k, c, l)`                   | matrix i of d is matrix j of a times k of b, plus l of c  |
| `tvm_bmma_sync(…)`                                       | the same of bits, with the number of ones of their `xor`  |
| `metal.make_filled_simdgroup_matrix`, `metal.simdgroup_…` | the same, 8 by 8                                         |

The memory of such matrices holds one after the other, each by rows, in each of the lanes that has it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import cast

from refmlc.lang.dtypes import DType
from refmlc.lang.dtypes.bits import to_bits
from refmlc.lang.ir import tir
from refmlc.lang.ir.visit import walk
from refmlc.lang.ops.matrix.fragments import LANES, Matrix
from refmlc.lang.ops.matrix.products import Product, of_bits, of_floats, of_integers
from refmlc.run.interp.tensorir.addresses import touching
from refmlc.run.interp.tensorir.frame import Frame
from refmlc.run.interp.tensorir.scope import Scope
from refmlc.run.interp.threads.matrix.registers import ElementCodes, place_of, pointee, scope_of, word_of
from refmlc.run.interp.threads.matrix.work import Apart, NotExecuted, Posted, WarpWork
from refmlc.run.memory.cells import cell_size
from refmlc.run.memory.pointer import Pointer

SIDE = 8
TRIPLE, SIXTEEN = ((16, 16, 16), (32, 8, 16), (8, 32, 16)), ("float16", "float32")
SHAPES: Mapping[str, tuple[tuple[tuple[int, int, int], ...], tuple[str, ...]]] = {
    "float16": (TRIPLE, SIXTEEN),
    "bfloat16": (TRIPLE, ("float32",)),
    "int8": (TRIPLE, ("int32",)),
    "uint8": (TRIPLE, ("int32",)),
    "int4": (((8, 8, 32),), ("int32",)),
    "uint4": (((8, 8, 32),), ("int32",)),
    "int1": (((8, 8, 128),), ("int32",)),
    "float64": (((8, 8, 4),), ("float64",)),
}
"""The shapes m, n, k of a product of WMMA, and the dtypes of its sum, by the dtype of A and B."""


@dataclass(frozen=True, slots=True)
class WholeMatrix:
    """One matrix of fragment memory, of `rows` by `columns` elements."""

    elements: ElementCodes
    rows: int
    columns: int

    def read(self) -> Matrix:
        """The codes, by rows."""
        codes = self.elements.codes(self.rows * self.columns)
        return [codes[start : start + self.columns] for start in range(0, len(codes), self.columns)]

    def write(self, matrix: Matrix) -> None:
        """Write the codes."""
        self.elements.put([code for row in matrix for code in row])


def _tile(scope: Scope, data: tir.Attr, index: tir.Attr, rows: int, columns: int) -> Callable[[Frame], WholeMatrix]:
    start, number = place_of(scope, data), scope.int(cast("tir.Expr", index))
    return lambda frame: WholeMatrix(start(frame).moved(number(frame) * rows * columns), rows, columns)


def _number(node: tir.Attr) -> int:
    if not isinstance(node, tir.IntImm):
        raise NotExecuted("has a shape that is not constant")
    return node.value


def _extents(call: tir.Call) -> tuple[int, int]:
    """Rows and columns of the matrix of a WMMA call that says its shape."""
    m, n, k = (_number(arg) for arg in call.args[1:4])
    scope = scope_of(call.args[0])
    return {"wmma.matrix_a": (m, k), "wmma.matrix_b": (k, n), "wmma.accumulator": (m, n)}.get(scope) or _no_matrix(
        scope
    )


def _no_matrix(scope: str) -> tuple[int, int]:
    raise NotExecuted(f"has a matrix in memory of scope `{scope}`")


def _write_own(_frame: Frame, result: object) -> None:
    tile, matrix = cast("tuple[WholeMatrix, Matrix]", result)
    tile.write(matrix)


def _done(_frame: Frame, _result: object) -> None:
    """Nothing is left to do."""


def _same(values: Sequence[object]) -> None:
    for value in values[1:]:
        if value != values[0]:
            raise Apart(f"{_shown(values[0])} and {_shown(value)}")


def _shown(value: object) -> str:
    return f"byte {value.byte_offset} of a storage" if isinstance(value, Pointer) else str(value)


# ------------------------------------------------------------------------------- fill, load and store


def _filled(scope: Scope, data: tir.Attr, index: tir.Attr, value: tir.Attr, extents: tuple[int, int]) -> WarpWork:
    rows, columns = extents
    dtype = pointee(data)
    tile, number = _tile(scope, data, index, *extents), scope.number(tir.Cast(dtype, cast("tir.Expr", value)))

    def act(posted: Posted) -> Posted:
        lanes = cast("Sequence[tuple[WholeMatrix, int]]", posted)
        _same([code for _, code in lanes])
        return [(own, [[code] * columns] * rows) for own, code in lanes]

    return WarpWork(lambda frame: (tile(frame), to_bits(dtype, number(frame))), act, _write_own, alone=True)


def _moved(
    scope: Scope,
    tile: Callable[[Frame], WholeMatrix],
    memory: tir.Attr,
    stride: tir.Attr,
    *,
    loads: bool,
    by_columns: bool,
) -> WarpWork:
    """Between a tile and memory, whose lines are `stride` elements apart."""
    start, step = place_of(scope, memory), scope.int(cast("tir.Expr", stride))
    touch, lane_of = touching(scope, getattr(memory, "span", None), written=not loads), scope.axes.get("threadIdx.x")

    def post(frame: Frame) -> object:
        own = tile(frame)
        place, distance = ElementCodes(start(frame).pointer, own.elements.dtype), step(frame)
        if touch is not None and (lane_of is None or (frame[lane_of] or 0) % LANES == 0):
            lines, length = (own.columns, own.rows) if by_columns else (own.rows, own.columns)
            for line in range(lines):
                touch(frame, place.moved(line * distance).pointer, length * cell_size(place.dtype), None)
        return own, place, distance

    def act(posted: Posted) -> Posted:
        lanes = cast("Sequence[tuple[WholeMatrix, ElementCodes, int]]", posted)
        _same([(lane[1].pointer.byte_offset, lane[2]) for lane in lanes])
        own, place, distance = lanes[0]
        if any(lane[1].pointer.storage is not place.pointer.storage for lane in lanes):
            raise Apart("memory in two places")
        lines, length = (own.columns, own.rows) if by_columns else (own.rows, own.columns)
        if loads:
            read = [place.moved(line * distance).codes(length) for line in range(lines)]
            matrix = _turned(read) if by_columns else read
            return [(lane[0], matrix) for lane in lanes]
        matrix = own.read()
        for line, codes in enumerate(_turned(matrix) if by_columns else matrix):
            place.moved(line * distance).put(codes)
        return [None] * len(lanes)

    return WarpWork(post, act, _write_own if loads else _done, alone=True)


def _turned(matrix: Matrix) -> Matrix:
    return [list(column) for column in zip(*matrix, strict=True)]


def _fill(scope: Scope, call: tir.Call) -> WarpWork:
    data, _, _, _, index, value = call.args
    return _filled(scope, data, index, value, _extents(call))


def _transfer(scope: Scope, call: tir.Call, *, loads: bool) -> WarpWork:
    data, _, _, _, index, memory, stride, layout = call.args
    if word_of(layout) not in ("row_major", "col_major"):
        raise NotExecuted(f"has the layout {word_of(layout)[:40]}")
    tile = _tile(scope, data, index, *_extents(call))
    return _moved(scope, tile, memory, stride, loads=loads, by_columns=word_of(layout) == "col_major")


def _fill_group(scope: Scope, call: tir.Call) -> WarpWork:
    data, index, value, columns, rows = call.args
    return _filled(scope, data, index, value, _square(columns, rows))


def _transfer_group(scope: Scope, call: tir.Call, *, loads: bool) -> WarpWork:
    data, index, memory, stride, columns, rows, transposed = call.args
    tile = _tile(scope, data, index, *_square(columns, rows))
    return _moved(scope, tile, memory, stride, loads=loads, by_columns=bool(_number(transposed)))


def _square(columns: tir.Attr, rows: tir.Attr) -> tuple[int, int]:
    if (_number(columns), _number(rows)) != (SIDE, SIDE):
        raise NotExecuted(f"has a matrix of {_number(columns)} by {_number(rows)}")
    return SIDE, SIDE


# ------------------------------------------------------------------------------------------- products


def _product(scope: Scope, call: tir.Call, sizes: tuple[int, int, int], product: Product[object]) -> WarpWork:
    m, n, k = sizes
    args = call.args
    extents = ((m, n), (m, k), (k, n), (m, n))
    tiles = [_tile(scope, args[2 * i], args[2 * i + 1], *extents[i]) for i in range(4)]

    def act(posted: Posted) -> Posted:
        lanes = cast("Sequence[Sequence[WholeMatrix]]", posted)
        read = [[tile.read() for tile in lane[1:]] for lane in lanes]
        _same(read)
        matrix = product.of(*read[0])
        return [(lane[0], matrix) for lane in lanes]

    return WarpWork(lambda frame: [tile(frame) for tile in tiles], act, _write_own, alone=True)


def _mma(scope: Scope, call: tir.Call, *, of_ones: bool) -> WarpWork:
    d, a, b, c = call.args[::2]
    dtypes = [pointee(data) for data in (a, b, c, d)]
    sizes = _sizes(scope, a, b, c)
    shapes, sums = SHAPES.get(dtypes[0].element, ((), ()))
    name = "x".join(map(str, sizes))
    alike = dtypes[0] == dtypes[1] and dtypes[2] == dtypes[3]
    if sizes not in shapes or dtypes[2].element not in sums or not alike or of_ones != (dtypes[0].bits == 1):
        raise NotExecuted(f"of {dtypes[0]} and {dtypes[1]} with {dtypes[2]} in the shape {name} is no form of WMMA")
    return _product(scope, call, sizes, _sum_of(*dtypes))


def _sum_of(a: DType, b: DType, c: DType, d: DType) -> Product[object]:
    if a.bits == 1:
        return cast("Product[object]", of_bits("xor"))
    product: object = of_integers(a, b) if a.is_integer else of_floats(a, b, c, d)
    return cast("Product[object]", product)


def _mma_group(scope: Scope, call: tir.Call) -> WarpWork:
    dtypes = [pointee(data) for data in (*call.args[2::2], call.args[0])]
    if not all(dtype.element in ("float16", "bfloat16", "float32") for dtype in dtypes):
        raise NotExecuted(f"of {dtypes[0]} and {dtypes[1]} with {dtypes[2]} is no form of Metal")
    return _product(scope, call, (SIDE, SIDE, SIDE), _sum_of(*dtypes))


def _sizes(scope: Scope, a: tir.Attr, b: tir.Attr, c: tir.Attr) -> tuple[int, int, int]:
    """The shape of a product: as the calls that fill, load or store the same memory say; else that of the buffers."""
    assert scope.func is not None  # noqa: S101 - only functions have calls
    own = {_root(scope, data) for data in (a, b, c)}
    said = {
        tuple(_number(arg) for arg in node.args[1:4])
        for node in walk(scope.func.body)
        if isinstance(node, tir.Call) and node.callee in SHAPED and _root(scope, node.args[0]) in own
    }
    if not said:
        said = {_sizes_of_buffers(a, b, c)}
    if len(said) != 1:
        raise NotExecuted("has matrices of several shapes")
    m, n, k = said.pop()
    return m, n, k


def _sizes_of_buffers(a: tir.Attr, b: tir.Attr, c: tir.Attr) -> tuple[int, ...]:
    counts = []
    for data in (a, b, c):
        shape = data.buffer.shape if isinstance(data, tir.BufferData) else ()
        counts.append([_number(extent) for extent in shape])
    if any(len(shape) != 2 for shape in counts):
        raise NotExecuted("has matrices whose shape the function does not say")
    (m, k), second, (rows, n) = counts
    if rows != m or sorted(second) != sorted((k, n)):
        raise NotExecuted("has matrices whose shapes do not fit")
    return m, n, k


def _root(scope: Scope, data: tir.Attr) -> object:
    match data:
        case tir.BufferData(buffer=buffer):
            return scope.exchange.root(buffer)
        case _:
            return data


SHAPED = ("tvm_fill_fragment", "tvm_load_matrix_sync", "tvm_store_matrix_sync")
TILES: Mapping[str, Callable[[Scope, tir.Call], WarpWork]] = {
    "tvm_fill_fragment": _fill,
    "tvm_load_matrix_sync": partial(_transfer, loads=True),
    "tvm_store_matrix_sync": partial(_transfer, loads=False),
    "tvm_mma_sync": partial(_mma, of_ones=False),
    "tvm_bmma_sync": partial(_mma, of_ones=True),
    "metal.make_filled_simdgroup_matrix": _fill_group,
    "metal.simdgroup_load": partial(_transfer_group, loads=True),
    "metal.simdgroup_store": partial(_transfer_group, loads=False),
    "metal.simdgroup_multiply_accumulate": _mma_group,
}
