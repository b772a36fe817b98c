"""Loop nests whose spatial iterations may be executed in any order, as data for the tile generator.

All extents are constants, all accesses affine in the axes, in elements of compact buffers.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from refmlc.diag.source import Span
from refmlc.lang.ir import tir


@dataclass(frozen=True, slots=True)
class Axis:
    """A block axis with the domain 0 … extent - 1; `var` is the block variable."""

    var: tir.Var
    extent: int


@dataclass(frozen=True, slots=True)
class Affine:
    """The sum of coefficient * axis, plus a constant. Axes with coefficient 0 are left out."""

    terms: Mapping[tir.Var, int]
    constant: int = 0

    def of(self, var: tir.Var) -> int:
        """The coefficient of `var`."""
        return self.terms.get(var, 0)


@dataclass(frozen=True, slots=True)
class Store:
    """One element written per instance: `buffer[offset] = value`; `offset` does not depend on reduction axes."""

    node: tir.BufferStore
    buffer: tir.Buffer
    offset: Affine
    value: tir.Expr


@dataclass(frozen=True, slots=True)
class Nest:
    """One block under its loops, legal to reorder over `spatial`.

    `spatial` and `reduce` are in loop order, outermost first; all instances of one spatial point run over `reduce`
    lexicographically. `init` is executed (all its stores) at the first point of `reduce`, before the rest. `lets` are
    the block's bindings, evaluated in order for each instance, after init and before the stores. Stores are executed
    in order, each value evaluated when its turn comes. `offsets` gives every BufferLoad in init, lets and stores its
    flat element offset; a load of a stored buffer is always of the element stored. Loads in arms of if_then_else that
    are in bounds only where the condition holds are `guarded`; no other evaluation is undefined in either arm. Stored
    buffers need no shadow. Names in values are axes and lets only.
    """

    block: tir.SBlock
    span: Span | None
    spatial: tuple[Axis, ...]
    reduce: tuple[Axis, ...]
    init: tuple[Store, ...]
    stores: tuple[Store, ...]
    offsets: Mapping[tir.BufferLoad, Affine]
    guarded: frozenset[tir.BufferLoad] = frozenset()
    lets: tuple[tir.Bind, ...] = ()
