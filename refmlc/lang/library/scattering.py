"""Elements written to places that other tensors say, one after the other.

| operator           | the place of a value                                            |
|--------------------|-----------------------------------------------------------------|
| `scatter_elements` | its own, the index along one axis replaced                      |
| `scatter_nd`       | that of a vector of indices, one for each of the first axes     |
| `index_put`        | at the indices in several tensors, one for each axis, broadcast |
| `layout_transform` | what a function of the indices says                             |

Order: values in row-major order of the indices; where several go to one place each is combined with what is there
then, and of those that replace it the last one stays.
"""

from collections.abc import Callable, Sequence

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_ARGUMENTS, SHAPE_MISMATCH, TYPE_MISMATCH
from refmlc.lang import te
from refmlc.lang.ir import tir
from refmlc.lang.library.definition import Operator, Tensors
from refmlc.lang.library.gathering import require_indices
from refmlc.lang.library.shapes import axis_of, broadcast_indices, broadcast_shape, known, must_agree
from refmlc.lang.library.statements import at, loops, steps, store, written
from refmlc.lang.te import Tensor, Value

Combine = Callable[[Value, Value], Value]
Place = Callable[[list[tir.Buffer], tuple[Value, ...]], Sequence[Value]]

REDUCTIONS: dict[str, Combine] = {
    "update": lambda _old, new: new,
    "add": lambda old, new: old + new,
    "mul": lambda old, new: old * new,
    "mean": lambda old, new: te.div(old + new, te.cast(te.const(2), old.dtype)),
    "max": te.maximum,
    "min": te.minimum,
}


def _combine(reduction: str, name: str, *without: str) -> Combine:
    names = [reduction_name for reduction_name in REDUCTIONS if reduction_name not in without]
    if reduction not in names:
        raise fail(BAD_ARGUMENTS, f"the reduction of `{name}` is one of {', '.join(names)}; this is {reduction!r}")
    return REDUCTIONS[reduction]


def _scattered(
    inputs: Sequence[Tensor], shape: Sequence[Value], place: Place, value: Place, combine: Combine, name: str
) -> Tensor:
    """The first input; then, for each point of `shape`, the element at `place` combined with one of the last."""
    data = inputs[0]

    def body(ins: list[tir.Buffer], outs: list[tir.Buffer]) -> tir.Stmt:
        out = outs[0]

        def write(i: tuple[Value, ...]) -> tir.Stmt:
            where = tuple(place(ins, i))
            return store(out, combine(at(out, *where), at(ins[-1], *value(ins, i))), *where)

        return steps(loops(data.shape, lambda i: store(out, at(ins[0], *i), *i)), loops(shape, write, "j"))

    return written([(data.shape, data.dtype)], inputs, body, name)[0]


def _own(_ins: list[tir.Buffer], i: tuple[Value, ...]) -> Sequence[Value]:
    return i


def _from_end(index: Value, extent: Value) -> Value:
    """An index; one below 0 counts from the end."""
    wide = te.cast(index, "int64")
    return te.select(wide < 0, wide + extent, wide)


def _alike(data: Tensor, updates: Tensor, name: str) -> None:
    if data.dtype != updates.dtype:
        raise fail(TYPE_MISMATCH, f"`{name}` writes {updates.dtype} into {data.dtype}")


def scatter_elements(
    data: Tensor, indices: Tensor, updates: Tensor, *, axis: int = 0, reduction: str = "update"
) -> Tensor:
    """`data`, where each element of `updates` goes to its own place, the index along the axis being that of `indices`.

    An index below 0 counts from the end. `reduction`: update, add, mul, mean (of the two), max, min. Shapes:
    `indices` and `updates` agree. Fails: RM105, RM201, RM202.
    """
    along = axis_of(axis, data.ndim)
    combine = _combine(reduction, "scatter_elements")
    require_indices(indices, "scatter_elements")
    _alike(data, updates, "scatter_elements")
    if not data.ndim == indices.ndim == updates.ndim:
        raise fail(SHAPE_MISMATCH, "`scatter_elements` takes tensors of one number of dimensions")
    for place, (have, want) in enumerate(zip(updates.shape, indices.shape, strict=True)):
        must_agree(have, want, f"dimension {place} of the updates of `scatter_elements`, and of the indices")

    def where(ins: list[tir.Buffer], i: tuple[Value, ...]) -> Sequence[Value]:
        return (*i[:along], _from_end(at(ins[1], *i), data.shape[along]), *i[along + 1 :])

    return _scattered([data, indices, updates], indices.shape, where, _own, combine, "scatter_elements")


