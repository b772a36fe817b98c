"""Functions of one float that no finite arithmetic gives: exponentials, logarithms, circular, hyperbolic, erf.

The value is the binary64 value of `refmlc.lang.ops.scalar.binary64`, rounded once to the dtype. `ulps` bounds the error
of the binary64 value; a narrower dtype's error is then 0.5 ulp and next to nothing more (`Contract.bound`).

Decision: tanh, sigmoid, tan, rsqrt, exp10 and atanh are the mathematical functions, not the formulas TVM expands
them to; those lose up to 10**6 ulp, and differ between targets. Mode `libm` has those (`refmlc.lang.ops.scalar.libm`).
"""

from refmlc.lang.dtypes import DType
from refmlc.lang.ops.contract import FLOATS, Accuracy, Contract, Example, ScalarOp, Value
from refmlc.lang.ops.notation import Notation
from refmlc.lang.ops.scalar import binary64
from refmlc.lang.ops.scalar.binary64 import Function
from refmlc.lang.ops.scalar.results import float_result

_INF = float("inf")
_NAN = float("nan")


def _rounded(function: Function, result: DType) -> Value:
    if result.element == "float64":
        return function
    if result.element != "float32":
        to_dtype = float_result(result)
        return lambda x: to_dtype(function(x))
    cell = memoryview(bytearray(4)).cast("f")

    def float32(x: float) -> float:
        cell[0] = function(x)
        return cell[0]

    return float32


def _row(
    name: str,
    meaning: str,
    function: Function,
    ulps: float,
    laws: tuple[str, ...],
    *examples: tuple[float, float],
    clause: str = "NUM-501",
    libraries: str = "c",
    makes_nan: bool = False,
) -> ScalarOp:
    """A function of one float, whose examples are of float32. `libraries` have it by the same name."""
    accuracy = Accuracy.ULP if ulps else Accuracy.ROUNDED
    names = libraries.split()
    contract = Contract(
        name=name,
        arity=1,
        meaning=meaning,
        clause=clause,
        accepts=FLOATS,
        accuracy=accuracy,
        ulps=ulps,
        laws=laws,
        makes_nan=makes_nan,
        examples=tuple(Example("float32", (x,), y) for x, y in examples),
        notation=Notation(c=(name,) if "c" in names else (), llvm=(name,) if "llvm" in names else ()),
    )
    return ScalarOp(contract, lambda _operands, result: _rounded(function, result))


