"""A nest in the generator's own terms: fewer, longer loops, and accesses in them.

| axes                                                                              | become                       |
|-----------------------------------------------------------------------------------|------------------------------|
| extent 1                                                                          | 0, no loop                   |
| two spatial ones, a with coefficient n * that of b, n b's extent, in every access | one of both extents' product |
| two reduction ones that follow each other, the same                               | one                          |
| one whose variable a value or condition uses                                      | as it is                     |
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, permutations

from refmlc.lang.ir import tir
from refmlc.lang.ir.node import Node
from refmlc.lang.ir.visit import children
from refmlc.native.nest import Affine, Axis, Nest
from refmlc.native.text import Names
from refmlc.native.tile.tiled import NoForm


@dataclass(frozen=True, slots=True, eq=False)
class Dim:
    """A loop from 0 to `extent`; `name` is its variable in C. Compared by identity."""

    name: str
    extent: int


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
        """Every access."""
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
        shape = _with_joined(shape, outer, inner, dim)
    return shape


def _neighbours(shape: Shape) -> tuple[Dim, Dim] | None:
    value_dims = {id(dim) for dim in shape.index.values()}
    for outer, inner in (*permutations(shape.spatial, 2), *pairwise(shape.reduce)):
        if id(outer) in value_dims or id(inner) in value_dims:
            continue
        if all(access.of(outer) == access.of(inner) * inner.extent for access in shape.accesses):
            return outer, inner
    return None


def _with_joined(shape: Shape, outer: Dim, inner: Dim, dim: Dim) -> Shape:
    """`dim` in place of `outer` and `inner`."""

    def access(old: Access) -> Access:
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
