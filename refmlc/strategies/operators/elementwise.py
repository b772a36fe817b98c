"""Plans of operators that work element by element, and of those that create tensors.

| family      | arguments                                                              |
|-------------|------------------------------------------------------------------------|
| one tensor  | floats; integers too where the operator takes them                     |
| two tensors | of one dtype, broadcast; divisors and shift counts of integers limited |
| creation    | a shape or numbers, and a dtype                                        |
"""

from collections.abc import Callable, Mapping
from functools import partial

from refmlc.lang.dtypes import BOOL, SCALARS, DType
from refmlc.strategies.operators.calls import (
    EVERY,
    FLOATS,
    INTEGERS,
    NUMBERS,
    Calls,
    Plan,
    number,
    same_plan,
    sizes,
    whole,
)

FUNCTIONS = "ceil floor round trunc exp log sqrt rsqrt sin cos tan sinh cosh tanh asin acos atan asinh acosh atanh erf"
FUNCTIONS += " sigmoid isnan isinf isfinite nn.relu nn.gelu nn.gelu_tanh nn.silu nn.selu"
ANY_NUMBER = "abs negative square sign"
COMPARED = "add subtract multiply maximum minimum equal not_equal less less_equal greater greater_equal"
DIVIDED = "floor_divide mod floor_mod"
LOGICAL = "logical_and logical_or logical_xor"
BITS = "bitwise_and bitwise_or bitwise_xor"
SHIFTS = "left_shift right_shift"
CONSTANTS = (0.0, 1.0, -1.0, 0.5, 3.0)
NUMBER_NAMES = ("float32", "int64", "float16", "int32", "int8", "float64", "uint8", "bool")


def unary(calls: Calls, dtypes: tuple[DType, ...] = FLOATS) -> Plan:
    """A tensor of rank 1–3."""
    return [calls.data(dtypes).expr], {}


def binary(calls: Calls, dtypes: tuple[DType, ...] = NUMBERS) -> Plan:
    """Two tensors that broadcast, in either order."""
    data = calls.data(dtypes)
    other = calls.broadcastable(data)
    both = [data.expr, other.expr]
    return both[::-1] if calls.flag() else both, {}


def division(calls: Calls) -> Plan:
    """Two tensors of integers; the divisors lie in 1 … 7 or -7 … -1."""
    data = calls.data(INTEGERS)
    low = 1 if data.dtype.kind == "uint" or calls.flag() else -7
    return [data.expr, calls.parameter(data.dtype, data.shape, low, 7 if low > 0 else -1).expr], {}


def shift(calls: Calls) -> Plan:
    """Two tensors of integers; the shift counts are less than the width."""
    data = calls.data(INTEGERS)
    return [data.expr, calls.parameter(data.dtype, data.shape, 0, data.dtype.bits - 1).expr], {}


def clip(calls: Calls) -> Plan:
    """A tensor, and the two bounds, integers of -3 … 3."""
    data = calls.data(NUMBERS)
    low, high = sorted((calls.choices.below(7) - 3, calls.choices.below(7) - 3))
    return [data.expr, whole(low), whole(high)], {}


def where(calls: Calls) -> Plan:
    """A condition, a tensor of its shape, and one that broadcasts."""
    data = calls.data(EVERY)
    condition = calls.parameter(BOOL, data.shape)
    return [condition.expr, data.expr, calls.broadcastable(data).expr], {}


def same_shape(calls: Calls, count: int, ranks: tuple[int, ...] = (1, 2, 3)) -> Plan:
    """Tensors of floats of one dtype and shape."""
    data = calls.data(ranks=ranks)
    return [data.expr, *(calls.like(data).expr for _ in range(count - 1))], {}


def cast(calls: Calls) -> Plan:
    """A tensor, and the dtype of the result."""
    return [calls.data(EVERY).expr], {"dtype": calls.choices.pick(NUMBER_NAMES)}


def leaky_relu(calls: Calls) -> Plan:
    """A tensor, and a slope."""
    return [calls.data().expr], {"alpha": calls.choices.pick((0.01, 0.0, -1.0, 2.0))}


