"""What an expression of the text stands for while it is read: a meta-value.

| meta-value                        | from                                                     |
|-----------------------------------|----------------------------------------------------------|
| `int` `float` `str` `bool` `None` | literals and arithmetic on literals                      |
| `tuple` `list` `dict`             | displays                                                 |
| `Slice`                           | `a:b:c` in a subscript                                   |
| `Construct`                       | a dotted name of the language, `T.grid`; `builtin.range` |
| `Method`                          | an attribute of a value that is to be called: `x.astype` |
| `Lambda`                          | `lambda i, j: …`, to be applied to nodes                 |
| `ShapeVar`                        | `n = TypeVar("n")` before a module                       |
| `ModuleRef`                       | `cls`, `Module`                                          |
| `NoValue`                         | a name that the text binds, but not to one constant      |
| `PlainFunction`                   | a Python function of the text, without a decorator       |
| `Macro`                           | `@T.inline def f`, `@T.macro def f`                      |
| `Defined`                         | a function or module that the text has defined           |
| `DType`, every IR node            | constructs                                               |
| what a family's own file defines  | a statement's description: `T.grid(…)`, `T.reads(…)` …   |
"""

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from refmlc.diag import Span
from refmlc.lang.ir import relax, tir
from refmlc.lang.ir.tir import GlobalVar

if TYPE_CHECKING:
    from refmlc.lang.script.reader.scope import Scope

Meta: TypeAlias = object


@dataclass(frozen=True, slots=True)
class Construct:
    """A dotted name of the language: `path` is canonical (see `spellings`), `spelled` is what the text says."""

    path: str
    spelled: str


@dataclass(frozen=True, slots=True)
class Method:
    """`receiver.name`, not yet called."""

    receiver: Meta
    name: str


@dataclass(frozen=True, slots=True)
class Lambda:
    """A function of the text: what `Evaluator.apply` applies."""

    params: tuple[str, ...]
    variadic: str | None
    body: ast.expr
    scope: "Scope"


@dataclass(frozen=True, slots=True)
class Slice:
    """`start:stop:step`; None where the text leaves it out."""

    start: Meta
    stop: Meta
    step: Meta


@dataclass(frozen=True, slots=True)
class ShapeVar:
    """A shape variable declared outside functions; each function has its own variable of this name (int64)."""

    name: str


@dataclass(frozen=True, slots=True)
class ModuleRef:
    """The module being read: its functions by name, one `GlobalVar` each, and the result types that the text gives."""

    functions: Mapping[str, GlobalVar]
    results: Mapping[str, ast.expr] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class NoValue:
    """A name of the text without a value. `reason` says what `it` is; `span` is the place that the reason names.

    `final` is False for a name whose binding has not been read yet.
    """

    reason: str
    span: Span | None = None
    final: bool = True


@dataclass(frozen=True, slots=True)
class PlainFunction:
    """A function of the text that is not TVMScript; `refusal` says why it cannot be called, or is empty."""

    node: ast.FunctionDef
    scope: "Scope"
    defaults: Mapping[str, Meta]
    refusal: str = ""


@dataclass(slots=True)
class Macro:
    """A function of statements that are put where it is called. `calls` counts them.

    Names of the body are those of `scope`, where the macro is defined; those of the place of the call if it is None.
    `numbered`: names of blocks get the number of the call.
    """

    node: ast.FunctionDef
    scope: "Scope | None"
    defaults: Mapping[str, Meta]
    numbered: bool
    calls: int = 0


@dataclass(frozen=True, slots=True)
class Defined:
    """What a name stands for after a definition: a function, or a module (`function` is None).

    `unit` is the number of the module among those of the text.
    """

    name: str
    function: "tir.PrimFunc | relax.Function | None" = None
    unit: int = -1


def described(value: Meta) -> str:
    """What a message calls `value`."""
    match value:
        case bool():
            return f"`{value}`"
        case int():
            return f"the integer {shown_int(value)}"
        case float():
            return f"the float {value!r}"
        case str():
            return f"the string {value[:40]!r}"
        case None:
            return "`None`"
        case tuple() | list():
            return f"a {type(value).__name__} of {len(value)}"
        case dict():
            return "a dictionary"
        case Construct(_, spelled):
            return f"`{spelled}`"
        case Method(_, name):
            return f"the method `{name}`"
        case Lambda():
            return "a lambda"
        case Slice():
            return "a slice"
        case PlainFunction(node) | Macro(node):
            return f"the function `{node.name}`"
        case Defined(name, function):
            return f"the {'module' if function is None else 'function'} `{name}`"
        case _:
            return f"a {type(value).__name__}"


def shown_int(value: int) -> str:
    """`value` in decimal, or its size where Python will not print it."""
    return str(value) if value.bit_length() <= 256 else f"of {value.bit_length()} bits"
