"""Orders of elements along an axis.

| operator  | gives                                                  |
|-----------|--------------------------------------------------------|
| `sort`    | the elements in ascending, or in descending order      |
| `argsort` | their places                                           |
| `topk`    | the first k of both                                    |
| `median`  | the middle one; of an even number the lower of the two |

Equal elements keep their order, -0 and 0 are equal. NaN is above every number: last where the order ascends, first
where it descends. Runs of 1, 2, 4 … places that are in order are merged, so about n log n steps are taken.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_ARGUMENTS
from refmlc.lang import te
from refmlc.lang.ir import tir
from refmlc.lang.library.definition import Operator, Result, computed
from refmlc.lang.library.movement import flatten
from refmlc.lang.library.shapes import axes_of, axis_of
from refmlc.lang.library.statements import at, local, loop, loops, repeat_while, steps, store, when, within, written
from refmlc.lang.te import Tensor, Value

ONE = te.const(1, "int64")


def before(a: Value, b: Value, *, descending: bool) -> Value:
    """Whether `a` stands before `b` wherever they were."""
    first, second = (b, a) if descending else (a, b)
    if not a.expr.dtype.is_float:
        return first < second
    return te.any(first < second, te.all(te.isnan(second), te.not_(te.isnan(first))))


def ordered(data: Tensor, axis: int, *, descending: bool) -> Tensor:
    """The places of the elements along an axis in their order, int64."""

    def body(ins: list[tir.Buffer], outs: list[tir.Buffer]) -> tir.Stmt:
        def row(outer: tuple[Value, ...]) -> tir.Stmt:
            def here(k: Value) -> tuple[Value, ...]:
                return (*outer[:axis], k, *outer[axis:])

            places = Places(outs[0], outs[1], data.shape[axis], here)
            start = loop(places.count, lambda k: store(outs[0], k, *here(k)), "k")
            return steps(start, merged(places, lambda place: at(ins[0], *here(place)), descending=descending))

        return loops([extent for place, extent in enumerate(data.shape) if place != axis], row)

    return written([(data.shape, "int64"), (data.shape, "int64")], [data], body, "argsort")[0]


@dataclass(frozen=True)
class Places:
    """Places to be brought into an order: `buffer` at `here(k)` holds place k; `room` is another one of its shape."""

    buffer: tir.Buffer
    room: tir.Buffer
    count: Value
    here: Callable[[Value], tuple[Value, ...]]

    def __call__(self, k: Value) -> Value:
        """Give the element at place `k` of the line."""
        return at(self.buffer, *self.here(k))


def merged(places: Places, key: Callable[[Value], Value], *, descending: bool = False) -> tir.Stmt:
    """Brings places into the order of their keys, of equal keys in the order they have: runs of `width` are merged."""
    width, left, right = (local(name) for name in ("width", "left", "right"))
    size = at(width, 0)

    def take(source: tir.Buffer, to: Value) -> tir.Stmt:
        index = places(at(source, 0))
        return steps(store(places.room, index, *places.here(to)), store(source, at(source, 0) + 1, 0))

    def merge(pair: Value) -> tir.Stmt:
        low = pair * size * 2
        middle, high = te.minimum(low + size, places.count), te.minimum(low + size * 2, places.count)
        i, j = at(left, 0), at(right, 0)
        earlier = before(key(places(j)), key(places(i)), descending=descending)
        second = te.all(j < high, te.any(i >= middle, earlier))
        return steps(
            store(left, low, 0),
            store(right, middle, 0),
            loop(high - low, lambda t: when(second, take(right, low + t), take(left, low + t)), "t"),
        )

    def back(k: Value) -> tir.Stmt:
        return store(places.buffer, at(places.room, *places.here(k)), *places.here(k))

    return within(
        [width, left, right],
        store(width, 1, 0),
        repeat_while(
            size < places.count,
            loop(te.ceildiv(places.count, size * 2), merge, "pair"),
            loop(places.count, back, "k"),
            store(width, size * 2, 0),
        ),
    )


def along(data: Tensor, axis: int, place: Callable[..., Value], count: Value, name: str) -> Tensor:
    """The elements of `data` at `place(index)` along the axis, which gets `count` places."""
    shape = [count if dimension == axis else extent for dimension, extent in enumerate(data.shape)]
    return computed(shape, lambda *i: data(*i[:axis], place(*i), *i[axis + 1 :]), name)


def sort(x: Tensor, *, axis: int = -1, descending: bool = False) -> Tensor:
    """The elements in order along an axis. Fails: RM105."""
    own = axis_of(axis, x.ndim)
    return along(x, own, ordered(x, own, descending=descending), x.shape[own], "sort")


def argsort(data: Tensor, *, axis: int = -1, descending: bool = False, dtype: str = "int32") -> Tensor:
    """The places of the elements in order along an axis, in `dtype`. Fails: RM105."""
    return _as(ordered(data, axis_of(axis, data.ndim), descending=descending), dtype, "argsort")


def _as(places: Tensor, dtype: str, name: str) -> Tensor:
    return places if places.dtype == str(dtype) else computed(places.shape, lambda *i: te.cast(places(*i), dtype), name)


def topk(
    data: Tensor, *, k: int = 1, axis: int = -1, ret_type: str = "both", largest: bool = True, dtype: str = "int32"
) -> Result:
    """The first k elements along an axis, in descending order, or ascending where not `largest`; and their places.

    Shapes: k places along the axis; all where k is below 1. `ret_type`: "both", "values", "indices". Fails: RM105.
    """
    own = axis_of(axis, data.ndim)
    if ret_type not in ("both", "values", "indices"):
        raise fail(BAD_ARGUMENTS, f'`topk` gives "both", "values" or "indices"; this is {ret_type!r}')
    places = ordered(data, own, descending=largest)
    count = data.shape[own] if k < 1 else te.const(k, "int64")
    values = along(data, own, places, count, "topk_values")
    indices = computed(values.shape, lambda *i: te.cast(places(*i), dtype), "topk_indices")
    if ret_type == "both":
        return values, indices
    return values if ret_type == "values" else indices


def median(x: Tensor, *, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Result:
    """The middle element in ascending order along an axis, the lower of two, and its place (int64) in the tensor.

    Without an axis only the element, of all. Fails: RM105 for more than one axis.
    """
    axes = () if axis is None else axes_of(axis, x.ndim)
    if len(axes) > 1:
        raise fail(BAD_ARGUMENTS, f"`median` takes one axis, or all; these are {list(axes)}")
    data = x if axes else flatten(x)
    own = axes[0] if axes else 0
    places = ordered(data, own, descending=False)
    middle = (data.shape[own] - 1) // 2

    def at_middle(*i: Value) -> list[Value]:
        outer = [] if not axes else list(i if not keepdims else (*i[:own], *i[own + 1 :]))
        return [*outer[:own], middle, *outer[own:]]

    if not axes:
        shape: list[Value] = [ONE] * x.ndim if keepdims else []
    else:
        shape = [*x.shape[:own], *([ONE] if keepdims else []), *x.shape[own + 1 :]]

    def value(*i: Value) -> Value:
        inner = at_middle(*i)
        return data(*inner[:own], places(*inner), *inner[own + 1 :])

    values = computed(shape, value, "median")
    return (values, computed(shape, lambda *i: places(*at_middle(*i)), "median_index")) if axes else values


SORTING = (
    Operator("sort", sort, "LIB-950", ("sort",)),
    Operator("argsort", argsort, "LIB-951", ("argsort",)),
    Operator("topk", topk, "LIB-952", ("topk",)),
    Operator("median", median, "LIB-953"),
)
