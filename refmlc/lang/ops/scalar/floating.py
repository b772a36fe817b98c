"""Functions of two operands on floats: pow fmod atan2 hypot copysign nextafter ldexp."""

import math
from collections.abc import Callable

from refmlc.lang.dtypes import DType
from refmlc.lang.dtypes.bits import decoder, encoder
from refmlc.lang.ops.contract import FLOATS, Accuracy, Contract, Example, ScalarOp, Value
from refmlc.lang.ops.notation import Notation, Operands
from refmlc.lang.ops.scalar import binary64
from refmlc.lang.ops.scalar.results import float_binary, float_result

_NAN = float("nan")
_INF = float("inf")

_Maker = Callable[[tuple[DType, ...], DType], Value]


def _in_binary64(function: Callable[[float, float], float]) -> _Maker:
    return lambda _operands, result: float_binary(function, result)


POW = ScalarOp(
    Contract(
        name="pow",
        arity=2,
        meaning="a ** b; 1 for b = 0 and for a = 1, also of NaN; NaN of a negative a with a fractional b",
        clause="NUM-503",
        accepts=FLOATS,
        accuracy=Accuracy.ULP,
        ulps=1,
        makes_nan=True,
        laws=("zeroth-power-is-one", "first-power-is-itself"),
        examples=(
            Example("float32", (2.0, 10.0), 1024.0),
            Example("float32", (-8.0, 3.0), -512.0),
            Example("float32", (_NAN, 0.0), 1.0),
            Example("float32", (1.0, _NAN), 1.0),
            Example("float32", (-0.0, -1.0), -_INF),
            Example("float32", (0.0, -2.0), _INF),
            Example("float32", (-8.0, 0.5), _NAN),
            Example("float32", (-10.0, 39.0), -_INF),
            Example("float64", (-10.0, 309.0), -_INF),
            Example("float64", (10.0, 309.0), _INF),
        ),
        notation=Notation(also=("power",), operands=Operands.MATCHED, c=("pow",), llvm=("pow",)),
    ),
    _in_binary64(binary64.power),
)

FMOD = ScalarOp(
    Contract(
        name="fmod",
        arity=2,
        meaning="a - b * trunc(a / b), exact, with the sign of a",
        clause="NUM-504",
        accepts=FLOATS,
        accuracy=Accuracy.ROUNDED,
        makes_nan=True,
        laws=("remainder-is-smaller",),
        examples=(
            Example("float32", (5.5, -3.0), 2.5),
            Example("float32", (-6.0, 3.0), -0.0),
            Example("float32", (1.0, 0.0), _NAN),
            Example("float32", (_INF, 2.0), _NAN),
            Example("float32", (1.0, _INF), 1.0),
        ),
        notation=Notation(c=("fmod",)),
    ),
    _in_binary64(binary64.fmod),
)

ATAN2 = ScalarOp(
    Contract(
        name="atan2",
        arity=2,
        meaning="the angle of the point (b, a), in -pi … pi",
        clause="NUM-503",
        accepts=FLOATS,
        accuracy=Accuracy.ULP,
        ulps=1,
        laws=("odd-in-the-first",),
        examples=(
            Example("float32", (1.0, 0.0), 1.5707963705062866),
            Example("float32", (-0.0, -1.0), -3.1415927410125732),
            Example("float32", (0.0, 0.0), 0.0),
        ),
        notation=Notation(c=("atan2",)),
    ),
    _in_binary64(math.atan2),
)


HYPOT = ScalarOp(
    Contract(
        name="hypot",
        arity=2,
        meaning="sqrt(a * a + b * b); +inf where one is infinite, even with NaN",
        clause="NUM-503",
        accepts=FLOATS,
        accuracy=Accuracy.ULP,
        ulps=0.5,
        laws=("commutative",),
        examples=(
            Example("float32", (3.0, 4.0), 5.0),
            Example("float32", (-_INF, _NAN), _INF),
            Example("float64", (math.ldexp(3.0, 600), math.ldexp(4.0, 600)), math.ldexp(5.0, 600)),
        ),
        notation=Notation(c=("hypot",)),
    ),
    _in_binary64(binary64.hypot),
)

COPYSIGN = ScalarOp(
    Contract(
        name="copysign",
        arity=2,
        meaning="a with the sign of b; a NaN as b counts as positive",
        clause="NUM-505",
        accepts=FLOATS,
        accuracy=Accuracy.ROUNDED,
        examples=(
            Example("float32", (1.5, -0.0), -1.5),
            Example("float32", (-1.5, _NAN), 1.5),
            Example("float8_e4m3fnuz", (0.0, -1.0), 0.0),
        ),
        notation=Notation(c=("copysign",), llvm=("copysign",)),
    ),
    _in_binary64(binary64.copysign),
)


def _nextafter(_operands: tuple[DType, ...], result: DType) -> Value:
    if result.element == "float64":
        return math.nextafter
    encode, decode = encoder(result), decoder(result)
    smallest, negative_zero = result.format.smallest, result.format.has_negative_zero

    def nextafter(a: float, b: float) -> float:
        if a == b or a != a or b != b:  # noqa: PLR0124 - the test for NaN
            return b if a == b else math.nan
        if a == 0.0:
            return math.copysign(smallest, b)
        outward = abs(b) > abs(a) and (a < 0.0) == (b < 0.0)
        if abs(a) == smallest and not outward:
            return math.copysign(0.0, a) if negative_zero else 0.0
        # Codes of one sign grow with the size, infinity being next to the maximum.
        return decode(encode(a) + (1 if outward else -1))

    return nextafter


NEXTAFTER = ScalarOp(
    Contract(
        name="nextafter",
        arity=2,
        meaning="the neighbour of a in its dtype on the side of b; b where they are equal",
        clause="NUM-505",
        accepts=FLOATS,
        examples=(
            Example("float32", (1.0, 2.0), 1.0000001192092896),
            Example("float32", (0.0, -1.0), -1.401298464324817e-45),
            Example("float16", (65504.0, _INF), _INF),
            Example("bfloat16", (1.0, 0.0), 0.99609375),
            Example("float32", (0.0, -0.0), -0.0),
            Example("float32", (_NAN, 1.0), _NAN),
        ),
        notation=Notation(c=("nextafter",)),
    ),
    _nextafter,
)


def _ldexp(_operands: tuple[DType, ...], result: DType) -> Value:
    rounded = float_result(result)
    least = -5000 if result.bits == 64 else -900  # a small number must not become 0 before it is rounded
    return lambda a, b: rounded(binary64.ldexp(a, max(b, least)))


LDEXP = ScalarOp(
    Contract(
        name="ldexp",
        arity=2,
        meaning="a * 2 ** b for an integer b",
        clause="NUM-505",
        accepts=FLOATS,
        rest=frozenset(("int",)),
        accuracy=Accuracy.ROUNDED,
        examples=(
            Example("float32", (1.5, 3), 12.0, rest=("int32",)),
            Example("float32", (1.5, 1000), _INF, rest=("int32",)),
            Example("float32", (-1.0, -2000), -0.0, rest=("int32",)),
            Example("float8_e8m0fnu", (1.0, -2000), 2.0**-127, rest=("int32",)),
        ),
    ),
    _ldexp,
)

FLOATING = (POW, FMOD, ATAN2, HYPOT, COPYSIGN, NEXTAFTER, LDEXP)
