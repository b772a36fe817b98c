"""Loop nests whose spatial iterations may move, as vectors and register tiles (grade 3).

| part                                    | does                                                                  |
|-----------------------------------------|-----------------------------------------------------------------------|
| `dims`                                  | the nest in fewer, longer loops, and the elements that it reads       |
| `plan`, `sizes`, `pieces`, `folds`      | which dims are vectors and rows, how large a tile is, what is packed  |
| `nests`, `boxes`                        | the loops around tiles; conditions on dims, decided                   |
| `panels`                                | packing, transposing                                                  |
| `body`, `grid`, `reads`                 | one tile: its vectors, what it writes, what it reads                  |
| `values`, `scalars`, `vectors`, `terms` | expressions                                                           |
| `headers`, `context`                    | what is used of the headers; where things are                         |

The order of operations for one element is that of the IR, init included: the bits are those of the loops as written.
"""

from collections.abc import Callable
from math import prod

from refmlc.lang.ir import tir
from refmlc.native.analysis.cost import units_of
from refmlc.native.nest import Nest
from refmlc.native.options import Options
from refmlc.native.text import Line, Names, Text, words
from refmlc.native.tile.context import Context
from refmlc.native.tile.dims import shape_of
from refmlc.native.tile.headers import NoForm, Tiled
from refmlc.native.tile.nests import emit_pointwise, emit_tiles
from refmlc.native.tile.plan import plan_of

__all__ = ["Tiled", "emit_nest"]


def emit_nest(nest: Nest, options: Options, cell: Callable[[tir.Buffer], str]) -> Tiled | str:
    """`nest` as vectors and register tiles; a str says why there is no such form.

    `cell` gives the C expression of a buffer's first element, a `restrict` pointer to its stored type: no two of them
    overlap, what is loaded is initialised.
    """
    try:
        return _emitted(nest, options, cell)
    except NoForm as reason:
        return str(reason)


def _work(nest: Nest, lanes: int) -> int:
    """About how much the nest does."""
    values = (*(let.value for let in nest.lets), *(store.value for store in nest.stores))
    return prod(axis.extent for axis in (*nest.spatial, *nest.reduce)) * (1 + units_of(values)) // lanes


def _emitted(nest: Nest, options: Options, cell: Callable[[tir.Buffer], str]) -> Tiled:
    if any(axis.extent == 0 for axis in (*nest.spatial, *nest.reduce)):
        return Tiled(_empty_block(), frozenset(), (), frozenset(), (), ("no iterations",))
    buffers = [store.buffer for store in (*nest.init, *nest.stores)] + [load.buffer for load in nest.offsets]
    names = Names((*words(cell(buffer) for buffer in buffers), "panels"))
    shape = shape_of(nest, names)
    if shape.reduce and shape.guarded:
        raise NoForm("an element is read under a condition in a reduction")
    plan = plan_of(shape, options.isa, names)
    context = Context(plan, options, cell, names, work=_work(nest, plan.lanes))
    heap = 0
    with context.out.block():
        if shape.reduce or plan.blocks:
            heap = emit_tiles(context)
        else:
            emit_pointwise(context)
    needs = context.needs
    return Tiled(
        lines=tuple(context.out.lines),
        dtypes=frozenset(needs.dtypes),
        headers=tuple(needs.headers),
        casts=frozenset(needs.casts),
        definitions=tuple(needs.definitions),
        plan=plan.words(),
        memory=heap,
    )


def _empty_block() -> tuple[Line, ...]:
    """A block without a statement."""
    text = Text()
    with text.block():
        pass
    return tuple(text.lines)
