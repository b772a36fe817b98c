"""Values as the rows of a tree: numbers, tensors with their statistics and mask, tuples.

| row of a tensor                   | is                                                       |
|-----------------------------------|----------------------------------------------------------|
| `shape`, `dtype`, `NaN`, `mean` … | named: its statistics                                    |
| `initialised`                     | named: the number of initialised elements; opens the mask |
| `[0, 3]`                          | indexed, row-major: an element, or `not initialised`      |
| `[100 … 199]`                     | a bundle of elements, for clients without paging          |
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod

from refmlc.debug.dap.arguments import Arguments, RequestRefused
from refmlc.debug.dap.dap_state import DapState
from refmlc.debug.dap.references import ValueParts, ValuePath, VariableScope
from refmlc.debug.session import Session
from refmlc.debug.session_data import Variable
from refmlc.debug.tensors import PAGE, digits, initialised, page, statistics
from refmlc.debug.terminal import show
from refmlc.run.memory.tensor import Tensor

RowData = dict[str, object]
MISSING = "not initialised"
MOST_ROWS = 10_000
STATISTICS = ("shape", "dtype", "initialised", "NaN", "inf", "least", "greatest", "mean")


@dataclass(frozen=True, slots=True)
class ValueRows:
    """Makes rows; their parts get numbers, under which the client asks for them."""

    state: DapState

    @property
    def session(self) -> Session:
        """The session."""
        return self.state.session

    # --------------------------------------------------------------------------------------------- scopes

    def scopes(self, frame: int) -> list[RowData]:
        """The scopes of a frame: its own names, those around it, the arguments of the run."""
        found = [] if self.state.ended else [self._scope(frame, "here", "locals")]
        if self._variables(VariableScope(frame, "around")):
            found.append(self._scope(frame, "around", "around"))
        return [*found, self._scope(frame, "arguments", "arguments")]

    def _scope(self, frame: int, what: str, hint: str) -> RowData:
        frames = self.session.frames()
        kind = frames[frame].kind.value if frames else ""
        name = {"here": f"Of this {kind}", "around": "Around it", "arguments": "Arguments of the run"}[what]
        scope = VariableScope(frame, what)
        return {
            "name": name, "presentationHint": hint, "expensive": False,
            "variablesReference": self.state.references.number(scope),
            "namedVariables": len(self._variables(scope)),
        }  # fmt: skip

    def _variables(self, scope: VariableScope) -> list[tuple[Variable, ValuePath]]:
        session, frame = self.session, scope.frame
        if scope.what == "arguments":
            names = session.program.names
            found = [
                (
                    Variable(name, "parameter", value, _dtype(value)),
                    ValuePath(name, max(len(session.frames()) - 1, 0), (), at),
                )
                for at, (name, value) in enumerate(zip(names, session.arguments, strict=True))
            ]
            if self.state.ended and session.result is not None:
                result = Variable("result", "variable", session.result, _dtype(session.result))
                found.append((result, ValuePath("result", 0)))
            return found
        if self.state.ended:
            return []
        here = list(session.variables(frame))
        if scope.what == "around":
            names_here = {one.name for one in here}
            here = [one for one in session.visible(frame) if one.name not in names_here]
        return [(one, ValuePath(one.name, frame)) for one in here]

    # ----------------------------------------------------------------------------------------------- rows

    def rows(self, of: VariableScope | ValueParts, given: Arguments) -> list[RowData]:
        """The rows of a scope or value, selected by `filter`, `start` and `count`."""
        wanted = given.text("filter", "")
        start, count = given.number("start", 0), given.number("count", 0)
        if isinstance(of, VariableScope):
            found = [] if wanted == "indexed" else self._variables(of)
            return [self.variable(one, path) for one, path in found[start : start + count if count else None]]
        value = of.path.value(self.session)
        paged = self.state.client.pages and (wanted == "indexed" or "start" in given)
        rows = [] if wanted == "indexed" or not of.whole else list(self._statistics(value, of.path))
        if wanted == "named":
            return rows[start : start + count if count else None]
        first = of.first + start
        last = min(of.last, first + count) if count else of.last
        if last - first > PAGE and not paged:
            return rows + [self._bundle(of, low, high) for low, high in _bundles(first, last)]
        if last - first > MOST_ROWS:
            raise RequestRefused(f"{last - first} rows are requested: at most {MOST_ROWS} are sent at once")
        return rows + list(self._elements(value, of, first, last))

    def variable(self, one: Variable, path: ValuePath) -> RowData:
        """A name with its value."""
        row = self._row(one.name, show.typed(one), one.dtype or one.kind, one.value if one.bound else None, path)
        attributes = ["readOnly"] if path.argument is None and one.tensor is None and one.value is None else []
        if one.extent is not None:
            row["type"] = f"{one.dtype} in {one.extent[0]}..{one.extent[1]}"
        if one.edited:
            row["value"] = f"{row['value']}  [edited]"
        if attributes:
            row["presentationHint"] = {"attributes": attributes}
        return row

    def value(self, one: Variable, path: ValuePath) -> RowData:
        """The row of a value requested by an expression."""
        row = self.variable(one, path)
        return {("result" if key == "value" else key): part for key, part in row.items() if key not in _NAMES}

    def _row(self, name: str, value: str, kind: str, held: object, path: ValuePath) -> RowData:
        row: RowData = {"name": name, "value": value, "type": kind, "variablesReference": 0}
        if path.spelled:
            row["evaluateName"] = path.spelled
        number = self.state.references.number
        if isinstance(held, Tensor):
            size = prod(held.shape)
            row["variablesReference"] = number(ValueParts(path, 0, size, whole=True))
            row |= {"namedVariables": len(STATISTICS), "indexedVariables": size}
            row["type"] = f"{'x'.join(map(str, held.shape)) or 'scalar'} {held.dtype}"
            if path.spelled:
                row["memoryReference"] = f"{path.frame}:{path.name}"
        elif isinstance(held, tuple) and held:
            row["variablesReference"] = number(ValueParts(path, 0, len(held)))
            row["indexedVariables"] = len(held)
        return row

    def _statistics(self, value: object, path: ValuePath) -> Iterator[RowData]:
        if not isinstance(value, Tensor):
            return
        found = statistics(value)
        said = (
            "x".join(map(str, value.shape)) or "scalar", str(value.dtype), f"{found.initialised} of {found.count}",
            str(found.nan), str(found.inf), *(_number(one) for one in (found.least, found.greatest, found.mean)),
        )  # fmt: skip
        for name, text in zip(STATISTICS, said, strict=True):
            row: RowData = {"name": name, "value": text, "variablesReference": 0}
            if name == "initialised":
                row["variablesReference"] = self.state.references.number(ValueParts(path, 0, found.count, mask=True))
                row["indexedVariables"] = found.count
            yield row | {"presentationHint": {"kind": "virtual", "attributes": ["readOnly"]}}

    def _bundle(self, of: ValueParts, low: int, high: int) -> RowData:
        parts = ValueParts(of.path, low, high, of.mask)
        return {
            "name": f"[{low} … {high - 1}]", "value": "", "variablesReference": self.state.references.number(parts),
            "indexedVariables": high - low, "presentationHint": {"kind": "virtual"},
        }  # fmt: skip

    def _elements(self, value: object, of: ValueParts, first: int, last: int) -> Iterator[RowData]:
        path = of.path
        if isinstance(value, Tensor):
            flat = initialised(value).reshape(-1) if of.mask else ()
            found = page(value, first, last - first)
            for at, (index, one) in enumerate(zip(found.indices, found.values, strict=True), first):
                name = f"[{', '.join(map(str, index))}]"
                text = str(bool(flat[at])) if of.mask else MISSING if one is None else digits(one, value.dtype)
                row: RowData = {"name": name, "value": text, "variablesReference": 0}
                if path.spelled and index and not of.mask:
                    row["evaluateName"] = f"{path.spelled}{name}"
                if not of.mask:
                    row["type"] = str(value.dtype)
                yield row
        elif isinstance(value, Sequence):
            for at in range(first, min(last, len(value))):
                part = value[at]
                below = ValuePath(path.name, path.frame, (*path.parts, at), path.argument)
                yield self._row(f"[{at}]", show.value(part), _dtype(part) or type(part).__name__, part, below)


_NAMES = ("name", "evaluateName")


def _bundles(first: int, last: int) -> Iterator[tuple[int, int]]:
    """At most `PAGE` stretches, the size of each a power of `PAGE`."""
    size = PAGE
    while (last - first + size - 1) // size > PAGE:
        size *= PAGE
    for low in range(first, last, size):
        yield low, min(low + size, last)


def _dtype(value: object) -> str:
    return str(value.dtype) if isinstance(value, Tensor) else ""


def _number(value: float | None) -> str:
    return "none" if value is None else f"{value:.6g}"
