"""Bits: and, or, xor, not, shifts, popcount, clz. An integer is its two's complement code in its own width."""

import operator

from refmlc.diag.catalogue import BAD_ARGUMENT_VALUE, SHIFT_RANGE
from refmlc.lang.dtypes import DType
from refmlc.lang.dtypes.rounding import wrap
from refmlc.lang.ops.contract import (
    BITS,
    INTEGERS,
    Contract,
    Example,
    ScalarOp,
    UndefinedValue,
    UndefinedWhen,
    Value,
)
from refmlc.lang.ops.notation import Notation, Operands

BITWISE_AND = ScalarOp(
    Contract(
        name="bitwise_and",
        arity=2,
        meaning="the bits that both have",
        clause="NUM-201",
        accepts=BITS,
        laws=("commutative", "associative", "idempotent", "zero-absorbs-int"),
        examples=(Example("int8", (-2, 7), 6), Example("bool", (True, False), False)),
        notation=Notation(symbol="&", node="BitwiseAnd", operands=Operands.ADAPTED),
    ),
    lambda _operands, _result: operator.and_,
)

BITWISE_OR = ScalarOp(
    Contract(
        name="bitwise_or",
        arity=2,
        meaning="the bits that one of them has",
        clause="NUM-201",
        accepts=BITS,
        laws=("commutative", "associative", "idempotent"),
        examples=(Example("int8", (-2, 7), -1), Example("bool", (True, False), True)),
        notation=Notation(symbol="|", node="BitwiseOr", operands=Operands.ADAPTED),
    ),
    lambda _operands, _result: operator.or_,
)

BITWISE_XOR = ScalarOp(
    Contract(
        name="bitwise_xor",
        arity=2,
        meaning="the bits that exactly one of them has",
        clause="NUM-201",
        accepts=BITS,
        laws=("commutative", "associative", "undoes-itself"),
        examples=(Example("int8", (-2, 7), -7), Example("bool", (True, True), False)),
        notation=Notation(symbol="^", node="BitwiseXor", operands=Operands.ADAPTED),
    ),
    lambda _operands, _result: operator.xor,
)


def _bitwise_not(_operands: tuple[DType, ...], result: DType) -> Value:
    if result.kind == "bool":
        return operator.not_
    if result.kind == "int":
        return operator.invert
    mask = result.maximum
    return lambda a: a ^ mask


BITWISE_NOT = ScalarOp(
    Contract(
        name="bitwise_not",
        arity=1,
        meaning="every bit flipped; of a bool its negation",
        clause="NUM-201",
        accepts=BITS,
        laws=("involution",),
        examples=(Example("int8", (0,), -1), Example("uint8", (1,), 254), Example("bool", (True,), False)),
        notation=Notation(symbol="~", node="BitwiseNot"),
    ),
    _bitwise_not,
)

_SHIFT = (
    UndefinedWhen(
        SHIFT_RANGE, "the count is negative or not below the width", lambda dtype, _a, b: not 0 <= b < dtype.bits
    ),
)


def _shift_error(result: DType, a: int, symbol: str, b: int) -> UndefinedValue:
    return UndefinedValue(SHIFT_RANGE, f"{a} {symbol} {b} in {result}")


def _shift_left(_operands: tuple[DType, ...], result: DType) -> Value:
    bits, minimum, maximum = result.bits, result.minimum, result.maximum

    def shift_left(a: int, b: int) -> int:
        if not 0 <= b < bits:
            raise _shift_error(result, a, "<<", b)
        shifted = a << b
        return shifted if minimum <= shifted <= maximum else wrap(result, shifted)

    return shift_left


SHIFT_LEFT = ScalarOp(
    Contract(
        name="shift_left",
        arity=2,
        meaning="a * 2**b modulo 2**bits: bits that leave at the top are lost, at every width",
        clause="NUM-202",
        accepts=INTEGERS,
        undefined=_SHIFT,
        examples=(Example("int8", (127, 1), -2), Example("uint8", (129, 1), 2), Example("int8", (-1, 7), -128)),
        notation=Notation(symbol="<<", node="LShift", operands=Operands.ADAPTED, folds=((), (0,))),
    ),
    _shift_left,
)


def _shift_right(_operands: tuple[DType, ...], result: DType) -> Value:
    bits = result.bits

    def shift_right(a: int, b: int) -> int:
        if not 0 <= b < bits:
            raise _shift_error(result, a, ">>", b)
        return a >> b

    return shift_right


SHIFT_RIGHT = ScalarOp(
    Contract(
        name="shift_right",
        arity=2,
        meaning="a / 2**b rounded down: the sign moves in where the dtype has one",
        clause="NUM-202",
        accepts=INTEGERS,
        undefined=_SHIFT,
        examples=(Example("int8", (-5, 1), -3), Example("uint8", (251, 1), 125)),
        notation=Notation(symbol=">>", node="RShift", operands=Operands.ADAPTED, folds=((), (0,))),
    ),
    _shift_right,
)


def _popcount(operands: tuple[DType, ...], result: DType) -> Value:
    mask = (1 << operands[0].bits) - 1
    return lambda a: wrap(result, (a & mask).bit_count())


POPCOUNT = ScalarOp(
    Contract(
        name="popcount",
        arity=1,
        meaning="the number of ones among the bits of a; wraps where the dtype is too narrow for it",
        clause="NUM-203",
        accepts=INTEGERS,
        examples=(Example("int8", (-1,), 8), Example("uint16", (65535,), 16), Example("int64", (-1,), 64)),
        notation=Notation(llvm=("ctpop",)),
    ),
    _popcount,
)


def _clz(operands: tuple[DType, ...], _result: DType) -> Value:
    bits = operands[0].bits
    mask = (1 << bits) - 1

    def clz(a: int) -> int:
        if a == 0:
            raise UndefinedValue(BAD_ARGUMENT_VALUE, f"clz(0) in {operands[0]}", bits)
        return bits - (a & mask).bit_length()

    return clz


CLZ = ScalarOp(
    Contract(
        name="clz",
        arity=1,
        meaning="the number of zeros above the highest one of a",
        clause="NUM-203",
        accepts=INTEGERS,
        dtypes=frozenset(("int32", "int64", "uint32", "uint64")),
        result="int32",
        undefined=(UndefinedWhen(BAD_ARGUMENT_VALUE, "a is 0", lambda _dtype, a: a == 0),),
        examples=(Example("int32", (1,), 31), Example("int32", (-1,), 0), Example("int64", (256,), 55)),
    ),
    _clz,
)

BITWISE = (BITWISE_AND, BITWISE_OR, BITWISE_XOR, BITWISE_NOT, SHIFT_LEFT, SHIFT_RIGHT, POPCOUNT, CLZ)
