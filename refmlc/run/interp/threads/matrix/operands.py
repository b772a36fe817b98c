"""Operands of instructions on registers: scalars of a number of bits, and their codes."""

from collections.abc import Callable, Sequence
from typing import cast

from refmlc.lang.dtypes import INT32, DType
from refmlc.lang.dtypes.bits import from_bits, to_bits
from refmlc.lang.ir import tir
from refmlc.run.interp.tensorir.frame import Frame
from refmlc.run.interp.tensorir.scope import Scope
from refmlc.run.interp.threads.matrix.work import NotExecuted


def element_of(operand: tir.Attr, bits: int) -> tir.Expr:
    """An operand as a scalar of `bits` bits: a buffer of one element is its element."""
    buffer = operand.buffer if isinstance(operand, tir.BufferData) else operand
    if isinstance(buffer, tir.Buffer) and all(
        isinstance(size, tir.IntImm) and size.value == 1 for size in buffer.shape
    ):
        operand = tir.BufferLoad(buffer, tuple(tir.IntImm(INT32, 0) for _ in buffer.shape))
    if not isinstance(operand, tir.Expr) or operand.dtype.is_vector or operand.dtype.bits != bits:
        raise NotExecuted(f"has an operand that is no register of {bits} bits")
    return operand


def read(scope: Scope, operands: Sequence[tir.Attr], bits: int) -> Callable[[Frame], list[int]]:
    """What registers of `bits` bits hold, as codes."""
    elements = [element_of(operand, bits) for operand in operands]
    values = [(element.dtype, scope.number(element)) for element in elements]
    return lambda frame: [to_bits(dtype, value(frame)) for dtype, value in values]


def written(scope: Scope, operands: Sequence[tir.Attr], bits: int) -> Callable[[Frame, object], None]:
    """What writes codes to registers of `bits` bits, which are elements of buffers."""
    stores, slots, dtypes = [], [], list[DType]()
    for operand in operands:
        element = element_of(operand, bits)
        if not isinstance(element, tir.BufferLoad):
            raise NotExecuted("has a destination that is no element of a buffer")
        var = tir.Var("register", element.dtype)
        slots.append(scope.layout.declare(var))
        dtypes.append(element.dtype)
        stores.append(scope.stmt(tir.BufferStore(element.buffer, var, element.indices, span=element.span)))

    def finish(frame: Frame, registers: object) -> None:
        for slot, dtype, code in zip(slots, dtypes, cast("Sequence[int]", registers), strict=True):
            frame[slot] = from_bits(dtype, code)
        for store in stores:
            store(frame)

    return finish
