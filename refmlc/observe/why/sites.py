"""The static context of a statement: its loops, blocks and conditions, and the variables that it names."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from refmlc.diag.source import Span
from refmlc.lang.ir import IRModule, tir
from refmlc.lang.ir.node import Node
from refmlc.lang.ir.visit import children
from refmlc.run.interp.tensorir.frame import ACTIVATION, Frame

Place: TypeAlias = "tir.For | tir.While | tir.AttrStmt | tir.SBlockRealize | tir.IfThenElse"
Around: TypeAlias = "tuple[tuple[Place, bool], ...]"
NamedValues: TypeAlias = "tuple[tuple[str, int], ...]"


@dataclass(frozen=True, slots=True, eq=False)
class Site:
    """A statement: its number in the module, the statements around it (with the arm of a condition), its variables."""

    number: int
    node: tir.BufferStore | tir.Bind
    around: Around
    names: tuple[tir.Var, ...]

    def loops(self, frame: Frame) -> NamedValues:
        """The loops and thread axes with their values, outermost first."""
        return tuple(
            (var.name, value)
            for place, _ in self.around
            if (var := loop_var(place)) is not None and (value := value_of(frame, var)) is not None
        )

    def block(self) -> tir.SBlock | None:
        """The innermost block."""
        blocks = [place.block for place, _ in self.around if isinstance(place, tir.SBlockRealize)]
        return blocks[-1] if blocks else None

    def axes(self, frame: Frame) -> NamedValues:
        """The axes of the innermost block with their values."""
        block = self.block()
        axes = () if block is None else block.iter_vars
        return tuple((axis.var.name, value) for axis in axes if (value := value_of(frame, axis.var)) is not None)

    def guards(self) -> tuple[str, ...]:
        """The conditions around the statement as the text writes them, with `not` for an else arm."""
        return tuple(
            ("" if arm else "not ") + source(place.condition.span)
            for place, arm in self.around
            if isinstance(place, tir.IfThenElse)
        )


def value_of(frame: Frame, var: tir.Var) -> int | None:
    """The value of an integer variable in `frame`; None if it has none."""
    layout = frame[ACTIVATION].layout
    value = frame[layout.slot(var)] if layout.knows(var) else None
    return int(value) if isinstance(value, int) else None


def loop_var(place: Place) -> tir.Var | None:
    """The variable of a loop or of a launch of threads."""
    match place:
        case tir.For(loop_var=var) | tir.AttrStmt(node=tir.ThreadVar(var=tir.Var() as var)):
            return var
        case _:
            return None


def source(span: Span | None) -> str:
    """The text at `span`; of several lines the first."""
    if span is None:
        return "…"
    line = span.source.line(span.line)
    return line[span.column : span.end_column] if span.line == span.end_line else f"{line[span.column :].rstrip()} …"


class Sites:
    """The sites of a module, found when a statement of a function is first executed."""

    def __init__(self, module: IRModule) -> None:
        """Number every store of every function; the order is that of the text."""
        self._module = module
        self._by_function: dict[str, dict[int, Site]] = {}
        self._elsewhere: dict[int, Site] = {}

    def find(self, node: tir.BufferStore | tir.Bind, frame: Frame) -> Site:
        """The site of `node`, a statement of the function of `frame`."""
        function = frame[ACTIVATION].function
        if function not in self._by_function:
            self._by_function[function] = self._read(function)
        site = self._by_function[function].get(id(node))
        return self._unlisted(node) if site is None or site.node is not node else site

    def _unlisted(self, node: tir.BufferStore | tir.Bind) -> Site:
        """The site of a statement outside the module, in the expansion of a Relax operator.

        It has no context: loops and blocks around it are not part of the program.
        """
        site = self._elsewhere.get(id(node))
        if site is None or site.node is not node:
            site = self._elsewhere[id(node)] = Site(-1 - len(self._elsewhere), node, (), names(node))
        return site

    def _read(self, function: str) -> dict[int, Site]:
        func = self._module.functions.get(function)
        sites: dict[int, Site] = {}
        if isinstance(func, tir.PrimFunc):
            first = 1_000_000 * list(self._module.functions).index(function)
            for node, around in _places(func.body):
                sites[id(node)] = Site(first + len(sites), node, around, names(node))
        return sites


def names(node: Node) -> tuple[tir.Var, ...]:
    """The variables that the expressions of a statement read, without those in buffers."""
    variables: dict[tir.Var, None] = {}
    stack: list[Node] = [node]
    while stack:
        current = stack.pop()
        if isinstance(current, tir.Var):
            variables[current] = None
        stack.extend(child for child in children(current) if not isinstance(child, tir.Buffer))
    return tuple(variables)


def _places(body: tir.Stmt) -> Iterator[tuple[tir.BufferStore | tir.Bind, Around]]:
    """Every store and bind below `body` with the statements around it, outermost first."""
    stack: list[tuple[Node, Around]] = [(body, ())]
    while stack:
        node, around = stack.pop()
        match node:
            case tir.BufferStore() | tir.Bind():
                yield node, around
            case tir.IfThenElse():
                arms = [(node.then_case, True), *([] if node.else_case is None else [(node.else_case, False)])]
                stack.extend((arm, (*around, (node, is_true))) for arm, is_true in reversed(arms))
            case tir.For() | tir.While() | tir.AttrStmt():
                stack.append((node.body, (*around, (node, True))))
            case tir.SBlockRealize(block=block):
                inner = (*around, (node, True))
                stack.append((block.body, inner))
                if block.init is not None:
                    stack.append((block.init, inner))
            case tir.SeqStmt():
                stack.extend((part, around) for part in reversed(node.seq))
