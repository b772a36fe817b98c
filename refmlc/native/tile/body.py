"""One tile: rows x vectors of elements, computed together.

    accumulators, from init or memory
    what does not move with the reduction
    for each point of the reduction, in order
      what all rows share, then row by row: bindings, stores
    accumulators to memory

The order of operations for one element is that of the IR.
"""

from dataclasses import dataclass, field, replace

from refmlc.lang.ir import tir
from refmlc.native.text import Text, bare
from refmlc.native.tile.context import Context
from refmlc.native.tile.dims import Dim
from refmlc.native.tile.grid import Accumulators, Grid, Spot
from refmlc.native.tile.panels import points, reduction
from refmlc.native.tile.pieces import Piece
from refmlc.native.tile.reads import Reads
from refmlc.native.tile.terms import Term, c_type
from refmlc.native.tile.values import Values

LONG = 64
"""With this many points of the reduction a tile takes long enough to fetch memory ahead of its use."""


@dataclass(slots=True)
class Early:
    """Where numbers go that are the same in all tiles of a loop: before it, each once."""

    out: Text = field(default_factory=Text)
    terms: dict[str, Term] = field(default_factory=dict)


class Tile:
    """A tile while it is emitted."""

    def __init__(self, context: Context, rows: int, parts: tuple[Piece, ...], early: Early | None = None) -> None:
        """`early`: what is the same in all tiles of the loop around this one is kept there."""
        self.context = context
        self.early = early
        self.grid = Grid(context, rows, parts)
        self.reads = Reads(self.grid, early is not None)
        self.accumulators = Accumulators(self.grid, self._values)

    def emit(self) -> None:
        """The tile at the present position."""
        plan, grid = self.context.plan, self.grid
        self.accumulators.start()
        if grid.rows > 1 and plan.lanes > 1 and plan.shape.reduce and plan.points >= LONG:
            self.reads.fetch()
        if plan.blocks and not plan.shape.reduce:
            if grid.rows == plan.lanes:
                self.reads.square_blocks()
            self._point()
        else:
            self.reads.hold(grid.spots(), inside=False)
            self._reduce()
        self.accumulators.store()

    def _reduce(self) -> None:
        if self.context.plan.blocks:
            self._by_squares()
            return
        with points(self.context):
            self._point()

    def _by_squares(self) -> None:
        """The reduction in square blocks, what is left of it point by point."""
        context, lanes = self.context, self.context.plan.lanes
        *outer, inner = context.plan.shape.reduce
        with reduction(context, outer), context.out.block(), context.at(inner, inner.name):
            context.out.line(f"int64_t {inner.name} = 0;")
            head = f"for (; {inner.name} + {lanes} <= {inner.extent}; {inner.name} += {lanes})"
            with context.out.block(head), context.names.scope():
                context.look_in_long()
                self.reads.square_blocks()
                for self.grid.ahead in range(lanes):
                    self._point_apart()
            self.grid.ahead, self.reads.blocks = 0, {}
            if inner.extent % lanes:
                with context.out.block(f"for (; {inner.name} < {inner.extent}; ++{inner.name})"):
                    self._point()

    def _point_apart(self) -> None:
        """One point, in braces where it declares something."""
        out, self.context.out = self.context.out, Text()
        with self.context.names.scope():
            self._point()
        lines, self.context.out = self.context.out, out
        if any(line.startswith("const ") for line in lines.lines):
            with out.block():
                out.paste(lines.lines)
        else:
            out.paste(lines.lines)

    def _point(self) -> None:
        """One point of the reduction, for all vectors of the tile."""
        grid, outer_terms = self.grid, dict(self.reads.held)
        self.reads.hold(grid.spots(0), inside=True, row=False)
        for row in range(grid.rows):
            self.reads.hold(grid.spots(row), inside=True, row=True)
            for spot in grid.spots(row):
                self._step(spot)
        self.reads.held = outer_terms

    def _step(self, spot: Spot) -> None:
        """One point of the reduction for one vector. A binding keeps the value from before the stores."""
        shape, values = self.context.plan.shape, self._values(spot)
        for let in shape.lets:
            term = values.emit(let.value)
            name = self.grid.name(let.var.name, spot)
            self.context.out.line(f"const {c_type(self.context.needs, term)} {name} = {bare(term.text)};")
            values.bound[let.var] = replace(term, text=name, cell="")
        for write in shape.stores:
            self.accumulators.assign(write, spot, values)

    def _values(self, spot: Spot) -> Values:
        """Expressions at a vector."""
        context = self.context
        values = Values(
            context.options, context.needs, context.out, context.names.new, lambda node: self._leaf(node, spot)
        )
        if self.early is not None:
            values.before, values.hoisted = self.early.out, self.early.terms
        for var, dim in context.plan.shape.index.items():
            values.bound[var] = self._index(var, dim, spot)
        return values

    def _leaf(self, node: tir.Expr, spot: Spot) -> Term | None:
        """A load, or cast of one, as the plan has it; of what the nest stores, the accumulator."""
        leaf = self.context.plan.leaves.get(node)
        if leaf is not None:
            return self.reads.term(leaf, spot)
        return self.accumulators.state.get((node.buffer, spot)) if isinstance(node, tir.BufferLoad) else None

    def _index(self, var: tir.Var, dim: Dim | None, spot: Spot) -> Term:
        """An axis as a value."""
        if dim is None:
            return Term("0", var.dtype)
        place, ahead = self.context.position.get(dim, 0), self.grid.shift(spot).get(dim, 0)
        number = str(place + ahead) if isinstance(place, int) else f"({place} + {ahead})" if ahead else place
        if dim is not self.context.plan.vector or spot.piece.lanes == 1:
            return Term(number, var.dtype)
        vector = self.context.needs.vector(var.dtype.element, spot.piece.lanes)
        text = f"(rm_splat_{vector}(({self.context.needs.value(var.dtype.element)}){number}) + "
        return Term(f"{text}(rm_{vector}){{RM_IOTA({spot.piece.lanes})}})", var.dtype, spot.piece.lanes)
