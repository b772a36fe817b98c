"""Plans of operators that work along axes: reductions, norms, scans, sorting, movement, products.

Axes are counted from either end; several axes stand in any order.
"""

from collections.abc import Callable, Mapping
from functools import partial

from refmlc.lang.dtypes import DType
from refmlc.lang.ir import relax, tir
from refmlc.strategies.operators.calls import EVERY, FLOATS, INTEGERS, NUMBERS, Calls, Plan, same_plan, sizes
from refmlc.strategies.operators.elementwise import same_shape, unary

EINSUMS = ("ij,jk->ik", "ij,kj->ik", "ij->ji", "ii->i", "ij->", "ij,ij->i", "i,j->ij", "ii", "bij,bjk->bik")


def reduction(calls: Calls, dtypes: tuple[DType, ...] = NUMBERS) -> Plan:
    """A tensor; some axes or all."""
    data = calls.data(dtypes)
    axis: tir.Attr = None if calls.choices.chance(25) else calls.axes(data.rank)
    return [data.expr], {"axis": axis, "keepdims": calls.flag()}


def extreme_index(calls: Calls, dtypes: tuple[DType, ...] = NUMBERS) -> Plan:
    """A tensor; one axis or all."""
    data = calls.data(dtypes)
    axis: tir.Attr = None if calls.choices.chance(25) else calls.axis(data.rank)
    return [data.expr], {"axis": axis, "keepdims": calls.flag()}


def along(calls: Calls, dtypes: tuple[DType, ...] = FLOATS) -> Plan:
    """A tensor and one axis."""
    data = calls.data(dtypes)
    return [data.expr], {"axis": calls.axis(data.rank)}


def norm(calls: Calls, weights: int) -> Plan:
    """A tensor, `weights` tensors of the shape of its last axes, and these axes."""
    data = calls.data()
    count = 1 + calls.choices.below(data.rank)
    axes = tuple(range(-count, 0))
    operands = [calls.like(data, data.shape[data.rank - count :]).expr for _ in range(weights)]
    return [data.expr, *operands], {"axes": axes, "epsilon": calls.choices.pick((1e-5, 0.0, 1.0))}


def group_norm(calls: Calls, *, groups: bool) -> Plan:
    """A tensor with channels, their scale and shift; `groups`: the channels are divided into groups."""
    channels = calls.choices.pick((2, 4, 3, 1))
    data = calls.parameter(calls.choices.pick(FLOATS), (*calls.shape(1), channels, *calls.shape(1)))
    operands = [calls.like(data, (channels,)).expr for _ in range(2)]
    attrs: dict[str, tir.Attr] = {"channel_axis": 1, "axes": (2,), "epsilon": 1e-5}
    if groups:
        attrs["num_groups"] = calls.choices.pick([count for count in (1, 2, 3, 4) if channels % count == 0])
    return [data.expr, *operands], attrs


def batch_norm(calls: Calls) -> Plan:
    """A tensor, scale, shift, mean and variance of the channels, and the axis of these."""
    data = calls.data(ranks=(2, 3))
    axis = calls.axis(data.rank)
    operands = [calls.like(data, (data.shape[axis],)).expr for _ in range(4)]
    return [data.expr, *operands], {
        "axis": axis,
        "training": calls.flag(),
        "center": calls.flag(),
        "scale": calls.flag(),
    }


def scan(calls: Calls) -> Plan:
    """A tensor; one axis, or all elements in order."""
    data = calls.data(NUMBERS)
    axis: tir.Attr = None if calls.choices.chance(25) else calls.axis(data.rank)
    dtype: tir.Attr = calls.choices.pick((None, None, "float32", "int64", "int32", "float64"))
    return [data.expr], {"axis": axis, "dtype": dtype, "exclusive": calls.flag()}


def sort(calls: Calls, dtype: str | None = None) -> Plan:
    """A tensor and one axis, ascending or descending; `dtype` of indices."""
    data = calls.data(NUMBERS)
    attrs: dict[str, tir.Attr] = {"axis": calls.axis(data.rank), "descending": calls.flag()}
    if dtype:
        attrs["dtype"] = calls.choices.pick((dtype, "int64"))
    return [data.expr], attrs


def topk(calls: Calls) -> Plan:
    """A tensor, one axis, and the number of elements along it."""
    data = calls.data(NUMBERS)
    pick = calls.choices.pick
    attrs: dict[str, tir.Attr] = {"k": pick((1, 2, 3)), "axis": calls.axis(data.rank), "largest": calls.flag()}
    return [data.expr], {**attrs, "ret_type": pick(("both", "values", "indices")), "dtype": pick(("int32", "int64"))}


def permute(calls: Calls) -> Plan:
    """A tensor, and its axes in any order."""
    data = calls.data(EVERY)
    order = calls.choices.permutation(range(data.rank))
    return [data.expr], {"axes": tuple(axis - data.rank if calls.choices.chance(30) else axis for axis in order)}


def expand(calls: Calls) -> Plan:
    """A tensor, and the places of one or two new axes."""
    data = calls.data(EVERY)
    rank = data.rank + 1 + calls.choices.below(2)
    return [data.expr], {"axis": tuple(sorted(calls.choices.permutation(range(rank))[: rank - data.rank]))}


def squeeze(calls: Calls) -> Plan:
    """A tensor, and its axes of extent 1."""
    data = calls.data(EVERY)
    ones = [axis for axis, extent in enumerate(data.shape) if extent == 1]
    axes: tir.Attr = tuple(axis - data.rank if calls.flag() else axis for axis in ones) if calls.flag() else None
    return [data.expr], {"axis": axes}


