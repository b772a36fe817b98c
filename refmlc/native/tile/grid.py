"""The vectors of a tile, where they are, and the elements that it writes: one variable each until the tile is done.

gcc keeps these accumulators in registers.

| a buffer that            | begins with                                               |
|--------------------------|-----------------------------------------------------------|
| has an init              | its value; in later chunks of the reduction what is there |
| is read, without an init | what is there                                             |
| is neither               | nothing: the first store declares it                      |
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from refmlc.lang.ir import tir
from refmlc.native.text import bare
from refmlc.native.tile.context import Context, state_bits, vector_type
from refmlc.native.tile.dims import Access, Dim, Write
from refmlc.native.tile.panels import first_of, runs
from refmlc.native.tile.pieces import Piece
from refmlc.native.tile.terms import Term, broadcast, mask_of
from refmlc.native.tile.values import Values


@dataclass(frozen=True, slots=True)
class Spot:
    """A vector of the tile: its row, its number in the row, and its piece of the vector dim."""

    row: int
    number: int
    piece: Piece


@dataclass(slots=True)
class Grid:
    """The vectors of a tile: `rows` of them, `parts` in each. `ahead` points of the reduction after the present one."""

    context: Context
    rows: int
    parts: tuple[Piece, ...]
    ahead: int = 0

    def spots(self, row: int | None = None) -> list[Spot]:
        """The vectors of one row, or of all."""
        rows = range(self.rows) if row is None else (row,)
        return [Spot(each, number, piece) for each in rows for number, piece in enumerate(self.parts)]

    def shift(self, spot: Spot) -> dict[Dim, int]:
        """How far a vector is from the tile's first element, by dims."""
        plan = self.context.plan
        shift = {plan.vector: spot.piece.offset}
        if plan.row is not None:
            shift[plan.row] = spot.row
        if self.ahead:
            shift[plan.shape.reduce[-1]] = self.ahead
        return shift

    def name(self, base: str, spot: Spot, *, row: bool = True, number: bool = True) -> str:
        """A new C name for something of a vector, of all rows (`row` is False), of all vectors of a row (`number`)."""
        several_rows, several = row and self.rows > 1, number and len(self.parts) > 1
        ends = (f"_{spot.row}" if several_rows else "") + (f"_{spot.number}" if several else "")
        return self.context.names.new(base + ends)

    def store_access(self, buffer: tir.Buffer) -> Access:
        """Where the nest stores to `buffer`."""
        shape = self.context.plan.shape
        return next(write.access for write in (*shape.stores, *shape.init) if write.access.buffer is buffer)


