"""Lists and dictionaries that code may change which is not executed: they have no value from there on.

A list is changed through any of its names, and by any function that mentions it. So that nothing needs to be known of
code that is skipped, every mention of such a name counts, except those that cannot change it:

| mention of `A`                                      | changes |
|-----------------------------------------------------|---------|
| `*A`, `{A}` of an f-string, an operand of `==`, `in` | nothing |
| `A[i]` that is read, where A holds no lists          | nothing |
| `len(A)`, `print(A)` and the like                   | nothing |
| in a definition of TVMScript                        | nothing |
| any other                                           | A       |

Functions that reach any name (`exec`, `globals`, `setattr` …) change all names of the text, lists or not.
"""

import ast
from collections.abc import Iterator

from refmlc.lang.script.reader.syntax import any_of, every_node
from refmlc.lang.script.reader.values import Meta, NoValue

HARMLESS = frozenset(("len", "print", "min", "max", "sum", "range", "str", "repr", "any", "all", "isinstance", "type"))
DYNAMIC = frozenset(("globals", "vars", "exec", "eval", "setattr", "delattr", "__import__", "__builtins__"))
DYNAMIC_ATTRIBUTES = frozenset(("__dict__", "__globals__", "f_globals", "f_locals", "setattr"))
NAMES_OF_ANY = any_of({*DYNAMIC, *DYNAMIC_ATTRIBUTES, "modules"})
"""What a text names that holds a place of `reaches_any_name`."""
DECORATORS = frozenset(("prim_func", "ir_module", "function", "inline", "macro", "jit", "rewriter", "pyfunc"))


class Changes:
    """The lists and dictionaries that lost their value, with the reason. They are kept, so that none takes their id."""

    __slots__ = ("reasons",)

    def __init__(self) -> None:
        self.reasons: dict[int, tuple[Meta, NoValue]] = {}

    def add(self, value: Meta, reason: NoValue) -> None:
        """Let every list and dictionary in `value` have no value."""
        for part in containers(value):
            self.reasons[id(part)] = (part, reason)

    def place_in(self, value: Meta) -> NoValue | None:
        """The reason for which `value` has none; None where it has one."""
        if not self.reasons:
            return None
        return next((self.reasons[id(part)][1] for part in containers(value) if id(part) in self.reasons), None)


def containers(value: Meta) -> Iterator[Meta]:
    """The lists and dictionaries in `value`, itself included."""
    stack = [value]
    while stack:
        part = stack.pop()
        if isinstance(part, (list, dict)):
            yield part
        if isinstance(part, (list, tuple)):
            stack.extend(item for item in part if isinstance(item, (list, tuple, dict)))
        elif isinstance(part, dict):
            stack.extend(item for item in part.values() if isinstance(item, (list, tuple, dict)))


def is_nested(value: Meta) -> bool:
    """Whether a list or dictionary stands inside of `value`."""
    return any(part is not value for part in containers(value))


def is_definition(node: ast.AST) -> bool:
    """Whether `node` is decorated as definitions of TVMScript are."""
    return any(last_name(decorator) in DECORATORS for decorator in getattr(node, "decorator_list", ()))


def is_function(node: ast.FunctionDef) -> bool:
    """Whether `node` is decorated as functions of a module are, not as a macro or a template."""
    return is_definition(node) and not any(
        last_name(part) in ("inline", "macro", "jit") for part in node.decorator_list
    )


def last_name(decorator: ast.expr) -> str:
    """The last part of a decorator's name."""
    match decorator.func if isinstance(decorator, ast.Call) else decorator:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case _:
            return ""


def holds_definition(root: ast.AST) -> bool:
    """Whether a definition of TVMScript stands in `root`."""
    return any(is_definition(node) for node in ast.walk(root))


def mentions(root: ast.AST) -> Iterator[tuple[str, bool]]:
    """The names that code mentions, each with whether the mention changes a list that holds no lists."""
    stack: list[tuple[ast.AST, bool]] = [(root, True)]
    while stack:
        node, changes = stack.pop()
        if isinstance(node, ast.Name):
            yield node.id, changes
            continue
        if is_definition(node):
            continue
        harmless = _is_harmless(node)
        for child in ast.iter_child_nodes(node):
            kept = harmless and (not isinstance(node, ast.Subscript) or child is node.value)
            stack.append((child, not (kept and isinstance(child, ast.Name))))


def _is_harmless(node: ast.AST) -> bool:
    match node:
        case ast.Starred() | ast.FormattedValue() | ast.Compare() | ast.Subscript(ctx=ast.Load()):
            return True
        case ast.Call(func=ast.Name(id=name)):
            return name in HARMLESS
        case _:
            return False


def reaches_any_name(root: ast.AST) -> ast.AST | None:
    """The first place in `root` that names a function which can bind any name; None where there is none."""
    if not any(_reaches_any_name(node) for node in every_node(root)):
        return None
    return next(node for node in ast.walk(root) if _reaches_any_name(node))


def _reaches_any_name(node: ast.AST) -> bool:
    match node:
        case ast.Name(id=name):
            return name in DYNAMIC
        case ast.Attribute(attr=name) if name in DYNAMIC_ATTRIBUTES:
            return True
        case ast.Attribute(value=ast.Name(id="sys"), attr="modules"):
            return True
        case _:
            return False