def broadcast(calls: Calls) -> Plan:
    """A tensor, and a shape that it broadcasts to."""
    data = calls.data(EVERY)
    shape = [calls.choices.pick((2, 3, 0)) if extent == 1 else extent for extent in data.shape]
    return [data.expr, sizes(*calls.shape(calls.choices.below(2)), *shape)], {}


def join(calls: Calls, *, new: bool) -> Plan:
    """Two or three tensors and an axis, which exists or is `new`."""
    data = calls.data(EVERY)
    axis = calls.axis(data.rank + new)
    others = []
    for _ in range(1 + calls.choices.below(2)):
        shape = list(data.shape)
        if not new:
            shape[axis] = calls.choices.pick((1, 2, 0, 3))
        others.append(calls.like(data, shape).expr)
    return [relax.Tuple((data.expr, *others))], {"axis": axis}


def split(calls: Calls) -> Plan:
    """A tensor and an axis; the number of equal parts, or the places of the cuts."""
    data = calls.data(EVERY)
    axis = calls.axis(data.rank)
    extent = data.shape[axis]
    places = tuple(sorted(calls.choices.below(extent + 1) for _ in range(1 + calls.choices.below(2))))
    parts = [part for part in (1, 2, 3) if extent % part == 0 and extent]
    sections: tir.Attr = places if not parts or calls.flag() else calls.choices.pick(parts)
    return [data.expr], {"indices_or_sections": sections, "axis": axis}


def tile(calls: Calls) -> Plan:
    """A tensor, and the repeats of its last axes or of more."""
    data = calls.data(EVERY)
    count = 1 + calls.choices.below(data.rank + 1)
    return [data.expr], {"repeats": tuple(calls.choices.pick((1, 2, 3, 0)) for _ in range(count))}


def repeat(calls: Calls) -> Plan:
    """A tensor, the repeats of each element, and an axis or none."""
    data = calls.data(EVERY)
    axis: tir.Attr = None if calls.choices.chance(25) else calls.axis(data.rank)
    return [data.expr], {"repeats": calls.choices.pick((2, 1, 3, 0)), "axis": axis}


def mesh(calls: Calls) -> Plan:
    """Two or three vectors."""
    data = calls.data(NUMBERS, (1,))
    others = [calls.like(data, calls.shape(1)).expr for _ in range(1 + calls.choices.below(2))]
    return [relax.Tuple((data.expr, *others))], {"indexing": calls.choices.pick(("ij", "xy"))}


def product(calls: Calls) -> Plan:
    """Two tensors with a common inner dimension."""
    data = calls.data((*FLOATS, *INTEGERS[:4]))
    inner, batch = data.shape[-1], data.shape[:-2]
    shape = calls.choices.pick(((inner,), (inner, *calls.shape(1)), (*batch, inner, *calls.shape(1))))
    dtype: tir.Attr = calls.choices.pick((None, None, "float32" if data.dtype.is_float else "int32"))
    return [data.expr, calls.like(data, shape).expr], {"out_dtype": dtype}


def outer(calls: Calls) -> Plan:
    """Two vectors of any extents."""
    data = calls.data(NUMBERS, (1,))
    return [data.expr, calls.like(data, calls.shape(1)).expr], {}


def einsum(calls: Calls) -> Plan:
    """The operands of a formula."""
    formula = calls.choices.pick(EINSUMS)
    extents = {letter: calls.choices.pick((2, 3, 1, 0)) for letter in "ijkb"}
    dtype = calls.choices.pick(FLOATS)
    operands = formula.partition("->")[0].split(",")
    tensors = [calls.parameter(dtype, [extents[letter] for letter in letters]).expr for letters in operands]
    return [relax.Tuple(tuple(tensors))], {"subscripts": formula}


def collapse(calls: Calls) -> Plan:
    """A tensor, and a shape that broadcasts to its shape."""
    data = calls.data(NUMBERS)
    shape = data.shape[calls.choices.below(data.rank + 1) :]
    return [data.expr, sizes(*(1 if calls.flag() else extent for extent in shape))], {}


PLANS: Mapping[str, Callable[[Calls], Plan]] = {
    **same_plan("sum prod max min", reduction),
    **same_plan("mean variance std", partial(reduction, dtypes=FLOATS)),
    **same_plan("argmax argmin", extreme_index),
    "median": partial(extreme_index, dtypes=FLOATS[:3]),
    **same_plan("nn.softmax nn.log_softmax", along),
    "nn.layer_norm": partial(norm, weights=2),
    "nn.rms_norm": partial(norm, weights=1),
    "nn.group_norm": partial(group_norm, groups=True),
    "nn.instance_norm": partial(group_norm, groups=False),
    "nn.batch_norm": batch_norm,
    **same_plan("cumsum cumprod", scan),
    "sort": sort,
    "argsort": partial(sort, dtype="int32"),
    "topk": topk,
    "permute_dims": permute,
    "expand_dims": expand,
    "squeeze": squeeze,
    **same_plan("flatten nn.batch_flatten size", partial(unary, dtypes=EVERY)),
    "broadcast_to": broadcast,
    "concat": partial(join, new=False),
    "stack": partial(join, new=True),
    "split": split,
    "tile": tile,
    "repeat": repeat,
    "flip": partial(along, dtypes=EVERY),
    "meshgrid": mesh,
    "matmul": product,
    "outer": outer,
    "einsum": einsum,
    "collapse_sum_to": collapse,
    "nn.cross_entropy_with_logits": partial(same_shape, count=2, ranks=(1, 2)),
}
