"""Who holds which element: the registers of the 32 threads of a warp, and the matrices of `mma` and `ldmatrix`.

With g = lane div 4 and t = lane mod 4, and P elements in a register (32 bits; one element of 64 bits):

| element i of a thread, r = i div P, e = i mod P | row                          | column                       |
|-------------------------------------------------|------------------------------|------------------------------|
| of A, 16 rows                                   | g + 8 (r mod 2)              | P t + e + 4 P (r div 2)      |
| of A, 8 rows                                    | g                            | P t + e + 4 P r              |
| of B                                            | P t + e + 4 P r              | g                            |
| of C and D                                      | g + 8 (i div 2 mod 2)        | 8 (i div 4) + 2 t + i mod 2  |
| of an 8 by 8 matrix of `ldmatrix`, i < 2        | g                            | 2 t + i                      |

`m8n8k4` of f16 is four products; the threads 4 q … 4 q + 3 and 16 more hold product q. With h = 0 in the lower half of
the warp and 1 in the upper:

| element i of a thread       | row                             | column                                |
|-----------------------------|---------------------------------|---------------------------------------|
| of A by rows                | t + 4 h                         | i                                     |
| of A by columns             | i + 4 h                         | t                                     |
| of B by rows                | t                               | i + 4 h                               |
| of B by columns             | i                               | t + 4 h                               |
| of C or D of f16            | t + 4 h                         | i                                     |
| of C or D of f32            | t mod 2 + 2 (i div 2 mod 2) + 4 h | 4 (i div 4) + 2 (t div 2) + i mod 2 |

Source: PTX ISA, matrix fragments for mma; ldmatrix.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import TypeAlias

from refmlc.lang.ops.matrix.forms import MmaForm
from refmlc.lang.ops.matrix.warpgroups import WarpgroupForm

LANES = 32
ROWS = 8
Place: TypeAlias = tuple[int, int, int]
Matrix: TypeAlias = list[list[int]]
ProductForm: TypeAlias = MmaForm | WarpgroupForm


@lru_cache(maxsize=256)
def places(form: ProductForm, matrix: str) -> tuple[tuple[Place, ...], ...]:
    """For each lane: the product, the row and the column of each of its elements of `matrix` (a, b, c, d)."""
    rows, columns = extents(form, matrix)
    count = rows * columns // (ROWS if form.in_quads else LANES)
    place = _place_in_quads if form.in_quads else _place
    return tuple(tuple(place(form, matrix, lane, number) for number in range(count)) for lane in range(LANES))


def extents(form: ProductForm, matrix: str) -> tuple[int, int]:
    """Rows and columns of a matrix."""
    m, n, k = form.sizes
    return {"a": (m, k), "b": (k, n)}.get(matrix, (m, n))


def _place(form: ProductForm, matrix: str, lane: int, number: int) -> Place:
    group, thread = divmod(lane, 4)
    if matrix in ("c", "d"):
        return 0, group + ROWS * (number // 2 % 2), ROWS * (number // 4) + 2 * thread + number % 2
    packed = max(1, 32 // form.element(matrix).bits)
    register, element = divmod(number, packed)
    inner = packed * thread + element
    if matrix == "b":
        return 0, inner + 4 * packed * register, group
    if form.sizes[0] == ROWS:
        return 0, group, inner + 4 * packed * register
    return 0, group + ROWS * (register % 2), inner + 4 * packed * (register // 2)


def _place_in_quads(form: ProductForm, matrix: str, lane: int, number: int) -> Place:
    product, thread, half = lane % 16 // 4, lane % 4, lane // 16
    match matrix:
        case "a" if form.a_layout == "row":
            return product, thread + 4 * half, number
        case "a":
            return product, number + 4 * half, thread
        case "b" if form.b_layout == "row":
            return product, thread, number + 4 * half
        case "b":
            return product, number, thread + 4 * half
    if form.element(matrix).bits == 16:
        return product, thread + 4 * half, number
    row = thread % 2 + 2 * (number // 2 % 2) + 4 * half
    return product, row, 4 * (number // 4) + 2 * (thread // 2) + number % 2


def bits_of_lane(form: ProductForm, matrix: str) -> int:
    """The number of bits that a lane holds of a matrix."""
    return len(places(form, matrix)[0]) * form.element(matrix).bits


def gathered(form: ProductForm, matrix: str, held: Sequence[int]) -> list[Matrix]:
    """The matrices of the codes that the lanes hold, each as one number, its first element in the lowest bits."""
    rows, columns = extents(form, matrix)
    bits = form.element(matrix).bits
    mask = (1 << bits) - 1
    result = [[[0] * columns for _ in range(rows)] for _ in range(4 if form.in_quads else 1)]
    for own, lane in zip(places(form, matrix), held, strict=True):
        for number, (product, row, column) in enumerate(own):
            result[product][row][column] = lane >> bits * number & mask
    return result


def scattered(form: ProductForm, matrix: str, codes: Sequence[Matrix]) -> list[int]:
    """What each lane holds of matrices of codes."""
    bits = form.element(matrix).bits
    return [
        sum(codes[product][row][column] << bits * number for number, (product, row, column) in enumerate(own))
        for own in places(form, matrix)
    ]


def moved_in(rows: Sequence[Sequence[int]], *, transposed: bool) -> list[int]:
    """The register of each lane that `ldmatrix` gives of an 8 by 8 matrix of 16 bits."""
    held = []
    for lane in range(LANES):
        row, column = lane // 4, 2 * (lane % 4)
        low, high = (rows[column + i][row] if transposed else rows[row][column + i] for i in (0, 1))
        held.append(low | high << 16)
    return held


def bytes_moved_out(held: Sequence[int]) -> list[list[int]]:
    """The 8 rows of 16 bytes that `stmatrix` makes of the registers of the lanes: a 16 by 8 matrix, transposed."""
    rows = [[0] * (2 * ROWS) for _ in range(ROWS)]
    for lane, register in enumerate(held):
        row, column = lane // 4, 2 * (lane % 4)
        for i in range(4):
            rows[column + i % 2][row + ROWS * (i // 2)] = register >> 8 * i & 0xFF
    return rows


def moved_out(held: Sequence[int], *, transposed: bool) -> list[list[int]]:
    """The 8 by 8 matrix of 16 bits that `stmatrix` makes of the registers of the lanes."""
    rows = [[0] * ROWS for _ in range(ROWS)]
    for lane, register in enumerate(held):
        row, column = lane // 4, 2 * (lane % 4)
        for i in (0, 1):
            code = register >> 16 * i & 0xFFFF
            if transposed:
                rows[column + i][row] = code
            else:
                rows[row][column + i] = code
    return rows
