"""Plans of operators that look elements up: by indices that are elements, by begin and end, by targets.

Indices lie in their axis, from the end too where the operator counts so; equal ones occur.
"""

from collections.abc import Callable, Mapping
from functools import partial

from refmlc.lang.dtypes import SCALARS
from refmlc.lang.ir import relax, tir
from refmlc.strategies.operators.calls import EVERY, FLOATS, INDICES, NUMBERS, Calls, Plan, whole as one_number, wholes

REDUCTIONS = ("update", "add", "mul", "min", "max")


def take(calls: Calls) -> Plan:
    """Along an axis."""
    one = calls.data(EVERY)
    axis = calls.axis(one.rank)
    mode = calls.choices.pick(("fast", "clip", "wrap", "nan") if one.dtype.is_float else ("fast", "clip", "wrap"))
    extent = one.shape[axis]
    low, high = (0, extent - 1) if mode == "fast" else (-extent - 2, extent + 2)
    indices = calls.parameter(calls.choices.pick(INDICES), calls.shape(calls.choices.pick((1, 2, 0))), low, high)
    return [one.expr, indices.expr], {"axis": axis, "mode": mode}


def gather(calls: Calls) -> Plan:
    """An index for each element, along an axis."""
    one = calls.data(EVERY)
    axis = calls.axis(one.rank)
    shape = list(one.shape)
    shape[axis] = calls.choices.pick((2, 1, 3, 0))
    indices = calls.parameter(calls.choices.pick(INDICES), shape, 0, one.shape[axis] - 1)
    return [one.expr, indices.expr], {"axis": axis}


def gather_nd(calls: Calls) -> Plan:
    """Vectors of indices."""
    one = calls.data(EVERY, (2, 3))
    depth = 1 + calls.choices.below(one.rank)
    least = min(one.shape[:depth])
    indices = calls.parameter(INDICES[0], (*calls.shape(1), depth), -least if calls.flag() else 0, least - 1)
    return [one.expr, indices.expr], {"batch_dims": 0}


def index_tensor(calls: Calls) -> Plan:
    """Tensors of indices for the first axes."""
    one = calls.data(EVERY, (1, 2))
    shape = calls.shape(1)
    count = 1 + calls.choices.below(one.rank)
    some = [calls.parameter(INDICES[0], shape, 0, one.shape[axis] - 1).expr for axis in range(count)]
    return [one.expr, relax.Tuple(tuple(some))], {}


def index_put(calls: Calls) -> Plan:
    """The same, to write at."""
    one = calls.data(NUMBERS, (1, 2))
    shape = calls.shape(1)
    some = [calls.parameter(INDICES[0], shape, -extent, extent - 1).expr for extent in one.shape]
    return [one.expr, relax.Tuple(tuple(some)), calls.like(one, shape).expr], {"accumulate": calls.flag()}


def scatter(calls: Calls) -> Plan:
    """An index for each update, along an axis."""
    one = calls.data(NUMBERS)
    axis = calls.axis(one.rank)
    shape = list(one.shape)
    shape[axis] = calls.choices.pick((2, 1, 3, 0))
    extent = one.shape[axis]
    indices = calls.parameter(calls.choices.pick(INDICES), shape, -extent if calls.flag() else 0, extent - 1)
    reduction = calls.choices.pick(REDUCTIONS)
    return [one.expr, indices.expr, calls.like(one, shape).expr], {"axis": axis, "reduction": reduction}


def scatter_nd(calls: Calls) -> Plan:
    """Vectors of indices, to write at."""
    one = calls.data(NUMBERS, (1, 2))
    depth = 1 + calls.choices.below(one.rank)
    count = calls.shape(1)
    least = min(one.shape[:depth])
    indices = calls.parameter(INDICES[0], (*count, depth), 0, least - 1)
    updates = calls.like(one, (*count, *one.shape[depth:]))
    return [one.expr, indices.expr, updates.expr], {"reduction": calls.choices.pick(REDUCTIONS)}


def slice_axes(calls: Calls) -> Plan:
    """Begin, end and stride of some axes."""
    one = calls.data(EVERY)
    axes = calls.axes(one.rank)
    below, pick = calls.choices.below, calls.choices.pick
    begin, end = ([below(13) - 6 for _ in axes] for _ in range(2))
    strides = [pick((1, 2, -1, -2, 3)) for _ in axes]
    return [one.expr, wholes(*axes), wholes(*begin), wholes(*end), wholes(*strides)], {"assume_inbound": False}


