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
from collections.abc import Container, Iterator

from refmlc.lang.script.reader.syntax import any_of, every_node
from refmlc.lang.script.reader.values import Meta, NoValue
from refmlc.lang.script.spellings import PRELUDE

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


def is_definition(node: ast.AST, foreign: Container[str] = ()) -> bool:
    """Whether `node` is decorated as definitions of TVMScript are; `foreign`: as `foreign_modules` gives."""
    decorators = getattr(node, "decorator_list", ())
    return any(last_name(part) in DECORATORS and not _is_foreign(part, foreign) for part in decorators)


def is_function(node: ast.FunctionDef, foreign: Container[str] = ()) -> bool:
    """Whether `node` is decorated as functions of a module are, not as a macro or a template."""
    return is_definition(node, foreign) and not any(
        last_name(part) in ("inline", "macro", "jit") for part in node.decorator_list
    )


def last_name(decorator: ast.expr) -> str:
    """The last part of a decorator's name."""
    match decorator.func if isinstance(decorator, ast.Call) else decorator:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case _:
            return ""


def _is_foreign(decorator: ast.expr, foreign: Container[str]) -> bool:
    """Whether a decorator is the attribute `function` of a module that is not of TVM."""
    match decorator.func if isinstance(decorator, ast.Call) else decorator:
        case ast.Attribute(value=ast.Name(id=name), attr="function"):
            return name in foreign
        case _:
            return False


def foreign_modules(tree: ast.AST) -> frozenset[str]:
    """The names that nothing but `import` lines bind, of packages that are not TVM: `tf` of `import tensorflow as tf`.

    `function` is a word of many packages; the other words of TVMScript are refused where they are not TVM's.
    """
    modules: set[str] = set()
    others = set(PRELUDE)
    for node in every_node(tree):
        match node:
            case ast.Import(names=aliases):
                for alias in aliases:
                    package = alias.name.partition(".")[0]
                    (others if package == "tvm" else modules).add(alias.asname or package)
            case ast.ImportFrom(names=aliases):
                others.update(alias.asname or alias.name for alias in aliases)
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()) | ast.arg(arg=name):
                others.add(name)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                others.add(name)
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                others.add(name)
            case ast.MatchMapping(rest=str(name)):
                others.add(name)
    return frozenset(modules - others)


def holds_definition(root: ast.AST, foreign: Container[str] = ()) -> bool:
    """Whether a definition of TVMScript stands in `root`."""
    return any(is_definition(node, foreign) for node in ast.walk(root))


def mentions(root: ast.AST, foreign: Container[str] = ()) -> Iterator[tuple[str, bool]]:
    """The names that code mentions, each with whether the mention changes a list that holds no lists."""
    stack: list[tuple[ast.AST, bool]] = [(root, True)]
    while stack:
        node, changes = stack.pop()
        if isinstance(node, ast.Name):
            yield node.id, changes
            continue
        if is_definition(node, foreign):
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
