"""Expressions typed by the user: TVMScript, read by the reader, evaluated by the interpreter, never by Python's `eval`.

Their names are those visible where the program stands. Reads by an expression trigger no watch and cost no step.
"""

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from refmlc.diag import Source, Span, error, fail
from refmlc.diag.catalogue import BAD_USAGE, UNINITIALISED
from refmlc.lang.dtypes import INT64, DType, dtype
from refmlc.lang.ir import IRModule, tir
from refmlc.lang.ir.visit import walk
from refmlc.lang.script.reader import syntax
from refmlc.lang.script.reader.evaluate import Evaluator
from refmlc.lang.script.reader.imports import prelude
from refmlc.lang.script.reader.scope import Scope as TextScope
from refmlc.lang.script.reader.syntax import Spans
from refmlc.lang.script.reader.text import TVMSCRIPT
from refmlc.lang.script.reader.tir_operands import expr_of
from refmlc.lang.script.reader.values import Meta
from refmlc.lang.wellformed.findings import Findings
from refmlc.lang.wellformed.tensor_exprs import ExprRules
from refmlc.run.interp.machine import Machine
from refmlc.run.interp.tensorir.expressions import prepare_expr
from refmlc.run.interp.tensorir.frame import Eval
from refmlc.run.interp.tensorir.scope import Scope
from refmlc.run.interp.tensorir.statements import prepare_stmt
from refmlc.run.interp.tensorir.views import View, view_of_tensor
from refmlc.run.memory.tensor import Tensor

TYPED = "<expression>"

NamedValues = Mapping[str, "tuple[tir.Var | tir.Buffer, object]"]


@dataclass(frozen=True, slots=True)
class PreparedExpression:
    """An expression ready for evaluation; `used` are the variables and buffers it names."""

    expr: tir.Expr
    scope: Scope
    run: Eval
    used: tuple[tir.Var | tir.Buffer, ...]

    def value(self, values: Mapping["tir.Var | tir.Buffer", object]) -> object:
        """The value. Fails: RM305 for a name without a value; as the expression does."""
        frame = self.scope.layout.frame(TYPED)
        for node in self.used:
            value = values.get(node)
            if value is None:
                raise fail(UNINITIALISED, f"`{node.name}` has no value here")
            if isinstance(node, tir.Var):
                frame[self.scope.layout.slot(node)] = value
            else:
                view = value if isinstance(value, View) else view_of_tensor(node, value)  # type: ignore[arg-type]
                self.scope.buffers[node].put(frame, view)
        return self.run(frame)


def parsed(text: str) -> tuple[ast.expr, Spans]:
    """The text as a Python expression. Fails: RM101, RM602."""
    source = Source(TYPED, text.strip())
    body = syntax.parsed(source).body
    if len(body) != 1 or not isinstance(body[0], ast.Expr):
        raise fail(BAD_USAGE, f"`{source.text}` is not an expression")
    return body[0].value, Spans(source)


def prepare(text: str, names: Mapping[str, "tir.Var | tir.Buffer"]) -> PreparedExpression:
    """Read and prepare an expression over `names`. Fails: RM1xx, RM2xx, RM5xx."""
    return _prepared(*_read(text, names), names)


def _read(text: str, names: Mapping[str, "tir.Var | tir.Buffer"]) -> tuple[Meta, Span]:
    """Read a text as TVMScript."""
    node, spans = parsed(text)
    reader = Evaluator(spans, TVMSCRIPT.table, TextScope({**prelude(), **names}))
    return reader.eval(node), spans.of(node)


def value_of(text: str, named_values: NamedValues) -> tuple[object, str]:
    """The value and dtype of an expression; typed numbers, shapes and dtypes have no dtype."""
    names = {name: node for name, (node, _) in named_values.items()}
    value, span = _read(text, names)

    def evaluate(item: Meta) -> tuple[object, str]:
        match item:
            case bool() | int() | float() | str():
                return item, ""
            case tuple():
                return tuple(evaluate(field)[0] for field in item), ""
            case DType():
                return str(item), ""
            case _:
                prepared = _prepared(item, span, names)
                return prepared.value(dict(named_values.values())), str(prepared.expr.dtype)

    return evaluate(value)


def _prepared(value: Meta, span: Span, names: Mapping[str, "tir.Var | tir.Buffer"]) -> PreparedExpression:
    """Check and prepare an expression."""
    expr = expr_of(value, span)
    used = tuple({part: None for part in walk(expr) if part in set(names.values())})
    findings = Findings()
    rules = ExprRules(IRModule({}), findings)
    for part in used:
        rules.scope.define(part)
    rules.expr(expr, span)
    for diagnostic in findings.ordered():
        raise error(diagnostic)
    scope = Scope(Machine(IRModule({})), TYPED, prepare_expr, prepare_stmt)
    for part in used:
        if isinstance(part, tir.Buffer):
            scope.declare_buffer(part, strided=True)
        elif isinstance(part, tir.Var):
            scope.layout.declare(part)
    return PreparedExpression(expr, scope, prepare_expr(scope, expr), used)


