"""Plans of operators that look elements up: by indices that are elements, by begin and end, by targets.

Indices lie in their axis, or count from its end if the operator allows it; equal ones occur.
"""

from collections.abc import Callable, Mapping
from functools import partial

from refmlc.lang.dtypes import SCALARS
from refmlc.lang.ir import relax, tir
from refmlc.strategies.operators.calls import EVERY, FLOATS, INDICES, NUMBERS, Calls, Plan, whole as one_number, wholes
from refmlc.strategies.operators.elementwise import unary

REDUCTIONS = ("update", "add", "mul", "min", "max")


def take(calls: Calls) -> Plan:
    """Data of rank 1–3, indices of rank 0–2, an axis, a mode for indices out of bounds."""
    data = calls.data(EVERY)
    axis = calls.axis(data.rank)
    mode = calls.choices.pick(("fast", "clip", "wrap", "nan") if data.dtype.is_float else ("fast", "clip", "wrap"))
    extent = data.shape[axis]
    low, high = (0, extent - 1) if mode == "fast" else (-extent - 2, extent + 2)
    indices = calls.parameter(calls.choices.pick(INDICES), calls.shape(calls.choices.pick((1, 2, 0))), low, high)
    return [data.expr, indices.expr], {"axis": axis, "mode": mode}


def gather(calls: Calls) -> Plan:
    """A tensor, an index for each element of the result, an axis."""
    data = calls.data(EVERY)
    axis = calls.axis(data.rank)
    shape = list(data.shape)
    shape[axis] = calls.choices.pick((2, 1, 3, 0))
    indices = calls.parameter(calls.choices.pick(INDICES), shape, 0, data.shape[axis] - 1)
    return [data.expr, indices.expr], {"axis": axis}


def gather_nd(calls: Calls) -> Plan:
    """A tensor of rank 2 or 3 and vectors of indices."""
    data = calls.data(EVERY, (2, 3))
    depth = 1 + calls.choices.below(data.rank)
    least = min(data.shape[:depth])
    indices = calls.parameter(INDICES[0], (*calls.shape(1), depth), -least if calls.flag() else 0, least - 1)
    return [data.expr, indices.expr], {"batch_dims": 0}


def index_tensor(calls: Calls) -> Plan:
    """A tensor, and a tensor of indices for each of its first axes."""
    data = calls.data(EVERY, (1, 2))
    shape = calls.shape(1)
    count = 1 + calls.choices.below(data.rank)
    indices = [calls.parameter(INDICES[0], shape, 0, data.shape[axis] - 1).expr for axis in range(count)]
    return [data.expr, relax.Tuple(tuple(indices))], {}


def index_put(calls: Calls) -> Plan:
    """A tensor, a tensor of indices for each axis, and the values to write."""
    data = calls.data(NUMBERS, (1, 2))
    shape = calls.shape(1)
    indices = [calls.parameter(INDICES[0], shape, -extent, extent - 1).expr for extent in data.shape]
    return [data.expr, relax.Tuple(tuple(indices)), calls.like(data, shape).expr], {"accumulate": calls.flag()}


def scatter(calls: Calls) -> Plan:
    """A tensor, an index for each update, the updates, an axis."""
    data = calls.data(NUMBERS)
    axis = calls.axis(data.rank)
    shape = list(data.shape)
    shape[axis] = calls.choices.pick((2, 1, 3, 0))
    extent = data.shape[axis]
    indices = calls.parameter(calls.choices.pick(INDICES), shape, -extent if calls.flag() else 0, extent - 1)
    reduction = calls.choices.pick(REDUCTIONS)
    return [data.expr, indices.expr, calls.like(data, shape).expr], {"axis": axis, "reduction": reduction}


def scatter_nd(calls: Calls) -> Plan:
    """A tensor, vectors of indices, the updates."""
    data = calls.data(NUMBERS, (1, 2))
    depth = 1 + calls.choices.below(data.rank)
    count = calls.shape(1)
    least = min(data.shape[:depth])
    indices = calls.parameter(INDICES[0], (*count, depth), 0, least - 1)
    updates = calls.like(data, (*count, *data.shape[depth:]))
    return [data.expr, indices.expr, updates.expr], {"reduction": calls.choices.pick(REDUCTIONS)}


