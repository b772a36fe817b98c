"""`Cast`, `CastLike` and `BitCast` of ONNX.

| from    | to            | gives                                                                                   |
|---------|---------------|-----------------------------------------------------------------------------------------|
| float   | float8        | the nearest; beyond the range the greatest finite number with `saturate`                 |
| float   | float8_e8m0   | a power of two, by `round_mode`; see `_power_of_two`                                      |
| float   | float4        | the nearest, the greatest beyond the range                                               |
| float   | int4 … uint2  | toward zero                                                                              |
| integer | integer       | the low bits                                                                             |

Decision: a float outside of int4 … uint2 keeps the low bits of the integer (ONNX: undefined), and NaN becomes -0 in
float4 (ONNX says nothing), as ONNX's evaluator has both; its tests expect them.
"""

from collections.abc import Mapping

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_INPUT, UNSUPPORTED_OP
from refmlc.frontends.emitter import Emitter, Operand
from refmlc.frontends.onnx.arrays import DTYPES
from refmlc.frontends.onnx.constant_values import SymbolicArray
from refmlc.frontends.onnx.elementwise import OnnxRule
from refmlc.frontends.onnx.node import Node
from refmlc.lang import te
from refmlc.lang.dtypes import SCALARS
from refmlc.lang.ir import relax

UNSATURATED = frozenset({"float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz"})
POWERS, FLOAT4 = "float8_e8m0fnu", "float4_e2m1fn"
ROUNDING = {"up": 0x7FFFFF, "nearest": 0x400000, "down": 0}
"""What is added to the code of a float32 before its fraction is cut off."""
LEAST, GREATEST = 2.0**-127, 2.0**127


def cast(node: Node) -> Operand:
    """The elements in the dtype of `to`; sizes stay sizes."""
    return _converted(node, _wanted(node))


def cast_like(node: Node) -> Operand:
    """The elements in the dtype of the second input."""
    return _converted(node, node.e.dtype(node.tensor(1)))


def bit_cast(node: Node) -> Operand:
    """The bits of the elements, read as another dtype of the same width."""
    e, x, dtype = node.e, node.tensor(0), _wanted(node)
    own = e.dtype(x)
    if own == "bool" and SCALARS[dtype].bits == 8 and SCALARS[dtype].is_integer:
        return e.astype(x, dtype)
    if "bool" in (own, dtype) or SCALARS[own].bits != SCALARS[dtype].bits:
        raise fail(BAD_INPUT, f"`BitCast` of {own} to {dtype}: the same number of bits is needed")
    return reinterpreted(e, x, dtype)


def reinterpreted(e: Emitter, x: relax.Expr, dtype: str) -> relax.Expr:
    """The bits of the elements as another dtype."""
    if e.dtype(x) == dtype:
        return x

    def bits(tensor: te.Tensor) -> object:
        return te.compute(tensor.shape, lambda *i: te.reinterpret(dtype, tensor(*i)), "bits")

    return e.builder.emit_te(bits, x, primfunc_name_hint=f"bits_as_{dtype}")


def _wanted(node: Node) -> str:
    """The dtype that `to` names. Fails: RM501."""
    to = node.whole("to", 0)
    if to not in DTYPES:
        raise fail(UNSUPPORTED_OP, f"the dtype number {to} of `{node.op}` is not supported")
    return DTYPES[to]


def _converted(node: Node, dtype: str) -> Operand:
    value, saturate, mode = node.input(0), bool(node.whole("saturate", 1)), node.text("round_mode", "up")
    if isinstance(value, SymbolicArray) and dtype in ("int64", "int32"):
        return SymbolicArray(value.items, SCALARS[dtype])
    e, x = node.e, node.tensor(0)
    if not e.dtype(x).startswith(("float", "bfloat")):
        return e.astype(x, dtype)
    if dtype == POWERS:
        if mode not in ROUNDING:
            raise fail(UNSUPPORTED_OP, f"the rounding mode `{mode}` of `{node.op}` is not supported")
        return _power_of_two(e, x, mode, saturate=saturate)
    if dtype == FLOAT4:
        x = e.call("where", e.call("isnan", x), e.scalar(-0.0, e.dtype(x)), x)
    elif SCALARS[dtype].is_integer and dtype != "bool" and SCALARS[dtype].bits < 8:
        x = e.astype(x, "int32")
    elif saturate and dtype in UNSATURATED:
        x = _saturated(e, x, dtype)
    return e.astype(x, dtype)


def _saturated(e: Emitter, x: relax.Expr, dtype: str) -> relax.Expr:
    """The elements brought into the range of `dtype`: beyond it, the greatest finite number."""
    greatest = SCALARS[dtype].format.maximum
    own = e.dtype(x)
    below = e.call("less", x, e.scalar(-greatest, own))
    above = e.call("greater", x, e.scalar(greatest, own))
    x = e.call("where", below, e.scalar(-greatest, own), x)
    return e.call("where", above, e.scalar(greatest, own), x)


def _power_of_two(e: Emitter, x: relax.Expr, mode: str, *, saturate: bool) -> relax.Expr:
    """The elements as powers of two from 2^-127 to 2^127; what is beyond, and 0, the nearest of these, or NaN.

    Decision: a number below 0 is NaN; ONNX does not say.
    """
    wide = e.astype(x, "float32")
    low, high = e.scalar(LEAST, "float32"), e.scalar(GREATEST, "float32")
    field = e.call("minimum", e.call("maximum", wide, low), high)
    code = e.call("add", reinterpreted(e, field, "uint32"), e.scalar(ROUNDING[mode], "uint32"))
    place = e.scalar(23, "uint32")
    power = reinterpreted(e, e.call("left_shift", e.call("right_shift", code, place), place), "float32")
    # Below 2^-126 the code of a float32 has no exponent that says the power.
    edge = {"up": LEAST, "nearest": 1.5 * LEAST, "down": 2 * LEAST}[mode]
    least = e.call("less_equal" if mode == "up" else "less", field, e.scalar(edge, "float32"))
    power = e.call("where", least, low, power)
    beyond = e.call("less", wide, e.scalar(0, "float32"))
    if not saturate:
        outside = e.call("logical_or", e.call("less", wide, low), e.call("greater", wide, high))
        beyond = e.call("logical_or", beyond, outside)
    beyond = e.call("logical_or", beyond, e.call("isnan", wide))
    return e.astype(e.call("where", beyond, e.scalar(float("nan"), "float32"), power), POWERS)


CASTING: Mapping[str, OnnxRule] = {"Cast": cast, "CastLike": cast_like, "BitCast": bit_cast}
