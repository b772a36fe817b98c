"""A nest in the generator's own terms: fewer, longer loops, accesses in them, and the elements that it reads.

| axes                                                                              | become                       |
|-----------------------------------------------------------------------------------|------------------------------|
| extent 1                                                                          | 0, no loop                   |
| two spatial ones, a with coefficient n * that of b, n b's extent, in every access | one of both extents' product |
| two reduction ones that follow each other, the same                               | one                          |
| one whose variable a value or condition uses                                      | as it is                     |

Each distinct element that is read is a `Leaf`, converted as it is loaded where a cast is all that is done with it.

| leaf, along the vector dim        | is                                                  |
|-----------------------------------|-----------------------------------------------------|
| coefficient 0                     | `UNIFORM`: one number for all lanes                 |
| coefficient 1                     | `CONTIGUOUS`: one load for all lanes                |
| any other                         | `STRIDED`: packed where it is reused, else gathered |
| the loops of a folded dim move it | `FOLDED`: packed, row by row (`folds`)              |
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from itertools import pairwise, permutations

from refmlc.lang.dtypes import DType
from refmlc.lang.ir import tir
from refmlc.lang.ir.node import Node
from refmlc.lang.ir.visit import children
from refmlc.native.nest import Affine, Axis, Nest
from refmlc.native.text import Names
from refmlc.native.tile.headers import VECTOR_DTYPES, NoForm


@dataclass(frozen=True, slots=True, eq=False)
class Dim:
    """A loop from 0 to `extent`; `name` is its variable in C. Compared by identity.

    `folded`: the outer and the inner loop that it stands for, `pitch` elements from row to row, where some access moves
    by these (`folds`).
    """

    name: str
    extent: int
    folded: "tuple[Dim, ...]" = ()
    pitch: int = 0


@dataclass(frozen=True, slots=True)
class Access:
    """The element of `buffer` at the sum of coefficient * dim plus a constant."""

    buffer: tir.Buffer
    terms: tuple[tuple[Dim, int], ...]
    constant: int

    def of(self, dim: Dim | None) -> int:
        """The coefficient of `dim`."""
        return next((coefficient for each, coefficient in self.terms if each is dim), 0)

    def uses(self, dims: Iterable[Dim]) -> bool:
        """Whether one of `dims` moves it."""
        return any(self.of(dim) for dim in dims)


@dataclass(frozen=True, slots=True)
class Write:
    """One store of the nest."""

    access: Access
    value: tir.Expr


@dataclass(frozen=True, slots=True)
class Shape:
    """A nest over dims. `index` says what an axis used as a value is: a dim, or None for 0."""

    spatial: tuple[Dim, ...]
    reduce: tuple[Dim, ...]
    init: tuple[Write, ...]
    stores: tuple[Write, ...]
    loads: Mapping[tir.BufferLoad, Access]
    lets: tuple[tir.Bind, ...]
    guarded: frozenset[tir.BufferLoad]
    index: Mapping[tir.Var, Dim | None]

    @property
    def buffers(self) -> tuple[tir.Buffer, ...]:
        """The buffers stored to, each once."""
        return tuple(dict.fromkeys(write.access.buffer for write in (*self.init, *self.stores)))

    @property
    def read(self) -> set[tir.Buffer]:
        """The buffers that are read and stored to."""
        later = (*(let.value for let in self.lets), *(write.value for write in self.stores))
        loads = (node.buffer for value in later for node in computed(value) if isinstance(node, tir.BufferLoad))
        return set(loads) & set(self.buffers)

    @property
    def accesses(self) -> tuple[Access, ...]:
        """Every access of the nest, stores first."""
        return (*(write.access for write in (*self.init, *self.stores)), *self.loads.values())

    @property
    def values(self) -> tuple[tir.Expr, ...]:
        """Every value that is computed."""
        return (*(write.value for write in (*self.init, *self.stores)), *(let.value for let in self.lets))


def shape_of(nest: Nest, names: Names) -> Shape:
    """`nest` with short axes dropped and neighbours joined. Fails: `NoForm`."""
    variables = {node for value in _values(nest) for node in computed(value) if isinstance(node, tir.Var)}
    index: dict[tir.Var, Dim | None] = {}
    for axis in (*nest.spatial, *nest.reduce):
        index[axis.var] = None if axis.extent == 1 else Dim(names.new(axis.var.name), axis.extent)
    shape = Shape(
        spatial=_dims(nest.spatial, index),
        reduce=_dims(nest.reduce, index),
        init=tuple(Write(_access(store.buffer, store.offset, index), store.value) for store in nest.init),
        stores=tuple(Write(_access(store.buffer, store.offset, index), store.value) for store in nest.stores),
        loads={load: _access(load.buffer, offset, index) for load, offset in nest.offsets.items()},
        lets=nest.lets,
        guarded=nest.guarded,
        index={var: dim for var, dim in index.items() if var in variables},
    )
    places = {(write.access.buffer, write.access) for write in (*shape.init, *shape.stores)}
    if len(places) > len(shape.buffers):
        raise NoForm("a buffer is stored to in two places")
    return _with_joined_neighbours(shape, names)


def computed(value: tir.Expr) -> Iterator[Node]:
    """`value` and what is below it, but for the indices of loads: those are in the accesses."""
    stack: list[Node] = [value]
    while stack:
        node = stack.pop()
        yield node
        if not isinstance(node, tir.BufferLoad):
            stack.extend(reversed(tuple(children(node))))


def _values(nest: Nest) -> tuple[tir.Expr, ...]:
    return (*(store.value for store in (*nest.init, *nest.stores)), *(let.value for let in nest.lets))


def _dims(axes: Sequence[Axis], index: Mapping[tir.Var, Dim | None]) -> tuple[Dim, ...]:
    return tuple(dim for axis in axes if (dim := index[axis.var]) is not None)


def _access(buffer: tir.Buffer, offset: Affine, index: Mapping[tir.Var, Dim | None]) -> Access:
    terms = tuple((dim, offset.of(var)) for var, dim in index.items() if dim is not None and offset.of(var) != 0)
    return Access(buffer, terms, offset.constant)


def _with_joined_neighbours(shape: Shape, names: Names) -> Shape:
    """`shape` with dims joined until no two fit."""
    while (pair := _neighbours(shape)) is not None:
        outer, inner = pair
        dim = Dim(names.new(f"{outer.name}_{inner.name}"), outer.extent * inner.extent)
        shape = with_joined(shape, outer, inner, dim, inner.extent)
    return shape


def _neighbours(shape: Shape) -> tuple[Dim, Dim] | None:
    value_dims = {id(dim) for dim in shape.index.values()}
    for outer, inner in (*permutations(shape.spatial, 2), *pairwise(shape.reduce)):
        if id(outer) in value_dims or id(inner) in value_dims:
            continue
        if all(continues(access, outer, inner, inner.extent) for access in shape.accesses):
            return outer, inner
    return None


def continues(access: Access, outer: Dim, inner: Dim, pitch: int) -> bool:
    """Whether a step of `outer` is as far as `pitch` steps of `inner`: both are one loop."""
    return access.of(outer) == access.of(inner) * pitch


def with_joined(shape: Shape, outer: Dim, inner: Dim, dim: Dim, pitch: int) -> Shape:
    """`dim` in place of `outer` and `inner`, but in accesses of which they are not one loop."""

    def access(old: Access) -> Access:
        if not continues(old, outer, inner, pitch):
            return old
        terms = tuple((dim if each is inner else each, k) for each, k in old.terms if each is not outer)
        return replace(old, terms=terms)

    def dims(old: tuple[Dim, ...]) -> tuple[Dim, ...]:
        return tuple(dim if each is inner else each for each in old if each is not outer)

    def writes(old: tuple[Write, ...]) -> tuple[Write, ...]:
        return tuple(replace(write, access=access(write.access)) for write in old)

    return replace(
        shape,
        spatial=dims(shape.spatial),
        reduce=dims(shape.reduce),
        init=writes(shape.init),
        stores=writes(shape.stores),
        loads={load: access(old) for load, old in shape.loads.items()},
    )


class Stride(Enum):
    """How an element moves along the vector dim."""

    UNIFORM = 0
    CONTIGUOUS = 1
    STRIDED = 2
    FOLDED = 3


@dataclass(frozen=True, slots=True, eq=False)
class Leaf:
    """An element that is read: the access, the dtype of the buffer, and the one it is converted to. By identity."""

    access: Access
    source: DType
    dtype: DType

    def stride(self, vector: Dim | None) -> Stride:
        """How it moves along `vector`."""
        if vector is not None and self.access.uses(vector.folded):
            return Stride.FOLDED
        return {0: Stride.UNIFORM, 1: Stride.CONTIGUOUS}.get(self.access.of(vector), Stride.STRIDED)


def leaves_of(shape: Shape) -> Mapping[Node, Leaf]:
    """Loads, and casts of loads, as leaves; not those of what the nest stores. Order: of occurrence."""
    state = set(shape.buffers)
    leaves: dict[Node, Leaf] = {}
    by_access: dict[tuple[Access, str], Leaf] = {}
    for value in shape.values:
        under_cast = None
        for node in computed(value):
            inner = node.value if isinstance(node, tir.Cast) else node
            if node is under_cast or not isinstance(inner, tir.BufferLoad) or inner.buffer in state:
                under_cast = None
                continue
            source = inner.buffer.dtype
            target = node.dtype if isinstance(node, tir.Cast) else source
            if isinstance(node, tir.Cast) and not _joins(source, target):
                continue
            under_cast = inner if isinstance(node, tir.Cast) else None
            access = shape.loads[inner]
            place = node if isinstance(node, tir.Cast) else inner
            leaves[place] = by_access.setdefault((access, target.element), Leaf(access, source, target))
    return leaves


def _joins(source: DType, target: DType) -> bool:
    """Whether a load is converted as it is loaded."""
    are_vectors = source.element in VECTOR_DTYPES and target.element in VECTOR_DTYPES
    return are_vectors and source.element != target.element and source.kind != "bool" and target.kind != "bool"
