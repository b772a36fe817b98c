"""Elements found: how many there are follows from the elements.

| operator  | gives                                                                                    |
|-----------|------------------------------------------------------------------------------------------|
| `nonzero` | the indices of all elements that are not 0                                               |
| `unique`  | each element once; where it is first, which one each element is, how often each is there |

Results are counted first, then written; elements are equal if neither is before the other in `sort`'s order.
"""

from collections.abc import Sequence

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_ARGUMENTS
from refmlc.lang import te
from refmlc.lang.ir import tir
from refmlc.lang.library.definition import Counts, Operator, Result, computed
from refmlc.lang.library.movement import flatten
from refmlc.lang.library.shapes import axis_of, known
from refmlc.lang.library.sorting import Places, before, merged
from refmlc.lang.library.statements import at, local, loop, loops, steps, store, when, within, written
from refmlc.lang.te import Tensor, Value

ONE = te.const(1, "int64")


def _is_there(value: Value) -> Value:
    return value if value.dtype == "bool" else value != te.cast(te.const(0), value.dtype)


def nonzero_count(x: Tensor) -> Tensor:
    """How many elements are not 0."""

    def body(ins: list[tir.Buffer], outs: list[tir.Buffer]) -> tir.Stmt:
        count_up = store(outs[0], at(outs[0], 0) + 1, 0)
        return steps(store(outs[0], 0, 0), loops(x.shape, lambda i: when(_is_there(at(ins[0], *i)), count_up)))

    return written([((ONE,), "int64")], [x], body, "counts")[0]


def nonzero(x: Tensor, *, counts: Counts) -> Tensor:
    """The indices of the elements that are not 0, a column for each, in row-major order; NaN is not 0.

    Shapes: a row for each dimension; one row for a tensor without dimensions. Dtypes: int64.
    """
    rank, place = max(x.ndim, 1), local("place")

    def body(ins: list[tir.Buffer], outs: list[tir.Buffer]) -> tir.Stmt:
        def note(i: tuple[Value, ...]) -> tir.Stmt:
            indices = i or (te.const(0, "int64"),)
            stores = [store(outs[0], index, axis, at(place, 0)) for axis, index in enumerate(indices)]
            return when(_is_there(at(ins[0], *i)), steps(*stores, store(place, at(place, 0) + 1, 0)))

        return within([place], store(place, 0, 0), loops(x.shape, note))

    return written([((te.const(rank, "int64"), counts[0]), "int64")], [x], body, "nonzero")[0]


# ------------------------------------------------------------------------------------------------------- unique


class _Groups:
    """Groups of equal slices along an axis, in the order of their elements, or of their first slices.

    `which` one each slice is of, the `first` of each, how many are of it (`times`), how many there are (`count`).
    """

    def __init__(self, x: Tensor, axis: int, *, ordered: bool) -> None:
        self.x, self.axis, self.ordered = x, axis, ordered
        self.extent = x.shape[axis]
        self.inner = [extent for place, extent in enumerate(x.shape) if place != axis]
        row = ((self.extent,), "int64")
        outputs = [row, row, row, ((ONE,), "int64"), row, row, row]
        self.which, self.first, self.times, self.count, *_room = written(outputs, [x], self._body, "groups")

    def _at(self, keys: tir.Buffer, place: Value, inner: Sequence[Value]) -> Value:
        return at(keys, *inner[: self.axis], place, *inner[self.axis :])

    def _body(self, ins: list[tir.Buffer], outs: list[tir.Buffer]) -> tir.Stmt:
        """The slices in order, by their last element first, as each step keeps the order of what is equal in it."""
        keys, (which, first, times, count, buffer, room, sorted_which) = ins[0], outs
        places = Places(buffer, room, self.extent, lambda k: (k,))
        same, number = local("same"), at(count, 0) - 1

        def by(i: tuple[Value, ...]) -> tir.Stmt:
            inner = [extent - 1 - coordinate for coordinate, extent in zip(i, self.inner, strict=True)]
            return merged(places, lambda place: self._at(keys, place, inner))

        def differs(i: tuple[Value, ...], k: Value) -> tir.Stmt:
            earlier, later = (self._at(keys, places(index), i) for index in (k - 1, k))
            return when(before(earlier, later, descending=False), store(same, 0, 0))

        def group(k: Value) -> tir.Stmt:
            compare = loops(self.inner, lambda i: differs(i, k), "j")
            new = steps(store(count, at(count, 0) + 1, 0), store(first, places(k), number), store(times, 0, number))
            return steps(
                store(same, 1, 0),
                when(k == 0, store(same, 0, 0), compare),
                when(at(same, 0) == 0, new),
                store(which, number, places(k)),
                store(times, at(times, number) + 1, number),
            )

        return within(
            [same],
            loop(self.extent, lambda k: store(buffer, k, k), "k"),
            loops(self.inner, by),
            store(count, 0, 0),
            loop(self.extent, group, "k"),
            *([] if self.ordered else [self._by_first(which, first, times, count, buffer, room, sorted_which)]),
        )

    def _by_first(self, *buffers: tir.Buffer) -> tir.Stmt:
        """The groups in the order of their first slices."""
        which, first, times, count, old, new, moves = buffers
        following = local("following")

        def keep(g: Value) -> tir.Stmt:
            return steps(store(old, at(first, g), g), store(moves, at(times, g), g))

        def number(k: Value) -> tir.Stmt:
            g, fresh = at(which, k), at(following, 0)
            renumber = steps(
                store(new, fresh, g),
                store(first, k, fresh),
                store(times, at(moves, g), fresh),
                store(following, fresh + 1, 0),
            )
            return steps(when(at(old, g) == k, renumber), store(which, at(new, at(which, k)), k))

        return within(
            [following], loop(at(count, 0), keep, "g"), store(following, 0, 0), loop(self.extent, number, "k")
        )


