"""Plans of operators that work along axes: reductions, norms, scans, sorting, movement, products.

Axes are given from either end; several ones in any order.
"""

from collections.abc import Callable, Mapping
from functools import partial

from refmlc.lang.ir import relax, tir
from refmlc.strategies.operators.calls import EVERY, FLOATS, INTEGERS, NUMBERS, Calls, Plan, sizes

EINSUMS = ("ij,jk->ik", "ij,kj->ik", "ij->ji", "ii->i", "ij->", "ij,ij->i", "i,j->ij", "ii", "bij,bjk->bik")


def reduction(calls: Calls, dtypes: tuple[object, ...] = NUMBERS) -> Plan:
    """Over some axes."""
    one = calls.data([each for each in EVERY if each in dtypes])
    axis: tir.Attr = None if calls.choices.chance(25) else calls.axes(one.rank)
    return [one.expr], {"axis": axis, "keepdims": calls.flag()}


def extreme_index(calls: Calls, dtypes: tuple[object, ...] = NUMBERS) -> Plan:
    """Over one axis or all."""
    one = calls.data([each for each in EVERY if each in dtypes])
    axis: tir.Attr = None if calls.choices.chance(25) else calls.axis(one.rank)
    return [one.expr], {"axis": axis, "keepdims": calls.flag()}


def along(calls: Calls) -> Plan:
    """Along one axis."""
    one = calls.data()
    return [one.expr], {"axis": calls.axis(one.rank)}


def norm(calls: Calls, weights: int) -> Plan:
    """Over the last axes, with weights of their shape."""
    one = calls.data()
    count = 1 + calls.choices.below(one.rank)
    axes = tuple(range(-count, 0))
    own = [calls.like(one, one.shape[one.rank - count :]).expr for _ in range(weights)]
    return [one.expr, *own], {"axes": axes, "epsilon": calls.choices.pick((1e-5, 0.0, 1.0))}


def group_norm(calls: Calls, *, groups: bool) -> Plan:
    """Over channels in groups."""
    channels = calls.choices.pick((2, 4, 3, 1))
    one = calls.parameter(calls.choices.pick(FLOATS), (*calls.shape(1), channels, *calls.shape(1)))
    own = [calls.like(one, (channels,)).expr for _ in range(2)]
    attrs: dict[str, tir.Attr] = {"channel_axis": 1, "axes": (2,), "epsilon": 1e-5}
    if groups:
        attrs["num_groups"] = calls.choices.pick([each for each in (1, 2, 3, 4) if channels % each == 0])
    return [one.expr, *own], attrs


def batch_norm(calls: Calls) -> Plan:
    """Over all axes but one."""
    one = calls.data(ranks=(2, 3))
    axis = calls.axis(one.rank)
    own = [calls.like(one, (one.shape[axis],)).expr for _ in range(4)]
    return [one.expr, *own], {"axis": axis, "training": calls.flag(), "center": calls.flag(), "scale": calls.flag()}


def scan(calls: Calls) -> Plan:
    """Along one axis, or all in a row."""
    one = calls.data(NUMBERS)
    axis: tir.Attr = None if calls.choices.chance(25) else calls.axis(one.rank)
    dtype: tir.Attr = calls.choices.pick((None, None, "float32", "int64", "int32", "float64"))
    return [one.expr], {"axis": axis, "dtype": dtype, "exclusive": calls.flag()}


def sort(calls: Calls, dtype: str | None = None) -> Plan:
    """Along one axis, up or down."""
    one = calls.data(NUMBERS)
    attrs: dict[str, tir.Attr] = {"axis": calls.axis(one.rank), "descending": calls.flag()}
    if dtype:
        attrs["dtype"] = calls.choices.pick((dtype, "int64"))
    return [one.expr], attrs


def topk(calls: Calls) -> Plan:
    """Some along one axis."""
    one = calls.data(NUMBERS)
    pick = calls.choices.pick
    attrs: dict[str, tir.Attr] = {"k": pick((1, 2, 3)), "axis": calls.axis(one.rank), "largest": calls.flag()}
    return [one.expr], {**attrs, "ret_type": pick(("both", "values", "indices")), "dtype": pick(("int32", "int64"))}


def permute(calls: Calls) -> Plan:
    """All axes in some order."""
    one = calls.data(EVERY)
    order = calls.choices.permutation(range(one.rank))
    return [one.expr], {"axes": tuple(axis - one.rank if calls.choices.chance(30) else axis for axis in order)}


def expand(calls: Calls) -> Plan:
    """New axes."""
    one = calls.data(EVERY)
    rank = one.rank + 1 + calls.choices.below(2)
    return [one.expr], {"axis": tuple(sorted(calls.choices.permutation(range(rank))[: rank - one.rank]))}


def squeeze(calls: Calls) -> Plan:
    """Axes of extent 1 left out."""
    one = calls.data(EVERY)
    ones = [axis for axis, extent in enumerate(one.shape) if extent == 1]
    some: tir.Attr = tuple(axis - one.rank if calls.flag() else axis for axis in ones) if calls.flag() else None
    return [one.expr], {"axis": some}


def whole(calls: Calls) -> Plan:
    """A tensor as it is."""
    return [calls.data(EVERY).expr], {}


def broadcast(calls: Calls) -> Plan:
    """To a greater shape."""
    one = calls.data(EVERY)
    shape = [calls.choices.pick((2, 3, 0)) if extent == 1 else extent for extent in one.shape]
    return [one.expr, sizes(*calls.shape(calls.choices.below(2)), *shape)], {}