TRANSCENDENTAL = (
    _row(
        "sqrt",
        "the square root",
        binary64.sqrt,
        0,
        ("monotone",),
        (2.0, 1.4142135381698608),
        (-0.0, -0.0),
        (-1.0, _NAN),
        clause="NUM-502",
        libraries="c llvm",
        makes_nan=True,
    ),
    _row(
        "rsqrt",
        "1 / sqrt(a)",
        binary64.rsqrt,
        2,
        (),
        (4.0, 0.5),
        (0.0, _INF),
        (-0.0, -_INF),
        (_INF, 0.0),
        (-1.0, _NAN),
        clause="NUM-502",
        libraries="",
        makes_nan=True,
    ),
    _row(
        "exp",
        "e ** a",
        binary64.exp,
        1,
        ("monotone", "not-negative"),
        (0.0, 1.0),
        (1.0, 2.7182817459106445),
        (-_INF, 0.0),
        (89.0, _INF),
        libraries="c llvm",
    ),
    _row(
        "exp2",
        "2 ** a",
        binary64.exp2,
        1,
        ("monotone", "not-negative"),
        (10.0, 1024.0),
        (-149.0, 1.401298464324817e-45),
        (128.0, _INF),
        (2000.0, _INF),
        libraries="c llvm",
    ),
    _row(
        "exp10",
        "10 ** a",
        binary64.exp10,
        1,
        ("monotone", "not-negative"),
        (3.0, 1000.0),
        (-_INF, 0.0),
        (39.0, _INF),
        libraries="c llvm",
    ),
    _row(
        "log",
        "the natural logarithm",
        binary64.log,
        1,
        ("monotone",),
        (1.0, 0.0),
        (0.0, -_INF),
        (-1.0, _NAN),
        (_INF, _INF),
        (2.0, 0.6931471824645996),
        libraries="c llvm",
        makes_nan=True,
    ),
    _row(
        "log2",
        "the logarithm to base 2",
        binary64.log2,
        1,
        ("monotone",),
        (1024.0, 10.0),
        (-0.0, -_INF),
        libraries="c llvm",
        makes_nan=True,
    ),
    _row(
        "log10",
        "the logarithm to base 10",
        binary64.log10,
        2,
        ("monotone",),
        (1000.0, 3.0),
        (0.0, -_INF),
        libraries="c llvm",
        makes_nan=True,
    ),
    _row(
        "log1p",
        "log(1 + a)",
        binary64.log1p,
        2,
        ("monotone",),
        (0.0, 0.0),
        (-0.0, -0.0),
        (-1.0, -_INF),
        (-2.0, _NAN),
        makes_nan=True,
    ),
    _row(
        "sin",
        "the sine of a radians",
        binary64.sin,
        1,
        ("odd", "within-one"),
        (0.0, 0.0),
        (-0.0, -0.0),
        (_INF, _NAN),
        (1.0, 0.8414709568023682),
        libraries="c llvm",
    ),
    _row(
        "cos",
        "the cosine of a radians",
        binary64.cos,
        1,
        ("even", "within-one"),
        (0.0, 1.0),
        (_INF, _NAN),
        (1.0, 0.5403022766113281),
        libraries="c llvm",
    ),
    _row(
        "tan",
        "the tangent of a radians",
        binary64.tan,
        1,
        ("odd",),
        (0.0, 0.0),
        (1.0, 1.5574077367782593),
        (_INF, _NAN),
    ),
    _row("sinh", "the hyperbolic sine", binary64.sinh, 3, ("odd", "monotone"), (0.0, 0.0), (-90.0, -_INF)),
    _row("cosh", "the hyperbolic cosine", binary64.cosh, 3, ("even",), (0.0, 1.0), (90.0, _INF), (-_INF, _INF)),
    _row(
        "tanh",
        "the hyperbolic tangent",
        binary64.tanh,
        3,
        ("odd", "monotone", "within-one"),
        (0.0, 0.0),
        (-0.0, -0.0),
        (_INF, 1.0),
        (20.0, 1.0),
    ),
    _row(
        "asin",
        "the inverse sine, in -pi/2 … pi/2",
        binary64.asin,
        1,
        ("odd", "monotone"),
        (0.0, 0.0),
        (1.0, 1.5707963705062866),
        (1.5, _NAN),
        makes_nan=True,
    ),
    _row(
        "acos",
        "the inverse cosine, in 0 … pi",
        binary64.acos,
        1,
        (),
        (1.0, 0.0),
        (-1.0, 3.1415927410125732),
        (2.0, _NAN),
        makes_nan=True,
    ),
    _row(
        "atan",
        "the inverse tangent, in -pi/2 … pi/2",
        binary64.atan,
        1,
        ("odd", "monotone"),
        (-0.0, -0.0),
        (_INF, 1.5707963705062866),
    ),
    _row("asinh", "the inverse hyperbolic sine", binary64.asinh, 3, ("odd", "monotone"), (0.0, 0.0), (-_INF, -_INF)),
    _row(
        "acosh",
        "the inverse hyperbolic cosine, not negative",
        binary64.acosh,
        3,
        ("monotone",),
        (1.0, 0.0),
        (0.5, _NAN),
        (_INF, _INF),
        makes_nan=True,
    ),
    _row(
        "atanh",
        "the inverse hyperbolic tangent",
        binary64.atanh,
        3,
        ("odd", "monotone"),
        (-0.0, -0.0),
        (1.0, _INF),
        (-1.0, -_INF),
        (1.5, _NAN),
        makes_nan=True,
    ),
    _row(
        "sigmoid",
        "1 / (1 + exp(-a))",
        binary64.sigmoid,
        3,
        ("monotone", "not-negative", "within-one"),
        (0.0, 0.5),
        (_INF, 1.0),
        (-_INF, 0.0),
        libraries="",
    ),
    _row(
        "erf",
        "the error function",
        binary64.erf,
        2,
        ("odd", "monotone", "within-one"),
        (0.0, 0.0),
        (-0.0, -0.0),
        (_INF, 1.0),
        (-4.0, -1.0),
    ),
)