def _flag(value: Value | None, default: bool, name: str) -> bool:
    if value is None:
        return default
    flag = known(value)
    if flag is None:
        raise fail(BAD_ARGUMENTS, f"`{name}` of `unique` must be known")
    return bool(flag)


def _groups(x: Tensor, sorted_: Value | None, axis: Value | None) -> _Groups:
    ordered = _flag(sorted_, True, "sorted")
    if axis is None:
        return _Groups(flatten(x), 0, ordered=ordered)
    place = known(axis)
    if place is None:
        raise fail(BAD_ARGUMENTS, "`axis` of `unique` must be known")
    return _Groups(x, axis_of(place, x.ndim), ordered=ordered)


def unique_count(
    x: Tensor,
    sorted: Value | None = None,  # noqa: A002 - TVM's name
    return_index: Value | None = None,  # noqa: ARG001 - what `unique` takes
    return_inverse: Value | None = None,  # noqa: ARG001 - the same
    return_counts: Value | None = None,  # noqa: ARG001 - the same
    axis: Value | None = None,
) -> Tensor:
    """How many different elements there are."""
    return _groups(x, sorted, axis).count


def unique(
    x: Tensor,
    sorted: Value | None = None,  # noqa: A002 - TVM's name
    return_index: Value | None = None,
    return_inverse: Value | None = None,
    return_counts: Value | None = None,
    axis: Value | None = None,
    *,
    counts: Counts,
) -> Result:
    """Each element once, or each slice along an axis: in ascending order, or in that of the first where not `sorted`.

    Then, where they are wanted, in int64: the first place of each, which one each element is, how often each is there.
    Shapes: vectors; with an axis the slices along it. Fails: RM105 for arguments that are not known.
    """
    groups = _groups(x, sorted, axis)
    own, rest = groups.axis, groups.x.shape
    shape = [counts[0] if place == own else extent for place, extent in enumerate(rest)]

    def element(*i: Value) -> Value:
        return groups.x(*i[:own], groups.first(i[own]), *i[own + 1 :])

    results = [computed(shape, element, "unique")]
    if _flag(return_index, False, "return_index"):
        results.append(computed(counts, groups.first, "unique_index"))
    if _flag(return_inverse, False, "return_inverse"):
        results.append(groups.which)
    if _flag(return_counts, False, "return_counts"):
        results.append(computed(counts, groups.times, "unique_counts"))
    return results[0] if len(results) == 1 else tuple(results)


COUNTING = (
    Operator("nonzero", nonzero, "LIB-970", counted=nonzero_count),
    Operator("unique", unique, "LIB-971", counted=unique_count),
)
