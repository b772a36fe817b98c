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
from refmlc.debug.tensors import PAGE, digits, dtype_of, initialised, page, shape_of, statistics
from refmlc.debug.terminal import show
from refmlc.run.memory.tensor import Tensor

RowData = dict[str, object]
UNINITIALISED = "not initialised"
MOST_ROWS = 10_000
STATISTICS = ("shape", "dtype", "initialised", "NaN", "inf", "least", "greatest", "mean")


@dataclass(frozen=True, slots=True)
class ValueRows:
    """Makes rows; their parts get numbers, under which the client asks for them."""

    state: DapState

    @property
    def session(self) -> Session:
        """The session of the program."""
        return self.state.session

    # --------------------------------------------------------------------------------------------- scopes

    def scopes(self, frame: int) -> list[RowData]:
        """The scopes of a frame: its own names, those around it, the arguments of the run."""
        scopes = [] if self.state.ended else [self._scope(frame, "here", "locals")]
        if self._variables(VariableScope(frame, "around")):
            scopes.append(self._scope(frame, "around", "around"))
        return [*scopes, self._scope(frame, "arguments", "arguments")]

    def _scope(self, frame: int, scope_name: str, hint: str) -> RowData:
        frames = self.session.frames()
        kind = frames[frame].kind.value if frames else ""
        name = {"here": f"Of this {kind}", "around": "Around it", "arguments": "Arguments of the run"}[scope_name]
        scope = VariableScope(frame, scope_name)
        return {
            "name": name, "presentationHint": hint, "expensive": False,
            "variablesReference": self.state.references.number(scope),
            "namedVariables": len(self._variables(scope)),
        }  # fmt: skip

    def _variables(self, scope: VariableScope) -> list[tuple[Variable, ValuePath]]:
        session, frame = self.session, scope.frame
        if scope.kind == "arguments":
            names = session.program.names
            pairs = [
                (
                    Variable(name, "parameter", value, dtype_of(value)),
                    ValuePath(name, max(len(session.frames()) - 1, 0), (), at),
                )
                for at, (name, value) in enumerate(zip(names, session.arguments, strict=True))
            ]
            if self.state.ended and session.result is not None:
                result = Variable("result", "variable", session.result, dtype_of(session.result))
                pairs.append((result, ValuePath("result", 0)))
            return pairs
        if self.state.ended:
            return []
        variables = list(session.variables(frame))
        if scope.kind == "around":
            names_here = {variable.name for variable in variables}
            variables = [variable for variable in session.visible(frame) if variable.name not in names_here]
        return [(variable, ValuePath(variable.name, frame)) for variable in variables]

    # ----------------------------------------------------------------------------------------------- rows

    def rows(self, target: VariableScope | ValueParts, arguments: Arguments) -> list[RowData]:
        """The rows of a scope or value, selected by `filter`, `start` and `count`."""
        kind = arguments.text("filter", "")
        start, count = arguments.number("start", 0), arguments.number("count", 0)
        if isinstance(target, VariableScope):
            pairs = [] if kind == "indexed" else self._variables(target)
            return [self.variable(variable, path) for variable, path in pairs[start : start + count if count else None]]
        value = target.path.value(self.session)
        paged = self.state.client.pages and (kind == "indexed" or "start" in arguments)
        rows = [] if kind == "indexed" or not target.has_statistics else list(self._statistics(value, target.path))
        if kind == "named":
            return rows[start : start + count if count else None]
        first = target.first + start
        last = min(target.last, first + count) if count else target.last
        if last - first > PAGE and not paged:
            return rows + [self._bundle(target, low, high) for low, high in _bundles(first, last)]
        if last - first > MOST_ROWS:
            raise RequestRefused(f"{last - first} rows are requested: at most {MOST_ROWS} are sent at once")
        return rows + list(self._elements(value, target, first, last))

    def variable(self, variable: Variable, path: ValuePath) -> RowData:
        """A name with its value."""
        row = self._row(
            variable.name,
            show.value_text(variable),
            variable.dtype or variable.kind,
            variable.value if variable.bound else None,
            path,
        )
        attributes = (
            ["readOnly"] if path.argument is None and variable.tensor is None and variable.value is None else []
        )
        if variable.extent is not None:
            row["type"] = f"{variable.dtype} in {variable.extent[0]}..{variable.extent[1]}"
        if variable.edited:
            row["value"] = f"{row['value']}  [edited]"
        if attributes:
            row["presentationHint"] = {"attributes": attributes}
        return row

    def value(self, variable: Variable, path: ValuePath) -> RowData:
        """The row of a value requested by an expression."""
        row = self.variable(variable, path)
        return {("result" if key == "value" else key): part for key, part in row.items() if key not in _NAMES}

    def _row(self, name: str, value: str, kind: str, content: object, path: ValuePath) -> RowData:
        row: RowData = {"name": name, "value": value, "type": kind, "variablesReference": 0}
        if path.spelled:
            row["evaluateName"] = path.spelled
        number = self.state.references.number
        if isinstance(content, Tensor):
            size = prod(content.shape)
            row["variablesReference"] = number(ValueParts(path, 0, size, has_statistics=True))
            row |= {"namedVariables": len(STATISTICS), "indexedVariables": size}
            row["type"] = f"{shape_of(content)} {content.dtype}"
            if path.spelled:
                thread = self.state.references.thread
                row["memoryReference"] = f"{'' if thread is None else f'thread {thread} '}{path.frame}:{path.name}"
        elif isinstance(content, tuple) and content:
            row["variablesReference"] = number(ValueParts(path, 0, len(content)))
            row["indexedVariables"] = len(content)
        return row

    def _statistics(self, value: object, path: ValuePath) -> Iterator[RowData]:
        if not isinstance(value, Tensor):
            return
        numbers = statistics(value)
        texts = (
            shape_of(value), str(value.dtype), f"{numbers.initialised} of {numbers.count}",
            str(numbers.nan), str(numbers.inf), *map(_number, (numbers.least, numbers.greatest, numbers.mean)),
        )  # fmt: skip
        for name, text in zip(STATISTICS, texts, strict=True):
            row: RowData = {"name": name, "value": text, "variablesReference": 0}
            if name == "initialised":
                row["variablesReference"] = self.state.references.number(ValueParts(path, 0, numbers.count, mask=True))
                row["indexedVariables"] = numbers.count
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
            elements = page(value, first, last - first)
            for at, (index, element) in enumerate(zip(elements.indices, elements.values, strict=True), first):
                name = f"[{', '.join(map(str, index))}]"
                text = (
                    str(bool(flat[at]))
                    if of.mask
                    else UNINITIALISED
                    if element is None
                    else digits(element, value.dtype)
                )
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
                yield self._row(f"[{at}]", show.value(part), dtype_of(part) or type(part).__name__, part, below)


_NAMES = ("name", "evaluateName")


def _bundles(first: int, last: int) -> Iterator[tuple[int, int]]:
    """At most `PAGE` stretches, the size of each a power of `PAGE`."""
    size = PAGE
    while (last - first + size - 1) // size > PAGE:
        size *= PAGE
    for low in range(first, last, size):
        yield low, min(low + size, last)


def _number(value: float | None) -> str:
    return "none" if value is None else f"{value:.6g}"
