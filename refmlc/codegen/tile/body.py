"""One tile: rows x vectors of elements, computed together.

    accumulators, from init or memory
    what does not move with the reduction
    for each point of the reduction, in order
      what all rows share, then row by row: bindings, stores
    accumulators to memory

Each accumulator is a variable of its own: gcc then keeps all of them in registers. The order of operations for one
element is that of the IR.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from refmlc.codegen.tile.context import Context, state_bits, vector_type
from refmlc.codegen.tile.dims import Access, Dim, Write, computed
from refmlc.codegen.tile.leaves import Leaf, Stride
from refmlc.codegen.tile.panels import first_of, packed, reduction
from refmlc.codegen.tile.pieces import Piece
from refmlc.codegen.tile.squares import square
from refmlc.codegen.tile.terms import NATIVE_FLOATS, Term, bare, c_type, masked, widened
from refmlc.codegen.tile.values import Values
from refmlc.codegen.tile.writer import Writer
from refmlc.ir import tir
from refmlc.ir.node import Node

LONG = 64
"""From so many points of the reduction on a tile takes long enough to fetch memory ahead of its use."""


@dataclass(frozen=True, slots=True)
class Spot:
    """A vector of the tile: its row, its number in the row, and its piece of the vector dim."""

    row: int
    number: int
    piece: Piece


@dataclass(slots=True)
class Tile:
    """A tile while it is emitted. `before` takes what is the same in all tiles of a loop, where there is a loop."""

    context: Context
    rows: int
    parts: tuple[Piece, ...]
    before: Writer | None = None
    kept: dict[str, Term] = field(default_factory=dict)
    state: dict[tuple[tir.Buffer, Spot], Term] = field(default_factory=dict)
    held: dict[tuple[Leaf, int, int], Term] = field(default_factory=dict)
    squares: dict[tuple[Leaf, int], str] = field(default_factory=dict)
    ahead: int = 0

    def emit(self) -> None:
        """The tile at the present position."""
        shape = self.context.plan.shape
        self._start()
        if self.rows > 1 and self.context.plan.lanes > 1 and self.context.plan.points >= LONG:
            self._fetch()
        if shape.reduce or not self.context.plan.blocks:
            self._hold(self.spots(), inside=False)
        if self.context.plan.blocks and shape.reduce:
            self._by_squares()
        elif self.context.plan.blocks and self.rows == self.context.plan.lanes:
            self._read_squares()
            self._point()
        else:
            with reduction(self.context, shape.reduce):
                self._point()
        for buffer in shape.buffers:
            for spot in self.spots():
                access = self._access(buffer)
                stride = access.of(self.context.plan.vector)
                self.context.store(access, spot.piece, stride, self._shift(spot), self.state[buffer, spot])

    def _fetch(self) -> None:
        """Ask early for what is written at the end, and for the beginning of what the next tile of rows reads."""
        plan, out = self.context.plan, self.context.out
        for buffer in plan.shape.buffers:
            for spot in self.spots():
                out.line(f"RM_FETCH_TO_WRITE({self.context.address(self._access(buffer), self._shift(spot))});")
        for leaf in self._read_in_steps():
            if leaf.access.of(plan.row) and leaf.stride(plan.vector) is Stride.UNIFORM:
                for spot in self.spots():
                    if spot.number == 0:
                        ahead = self._shift(replace(spot, row=spot.row + self.rows))
                        first = {**self.context.position, **{dim: self._begin(dim) for dim in plan.shape.reduce}}
                        out.line(f"RM_FETCH({self.context.address(leaf.access, ahead, place=first)});")

    def _begin(self, dim: Dim) -> str | int:
        """Where the loop over a reduction dim begins."""
        first = first_of(self.context)
        return first if first is not None and dim is self.context.plan.shape.reduce[0] else 0

    def spots(self, row: int | None = None) -> list[Spot]:
        """The vectors of the tile, or of one row."""
        rows = range(self.rows) if row is None else (row,)
        return [Spot(each, number, piece) for each in rows for number, piece in enumerate(self.parts)]

    def _by_squares(self) -> None:
        """The reduction in square blocks, what is left of it point by point."""
        context, lanes = self.context, self.context.plan.lanes
        *others, inner = context.plan.shape.reduce
        with reduction(context, others), context.out.block(), context.at(inner, inner.name):
            context.out.line(f"int64_t {inner.name} = 0;")
            head = f"for (; {inner.name} + {lanes} <= {inner.extent}; {inner.name} += {lanes})"
            with context.out.block(head), context.names.scope():
                self._read_squares()
                for self.ahead in range(lanes):
                    self._point_apart()
            self.ahead, self.squares = 0, {}
            if inner.extent % lanes:
                with context.out.block(f"for (; {inner.name} < {inner.extent}; ++{inner.name})"):
                    self._point()

    def _read_squares(self) -> None:
        for spot in self.spots(0):
            for leaf in self.context.plan.blocks:
                name = self._name(f"{leaf.access.buffer.name}_block", spot, row=False, number=True)
                self.squares[leaf, spot.number] = self.context.names.new(name)
                square(self.context, leaf, spot.piece, self.squares[leaf, spot.number])

    def _point_apart(self) -> None:
        """One point, in braces where it declares something."""
        out, self.context.out = self.context.out, Writer()
        with self.context.names.scope():
            self._point()
        lines, self.context.out = self.context.out, out
        if any(line.startswith("const ") for line in lines.lines):
            with out.block():
                out.paste(lines)
        else:
            out.paste(lines)

    def _point(self) -> None:
        """One point of the reduction, for all vectors of the tile."""
        outside = dict(self.held)
        self._hold(self.spots(0), inside=True, row=False)
        for row in range(self.rows):
            self._hold(self.spots(row), inside=True, row=True)
            for spot in self.spots(row):
                self._step(spot)
        self.held = outside

    # -------------------------------------------------------------------------------------- accumulators

    def _start(self) -> None:
        """Accumulators with their first values: by the init, or what was there where that is read."""
        shape, out = self.context.plan.shape, self.context.out
        read = shape.read
        started = {write.access.buffer for write in shape.init}
        known = [buffer for buffer in shape.buffers if buffer in started | read]
        first = first_of(self.context)
        chunked = first is not None and bool(started)
        for buffer in shape.buffers if shape.reduce else known:
            for spot in self.spots():
                name = self._declare_state(buffer, spot)
                self.state[buffer, spot] = replace(self.state[buffer, spot], text=f"{self._type(buffer, spot)} {name}")
                if buffer not in known:
                    out.line(f"{self.state[buffer, spot].text} = {'0' if spot.piece.lanes == 1 else '{0}'};")
                elif chunked:
                    out.line(f"{self.state[buffer, spot].text};")
                if chunked or buffer not in known:
                    self._declared(buffer, spot)
        if not chunked:
            self._first(started, read)
            return
        with out.block(f"if ({first} == 0)"):
            self._first(started, read)
        with out.block("else"):
            self._first(set(), read | started)

    def _first(self, started: set[tir.Buffer], read: set[tir.Buffer]) -> None:
        """Init for `started`, what is there for others that are read; this declares what is not yet declared."""
        shape = self.context.plan.shape
        for buffer in shape.buffers:
            if buffer in read and buffer not in started:
                access = self._access(buffer)
                for spot in self.spots():
                    stride = access.of(self.context.plan.vector)
                    value = self.context.load(access, spot.piece, stride, self._shift(spot))
                    self.context.out.line(f"{self.state[buffer, spot].text} = {bare(value.text)};")
                    self._declared(buffer, spot)
        for write in shape.init:
            if write.access.buffer in started:
                for spot in self.spots():
                    self._assign(write, spot, self._values(spot))
                    self._declared(write.access.buffer, spot)

    def _declared(self, buffer: tir.Buffer, spot: Spot) -> None:
        """From here on the state goes by its name alone."""
        term = self.state[buffer, spot]
        self.state[buffer, spot] = replace(term, text=term.text.rpartition(" ")[2])

    def _type(self, buffer: tir.Buffer, spot: Spot) -> str:
        return vector_type(self.context.needs, buffer, spot.piece.lanes)

    def _declare_state(self, buffer: tir.Buffer, spot: Spot) -> str:
        name = self.context.names.new(self._name(buffer.name, spot, row=True, number=True))
        lanes = spot.piece.lanes
        self.state[buffer, spot] = Term(name, buffer.dtype, lanes, state_bits(buffer) if lanes > 1 else 0)
        return name

    def _access(self, buffer: tir.Buffer) -> Access:
        """Where the nest stores to `buffer`."""
        shape = self.context.plan.shape
        return next(write.access for write in (*shape.stores, *shape.init) if write.access.buffer is buffer)

    # --------------------------------------------------------------------------------------------- steps

    def _step(self, spot: Spot) -> None:
        """One point of the reduction for one vector. A binding keeps the value from before the stores."""
        shape = self.context.plan.shape
        values = self._values(spot)
        for let in shape.lets:
            term = values.emit(let.value)
            name = self.context.names.new(self._name(let.var.name, spot, row=True, number=True))
            self.context.out.line(f"const {c_type(self.context.needs, term)} {name} = {bare(term.text)};")
            values.bound[let.var] = replace(term, text=name, cell="")
        for write in shape.stores:
            self._assign(write, spot, values)

    def _assign(self, write: Write, spot: Spot, values: Values) -> None:
        """The state of the stored element becomes the value."""
        context, buffer, lanes = self.context, write.access.buffer, spot.piece.lanes
        value = widened(context.needs, values.emit(write.value), lanes)
        if buffer.dtype.kind == "bool" and lanes > 1:
            value = masked(context.needs, value, state_bits(buffer))
        known = self.state.get((buffer, spot))
        if known is not None:
            context.out.line(f"{known.text} = {bare(value.text)};")
            return
        name = self._declare_state(buffer, spot)
        context.out.line(f"const {self._type(buffer, spot)} {name} = {bare(value.text)};")

    def _values(self, spot: Spot) -> Values:
        context = self.context
        values = Values(
            context.options,
            context.needs,
            context.out,
            context.names.new,
            lambda node: self._leaf(node, spot),
            before=self.before,
            kept=self.kept,
        )
        for var, dim in context.plan.shape.index.items():
            values.bound[var] = self._index(var, dim, spot)
        return values

    def _index(self, var: tir.Var, dim: Dim | None, spot: Spot) -> Term:
        """An axis as a value."""
        if dim is None:
            return Term("0", var.dtype)
        place, ahead = self.context.position.get(dim, 0), self._shift(spot).get(dim, 0)
        number = str(place + ahead) if isinstance(place, int) else f"({place} + {ahead})" if ahead else place
        if dim is not self.context.plan.vector or spot.piece.lanes == 1:
            return Term(number, var.dtype)
        vector = self.context.needs.vector(var.dtype.element, spot.piece.lanes)
        text = f"(rm_splat_{vector}(({self.context.needs.value(var.dtype.element)}){number}) + "
        return Term(f"{text}(rm_{vector}){{RM_IOTA({spot.piece.lanes})}})", var.dtype, spot.piece.lanes)

    # -------------------------------------------------------------------------------------------- leaves

    def _leaf(self, node: tir.Expr, spot: Spot) -> Term | None:
        """A load, or cast of one, as the plan has it."""
        leaf = self.context.plan.leaves.get(node)
        if leaf is not None:
            return self.held.get(self._key(leaf, spot)) or self._load(leaf, spot)
        return self.state.get((node.buffer, spot)) if isinstance(node, tir.BufferLoad) else None

    def _hold(self, spots: list[Spot], *, inside: bool, row: bool | None = None) -> None:
        """Variables for what is read: what moves with the reduction or not; with the rows or not (None: either)."""
        plan = self.context.plan
        for leaf in self._read_in_steps():
            moves = plan.row is not None and leaf.access.of(plan.row) != 0
            if leaf.access.uses(plan.shape.reduce) != inside or moves != (moves if row is None else row):
                continue
            uniform = leaf.stride(plan.vector) is Stride.UNIFORM
            if (leaf, 0) in self.squares or (uniform and self._stays(leaf, moves)):
                continue
            for spot in spots:
                key = self._key(leaf, spot)
                if key not in self.held:
                    term = self._load(leaf, spot)
                    name = self._name(leaf.access.buffer.name, spot, row=moves, number=not uniform)
                    name = self.context.names.new(name)
                    self.context.out.line(f"const {c_type(self.context.needs, term)} {name} = {bare(term.text)};")
                    self.held[key] = replace(term, text=name, cell="")

    def _stays(self, leaf: Leaf, moves: bool) -> bool:
        """Whether a number needs no variable: it is kept before the loop, or read as it is for one row at a time."""
        return self.before is not None or (_is_plain(leaf) and (moves or self.rows == 1))

    def _load(self, leaf: Leaf, spot: Spot) -> Term:
        plan = self.context.plan
        panel = next((panel for panel in plan.panels if panel.leaf is leaf), None)
        block = self.squares.get((leaf, spot.number))
        if block is not None:
            line = self.ahead if plan.shape.reduce else spot.row
            return Term(f"{block}[{line}]", leaf.dtype, spot.piece.lanes)
        if panel is not None:
            return packed(self.context, panel, spot.piece)
        term = self.context.load(leaf.access, spot.piece, leaf.access.of(plan.vector), self._shift(spot))
        return self._values(spot).cast(term, leaf.dtype)

    def _key(self, leaf: Leaf, spot: Spot) -> tuple[Leaf, int, int]:
        plan = self.context.plan
        row = spot.row if plan.row is not None and leaf.access.of(plan.row) else 0
        return leaf, row, spot.number if leaf.stride(plan.vector) is not Stride.UNIFORM else 0

    # -------------------------------------------------------------------------------------------- places

    def _in_steps(self) -> Iterator[Node]:
        """The expressions that a step computes."""
        shape = self.context.plan.shape
        for value in (*(let.value for let in shape.lets), *(write.value for write in shape.stores)):
            yield from computed(value)

    def _read_in_steps(self) -> Iterable[Leaf]:
        leaves = self.context.plan.leaves
        return dict.fromkeys(leaves[node] for node in self._in_steps() if node in leaves)

    def _shift(self, spot: Spot) -> dict[Dim, int]:
        """How far the vector is from the tile's first element."""
        plan = self.context.plan
        shift = {plan.vector: spot.piece.offset}
        if plan.row is not None:
            shift[plan.row] = spot.row
        if self.ahead:
            shift[plan.shape.reduce[-1]] = self.ahead
        return shift

    def _name(self, base: str, spot: Spot, *, row: bool, number: bool) -> str:
        many, several = row and self.rows > 1, number and len(self.parts) > 1
        return base + (f"_{spot.row}" if many else "") + (f"_{spot.number}" if several else "")


def _is_plain(leaf: Leaf) -> bool:
    """Whether C reads the element without a conversion."""
    plain = leaf.source.element in NATIVE_FLOATS or (leaf.source.is_integer and leaf.source.bits >= 8)
    return plain and leaf.source.element == leaf.dtype.element