def dynamic(calls: Calls) -> Plan:
    """The same, as tensors."""
    one = calls.data(EVERY)
    parts = [calls.parameter(INDICES[0], (one.rank,), low, high).expr for low, high in ((-3, 4), (-3, 5), (1, 2))]
    return [one.expr, *parts], {}


def scattered_slice(calls: Calls) -> Plan:
    """A slice replaced."""
    one = calls.data(NUMBERS)
    axis = calls.axis(one.rank)
    extent = one.shape[axis]
    start, step = calls.choices.below(extent + 1), calls.choices.pick((1, 2, 3))
    end = start + calls.choices.below(extent - start + 1)
    shape = list(one.shape)
    shape[axis] = -(-(end - start) // step)
    numbers = [one_number(each) for each in (start, end, step)]
    return [one.expr, calls.like(one, shape).expr, *numbers], {"axis": axis}


def reversed_part(calls: Calls) -> Plan:
    """The first elements of each row the other way round."""
    one = calls.data(EVERY, (2, 3))
    batch = calls.choices.below(2)
    lengths = calls.parameter(calls.choices.pick(INDICES), (one.shape[batch],), 0, one.shape[1 - batch])
    return [one.expr, lengths.expr], {"seq_axis": 1 - batch, "batch_axis": batch}


def one_hot(calls: Calls) -> Plan:
    """Classes, two numbers, how many classes."""
    depth = calls.choices.pick((3, 1, 4))
    indices = calls.parameter(calls.choices.pick(INDICES), calls.shape(calls.choices.pick((1, 2))), -1, depth)
    values = [relax.PrimValue(tir.FloatImm(FLOATS[0], value)) for value in (1.0, -0.0)]
    return [indices.expr, *values], {"depth": depth, "axis": calls.choices.pick((-1, 0, 1))}


def bucketize(calls: Calls) -> Plan:
    """Numbers among boundaries."""
    one = calls.data(FLOATS)
    bounds = calls.parameter(one.dtype, calls.shape(1), way="steps")  # they have to be in order
    return [one.expr, bounds.expr], {"out_int32": calls.flag(), "right": calls.flag()}


def found(calls: Calls) -> Plan:
    """A tensor whose elements decide the shape."""
    return [calls.data(EVERY).expr], {}


def unique(calls: Calls) -> Plan:
    """A tensor and requirements on it."""
    one = calls.data(NUMBERS)
    flags = [relax.PrimValue(tir.IntImm(SCALARS["bool"], calls.choices.below(2))) for _ in range(4)]
    return [one.expr, *flags], {}


def nll(calls: Calls, *, back: bool = False) -> Plan:
    """Rows of numbers, and a class for each; some are ignored."""
    one = calls.data(FLOATS[:1], (1, 2, 3))
    classes = one.shape[min(1, one.rank - 1)]
    rest = [extent for axis, extent in enumerate(one.shape) if axis != min(1, one.rank - 1)]
    ignored = calls.choices.pick((-100, 0, -1))
    targets = calls.parameter(INDICES[0], rest, min(ignored, 0) if ignored == -1 else 0, classes - 1)
    weights = [calls.like(one, (classes,)).expr] if calls.flag() else []
    reduction = calls.choices.pick(("mean", "sum", "none"))
    grad = [calls.like(one, rest if reduction == "none" else ()).expr] if back else []
    return [*grad, one.expr, targets.expr, *weights], {"reduction": reduction, "ignore_index": ignored}


def taken_back(calls: Calls) -> Plan:
    """The gradient of `take`."""
    one = calls.data(FLOATS[:1])
    axis = calls.axis(one.rank)
    indices = calls.parameter(INDICES[1], calls.shape(1), 0, one.shape[axis] - 1)
    shape = list(one.shape)
    shape[axis] = indices.shape[0]
    return [calls.like(one, shape).expr, one.expr, indices.expr], {"axis": axis}


PLANS: Mapping[str, Callable[[Calls], Plan]] = {
    "take": take,
    "gather_elements": gather,
    "gather_nd": gather_nd,
    "index_tensor": index_tensor,
    "index_put": index_put,
    "scatter_elements": scatter,
    "scatter_nd": scatter_nd,
    "strided_slice": slice_axes,
    "dynamic_strided_slice": dynamic,
    "slice_scatter": scattered_slice,
    "reverse_sequence": reversed_part,
    "one_hot": one_hot,
    "bucketize": bucketize,
    "nonzero": found,
    "unique": unique,
    "nn.nll_loss": nll,
    "grad.nll_loss_backward": partial(nll, back=True),
    "grad.take_backward": taken_back,
}