def slice_axes(calls: Calls) -> Plan:
    """A tensor, some axes, and the begin, end and stride of each."""
    data = calls.data(EVERY)
    axes = calls.axes(data.rank)
    below, pick = calls.choices.below, calls.choices.pick
    begin, end = ([below(13) - 6 for _ in axes] for _ in range(2))
    strides = [pick((1, 2, -1, -2, 3)) for _ in axes]
    return [data.expr, wholes(*axes), wholes(*begin), wholes(*end), wholes(*strides)], {"assume_inbound": False}


def dynamic(calls: Calls) -> Plan:
    """A tensor, and begins, ends and strides of all axes as tensors."""
    data = calls.data(EVERY)
    parts = [calls.parameter(INDICES[0], (data.rank,), low, high).expr for low, high in ((-3, 4), (-3, 5), (1, 2))]
    return [data.expr, *parts], {}


def scattered_slice(calls: Calls) -> Plan:
    """A tensor, the values for a slice of an axis, its begin, end and stride."""
    data = calls.data(NUMBERS)
    axis = calls.axis(data.rank)
    extent = data.shape[axis]
    start, step = calls.choices.below(extent + 1), calls.choices.pick((1, 2, 3))
    end = start + calls.choices.below(extent - start + 1)
    shape = list(data.shape)
    shape[axis] = -(-(end - start) // step)
    numbers = [one_number(dtype) for dtype in (start, end, step)]
    return [data.expr, calls.like(data, shape).expr, *numbers], {"axis": axis}


def reversed_part(calls: Calls) -> Plan:
    """A tensor of rank 2 or 3, and the number of elements to reverse in each row."""
    data = calls.data(EVERY, (2, 3))
    batch = calls.choices.below(2)
    lengths = calls.parameter(calls.choices.pick(INDICES), (data.shape[batch],), 0, data.shape[1 - batch])
    return [data.expr, lengths.expr], {"seq_axis": 1 - batch, "batch_axis": batch}


def one_hot(calls: Calls) -> Plan:
    """Indices of classes, the two values, the number of classes."""
    depth = calls.choices.pick((3, 1, 4))
    indices = calls.parameter(calls.choices.pick(INDICES), calls.shape(calls.choices.pick((1, 2))), -1, depth)
    values = [relax.PrimValue(tir.FloatImm(FLOATS[0], value)) for value in (1.0, -0.0)]
    return [indices.expr, *values], {"depth": depth, "axis": calls.choices.pick((-1, 0, 1))}


def bucketize(calls: Calls) -> Plan:
    """A tensor and ascending boundaries."""
    data = calls.data(FLOATS)
    bounds = calls.parameter(data.dtype, calls.shape(1), way="steps")  # they have to be in order
    return [data.expr, bounds.expr], {"out_int32": calls.flag(), "right": calls.flag()}


def unique(calls: Calls) -> Plan:
    """A tensor, and four flags for the results."""
    data = calls.data(NUMBERS)
    flags = [relax.PrimValue(tir.IntImm(SCALARS["bool"], calls.choices.below(2))) for _ in range(4)]
    return [data.expr, *flags], {}


def nll(calls: Calls, *, back: bool = False) -> Plan:
    """Predictions, targets (some ignored), weights or none; `back`: the gradient of the result before them."""
    data = calls.data(FLOATS[:1], (1, 2, 3))
    classes = data.shape[min(1, data.rank - 1)]
    shape = [extent for axis, extent in enumerate(data.shape) if axis != min(1, data.rank - 1)]
    ignored = calls.choices.pick((-100, 0, -1))
    targets = calls.parameter(INDICES[0], shape, min(ignored, 0) if ignored == -1 else 0, classes - 1)
    weights = [calls.like(data, (classes,)).expr] if calls.flag() else []
    reduction = calls.choices.pick(("mean", "sum", "none"))
    grad = [calls.like(data, shape if reduction == "none" else ()).expr] if back else []
    return [*grad, data.expr, targets.expr, *weights], {"reduction": reduction, "ignore_index": ignored}


def take_gradient(calls: Calls) -> Plan:
    """The gradient of the result of `take`, its data and indices."""
    data = calls.data(FLOATS[:1])
    axis = calls.axis(data.rank)
    indices = calls.parameter(INDICES[1], calls.shape(1), 0, data.shape[axis] - 1)
    shape = list(data.shape)
    shape[axis] = indices.shape[0]
    return [calls.like(data, shape).expr, data.expr, indices.expr], {"axis": axis}


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
    "nonzero": partial(unary, dtypes=EVERY),
    "unique": unique,
    "nn.nll_loss": nll,
    "grad.nll_loss_backward": partial(nll, back=True),
    "grad.take_backward": take_gradient,
}
