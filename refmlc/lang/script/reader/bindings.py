"""The names that a scope of the text binds, and which of them can have a value: those bound once, by a plain statement.

| the text binds `N`                                        | `N` has a value                              |
|-----------------------------------------------------------|----------------------------------------------|
| once, by an assignment, `def`, `class` or import          | what it is bound to, from there on           |
| by several imports of the same name                       | the import                                   |
| twice, by `N += 1`, `del N`, `N[0] = 1`, `N.a = 1`        | none                                         |
| in a branch, a loop, a `with`, a `try`, a `match`         | none                                         |
| by `:=`, as the target of a loop                          | none                                         |
| by a function that says `global N` or `nonlocal N`        | none                                         |

A scope is a module, a function or a class; bodies of functions and classes inside of it are scopes of their own.
"""

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from refmlc.lang.script.reader.imports import imported
from refmlc.lang.script.reader.syntax import every_node

OUTWARD = re.compile(r"\b(?:global|nonlocal)[ \t\f\\]")
"""What a text has in which a function binds names of scopes around it."""
SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_COMPOUND: dict[type[ast.stmt], str] = {
    ast.If: "an `if`",
    ast.For: "a loop",
    ast.AsyncFor: "a loop",
    ast.While: "a loop",
    ast.With: "a `with`",
    ast.AsyncWith: "a `with`",
    ast.Try: "a `try`",
    ast.Match: "a `match`",
}


@dataclass(frozen=True, slots=True)
class Binding:
    """A place that binds or changes a name. `defect` says why it gives no value, or is empty; `path` is of imports."""

    name: str
    node: ast.AST
    defect: str = ""
    path: str = ""


def bindings(body: Sequence[ast.stmt], *, outward: bool = True) -> dict[str, list[Binding]]:
    """The places that bind each name of the scope with this body. Order: of the text.

    `outward` is False where functions are known to bind no names of scopes around them: they are not looked at.
    """
    places: dict[str, list[Binding]] = {}
    for stmt in body:
        for binding in _of_statement(stmt, outward=outward):
            places.setdefault(binding.name, []).append(binding)
    return places


def defect(places: Sequence[Binding]) -> Binding | None:
    """The place for which the name that is bound at `places` has no value; None where it has one."""
    paths = {place.path for place in places}
    if len(paths) == 1 and "" not in paths:  # imports of one thing, perhaps in a `try`
        return None
    for place in places:
        if place.defect:
            return place
    return Binding(places[1].name, places[1].node, "is bound twice") if len(places) > 1 else None


def _of_statement(stmt: ast.stmt, *, outward: bool) -> Iterator[Binding]:
    """What a statement that stands in the scope itself binds."""
    match stmt:
        case ast.Assign(targets=targets, value=value):
            for target in targets:
                yield from _of_target(target, "")
            yield from _of_expressions([*targets, value])
        case ast.AnnAssign(target=target, value=value):
            if value is not None:
                yield from _of_target(target, "")
            yield from _of_expressions([stmt])
        case ast.Import() | ast.ImportFrom():
            yield from _of_import(stmt, "")
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield Binding(name, stmt)
            if outward:
                yield from _of_inner(stmt)
        case _:
            yield from _of_skipped(stmt)


def _of_skipped(stmt: ast.stmt) -> Iterator[Binding]:
    """What a statement binds that gives no values: whatever it holds."""
    where = _COMPOUND.get(type(stmt))
    within = f"is bound in {where}" if where else "is changed"
    for node in _own_nodes(stmt):
        match node:
            case ast.Name(id=name, ctx=ast.Store()):
                yield Binding(name, node, within)
            case ast.Import() | ast.ImportFrom():
                yield from _of_import(node, within)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield Binding(name, node, within)
                yield from _of_inner(node)
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                yield Binding(name, node, within)
            case ast.MatchMapping(rest=str(name)):
                yield Binding(name, node, within)
            case ast.Name(id=name, ctx=ast.Del()):
                yield Binding(name, node, "is deleted")
            case ast.Attribute(value=ast.Name(id=name), ctx=ast.Store() | ast.Del()):
                yield Binding(name, node, "is changed")
            case ast.Subscript(value=ast.Name(id=name), ctx=ast.Store() | ast.Del()):
                yield Binding(name, node, "is changed")


def _of_target(target: ast.expr, within: str) -> Iterator[Binding]:
    match target:
        case ast.Name(id=name):
            yield Binding(name, target, within)
        case ast.Tuple(elts=items) | ast.List(elts=items):
            for item in items:
                yield from _of_target(item, within)
        case ast.Starred(value=value):
            yield from _of_target(value, within)
        case ast.Subscript(value=ast.Name(id=name)) | ast.Attribute(value=ast.Name(id=name)):
            yield Binding(name, target, "is changed")


def _of_expressions(nodes: Iterable[ast.AST]) -> Iterator[Binding]:
    """Names that `:=` binds in expressions."""
    for root in nodes:
        for node in _own_nodes(root):
            if isinstance(node, ast.NamedExpr) and isinstance(node.target, ast.Name):
                yield Binding(node.target.id, node, "is bound by `:=`")


def _of_import(stmt: ast.Import | ast.ImportFrom, within: str) -> Iterator[Binding]:
    for construct in imported(stmt):
        yield Binding(construct.spelled, stmt, within, construct.path)


def _of_inner(node: ast.AST) -> Iterator[Binding]:
    """Names that functions inside of `node` bind in scopes around them."""
    for inner in every_node(node):
        if isinstance(inner, (ast.Global, ast.Nonlocal)):
            word = "global" if isinstance(inner, ast.Global) else "nonlocal"
            for name in inner.names:
                yield Binding(name, inner, f"is bound by a function that says `{word}`")


def _own_nodes(root: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a statement in its scope: not in functions, not in classes, not the targets of comprehensions."""
    stack = [root]
    while stack:
        node = stack.pop()
        yield node
        if isinstance(node, SCOPES):
            if node is root or not isinstance(node, ast.Lambda):
                stack.extend(getattr(node, "decorator_list", ()))
            continue
        for child in ast.iter_child_nodes(node):
            if isinstance(node, ast.comprehension) and child is node.target:
                continue
            stack.append(child)
