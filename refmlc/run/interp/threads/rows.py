"""The rows of shared memory that lanes name for `ldmatrix` and `stmatrix`, as hooks see them (TIM-004).

Each of the first 8 lanes per matrix names a row of 16 bytes. The lanes meet there, which orders no accesses: so the row
is an access of the lane that names it.
"""

from collections.abc import Callable
from typing import cast

from refmlc.diag.catalogue import UNSUPPORTED_INTRINSIC
from refmlc.lang.dtypes import INT32
from refmlc.lang.ir import tir
from refmlc.lang.ir.matrix_units import family_of
from refmlc.lang.ir.visit import walk
from refmlc.run.interp.tensorir.frame import Frame
from refmlc.run.interp.tensorir.intrinsics import pointer
from refmlc.run.interp.tensorir.scope import Scope
from refmlc.run.interp.threads.group import WARP, Go, Steps
from refmlc.run.memory.cells import cell_size

ROW, ROWS = 16, 8
"""The bytes of a row, and the rows of a matrix."""
PLACES = {"ptx.ldmatrix": -1, "ptx.stmatrix": 0}
"""Which operand is the address."""
COUNTS = {"x1": 1, "x2": 2, "x4": 4}
ZERO = tir.IntImm(INT32, 0)


def rows(scope: Scope, call: tir.Call) -> Go | None:
    """What reports the row that a lane names; None where nobody watches, or there is none."""
    family = family_of(call.callee)
    tags = [tag for tag in scope.threads if tag.startswith("threadIdx")]
    if family not in PLACES or len(tags) != 1 or not scope.machine.hooks.watches("touch_tile"):
        return None
    operands = [arg for arg in call.args if isinstance(arg, tir.Expr) and not isinstance(arg, tir.StringImm)]
    words = {*str(call.callee).split("."), *(word for arg in call.args if (word := _word(arg)))}
    address = operands[PLACES[family]]
    buffer = next((found for part in walk(address) if (found := _buffer(part)) is not None), None)
    if buffer is None or not buffer.scope.startswith("shared"):
        return None
    count = next((COUNTS[word] for word in words if word in COUNTS), 1)
    report = _reporting(scope, call, address, buffer, written=family == "ptx.stmatrix")
    axis = scope.axes[tags[0]]

    def steps(frame: Frame) -> Steps:
        if cast("int", frame[axis]) % WARP < ROWS * count:
            report(frame)
        yield from ()

    return steps


def _reporting(
    scope: Scope, call: tir.Call, address: tir.Expr, buffer: tir.Buffer, *, written: bool
) -> Callable[[Frame], None]:
    while isinstance(address, tir.Call) and address.callee == "cuda.cvta_generic_to_shared":
        address = cast("tir.Expr", address.args[0])
    start, slot = pointer(scope, address), scope.buffer(buffer, address.span).view
    indices = tuple(ZERO for _ in buffer.shape)
    access: tir.BufferLoad | tir.BufferStore = tir.BufferLoad(buffer, indices, span=call.span)
    if written:
        access = tir.BufferStore(buffer, ZERO, indices, span=call.span)
    touch, size = scope.machine.hooks.touch_tile, cell_size(buffer.dtype) * buffer.dtype.lanes
    failure = scope.failing(UNSUPPORTED_INTRINSIC, call.span)

    def report(frame: Frame) -> None:
        view, place = frame[slot], start(frame)
        if place.storage is not view.data.storage:
            raise failure(frame, f"a row of a matrix beside the memory of `{buffer.name}` is not executed")
        first = place.byte_offset - view.data.byte_offset - view.offset * size
        for element in range(first // size, -(-(first + ROW) // size)):
            touch(access, view, element, frame)

    return report


def _word(arg: object) -> str:
    return arg.value if isinstance(arg, tir.StringImm) else arg if isinstance(arg, str) else ""


def _buffer(node: object) -> tir.Buffer | None:
    match node:
        case tir.Call(callee="address_of", args=(tir.BufferLoad(buffer=buffer), *_)) | tir.BufferData(buffer=buffer):
            return buffer
        case _:
            return None