def scatter_nd(data: Tensor, indices: Tensor, updates: Tensor, *, reduction: str = "update") -> Tensor:
    """`data`, where parts of `updates` go to the places of vectors along the last axis of `indices`.

    Shapes: the updates have those of the indices without the last, then what is left of the data. `reduction`:
    update, add, mul, max, min. Fails: RM105, RM201, RM202.
    """
    combine = _combine(reduction, "scatter_nd", "mean")
    require_indices(indices, "scatter_nd")
    _alike(data, updates, "scatter_nd")
    count = known(indices.shape[-1]) if indices.ndim else None
    if count is None or count > data.ndim:
        raise fail(
            BAD_ARGUMENTS,
            "the last dimension of the indices of `scatter_nd` must be known: it is the number of indexed axes",
        )
    outer = indices.shape[:-1]
    shape = (*outer, *data.shape[count:])
    if len(shape) != updates.ndim:
        raise fail(SHAPE_MISMATCH, f"the updates of `scatter_nd` have {len(shape)} dimensions, not {updates.ndim}")
    for place, (have, want) in enumerate(zip(updates.shape, shape, strict=True)):
        must_agree(have, want, f"dimension {place} of the updates of `scatter_nd`")

    def where(ins: list[tir.Buffer], i: tuple[Value, ...]) -> Sequence[Value]:
        own = i[: len(outer)]
        return (*(te.cast(at(ins[1], *own, place), "int64") for place in range(count)), *i[len(outer) :])

    return _scattered([data, indices, updates], shape, where, _own, combine, "scatter_nd")


def index_put(data: Tensor, indices: Tensors, values: Tensor, *, accumulate: bool = False) -> Tensor:
    """`data`, where the values go to the places at the indices, one tensor of them for each axis; or are added there.

    An index below 0 counts from the end. Shapes: the indices are broadcast to one shape, the values to that too.
    Fails: RM105, RM201, RM202.
    """
    if len(indices) != data.ndim:
        raise fail(BAD_ARGUMENTS, f"`index_put` takes {data.ndim} tensors of indices, one for each axis")
    for tensor in indices:
        require_indices(tensor, "index_put")
    _alike(data, values, "index_put")
    shape = broadcast_shape(*(tensor.shape for tensor in indices))
    for have, want in zip(broadcast_shape(shape, values.shape), shape, strict=False):
        must_agree(have, want, "the shape of the values of `index_put`, and that of the indices")
    if values.ndim > len(shape):
        raise fail(SHAPE_MISMATCH, f"the values of `index_put` have at most {len(shape)} dimensions")

    def where(ins: list[tir.Buffer], i: tuple[Value, ...]) -> Sequence[Value]:
        positions = [
            at(ins[1 + axis], *broadcast_indices(tensor.shape, i, shape)) for axis, tensor in enumerate(indices)
        ]
        return [_from_end(index, extent) for index, extent in zip(positions, data.shape, strict=True)]

    def value(_ins: list[tir.Buffer], i: tuple[Value, ...]) -> Sequence[Value]:
        return broadcast_indices(values.shape, i, shape)

    combine = REDUCTIONS["add" if accumulate else "update"]
    return _scattered([data, *indices, values], shape, where, value, combine, "index_put")


SCATTERING = (
    Operator("scatter_elements", scatter_elements, "LIB-930", ("scatter_elements",), domains={"indices": "index"}),
    Operator("scatter_nd", scatter_nd, "LIB-931", ("scatter_nd",), domains={"indices": "index"}),
    Operator("index_put", index_put, "LIB-932", ("index_put",), domains={"indices": "index"}),
)
