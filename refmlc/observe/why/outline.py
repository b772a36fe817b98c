"""A slice as an outline, which is a tree of lines: for a terminal, for a page, for a debugger.

| line of             | says                                                                                       |
|---------------------|--------------------------------------------------------------------------------------------|
| an element          | its value, the statement that wrote it, the instance of the block and the loops            |
| an operator, a cast | its value; the exact result and the distance from it, where they differ                    |
| a reduction         | how many terms, the exact sum, the running error; its start, first, last, biggest term     |
| an origin           | element of an argument, a constant, never written, or why the search ends here             |

An element is shown once; afterwards only its name appears.
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
PLAIN = (Fraction(1, 100_000), Fraction(10**16))  # sizes that are written without an exponent


@dataclass(frozen=True, slots=True)
class Line:
    """A line and the lines below it. `text`: the fact; `note`: how exact it is; `place`: where in the program text."""

    text: str
    note: str = ""
    place: str = ""
    parts: tuple["Line", ...] = ()


def outline(slice_: Slice, depth: int = DEPTH) -> Line:
    """The slice as lines; `depth` elements below one another are shown."""
    return Outliner(slice_, depth).whole()


@dataclass(slots=True)
class Outliner:
    """Builds the lines; `shown_writes`: the numbers of the stores that have their lines."""

    slice_: Slice
    depth: int
    shown_writes: set[int] = field(default_factory=set)

    def whole(self) -> Line:
        """The queried element."""
        slice_ = self.slice_
        top = f"{slice_.element} = {number(slice_.value, slice_.dtype)}"
        line = self._source(top, slice_.source(), self.depth, f"{slice_.dtype}, after `{slice_.func}`")
        if not slice_.cut:
            return line
        return Line(line.text, line.note, line.place, (*line.parts, Line(f"cut: {slice_.cut}")))

    def _source(self, text: str, origin: Write | Origin, depth: int, note: str = "") -> Line:
        """An element, and where its value comes from."""
        if isinstance(origin, Origin):
            return Line(text, ", ".join(part for part in (note, origin_text(origin)) if part))
        if origin.number in self.shown_writes:
            return Line(text, "shown above")
        if depth == 0:
            return Line(text, "not shown: below the chosen depth", _place(origin))
        self.shown_writes.add(origin.number)
        return Line(text, note, _place(origin), (self._write(origin, depth - 1),))

    def _write(self, write: Write, depth: int) -> Line:
        """The store, its instance, and the tree of the value."""
        reduction = fold(self.slice_, write)
        head = source(write.span) if write.span is not None else write.element
        note = where(write)
        if write.outside:
            return Line(f"written by the external function `{write.function}`", note)
        if reduction is not None:
            self.shown_writes.update(reduction.stores)
            return Line(head, note, "", (self._fold(reduction, write, depth),))
        return Line(head, note, "", (self._value(write.value, depth),))

    def _fold(self, reduction: Fold, write: Write, depth: int) -> Line:
        """A reduction in a few lines."""
        terms = reduction.terms
        labels = {0: "first term", len(terms) - 1: "last term"}
        labels.setdefault(reduction.biggest_index, "biggest term")
        start = self._value(reduction.start, depth)
        parts = [Line(f"start: {start.text}", start.note, start.place, start.parts)]
        for place in sorted(labels):
            line = self._value(terms[place], depth)
            parts.append(Line(f"{labels[place]} ({place + 1} of {len(terms)}): {line.text}", line.note, "", line.parts))
        value = write.value
        text = f"{SUMS[reduction.op]} of {len(terms)} terms = {number(value.value, value.dtype)}"
        note = (
            ""
            if reduction.exact is None
            else f"exact {decimal(reduction.exact)}{_error(reduction.error, 'running error')}"
        )
        return Line(text, note, "", tuple(parts))

    def _value(self, value: Value, depth: int) -> Line:
        """A node of an expression."""
        number_text = number(value.value, value.dtype)
        match value.kind:
            case Kind.LOAD:
                line = self._source(f"{value.text} = {number_text}", self.slice_.source(value), depth)
                parts = [self._value(part, depth) for part in value.parts]
                indices = [Line(f"index: {part.text}", part.note, part.place, part.parts) for part in parts]
                return Line(line.text, line.note, line.place, (*indices, *line.parts))
            case Kind.CONSTANT:
                return Line(f"{value.text}: {number_text}" if value.text else number_text, "constant")
            case Kind.VARIABLE:
                return Line(f"{value.text} = {number_text}")
            case Kind.CAST:
                text = f"as {value.text} = {number_text}"
            case _:
                text = f"{value.text} = {number_text}"
        return Line(text, rounding_text(value.rounding), "", tuple(self._value(part, depth) for part in value.parts))


def where(write: Write) -> str:
    """The instance of a store: block with axes, loops, conditions, Relax variables, the number of the store."""
    parts = []
    if write.block:
        parts.append(f"block `{write.block}`{_pairs_text(write.axes)}")
    loops = tuple(pair for pair in write.loops if pair not in write.axes)
    if loops and not (write.axes and {value for _, value in loops} == {value for _, value in write.axes}):
        parts.append("loops" + _pairs_text(loops))
    parts.extend(f"where `{guard}`" for guard in write.guards)
    if write.bindings:
        parts.append(f"binding {' / '.join(f'`{name}`' for name in write.bindings)} calls `{write.function}`")
    else:
        parts.append(f"in `{write.function}`")
    return ", ".join([*parts, f"store {write.number}"])


def _pairs_text(pairs: tuple[tuple[str, int], ...]) -> str:
    return f" ({', '.join(f'{name} = {value}' for name, value in pairs)})" if pairs else ""


def _place(write: Write) -> str:
    return "" if write.span is None else write.span.place


def origin_text(origin: Origin) -> str:
    """The source of a value that no store wrote."""
    match origin.source:
        case Source.ARGUMENT:
            return f"argument `{origin.name}`"
        case Source.CONSTANT | Source.UNINITIALISED | Source.CUT:
            return origin.name
        case Source.UNWATCHED:
            return f"not written by a store: {origin.name}"


def rounding_text(rounding: Rounding | None) -> str:
    """The exact result if it differs from the value, and the distance in ulps."""
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
    quotient = DIGITS.divide(Decimal(exact.numerator), Decimal(exact.denominator))
    plain = quotient.normalize(DIGITS)
    digits = f"{plain:f}" if PLAIN[0] <= abs(exact) < PLAIN[1] else f"{plain}"
    return f"{digits if quotient else 0}{'' if Fraction(quotient) == exact else '…'}"


def number(value: Scalar | None, dtype: DType) -> str:
    """The shortest text that reads back as the value in its dtype."""
    if value is None:
        return "no value"
    if not dtype.is_float:
        return str(value)
    return repr(float(str(storage_dtype(dtype).type(value))))


def text(line: Line) -> str:
    """The outline as text with branches."""
    return "\n".join(_lines(line, "", ""))


def _lines(line: Line, prefix: str, indent: str) -> Iterator[str]:
    note = f"  [{line.note}]" if line.note else ""
    place = f"  {line.place}" if line.place else ""
    yield f"{prefix}{line.text}{note}{place}"
    for count, part in enumerate(line.parts, 1):
        is_last = count == len(line.parts)
        yield from _lines(part, f"{indent}{'└─ ' if is_last else '├─ '}", f"{indent}{'   ' if is_last else '│  '}")