def softplus(calls: Calls) -> Plan:
    """A tensor, `beta` and `threshold`."""
    pick = calls.choices.pick
    return [calls.data().expr], {"beta": pick((1.0, 2.0, 0.5)), "threshold": pick((20.0, 0.0, 2.0))}


def prelu(calls: Calls) -> Plan:
    """A tensor, and a slope for each index of an axis."""
    data = calls.data()
    axis = calls.axis(data.rank)
    return [data.expr, calls.parameter(data.dtype, [data.shape[axis]]).expr], {"axis": axis}


def quantize(calls: Calls, *, back: bool = False) -> Plan:
    """A tensor, and a scale and a zero point for each index of an axis; `back`: dequantisation."""
    data = calls.data(INTEGERS[2:4] if back else FLOATS[:1])
    axis = calls.axis(data.rank)
    dtype = calls.choices.pick(("float32", "float16") if back else ("int8", "uint8"))
    scale = calls.parameter(FLOATS[0], [data.shape[axis]])
    zero = calls.parameter(data.dtype if back else SCALARS[dtype], [data.shape[axis]], 0, 3)
    return [data.expr, scale.expr, zero.expr], {"axis": axis, "out_dtype": dtype}


def fill(calls: Calls) -> Plan:
    """A shape, and the dtype of the result."""
    pick = calls.choices.pick
    return [sizes(*calls.shape(pick((1, 2, 0))))], {"dtype": pick(NUMBER_NAMES)}


def full(calls: Calls) -> Plan:
    """A shape, the number, and the dtype of the result."""
    value = calls.constant(FLOATS[0], calls.choices.pick(CONSTANTS))
    return [sizes(*calls.shape(2)), value], {"dtype": calls.choices.pick(NUMBER_NAMES)}


def eye(calls: Calls) -> Plan:
    """The numbers of rows and columns, the diagonal, the dtype."""
    below = calls.choices.below
    dtype = calls.choices.pick(NUMBER_NAMES)
    return [whole(below(5)), whole(below(5)), whole(below(9) - 4)], {"dtype": dtype}


def arange(calls: Calls) -> Plan:
    """Begin, end and step, the dtype."""
    below, pick = calls.choices.below, calls.choices.pick
    start, stop = whole(below(19) - 9), whole(below(19) - 9)
    return [start, stop, whole(pick((1, 2, -1, -2, 3, -4)))], {"dtype": pick(("int64", "int32", "float32", "int8"))}


def triangle(calls: Calls) -> Plan:
    """A tensor of rank 2 or 3, and the diagonal."""
    return [calls.data(EVERY, (2, 3)).expr, whole(calls.choices.below(11) - 5)], {}


def hamming_window(calls: Calls) -> Plan:
    """The size, and whether the window is periodic."""
    size = whole(calls.choices.pick((1, 2, 5, 7)))
    return [size, whole(calls.choices.below(2)), number(0.54), number(0.46)], {"dtype": "float32"}


PLANS: Mapping[str, Callable[[Calls], Plan]] = {
    **same_plan(FUNCTIONS, unary),
    **same_plan(ANY_NUMBER, partial(unary, dtypes=NUMBERS)),
    "bitwise_not": partial(unary, dtypes=INTEGERS[:4]),
    "logical_not": partial(unary, dtypes=(BOOL,)),
    **same_plan(COMPARED, binary),
    **same_plan(DIVIDED, division),
    **same_plan("divide power atan2", partial(binary, dtypes=FLOATS)),
    **same_plan(LOGICAL, partial(binary, dtypes=(BOOL,))),
    **same_plan(BITS, partial(binary, dtypes=INTEGERS[:4])),
    **same_plan(SHIFTS, shift),
    "clip": clip,
    "where": where,
    "ewise_fma": partial(same_shape, count=3),
    "log_add_exp": partial(same_shape, count=2),
    "astype": cast,
    "nn.leakyrelu": leaky_relu,
    "nn.softplus": softplus,
    "nn.prelu": prelu,
    "quantize": quantize,
    "dequantize": partial(quantize, back=True),
    **same_plan("zeros ones", fill),
    "full": full,
    **same_plan("zeros_like ones_like", cast),
    "eye": eye,
    "arange": arange,
    **same_plan("tril triu", triangle),
    "hamming_window": hamming_window,
}
