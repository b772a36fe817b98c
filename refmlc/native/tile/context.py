"""What emitting one nest knows and collects, and where elements are in C."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from refmlc.lang.ir import tir
from refmlc.native.analysis.cost import DEAR, LONG, STRIP
from refmlc.native.options import Options
from refmlc.native.text import Names, Text, bare
from refmlc.native.tile.dims import Access, Dim
from refmlc.native.tile.headers import Needs
from refmlc.native.tile.pieces import Piece
from refmlc.native.tile.plan import Plan
from refmlc.native.tile.terms import NATIVE_FLOATS, Term, is_plain, lane_dtype, mask_of

NOWHERE: Mapping[Dim, int] = {}


@dataclass(slots=True)
class Context:
    """One nest while it is emitted.

    `position` says where each dim is: a variable or number. `streamed` buffers are written past the caches. `work` is
    about how much is done where lines are added now, `cleanup` what is done where the function ends there (NAT-007).
    Units: `work` those of `refmlc.native.analysis.cost`, in whole vectors.
    """

    plan: Plan
    options: Options
    cell: Callable[[tir.Buffer], str]
    names: Names
    needs: Needs = field(default_factory=Needs)
    out: Text = field(default_factory=Text)
    position: dict[Dim, str | int] = field(default_factory=dict)
    streamed: frozenset[tir.Buffer] = frozenset()
    work: int = 0
    cleanup: str = "(void)0"

    @contextmanager
    def at(self, dim: Dim, place: str | int) -> Iterator[None]:
        """`dim` is at `place`."""
        previous = self.position.get(dim)
        self.position[dim] = place
        try:
            yield
        finally:
            if previous is None:
                del self.position[dim]
            else:
                self.position[dim] = previous

    @contextmanager
    def loop(self, dim: Dim, first: str | int = 0, last: str | int | None = None, step: int = 1) -> Iterator[None]:
        """`dim` from `first` to below `last` in steps; no loop where that is one step."""
        end = dim.extent if last is None else last
        if isinstance(first, int) and isinstance(end, int) and end - first <= step:
            with self.at(dim, first):
                yield
            return
        with self.looking(dim.name, first, end, step), self.at(dim, dim.name):
            yield

    @contextmanager
    def tiles(self, dim: Dim, first: int, last: int, step: int) -> Iterator[None]:
        """`dim` in steps from `first` to below `last`; the last step reaches back where `step` does not divide."""
        if (last - first) % step == 0:
            with self.loop(dim, first, last, step):
                yield
            return
        with self.names.scope():
            ahead = self.names.new(f"{dim.name}_ahead")
            with self.looking(ahead, first, last, step), self.at(dim, dim.name):
                self.out.line(f"const int64_t {dim.name} = {ahead} < {last - step} ? {ahead} : {last - step};")
                yield

    @contextmanager
    def aligned_tiles(self, dim: Dim, first: int, last: int, step: int, past: str) -> Iterator[None]:
        """`dim` in steps from `past` elements before `first` to below `last`; both ends are kept."""
        with self.names.scope():
            ahead = self.names.new(f"{dim.name}_ahead")
            count = -(-(last - first) // step) + 1
            with self.looking(ahead, f"{first} - {past}", last, step, count), self.at(dim, dim.name):
                place = f"{ahead} < {last - step} ? {ahead} : {last - step}"
                self.out.line(f"const int64_t {dim.name} = {ahead} < {first} ? {first} : {place};")
                yield

    @contextmanager
    def looking(
        self, name: str, first: str | int, last: str | int, step: int, count: int | None = None
    ) -> Iterator[None]:
        """The C loop of `name`. Where it may take long it looks whether to stop: at each iteration, or after some.

        `count`: how many iterations there are at most, where `first` and `last` do not say it.
        """
        if count is None:
            are_known = isinstance(first, int) and isinstance(last, int)
            count = -(-(int(last) - int(first)) // step) if are_known else self.plan.chunk
        total, self.work = self.work, self.work // max(1, count)
        ahead = f"++{name}" if step == 1 else f"{name} += {step}"
        try:
            if total < LONG or self.work >= DEAR:
                with self.out.block(f"for (int64_t {name} = {first}; {name} < {last}; {ahead})"):
                    if total >= LONG:
                        self.look(self.work)
                    yield
                return
            strip, end, length = self.names.new("strip"), self.names.new("strip_end"), STRIP // max(1, self.work) * step
            with self.out.block(f"for (int64_t {strip} = {first}; {strip} < {last}; {strip} += {length})"):
                self.look(STRIP)
                self.out.line(f"const int64_t {end} = {strip} < {last} - {length} ? {strip} + {length} : {last};")
                with self.out.block(f"for (int64_t {name} = {strip}; {name} < {end}; {ahead})"):
                    yield
        finally:
            self.work = total

    @contextmanager
    def in_short(self) -> Iterator[None]:
        """What is short whatever is around it: loops in it do not look."""
        total, self.work = self.work, 0
        yield
        self.work = total

    def look_in_long(self) -> None:
        """Look whether to stop, where what is around takes long."""
        if self.work >= LONG:
            self.look(DEAR)

    def look(self, units: int) -> None:
        """Look whether to stop, after `units` of work."""
        self.out.line(f"RM_LOOK(INT64_C({min(units, STRIP)}), {self.cleanup});")

    @contextmanager
    def loops(self, dims: Iterable[Dim]) -> Iterator[None]:
        """All of `dims`, the first outermost."""
        sequence = tuple(dims)
        if not sequence:
            yield
            return
        with self.loop(sequence[0]), self.loops(sequence[1:]):
            yield

    # --------------------------------------------------------------------------------------------- memory

    def offset(
        self,
        access: Access,
        shift: Mapping[Dim, int] = NOWHERE,
        ahead: str = "",
        place: Mapping[Dim, str | int] | None = None,
    ) -> str:
        """The element of an access as a number of elements.

        Dims are at `place` (None: where they are), moved by `shift`; `ahead` elements on.
        """
        constant = access.constant
        parts = []
        for dim, coefficient in access.terms:
            position = (self.position if place is None else place)[dim]
            constant += coefficient * shift.get(dim, 0)
            if isinstance(position, int):
                constant += coefficient * position
            else:
                parts.append(position if coefficient == 1 else f"{coefficient} * {position}")
        if constant or not parts:
            parts.append(str(constant))
        return " + ".join([*parts, ahead] if ahead else parts).replace("+ -", "- ")

    def address(
        self,
        access: Access,
        shift: Mapping[Dim, int] = NOWHERE,
        ahead: str = "",
        place: Mapping[Dim, str | int] | None = None,
    ) -> str:
        """Where that element is."""
        base, offset = self.base(access.buffer), self.offset(access, shift, ahead, place)
        if offset == "0":
            return base
        return f"{base} + {offset}" if offset.isalnum() else f"{base} + ({offset})"

    def base(self, buffer: tir.Buffer) -> str:
        """The first element of a buffer."""
        text = self.cell(buffer)
        return text if text.replace("_", "").isalnum() else f"({text})"

    def load(
        self, access: Access, piece: Piece, stride: int, shift: Mapping[Dim, int] = NOWHERE, ahead: str = ""
    ) -> Term:
        """The elements of one vector, `stride` apart; 0: the one that they all are."""
        dtype = access.buffer.dtype
        element = dtype.element
        if stride == 0 or piece.lanes == 1:
            return self._number(access, shift, ahead)
        where = self.address(access, shift, ahead)
        simple = stride == 1 and piece.whole and is_plain(dtype)
        vector = (self.needs.lanes if simple else self.needs.vector)(element, piece.lanes)
        if stride != 1:
            text = f"rm_gather_{vector}({where}, {stride}, {piece.valid})"
        elif simple:
            text = f"RM_LOAD({vector}, {where})"
        elif piece.whole:
            text = f"rm_load_{vector}({where})"
        else:
            text = f"rm_load_part_{vector}({where}, {piece.valid})"
        return Term(text, dtype, piece.lanes, 8 if dtype.kind == "bool" else 0)

    def _number(self, access: Access, shift: Mapping[Dim, int], ahead: str) -> Term:
        dtype = access.buffer.dtype
        element, offset, base = dtype.element, self.offset(access, shift, ahead), self.base(access.buffer)
        self.needs.value(element)
        if element in NATIVE_FLOATS:
            return Term(f"{base}[{offset}]", dtype, cell=self.address(access, shift, ahead))
        if dtype.is_integer and dtype.bits >= 8:
            return Term(f"{base}[{offset}]", dtype)
        return Term(f"rm_get_{element}({base}, {offset})", dtype)

    def store(self, access: Access, piece: Piece, stride: int, shift: Mapping[Dim, int], value: Term) -> None:
        """Write the elements of one vector."""
        dtype = access.buffer.dtype
        if piece.lanes == 1:
            self.needs.value(dtype.element)
            self.out.line(
                f"rm_put_{dtype.element}({self.base(access.buffer)}, {self.offset(access, shift)}, {value.text});"
            )
            return
        simple = stride == 1 and piece.whole and is_plain(dtype)
        vector = (self.needs.lanes if simple else self.needs.vector)(dtype.element, piece.lanes)
        where = self.address(access, shift)
        text = mask_of(self.needs, value, 8).text if dtype.kind == "bool" else value.text
        if stride != 1:
            self.out.line(f"rm_scatter_{vector}({where}, {stride}, {text}, {piece.valid});")
        elif piece.whole and access.buffer in self.streamed and piece.lanes == self.plan.lanes:
            self.out.line(f"{self.needs.stream(dtype.element, piece.lanes)}({where}, {text});")
        elif simple:
            self.out.line(f"RM_STORE({vector}, {where}, {bare(text)});")
        elif piece.whole:
            self.out.line(f"rm_store_{vector}({where}, {text});")
        else:
            self.out.line(f"rm_store_part_{vector}({where}, {text}, {piece.valid});")


def state_bits(buffer: tir.Buffer) -> int:
    """Bits of a lane of a mask that holds elements of `buffer`; 0 where it is none of bools."""
    return 8 if buffer.dtype.kind == "bool" else 0


def vector_type(needs: Needs, buffer: tir.Buffer, lanes: int) -> str:
    """The C type of elements of `buffer` in lanes."""
    dtype = buffer.dtype
    if lanes == 1:
        return needs.value(dtype.element)
    return f"rm_{needs.lanes('int8' if dtype.kind == 'bool' else lane_dtype(dtype), lanes)}"
