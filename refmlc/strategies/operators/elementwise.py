"""Plans of operators that work element by element, and of those that make tensors from little.

| family      | arguments                                                              |
|-------------|------------------------------------------------------------------------|
| one tensor  | floats; integers too where the operator takes them                     |
| two tensors | of one dtype, broadcast; divisors and shift counts of integers limited |
| made        | a shape or numbers, and a dtype                                        |
"""

from collections.abc import Callable, Mapping
from functools import partial

from refmlc.lang.dtypes import BOOL, SCALARS
from refmlc.strategies.operators.calls import EVERY, FLOATS, INTEGERS, NUMBERS, Calls, Plan, number, sizes, whole

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


def unary(calls: Calls, dtypes: tuple[object, ...] = FLOATS) -> Plan:
    """One tensor."""
    return [calls.data([one for one in EVERY if one in dtypes]).expr], {}


def binary(calls: Calls, dtypes: tuple[object, ...] = NUMBERS) -> Plan:
    """Two tensors."""
    one = calls.data([each for each in EVERY if each in dtypes])
    other = calls.broadcastable(one)
    both = [one.expr, other.expr]
    return both[::-1] if calls.flag() else both, {}


def division(calls: Calls) -> Plan:
    """Two tensors of integers, the second one without 0."""
    one = calls.data(INTEGERS)
    low = 1 if one.dtype.kind == "uint" or calls.flag() else -7
    return [one.expr, calls.parameter(one.dtype, one.shape, low, 7 if low > 0 else -1).expr], {}


def shift(calls: Calls) -> Plan:
    """Two tensors of integers, the second one below the width."""
    one = calls.data(INTEGERS)
    return [one.expr, calls.parameter(one.dtype, one.shape, 0, one.dtype.bits - 1).expr], {}


def fraction(calls: Calls) -> Plan:
    """Two tensors of floats."""
    return binary(calls, FLOATS)


def clip(calls: Calls) -> Plan:
    """A tensor between two numbers."""
    one = calls.data(NUMBERS)
    low, high = sorted((calls.choices.below(7) - 3, calls.choices.below(7) - 3))
    return [one.expr, whole(low), whole(high)], {}


def where(calls: Calls) -> Plan:
    """A condition, and two tensors."""
    one = calls.data(EVERY)
    condition = calls.parameter(BOOL, one.shape)
    return [condition.expr, one.expr, calls.broadcastable(one).expr], {}


def three(calls: Calls) -> Plan:
    """Three tensors of one shape."""
    one = calls.data(FLOATS)
    return [one.expr, calls.like(one).expr, calls.like(one).expr], {}


def two(calls: Calls) -> Plan:
    """Two tensors of one shape."""
    one = calls.data(FLOATS)
    return [one.expr, calls.like(one).expr], {}


def cast(calls: Calls) -> Plan:
    """To any other dtype."""
    return [calls.data(EVERY).expr], {"dtype": calls.choices.pick(NUMBER_NAMES)}


def leaky_relu(calls: Calls) -> Plan:
    """A tensor and a slope."""
    return [calls.data().expr], {"alpha": calls.choices.pick((0.01, 0.0, -1.0, 2.0))}


def softplus(calls: Calls) -> Plan:
    """A tensor and two numbers."""
    pick = calls.choices.pick
    return [calls.data().expr], {"beta": pick((1.0, 2.0, 0.5)), "threshold": pick((20.0, 0.0, 2.0))}


def prelu(calls: Calls) -> Plan:
    """A tensor and a slope for each channel."""
    one = calls.data()
    axis = calls.axis(one.rank)
    return [one.expr, calls.parameter(one.dtype, [one.shape[axis]]).expr], {"axis": axis}


def quantize(calls: Calls, *, back: bool = False) -> Plan:
    """A tensor, and scale and zero for each channel."""
    one = calls.data(INTEGERS[2:4] if back else FLOATS[:1])
    axis = calls.axis(one.rank)
    dtype = calls.choices.pick(("float32", "float16") if back else ("int8", "uint8"))
    scale = calls.parameter(FLOATS[0], [one.shape[axis]])
    zero = calls.parameter(one.dtype if back else SCALARS[dtype], [one.shape[axis]], 0, 3)
    return [one.expr, scale.expr, zero.expr], {"axis": axis, "out_dtype": dtype}


def fill(calls: Calls) -> Plan:
    """A shape."""
    pick = calls.choices.pick
    return [sizes(*calls.shape(pick((1, 2, 0))))], {"dtype": pick(NUMBER_NAMES)}


def full(calls: Calls) -> Plan:
    """A shape and a number."""
    value = calls.constant(FLOATS[0], calls.choices.pick(CONSTANTS))
    return [sizes(*calls.shape(2)), value], {"dtype": calls.choices.pick(NUMBER_NAMES)}


def like(calls: Calls) -> Plan:
    """A tensor whose shape counts."""
    return [calls.data(EVERY).expr], {"dtype": calls.choices.pick(NUMBER_NAMES)}


def eye(calls: Calls) -> Plan:
    """Rows, columns, and which diagonal."""
    below = calls.choices.below
    dtype = calls.choices.pick(NUMBER_NAMES)
    return [whole(below(5)), whole(below(5)), whole(below(9) - 4)], {"dtype": dtype}


def arange(calls: Calls) -> Plan:
    """Begin, end, step."""
    below, pick = calls.choices.below, calls.choices.pick
    start, stop = whole(below(19) - 9), whole(below(19) - 9)
    return [start, stop, whole(pick((1, 2, -1, -2, 3, -4)))], {"dtype": pick(("int64", "int32", "float32", "int8"))}


def triangle(calls: Calls) -> Plan:
    """A tensor of two dimensions or more, and which diagonal."""
    return [calls.data(EVERY, (2, 3)).expr, whole(calls.choices.below(11) - 5)], {}


def hamming_window(calls: Calls) -> Plan:
    """A size, and whether it is periodic."""
    size = whole(calls.choices.pick((1, 2, 5, 0)))
    return [size, whole(calls.choices.below(2)), number(0.54), number(0.46)], {"dtype": "float32"}


def _each(names: str, plan: Callable[[Calls], Plan]) -> dict[str, Callable[[Calls], Plan]]:
    return dict.fromkeys(names.split(), plan)


PLANS: Mapping[str, Callable[[Calls], Plan]] = {
    **_each(FUNCTIONS, unary),
    **_each(ANY_NUMBER, partial(unary, dtypes=NUMBERS)),
    "bitwise_not": partial(unary, dtypes=INTEGERS),
    "logical_not": partial(unary, dtypes=(BOOL,)),
    **_each(COMPARED, binary),
    **_each(DIVIDED, division),
    **_each("divide power atan2", fraction),
    **_each(LOGICAL, partial(binary, dtypes=(BOOL,))),
    **_each(BITS, partial(binary, dtypes=INTEGERS)),
    **_each(SHIFTS, shift),
    "clip": clip,
    "where": where,
    "ewise_fma": three,
    "log_add_exp": two,
    "astype": cast,
    "nn.leakyrelu": leaky_relu,
    "nn.softplus": softplus,
    "nn.prelu": prelu,
    "quantize": quantize,
    "dequantize": partial(quantize, back=True),
    **_each("zeros ones", fill),
    "full": full,
    **_each("zeros_like ones_like", like),
    "eye": eye,
    "arange": arange,
    **_each("tril triu", triangle),
    "hamming_window": hamming_window,
}
