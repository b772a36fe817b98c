"""The transcendentals of mode `libm`: what TVM's default `llvm` build computes on this machine. NUM-506, NUM-507.

| operator                                       | float64, float32, and `single` steps              |
|------------------------------------------------|---------------------------------------------------|
| exp exp2 log log2 log10 log1p sin cos sinh cosh | the platform's function, `exp` or `expf`          |
| asin acos atan asinh acosh erf pow atan2 hypot | the same                                          |
| sqrt                                           | the row of mode `cr`: there is one right result   |
| rsqrt                                          | 1 / sqrt(x)                                       |
| tan                                            | sin(x) / cos(x)                                   |
| tanh                                           | (1 - e) / (1 + e) with e = exp(-2|x|), -0 lost    |
| sigmoid                                        | 1 / (1 + exp(-x))                                 |
| exp10                                          | exp(x * 2.302585093)                              |
| atanh                                          | (log(1 + x) - log(1 - x)) * 0.5                   |

Each step is rounded to the dtype of the steps:

| dtype of the operator                   | steps in                                         | then               |
|-----------------------------------------|--------------------------------------------------|--------------------|
| float64, float32                        | itself                                           |                    |
| float16                                 | float16; functions are the float32 ones, rounded |                    |
| bfloat16 and formats of 8 bits and less | float32                                          | rounded once to it |

Nothing is promised of accuracy or laws: it is the platform's, and the formulas lose up to all digits near 0.
"""

import ctypes
import ctypes.util
import math
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache
from types import MappingProxyType

from refmlc.diag import fail
from refmlc.diag.catalogue import UNSUPPORTED_OP
from refmlc.lang.dtypes import FLOAT32, FLOAT64, DType
from refmlc.lang.dtypes.rounding import rounder
from refmlc.lang.ops.contract import Accuracy, Contract, ScalarOp, Value
from refmlc.lang.ops.scalar import SCALAR_OPS
from refmlc.lang.ops.scalar.binary64 import Function, divide
from refmlc.lang.ops.scalar.results import float_result

_LN10 = 2.302585093  # as TVM 0.27 has it

Platform = Callable[[str], Callable[..., float]]
Formula = Callable[[Platform, Function], Function]


@lru_cache(maxsize=1)
def _library() -> ctypes.CDLL:
    """The platform's libm. Fails: RM501."""
    known = {"linux": "libm.so.6", "darwin": "libSystem.B.dylib"}.get(sys.platform)
    name = known or ctypes.util.find_library("m")
    if name is None:
        raise fail(UNSUPPORTED_OP, "the platform has no math library of C")
    try:
        return ctypes.CDLL(name)
    except OSError as error:
        raise fail(UNSUPPORTED_OP, f"the platform's math library cannot be loaded: {error}") from None


@lru_cache(maxsize=128)
def platform_function(symbol: str, arity: int) -> Callable[..., float]:
    """C's function `symbol`, of float where it ends in f, else of double. Fails: RM501."""
    single = symbol.endswith("f") and symbol != "erf"
    kind = ctypes.c_float if single else ctypes.c_double
    try:
        function = getattr(_library(), symbol)
    except AttributeError:
        raise fail(UNSUPPORTED_OP, f"the platform's math library has no `{symbol}`") from None
    function.restype, function.argtypes = kind, (kind,) * arity
    called: Callable[..., float] = function
    return called


def _symbol(name: str, steps: DType) -> str:
    return name if steps == FLOAT64 else f"{name}f"


def _steps_of(result: DType) -> DType:
    """The dtype in which the steps are rounded."""
    return result if result.element in ("float64", "float32", "float16") else FLOAT32


# ---------------------------------------------------------------------------------------- TVM's formulas


def _rsqrt(_platform: Platform, step: Function) -> Function:
    def rsqrt(x: float) -> float:
        return step(divide(1.0, step(math.sqrt(x)))) if x >= 0.0 else math.nan

    return rsqrt


def _tan(platform: Platform, step: Function) -> Function:
    sin, cos = platform("sin"), platform("cos")
    return lambda x: step(divide(sin(x), cos(x)))


def _tanh(platform: Platform, step: Function) -> Function:
    exp = platform("exp")

    def tanh(x: float) -> float:
        e = exp(step(-2.0 * abs(x)))
        size = step(divide(step(1.0 - e), step(1.0 + e)))
        return size if x >= 0.0 else 0.0 - size

    return tanh


def _sigmoid(platform: Platform, step: Function) -> Function:
    exp = platform("exp")
    return lambda x: step(divide(1.0, step(1.0 + exp(-x))))


def _exp10(platform: Platform, step: Function) -> Function:
    exp, factor = platform("exp"), step(_LN10)
    return lambda x: exp(step(x * factor))


def _atanh(platform: Platform, step: Function) -> Function:
    log = platform("log")
    return lambda x: step(step(log(step(1.0 + x)) - log(step(1.0 - x))) * 0.5)


FORMULAS: Mapping[str, Formula] = MappingProxyType(
    {"rsqrt": _rsqrt, "tan": _tan, "tanh": _tanh, "sigmoid": _sigmoid, "exp10": _exp10, "atanh": _atanh}
)


# -------------------------------------------------------------------------------------------------- rows


def _functions(steps: DType) -> Platform:
    """The platform's functions of one operand, by their names in C without the suffix."""
    if steps.element in ("float64", "float32"):
        return lambda name: platform_function(_symbol(name, steps), 1)
    step = rounder(steps)

    def rounded(name: str) -> Function:
        function = platform_function(_symbol(name, steps), 1)
        return lambda x: step(function(x))

    return rounded


def _by_formula(formula: Formula) -> Callable[[tuple[DType, ...], DType], Value]:
    def value(_operands: tuple[DType, ...], result: DType) -> Value:
        steps = _steps_of(result)
        function = formula(_functions(steps), rounder(steps))
        if steps == result:
            return function
        to_dtype = float_result(result)
        return lambda x: to_dtype(function(x))

    return value


def _by_platform(contract: Contract) -> Callable[[tuple[DType, ...], DType], Value]:
    def value(_operands: tuple[DType, ...], result: DType) -> Value:
        function = platform_function(_symbol(contract.notation.c[0], result), contract.arity)
        if result.element in ("float64", "float32"):
            return function
        to_dtype = float_result(result)
        return lambda *operands: to_dtype(function(*operands))

    return value


def _row(name: str, value: Callable[[tuple[DType, ...], DType], Value], clause: str = "NUM-506") -> ScalarOp:
    """The row of mode `cr` with another value, and without its promises."""
    contract = SCALAR_OPS[name].contract
    promised = replace(contract, accuracy=Accuracy.ULP, ulps=math.inf, laws=(), examples=(), clause=clause)
    return ScalarOp(promised, value)


C_FUNCTIONS: Mapping[str, ScalarOp] = MappingProxyType(
    {
        **SCALAR_OPS,
        **{
            name: _row(name, _by_platform(row.contract))
            for name, row in SCALAR_OPS.items()
            if row.contract.accuracy is Accuracy.ULP and row.contract.notation.c
        },
    }
)
"""What a program calls by C's or LLVM's name in mode `libm`: the platform's function, no formula."""

LIBM_OPS: Mapping[str, ScalarOp] = MappingProxyType(
    {**C_FUNCTIONS, **{name: _row(name, _by_formula(formula), "NUM-507") for name, formula in FORMULAS.items()}}
)
"""The scalar operators in mode `libm`, by name."""
