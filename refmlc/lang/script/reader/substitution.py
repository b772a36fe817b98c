"""Functions of the text that are called with variables, loads and buffers: their expressions in place of the call.

| statement of the function         | meaning                                                      |
|-----------------------------------|--------------------------------------------------------------|
| docstring, `pass`                 | nothing                                                      |
| `x = e`, `x, y = e`, `x += e`     | the names stand for the values, nothing is bound             |
| `assert e`                        | nothing, where e is known to be true                         |
| `return e`                        | the value of the call                                        |

Any other is refused: Python would execute it, and reading does not. So are `and`, `or`, `not`, a choice and a chain of
comparisons, which ask Python for the truth of an expression, and values that are statements of TVMScript (SCR-006).
"""

import ast
from collections.abc import Callable, Mapping, Sequence

from refmlc.diag import RefmlcError, fail
from refmlc.diag.catalogue import NO_VALUE, NOT_TVMSCRIPT
from refmlc.lang.ir import relax, tir
from refmlc.lang.ir.node import Node
from refmlc.lang.script.reader.arguments import CallSite
from refmlc.lang.script.reader.budget import CALL, STATEMENT
from refmlc.lang.script.reader.constants import define
from refmlc.lang.script.reader.evaluate import Evaluator
from refmlc.lang.script.reader.functions import own_names
from refmlc.lang.script.reader.operators import BINARY
from refmlc.lang.script.reader.tir_values import MetaVar
from refmlc.lang.script.reader.values import Meta, NoValue, PlainFunction, described

HasValue = Callable[[Meta], bool]
_TRUTH = (ast.BoolOp, ast.IfExp, ast.NamedExpr)
_KEPT = (tir.Expr, tir.Buffer, tir.BufferRegion, relax.Expr)


def substituted(
    ev: Evaluator, function: PlainFunction, values: Mapping[str, Meta], site: CallSite, constant: HasValue
) -> Meta:
    """The value of a call with nodes; `constant` says which values are known. Fails: RM103, RM114, RM602, RM606."""
    node = function.node
    if any(isinstance(item, relax.Call) for value in values.values() for item in _items(value)):
        raise _refused(node, "gets a call of Relax, which each use would call again", site)
    outer, ev.scope = ev.scope, function.scope.snapshot()
    try:
        with ev.scope.frame():
            for name in own_names(node):
                ev.scope.define(name, NoValue("it is bound later"))
            for name, value in values.items():
                ev.scope.define(name, value)
            return _Body(ev, node, site, constant).value()
    finally:
        ev.scope = outer


def _refused(node: ast.FunctionDef, why: str, site: CallSite) -> RefmlcError:
    message = f"`{node.name}` is not called while reading, with what is not constant: it {why}"
    return fail(NOT_TVMSCRIPT, message, site.span)


class _Body:
    """The statements of a function in one call."""

    def __init__(self, ev: Evaluator, node: ast.FunctionDef, site: CallSite, constant: HasValue) -> None:
        self.ev, self.node, self.site, self.constant = ev, node, site, constant

    def value(self) -> Meta:
        """What the call gives."""
        self.ev.budget.charge(CALL + STATEMENT * len(self.node.body), self.site.span)
        graph = len(self.node.body) > 1
        for stmt in self.node.body:
            match stmt:
                case ast.Expr(value=ast.Constant()) | ast.Pass():
                    pass
                case ast.Assign(targets=[target], value=value):
                    self.bind(target, self.checked(value, graph=graph))
                case ast.AnnAssign(target=ast.Name() as target, value=ast.expr() as value):
                    self.bind(target, self.checked(value, graph=graph))
                case ast.AugAssign(target=ast.Name() as target, op=op, value=value) if type(op) in BINARY:
                    before = self.ev.eval(ast.copy_location(ast.Name(target.id, ast.Load()), target))
                    after = self.checked(value, graph=graph)
                    self.bind(target, self.ev.binary(BINARY[type(op)], before, after, self.ev.spans.of(stmt)))
                case ast.Assert(test=test) if self.checked(test, graph=graph) is True:
                    pass
                case ast.Return(value=value):
                    return None if value is None else self.checked(value, graph=graph)
                case _:
                    where = self.ev.spans.of(stmt).line
                    raise _refused(self.node, f"does what reading does not follow, at line {where}", self.site)
        return None

    def bind(self, target: ast.expr, value: Meta) -> None:
        """Let the names of `target` have the value."""
        define(self.ev, target, value)

    def checked(self, node: ast.expr, *, graph: bool) -> Meta:
        """The value of an expression; of Relax none where a name may stand for a call (`graph`)."""
        if any(asks_for_truth(part) for part in ast.walk(node)):
            raise _refused(self.node, "asks for the truth of an expression", self.site)
        value = self.ev.eval(node)
        self.ev.budget.charge_value(value, self.site.span)
        for item in _items(value):
            if isinstance(item, NoValue):
                raise fail(NO_VALUE, f"`{self.node.name}` has no value here: {item.reason}", self.site.span)
            if not isinstance(item, _KEPT) and not self.constant(item):
                raise _refused(self.node, f"has {described(item)} as a value", self.site)
            if graph and isinstance(item, relax.Call):
                raise _refused(self.node, "names a call of Relax, which each use would call again", self.site)
            if isinstance(item, Node):
                self.ev.budget.charge_tree(item, self.site.span)
        return value


def asks_for_truth(node: ast.AST) -> bool:
    """Whether Python asks for the truth of a value in this expression, or binds a name."""
    negated = isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)
    chained = isinstance(node, ast.Compare) and len(node.ops) > 1
    filtered = isinstance(node, ast.comprehension) and bool(node.ifs)
    return negated or chained or filtered or isinstance(node, _TRUTH)


def _items(value: Meta) -> Sequence[Meta]:
    """The values in tuples, lists and meta-variables."""
    items: list[Meta] = []
    stack = [value]
    while stack:
        part = stack.pop()
        if isinstance(part, MetaVar):
            stack.append(part.value)
        elif isinstance(part, (tuple, list)):
            stack.extend(part)
        else:
            items.append(part)
    return items