def join(calls: Calls, *, new: bool) -> Plan:
    """Several tensors along an axis."""
    one = calls.data(EVERY)
    axis = calls.axis(one.rank + new)
    others = []
    for _ in range(1 + calls.choices.below(2)):
        shape = list(one.shape)
        if not new:
            shape[axis] = calls.choices.pick((1, 2, 0, 3))
        others.append(calls.like(one, shape).expr)
    return [relax.Tuple((one.expr, *others))], {"axis": axis}


def split(calls: Calls) -> Plan:
    """In equal parts, or at places."""
    one = calls.data(EVERY)
    axis = calls.axis(one.rank)
    extent = one.shape[axis]
    places = tuple(sorted(calls.choices.below(extent + 1) for _ in range(1 + calls.choices.below(2))))
    parts = [each for each in (1, 2, 3) if extent % each == 0 and extent]
    found: tir.Attr = places if not parts or calls.flag() else calls.choices.pick(parts)
    return [one.expr], {"indices_or_sections": found, "axis": axis}


def tile(calls: Calls) -> Plan:
    """Repeated along each axis."""
    one = calls.data(EVERY)
    count = 1 + calls.choices.below(one.rank + 1)
    return [one.expr], {"repeats": tuple(calls.choices.pick((1, 2, 3, 0)) for _ in range(count))}


def repeat(calls: Calls) -> Plan:
    """Each element several times."""
    one = calls.data(EVERY)
    axis: tir.Attr = None if calls.choices.chance(25) else calls.axis(one.rank)
    return [one.expr], {"repeats": calls.choices.pick((2, 1, 3, 0)), "axis": axis}


def flipped(calls: Calls) -> Plan:
    """Along one axis."""
    one = calls.data(EVERY)
    return [one.expr], {"axis": calls.axis(one.rank)}


def mesh(calls: Calls) -> Plan:
    """Vectors as a grid."""
    one = calls.data(NUMBERS, (1,))
    others = [calls.like(one, calls.shape(1)).expr for _ in range(1 + calls.choices.below(2))]
    return [relax.Tuple((one.expr, *others))], {"indexing": calls.choices.pick(("ij", "xy"))}


def product(calls: Calls) -> Plan:
    """Two tensors, of which a dimension agrees."""
    one = calls.data((*FLOATS, *INTEGERS[:4]))
    inner, batch = one.shape[-1], one.shape[:-2]
    shape = calls.choices.pick(((inner,), (inner, *calls.shape(1)), (*batch, inner, *calls.shape(1))))
    dtype: tir.Attr = calls.choices.pick((None, None, "float32" if one.dtype.is_float else "int32"))
    return [one.expr, calls.like(one, shape).expr], {"out_dtype": dtype}


def outer(calls: Calls) -> Plan:
    """Two vectors."""
    one = calls.data(NUMBERS, (1,))
    return [one.expr, calls.like(one, calls.shape(1)).expr], {}


def einsum(calls: Calls) -> Plan:
    """By a formula."""
    formula = calls.choices.pick(EINSUMS)
    extents = {letter: calls.choices.pick((2, 3, 1, 0)) for letter in "ijkb"}
    dtype = calls.choices.pick(FLOATS)
    operands = formula.partition("->")[0].split(",")
    given = [calls.parameter(dtype, [extents[letter] for letter in one]).expr for one in operands]
    return [relax.Tuple(tuple(given))], {"subscripts": formula}


def collapse(calls: Calls) -> Plan:
    """To a shape that broadcasting takes to it."""
    one = calls.data(NUMBERS)
    kept = one.shape[calls.choices.below(one.rank + 1) :]
    return [one.expr, sizes(*(1 if calls.flag() else extent for extent in kept))], {}


def losses(calls: Calls) -> Plan:
    """Two tensors of one shape."""
    one = calls.data(ranks=(1, 2))
    return [one.expr, calls.like(one).expr], {}


def _each(names: str, plan: Callable[[Calls], Plan]) -> dict[str, Callable[[Calls], Plan]]:
    return dict.fromkeys(names.split(), plan)


PLANS: Mapping[str, Callable[[Calls], Plan]] = {
    **_each("sum prod max min", reduction),
    **_each("mean variance std", partial(reduction, dtypes=FLOATS)),
    **_each("argmax argmin", extreme_index),
    "median": partial(extreme_index, dtypes=FLOATS[:3]),
    **_each("nn.softmax nn.log_softmax", along),
    "nn.layer_norm": partial(norm, weights=2),
    "nn.rms_norm": partial(norm, weights=1),
    "nn.group_norm": partial(group_norm, groups=True),
    "nn.instance_norm": partial(group_norm, groups=False),
    "nn.batch_norm": batch_norm,
    **_each("cumsum cumprod", scan),
    "sort": sort,
    "argsort": partial(sort, dtype="int32"),
    "topk": topk,
    "permute_dims": permute,
    "expand_dims": expand,
    "squeeze": squeeze,
    **_each("flatten nn.batch_flatten size", whole),
    "broadcast_to": broadcast,
    "concat": partial(join, new=False),
    "stack": partial(join, new=True),
    "split": split,
    "tile": tile,
    "repeat": repeat,
    "flip": flipped,
    "meshgrid": mesh,
    "matmul": product,
    "outer": outer,
    "einsum": einsum,
    "collapse_sum_to": collapse,
    "nn.cross_entropy_with_logits": losses,
}
