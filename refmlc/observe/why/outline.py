"""A slice as an outline, which is a tree of lines: for a terminal, for a page, for a debugger.

| line of             | says                                                                                       |
|---------------------|--------------------------------------------------------------------------------------------|
| an element          | its value, the statement that wrote it, the instance of the block and the loops            |
| an operator, a cast | its value; the exact result and the distance from it, where they differ                    |
| a reduction         | how many terms, the exact sum, the running error; its start, first, last, biggest term     |
| an origin           | element of an argument, a constant, never written, or why the search ends here             |

An element that was shown before is named again, not shown again.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Context, Decimal
from fractions import Fraction

from refmlc.lang.dtypes import DType
from refmlc.lang.dtypes.storage import storage_dtype
from refmlc.lang.ops.contract import Scalar
from refmlc.observe.why.chains import Fold, fold
from refmlc.observe.why.sites import source
from refmlc.observe.why.values import Kind, Origin, Rounding, Slice, Source, Value, Write

SUMS = {"add": "sum", "mul": "product", "max": "maximum", "min": "minimum"}
DIGITS = Context(prec=20)
DEPTH = 8
PLAIN = (Fraction(1, 100_000), Fraction(10**16))  # sizes that are spelled without an exponent


@dataclass(frozen=True, slots=True)
class Line:
    """One line with what is below it. `text` is what is the case, `note` how exact it is, `place` where in the text."""

    text: str
    note: str = ""
    place: str = ""
    parts: tuple["Line", ...] = ()


def outline(found: Slice, depth: int = DEPTH) -> Line:
    """The slice as lines; `depth` elements below one another are shown."""
    return Outliner(found, depth).whole()


@dataclass(slots=True)
class Outliner:
    """The lines so far."""

    found: Slice
    depth: int
    shown: set[int] = field(default_factory=set)

    def whole(self) -> Line:
        """The queried element."""
        found = self.found
        top = f"{found.element} = {number(found.value, found.dtype)}"
        line = self._source(top, found.source(), self.depth, f"{found.dtype}, after `{found.func}`")
        return (
            line if not found.cut else Line(line.text, line.note, line.place, (*line.parts, Line(f"cut: {found.cut}")))
        )

    def _source(self, text: str, origin: Write | Origin, depth: int, note: str = "") -> Line:
        """An element, and where its value comes from."""
        if isinstance(origin, Origin):
            return Line(text, ", ".join(part for part in (note, origin_text(origin)) if part))
        if origin.number in self.shown:
            return Line(text, "shown above")
        if depth == 0:
            return Line(text, "not shown: below the chosen depth", _place(origin))
        self.shown.add(origin.number)
        return Line(text, note, _place(origin), (self._write(origin, depth - 1),))

    def _write(self, write: Write, depth: int) -> Line:
        """The store, its instance, and the tree of the value."""
        folded = fold(self.found, write)
        head = source(write.span) if write.span is not None else write.element
        note = where(write)
        if write.outside:
            return Line(f"written by the external function `{write.function}`", note)
        if folded is not None:
            self.shown.update(folded.stores)
            return Line(head, note, "", (self._fold(folded, write, depth),))
        return Line(head, note, "", (self._value(write.value, depth),))

    def _fold(self, folded: Fold, write: Write, depth: int) -> Line:
        """A reduction in a few lines."""
        terms = folded.terms
        named = {0: "first term", len(terms) - 1: "last term"}
        named.setdefault(folded.biggest, "biggest term")
        start = self._value(folded.start, depth)
        parts = [Line(f"start: {start.text}", start.note, start.place, start.parts)]
        for place in sorted(named):
            line = self._value(terms[place], depth)
            parts.append(Line(f"{named[place]} ({place + 1} of {len(terms)}): {line.text}", line.note, "", line.parts))
        value = write.value
        text = f"{SUMS[folded.op]} of {len(terms)} terms = {number(value.value, value.dtype)}"
        note = "" if folded.exact is None else f"exact {decimal(folded.exact)}{_error(folded.error, 'running error')}"
        return Line(text, note, "", tuple(parts))

    def _value(self, value: Value, depth: int) -> Line:
        """A node of an expression."""
        spelled = number(value.value, value.dtype)
        match value.kind:
            case Kind.LOAD:
                line = self._source(f"{value.text} = {spelled}", self.found.source(value), depth)
                indices = tuple(
                    Line(f"index: {part.text}", part.note, part.place, part.parts) for part in self._parts(value, depth)
                )
                return Line(line.text, line.note, line.place, (*indices, *line.parts))
            case Kind.CONSTANT:
                return Line(f"{spelled}" if not value.text else f"{value.text}: {spelled}", "constant")
            case Kind.VARIABLE:
                return Line(f"{value.text} = {spelled}")
            case Kind.CAST:
                text = f"as {value.text} = {spelled}"
            case Kind.CHOICE:
                text = f"{value.text} = {spelled}"
            case _:
                text = f"{value.text} = {spelled}"
        return Line(text, rounding_text(value.rounding), "", tuple(self._parts(value, depth)))

    def _parts(self, value: Value, depth: int) -> Iterator[Line]:
        for part in value.parts:
            yield self._value(part, depth)


def where(write: Write) -> str:
    """The instance: block with axes, loops, conditions, variables of Relax, the number of the store."""
    said = []
    if write.block:
        said.append(f"block `{write.block}`{_listed(write.axes)}")
    loops = tuple(pair for pair in write.loops if pair not in write.axes)
    if loops and not (write.axes and {value for _, value in loops} == {value for _, value in write.axes}):
        said.append("loops" + _listed(loops))
    said.extend(f"where `{guard}`" for guard in write.guards)
    if write.bindings:
        said.append(f"binding {' / '.join(f'`{name}`' for name in write.bindings)} calls `{write.function}`")
    else:
        said.append(f"in `{write.function}`")
    return ", ".join([*said, f"store {write.number}"])


def _listed(pairs: tuple[tuple[str, int], ...]) -> str:
    return f" ({', '.join(f'{name} = {value}' for name, value in pairs)})" if pairs else ""


def _place(write: Write) -> str:
    return "" if write.span is None else write.span.place


def origin_text(origin: Origin) -> str:
    """Where a value comes from that no store wrote."""
    match origin.source:
        case Source.ARGUMENT:
            return f"argument `{origin.name}`"
        case Source.CONSTANT | Source.UNINITIALISED | Source.CUT:
            return origin.name
        case Source.UNWATCHED:
            return f"not written by a store: {origin.name}"


def rounding_text(rounding: Rounding | None) -> str:
    """The exact result where it differs, and the distance."""
    if rounding is None:
        return ""
    if rounding.exact is None:
        return rounding.rule
    if rounding.error == 0:
        return "exact"
    return f"{rounding.rule}: exact {decimal(rounding.exact)}{_error(rounding.error, 'error')}"


def _error(error: Fraction | None, name: str) -> str:
    return "" if error is None else f", {name} {float(error):+.3g} ulp"


def decimal(exact: Fraction) -> str:
    """A fraction in at most twenty digits; `…` where there are more."""
    found = DIGITS.divide(Decimal(exact.numerator), Decimal(exact.denominator))
    plain = found.normalize(DIGITS)
    spelled = f"{plain:f}" if PLAIN[0] <= abs(exact) < PLAIN[1] else f"{plain}"
    return f"{spelled if found else 0}{'' if Fraction(found) == exact else '…'}"


def number(value: Scalar | None, dtype: DType) -> str:
    """A value as its dtype spells it: the shortest text that gives it back."""
    if value is None:
        return "no value"
    if not dtype.is_float:
        return str(value)
    return repr(float(str(storage_dtype(dtype).type(value))))


def text(line: Line) -> str:
    """The outline as text with branches."""
    return "\n".join(_lines(line, "", ""))


def _lines(line: Line, first: str, rest: str) -> Iterator[str]:
    note = f"  [{line.note}]" if line.note else ""
    place = f"  {line.place}" if line.place else ""
    yield f"{first}{line.text}{note}{place}"
    for count, part in enumerate(line.parts, 1):
        last = count == len(line.parts)
        yield from _lines(part, f"{rest}{'└─ ' if last else '├─ '}", f"{rest}{'   ' if last else '│  '}")
