"""Macros: statements of a function that a call puts in its place.

| text                                      | names in the body are those of           | names of blocks               |
|-------------------------------------------|------------------------------------------|-------------------------------|
| `@T.inline def f`, at any place (0.27)    | the place of the definition, when called | `name`, `name_1`, `name_2`, … |
| `@T.macro def f` (before)                 | the place of the definition              | `name`                        |
| `@T.macro(hygienic=False) def f` (before) | the place of the call                    | `name`                        |

A parameter stands for its argument; a call is a statement and has no value (SCR-005).
"""

import ast
from dataclasses import dataclass

from refmlc.diag import fail
from refmlc.diag.catalogue import NOT_TVMSCRIPT
from refmlc.lang.script.reader.arguments import CallSite
from refmlc.lang.script.reader.budget import CALL, STATEMENT
from refmlc.lang.script.reader.evaluate import Evaluator
from refmlc.lang.script.reader.functions import arguments, defaults_of
from refmlc.lang.script.reader.module import decorator
from refmlc.lang.script.reader.table import Family
from refmlc.lang.script.reader.values import Macro, Meta

NUMBERED = {"T.inline": True, "T.macro": False}
"""The decorators of macros, and whether names of blocks get the number of the call."""


@dataclass(frozen=True, slots=True)
class Expansion:
    """A call of a macro, for the reader of statements: the values of its parameters, and what its blocks are called."""

    macro: Macro
    values: dict[str, Meta]
    suffix: str


def macro_of(ev: Evaluator, node: ast.FunctionDef) -> Macro:
    """The macro that a decorated function is. Fails: RM103, RM105."""
    if len(node.decorator_list) > 1:
        raise fail(NOT_TVMSCRIPT, f"the function `{node.name}` has several decorators", ev.spans.of(node))
    options = decorator(ev, node.decorator_list[0])
    hygienic = options.options.get("hygienic", True)
    if set(options.options) - {"hygienic"} or not isinstance(hygienic, bool):
        raise fail(NOT_TVMSCRIPT, f"`{options.name}` takes no such option", options.span)
    scope = ev.scope.snapshot() if hygienic else None
    return Macro(node, scope, defaults_of(ev, node), NUMBERED[options.name])


def _expansion(ev: Evaluator, value: Meta, site: CallSite) -> Meta:
    assert isinstance(value, Macro)  # noqa: S101 - the family is of macros
    ev.budget.charge(CALL + STATEMENT * len(value.node.body), site.span)
    suffix = f"_{value.calls}" if value.numbered and value.calls else ""
    values = arguments(value.node, value.defaults, site)
    value.calls += 1
    return Expansion(value, values, suffix)


MACROS = Family((Macro,), call=_expansion)
"""How macros are called."""