@dataclass(slots=True)
class Accumulators:
    """The accumulators of a tile; `values` emits expressions for one of its vectors."""

    grid: Grid
    values: Callable[[Spot], Values]
    state: dict[tuple[tir.Buffer, Spot], Term] = field(default_factory=dict)

    def start(self) -> None:
        """Declare them with their first values."""
        shape, out = self.grid.context.plan.shape, self.grid.context.out
        initialised = {write.access.buffer for write in shape.init}
        chunk_start = first_of(self.grid.context)
        if shape.reduce:
            for buffer in shape.buffers:
                if buffer not in initialised | shape.read:
                    self._declare(buffer, "0")
        if chunk_start is None or not initialised:
            self._begin(initialised, shape.read)
            return
        for buffer in shape.buffers:
            if buffer in initialised | shape.read:
                self._declare(buffer, "")
        with out.block(f"if ({chunk_start} == 0)"):
            self._begin(initialised, shape.read)
        with out.block("else"):
            self._begin(set(), shape.read | initialised)

    def _begin(self, initialised: set[tir.Buffer], loaded: set[tir.Buffer]) -> None:
        """The init for `initialised`, what is there for others that are read."""
        context, shape = self.grid.context, self.grid.context.plan.shape
        for buffer in shape.buffers:
            if buffer in loaded and buffer not in initialised:
                access = self.grid.store_access(buffer)
                for spot in self.grid.spots():
                    stride = access.of(context.plan.vector)
                    self._put(buffer, spot, context.load(access, spot.piece, stride, self.grid.shift(spot)))
        for write in shape.init:
            if write.access.buffer in initialised:
                for spot in self.grid.spots():
                    self.assign(write, spot, self.values(spot))

    def assign(self, write: Write, spot: Spot, values: Values) -> None:
        """The accumulator of the stored element becomes the value."""
        context, buffer, lanes = self.grid.context, write.access.buffer, spot.piece.lanes
        value = broadcast(context.needs, values.emit(write.value), lanes)
        if buffer.dtype.kind == "bool" and lanes > 1:
            value = mask_of(context.needs, value, state_bits(buffer))
        self._put(buffer, spot, value)

    def store(self) -> None:
        """All of them to memory."""
        context = self.grid.context
        for buffer in context.plan.shape.buffers:
            access = self.grid.store_access(buffer)
            if access.uses(context.plan.vector.folded):
                self._store_in_runs(buffer, access)
                continue
            for spot in self.grid.spots():
                stride = access.of(context.plan.vector)
                context.store(access, spot.piece, stride, self.grid.shift(spot), self.state[buffer, spot])

    def _store_in_runs(self, buffer: tir.Buffer, access: Access) -> None:
        """To a copy of the tile, and from there what is in a row of memory."""
        context, out, rows, parts = self.grid.context, self.grid.context.out, self.grid.rows, self.grid.parts
        element, lanes, columns = buffer.dtype.element, context.plan.lanes, context.plan.columns
        tile, line = context.names.new("tile"), context.names.new("line")
        out.line(f"_Alignas(64) {context.needs.value(element)} {tile}[{rows * columns}];")
        for spot in self.grid.spots():
            at, value = spot.row * columns + spot.piece.offset, self.state[buffer, spot].text
            if spot.piece.lanes == 1:
                out.line(f"{tile}[{at}] = {value};")
            else:
                out.line(f"RM_STORE({context.needs.lanes(element, spot.piece.lanes)}, {tile} + {at}, {value});")
        with (
            runs(context, parts[-1].offset + parts[-1].valid) as (column, length),
            out.block(f"for (int64_t {line} = 0; {line} < {rows}; ++{line})"),
        ):
            where = context.address(access, ahead=f"{access.of(context.plan.row)} * {line}")
            copy = context.needs.copy(element, lanes)
            out.line(f"{copy}({where}, {tile} + {columns} * {line} + {column}, 1, {length});")

    def _put(self, buffer: tir.Buffer, spot: Spot, value: Term) -> None:
        term = self.state.get((buffer, spot))
        if term is not None:
            self.grid.context.out.line(f"{term.text} = {bare(value.text)};")
            return
        qualifier = "" if self.grid.context.plan.shape.reduce or self._changes(buffer) else "const "
        self.grid.context.out.line(f"{qualifier}{self._new(buffer, spot)} = {bare(value.text)};")

    def _changes(self, buffer: tir.Buffer) -> bool:
        """Whether there is more than one value in time, without a reduction."""
        shape = self.grid.context.plan.shape
        stores = [write for write in (*shape.init, *shape.stores) if write.access.buffer is buffer]
        return len(stores) > 1 or buffer in shape.read

    def _declare(self, buffer: tir.Buffer, value: str) -> None:
        for spot in self.grid.spots():
            zero = "0" if spot.piece.lanes == 1 else "{0}"
            self.grid.context.out.line(self._new(buffer, spot) + (f" = {zero};" if value else ";"))

    def _new(self, buffer: tir.Buffer, spot: Spot) -> str:
        """A declaration without its value."""
        lanes = spot.piece.lanes
        name = self.grid.name(buffer.name, spot)
        self.state[buffer, spot] = replace(Term(name, buffer.dtype, lanes), bits=state_bits(buffer) if lanes > 1 else 0)
        return f"{vector_type(self.grid.context.needs, buffer, lanes)} {name}"
