"""What the steps of a tile read: in variables, as early as it can be, or in place.

| an element that                          | is read                                              |
|------------------------------------------|------------------------------------------------------|
| does not move with the reduction         | before it                                            |
| does not move with the rows              | once in a step, for all rows                         |
| moves with the rows                      | in each row                                          |
| is a number that C reads as it is        | where it is used, in a row; an operand in memory     |
| is in a square block                     | where it is used: it is in a register                |
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from refmlc.native.text import bare
from refmlc.native.tile.dims import Dim, Leaf, Stride, computed
from refmlc.native.tile.grid import Grid, Spot
from refmlc.native.tile.panels import first_of, packed, square
from refmlc.native.tile.terms import NATIVE_FLOATS, Term, c_type
from refmlc.native.tile.values import Values


@dataclass(slots=True)
class Reads:
    """The leaves of a tile. `early`: numbers are kept before the loop around the tile."""

    grid: Grid
    early: bool
    held: dict[tuple[Leaf, int, int], Term] = field(default_factory=dict)
    blocks: dict[tuple[Leaf, int], str] = field(default_factory=dict)

    def term(self, leaf: Leaf, spot: Spot) -> Term:
        """The leaf at a vector."""
        return self.held.get(self._key(leaf, spot)) or self._load(leaf, spot)

    def hold(self, spots: list[Spot], *, inside: bool, row: bool | None = None) -> None:
        """Variables for what moves with the reduction or not; with the rows or not (None: either)."""
        plan = self.grid.context.plan
        for leaf in self._leaves():
            moves = leaf.access.of(plan.row) != 0
            if leaf.access.uses(plan.shape.reduce) != inside or moves != (moves if row is None else row):
                continue
            uniform = leaf.stride(plan.vector) is Stride.UNIFORM
            if (leaf, 0) in self.blocks or (uniform and self._stays(leaf, moves)):
                continue
            for spot in spots:
                if self._key(leaf, spot) not in self.held:
                    self._declare(leaf, spot, row=moves, number=not uniform)

    def square_blocks(self) -> None:
        """Read the blocks at the present position."""
        for spot in self.grid.spots(0):
            for leaf in self.grid.context.plan.blocks:
                name = self.grid.name(f"{leaf.access.buffer.name}_block", spot, row=False)
                self.blocks[leaf, spot.number] = name
                square(self.grid.context, leaf, spot.piece, name)

    def fetch(self) -> None:
        """Ask early for what the tile writes at its end, and for the beginning of what the next tile of rows reads."""
        context, plan = self.grid.context, self.grid.context.plan
        for buffer in plan.shape.buffers if not plan.vector.folded else ():
            for spot in self.grid.spots():
                address = context.address(self.grid.store_access(buffer), self.grid.shift(spot))
                context.out.line(f"RM_FETCH_TO_WRITE({address});")
        begin = {**context.position, **{dim: self._begin(dim) for dim in plan.shape.reduce}}
        for leaf in self._leaves():
            if leaf.access.of(plan.row) and leaf.stride(plan.vector) is Stride.UNIFORM:
                for row in range(self.grid.rows):
                    spot = Spot(row + self.grid.rows, 0, self.grid.parts[0])
                    address = context.address(leaf.access, self.grid.shift(spot), place=begin)
                    context.out.line(f"RM_FETCH({address});")

    def _begin(self, dim: Dim) -> str | int:
        """Where the loop over a reduction dim begins."""
        first = first_of(self.grid.context)
        return first if first is not None and dim is self.grid.context.plan.shape.reduce[0] else 0

    def _leaves(self) -> Iterable[Leaf]:
        """What the steps read, in order."""
        shape, leaves = self.grid.context.plan.shape, self.grid.context.plan.leaves
        values = (*(let.value for let in shape.lets), *(write.value for write in shape.stores))
        return dict.fromkeys(leaves[node] for value in values for node in computed(value) if node in leaves)

    def _declare(self, leaf: Leaf, spot: Spot, *, row: bool, number: bool) -> None:
        context = self.grid.context
        term = self._load(leaf, spot)
        name = self.grid.name(leaf.access.buffer.name, spot, row=row, number=number)
        context.out.line(f"const {c_type(context.needs, term)} {name} = {bare(term.text)};")
        self.held[self._key(leaf, spot)] = replace(term, text=name, cell="")

    def _stays(self, leaf: Leaf, moves: bool) -> bool:
        """Whether a number needs no variable: it is kept before the loop, or read in place, for one row at a time."""
        return self.early or (_is_plain(leaf) and (moves or self.grid.rows == 1))

    def _load(self, leaf: Leaf, spot: Spot) -> Term:
        context, plan = self.grid.context, self.grid.context.plan
        block = self.blocks.get((leaf, spot.number))
        if block is not None:
            line = self.grid.ahead if plan.shape.reduce else spot.row
            return Term(f"{block}[{line}]", leaf.dtype, spot.piece.lanes)
        panel = next((panel for panel in plan.panels if panel.leaf is leaf), None)
        if panel is not None:
            return packed(context, panel, spot.piece)
        term = context.load(leaf.access, spot.piece, leaf.access.of(plan.vector), self.grid.shift(spot))
        return Values(context.options, context.needs, context.out, context.names.new, lambda _: None).cast(
            term, leaf.dtype
        )

    def _key(self, leaf: Leaf, spot: Spot) -> tuple[Leaf, int, int]:
        plan = self.grid.context.plan
        row = spot.row if leaf.access.of(plan.row) else 0
        return leaf, row, spot.number if leaf.stride(plan.vector) is not Stride.UNIFORM else 0


def _is_plain(leaf: Leaf) -> bool:
    """Whether C reads the element without a conversion."""
    is_native = leaf.source.element in NATIVE_FLOATS or (leaf.source.is_integer and leaf.source.bits >= 8)
    return is_native and leaf.source.element == leaf.dtype.element