def prepare_node(expr: tir.Expr) -> PreparedExpression:
    """Prepare an expression of a program, over its variables."""
    used = tuple({part: None for part in walk(expr) if isinstance(part, tir.Var)})
    scope = Scope(Machine(IRModule({})), TYPED, prepare_expr, prepare_stmt)
    for var in used:
        scope.layout.declare(var)
    return PreparedExpression(expr, scope, prepare_expr(scope, expr), used)


def node_for(name: str, value: object) -> "tir.Var | tir.Buffer | None":
    """The variable or buffer that stands for a Relax value in an expression; None where nothing can."""
    match value:
        case Tensor():
            shape = tuple(tir.IntImm(INT64, extent) for extent in value.shape)
            return tir.Buffer(name, value.dtype, shape, tuple(tir.IntImm(INT64, step) for step in value.strides or ()))
        case bool():
            return tir.Var(name, dtype("bool"))
        case int():
            return tir.Var(name, INT64)
        case float():
            return tir.Var(name, dtype("float64"))
        case _:
            return None


@dataclass(frozen=True, slots=True)
class ElementRange:
    """A buffer with a half-open index range per axis; without axes, the whole buffer."""

    name: str
    axes: tuple[tuple[int, int], ...]

    def holds(self, indices: tuple[int, ...]) -> bool:
        """True if the range contains the element at `indices`."""
        if not self.axes:
            return True
        return len(indices) == len(self.axes) and all(
            low <= index < high for index, (low, high) in zip(indices, self.axes, strict=True)
        )

    @property
    def single(self) -> tuple[int, ...] | None:
        """The indices, if the range is a single element."""
        return tuple(low for low, _ in self.axes) if all(high - low == 1 for low, high in self.axes) else None

    def __str__(self) -> str:
        if not self.axes:
            return self.name
        return f"{self.name}[{', '.join(str(low) if high - low == 1 else f'{low}:{high}' for low, high in self.axes)}]"


def element(text: str, number: Callable[[str], object]) -> ElementRange:
    """Read `C[3, 0:4]`; `number` evaluates the indices. Fails: RM101, RM112."""
    node, _ = parsed(text)
    match node:
        case ast.Name(id=name):
            return ElementRange(name, ())
        case ast.Subscript(value=ast.Name(id=name), slice=inner):
            parts = inner.elts if isinstance(inner, ast.Tuple) else [inner]
            return ElementRange(name, tuple(_axis(part, number) for part in parts))
        case _:
            raise fail(BAD_USAGE, f"`{text}` is not an element", None, "write NAME[INDEX, …] or NAME[FROM:TO, …]")


def _axis(node: ast.expr, number: Callable[[str], object]) -> tuple[int, int]:
    match node:
        case ast.Slice(lower=ast.expr() as low, upper=ast.expr() as high, step=None):
            return _index(low, number), _index(high, number)
        case ast.Slice():
            raise fail(BAD_USAGE, "a region needs both bounds: FROM:TO")
        case _:
            at = _index(node, number)
            return at, at + 1


def _index(part: ast.expr, number: Callable[[str], object]) -> int:
    value = number(ast.unparse(part))
    if isinstance(value, bool) or not isinstance(value, int):
        raise fail(BAD_USAGE, f"`{ast.unparse(part)}` is not an index")
    return value


def region(text: str, number: Callable[[str], object]) -> tuple[str, tuple[int | slice, ...]] | None:
    """The name and axes of `A[0:2, :, k]`, as Python means them; None where no axis has a colon. Fails: RM101, RM112.

    Indices are expressions, which `number` evaluates.
    """
    node, _ = parsed(text)
    match node:
        case ast.Subscript(value=ast.Name(id=name), slice=inner):
            parts = inner.elts if isinstance(inner, ast.Tuple) else [inner]
        case _:
            return None
    if not any(isinstance(part, ast.Slice) for part in parts):
        return None
    return name, tuple(_slice(part, number) for part in parts)


def _slice(node: ast.expr, number: Callable[[str], object]) -> int | slice:
    if not isinstance(node, ast.Slice):
        return _index(node, number)
    bounds = (None if part is None else _index(part, number) for part in (node.lower, node.upper, node.step))
    return slice(*bounds)
