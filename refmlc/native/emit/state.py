"""What emitting one function knows and collects.

A `Place` says how C reaches the elements of a buffer; a `Tally` counts what was checked and what was proved in a block;
a block without stores of its own is not reported.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from refmlc.diag.source import Span
from refmlc.lang.dtypes import DType
from refmlc.lang.ir import tir
from refmlc.native.analysis.facts import Facts
from refmlc.native.analysis.initialisation import Initialisation
from refmlc.native.nest import Nest
from refmlc.native.options import Grade, Options
from refmlc.native.text import Line, Names, Text, bare
from refmlc.native.unit import BlockReport


class Unsuited(Exception):
    """The function cannot be translated."""

    def __init__(self, reason: str, span: Span | None = None) -> None:
        """`reason` is a clause that follows "it is interpreted because"."""
        super().__init__(reason)
        self.reason = reason
        self.span = span


@dataclass(frozen=True, slots=True)
class Place:
    """Where the elements of a buffer are: C texts. `shadow` is empty where nothing is tracked.

    `base` is the element offset of `cells`, which is not zero for a parameter that declares one.
    """

    cells: str
    shadow: str
    shape: tuple[str, ...]
    strides: tuple[str, ...] = ()
    offset: str = ""
    base: str = ""


@dataclass(slots=True)
class Tally:
    """What one block needed: `checks` that are made in C, `wanting` what would have spared them, `proofs` of others."""

    checks: int = 0
    stores: int = 0
    proofs: list[str] = field(default_factory=list)
    wanting: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class NestLoop:
    """A loop nest in the text whose iterations may be reordered."""

    node: tir.For
    nest: Nest


@dataclass(slots=True)
class Needs:
    """What the C text uses of the headers."""

    dtypes: set[str] = field(default_factory=set)
    headers: set[str] = field(default_factory=set)
    casts: set[tuple[str, str]] = field(default_factory=set)
    reinterprets: set[tuple[str, str]] = field(default_factory=set)
    definitions: list[str] = field(default_factory=list)


@dataclass(slots=True)
class State:
    """The state of emitting one function. `lane`: the C text of the current lane of a vector, empty outside of one.

    `axes` are the thread axes of the function, `threads` variable and extent of those that are bound here.
    `paid` are loops whose iterations are charged above them, but where `scarce`, a C name, holds.
    `nests` are the statements that were looked at for reordering: None, they are not, or not any more.
    `symbol` is the name of the function in C; `parts` are C functions before it, of nests that run on several threads.
    """

    function: str
    options: Options
    facts: Facts
    initialisation: Initialisation
    text: Text = field(default_factory=lambda: Text(1))
    names: Names = field(default_factory=Names)
    needs: Needs = field(default_factory=Needs)
    tally: Tally = field(default_factory=Tally)
    variables: dict[tir.Var, str] = field(default_factory=dict)
    buffers: dict[tir.Buffer, Place] = field(default_factory=dict)
    heap: list[str] = field(default_factory=list)
    sites: list[str] = field(default_factory=list)
    blocks: list[BlockReport] = field(default_factory=list)
    paid: set[tir.Stmt] = field(default_factory=set)
    scarce: str = ""
    nests: dict[tir.Stmt, NestLoop | None] = field(default_factory=dict)
    unmoved: dict[tir.SBlock, str] = field(default_factory=dict)
    axes: frozenset[str] = frozenset()
    threads: dict[str, tuple[str, str]] = field(default_factory=dict)
    lane: str = ""
    symbol: str = ""
    parts: list[tuple[Line, ...]] = field(default_factory=list)

    def temp(self, c_type: str, code: str) -> str:
        """A C name whose value is `code`; a name or number is its own."""
        if code.isidentifier() or code.isdigit():
            return code
        name = self.names.new("t")
        self.text.line(f"const {c_type} {name} = {bare(code)};")
        return name

    def check(self, condition: str, what: str, span: Span | None = None) -> None:
        """Stop the call unless `condition` holds; `what` names the condition for people."""
        self.sites.append(what)
        self.tally.checks += 1
        self.tally.wanting.append(what)
        self.text.line(f"RM_CHECK({condition}, {len(self.sites)});", span, what)

    def proved(self, what: str) -> None:
        """Note that a check was not needed, and why."""
        if what not in self.tally.proofs:
            self.tally.proofs.append(what)

    @property
    def proving(self) -> bool:
        """Whether what is proved is not checked: not in the guarded grade, which checks everything."""
        return self.options.best > Grade.GUARDED

    def tracks(self, buffer: tir.Buffer) -> bool:
        """Whether `buffer` has a shadow."""
        use = self.initialisation.use_of(buffer)
        return use.tracked or (use.stored and not self.proving)

    def use(self, dtype: DType) -> str:
        """The value type of `dtype` in C."""
        self.needs.dtypes.add(dtype.element)
        return f"rm_{dtype.element}"

    def variable_type(self, dtype: DType) -> str:
        """The C type of a variable of `dtype`: loop variables and other wide integers are int64_t."""
        return "int64_t" if is_index(dtype) else self.use(dtype)

    def variable(self, var: tir.Var) -> str:
        """The C name of `var`, declared before."""
        name = self.variables.get(var)
        if name is None:
            raise Unsuited(f"`{var.name}` has no value in C", var.span)
        return name

    def declare(self, var: tir.Var) -> str:
        """A C name for `var`, from here on in scope."""
        name = self.variables[var] = self.names.new(var.name)
        return name

    def place(self, buffer: tir.Buffer, span: Span | None) -> Place:
        """Where `buffer` is, declared before."""
        place = self.buffers.get(buffer)
        if place is None:
            raise Unsuited(f"buffer `{buffer.name}` has no storage in C", span or buffer.span)
        return place

    @contextmanager
    def counting(self, name: str, span: Span | None, block: tir.SBlock | None = None) -> Iterator[None]:
        """Report what is emitted here, blocks inside apart, as `name`."""
        outer, self.tally = self.tally, Tally()
        number = len(self.blocks)
        try:
            yield
        finally:
            tally, self.tally = self.tally, outer
            grade = Grade.GUARDED if tally.checks else Grade.UNCHECKED
            wanting = tuple(tally.wanting)
            if grade is Grade.UNCHECKED and block in self.unmoved:
                wanting = (f"another order: {self.unmoved[block]}",)
            if tally.stores:
                report = BlockReport(name, span, grade, tally.checks, tuple(tally.proofs), wanting)
                self.blocks.insert(number, report)

    @contextmanager
    def paying(self, scarce: str) -> Iterator[None]:
        """Emit what is repeated in a loop that pays so."""
        outer, self.scarce = self.scarce, scarce
        try:
            yield
        finally:
            self.scarce = outer

    @contextmanager
    def with_facts(self, facts: Facts) -> Iterator[None]:
        """Emit with these facts, then with those before."""
        previous, self.facts = self.facts, facts
        try:
            yield
        finally:
            self.facts = previous


def is_index(dtype: DType) -> bool:
    """Whether variables of `dtype` are held as int64_t and its proved arithmetic is C's."""
    return dtype.element in ("int32", "int64")
