"""Functions that a text specialises: `@T.jit def f(A: T.Buffer((N,)), *, N: T.constexpr)`, `f.specialize(N=8)`.

| parameter                 | in the function of a specialisation                                          |
|---------------------------|------------------------------------------------------------------------------|
| `N: T.constexpr`          | none: the value that the call says, or the default, is a constant of its body |
| `a: T.Optional(T.handle)` | a parameter; with `a=None` none, and `a` is `None` in its body                |
| any other                 | a parameter                                                                  |
"""

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from refmlc.diag import Span
from refmlc.lang.script.reader.arguments import CallSite
from refmlc.lang.script.reader.evaluate import Evaluator
from refmlc.lang.script.reader.table import Family
from refmlc.lang.script.reader.values import Meta, Method

if TYPE_CHECKING:
    from refmlc.lang.script.reader.scope import Scope

JIT = "T.jit"
"""The decorator of a template."""


@dataclass(slots=True, eq=False)
class Template:
    """A function with parameters of which a specialisation knows the values. `calls` counts the specialisations."""

    node: ast.FunctionDef
    scope: "Scope"
    constants: Mapping[str, Meta]
    required: tuple[str, ...]
    optional: tuple[str, ...]
    calls: int = 0


def template_of(ev: Evaluator, node: ast.FunctionDef, defaults: Mapping[str, Meta]) -> Template:
    """The template that a decorated function is; `defaults` are those of its parameters."""
    names, optional = [], []
    for arg in (*node.args.args, *node.args.kwonlyargs):
        annotation = arg.annotation
        called = annotation.func if isinstance(annotation, ast.Call) else annotation
        construct = None if called is None else ev.construct_of(called)
        path = "" if construct is None else construct.path
        if path == "T.constexpr" and called is annotation:
            names.append(arg.arg)
        elif path == "T.Optional" and called is not annotation:
            optional.append(arg.arg)
    constants = {name: defaults[name] for name in names if name in defaults}
    required = tuple(name for name in names if name not in defaults)
    return Template(node, ev.scope.snapshot(), constants, required, tuple(optional))


def values_of(template: Template, site: CallSite) -> dict[str, Meta]:
    """The constants of a specialisation: what it says, the defaults, None for parameters that it leaves out.

    Fails: RM105 for a name that is no such parameter, one without a value, or another value than None.
    """
    known = (*template.constants, *template.required)
    site.only_keywords(*known, *template.optional)
    if site.args:
        raise site.misfit("takes values by name")
    missing = next((name for name in template.required if name not in site.kwargs), None)
    if missing is not None:
        raise site.misfit(f"gets no value for `{missing}`")
    for name in template.optional:
        if site.kwargs.get(name) is not None:
            raise site.wrong(name, site.kwargs[name], "`None` alone")
    return {**template.constants, **site.kwargs}


def specialised(template: Template, values: Mapping[str, Meta]) -> ast.FunctionDef:
    """The definition without the parameters that have values; those that may be left out are of their own type."""
    node = template.node
    plain = [arg for arg in (*node.args.args, *node.args.kwonlyargs) if arg.arg not in values]
    args = [_present(arg) if arg.arg in template.optional else arg for arg in plain]
    signature = ast.arguments(
        [*node.args.posonlyargs], args, node.args.vararg, [], [], node.args.kwarg, _defaults(template, plain)
    )
    function = ast.FunctionDef(node.name, signature, node.body, node.decorator_list, node.returns, node.type_comment)
    return ast.copy_location(function, node)


def _present(arg: ast.arg) -> ast.arg:
    annotation = arg.annotation
    if not isinstance(annotation, ast.Call) or len(annotation.args) != 1 or annotation.keywords:
        return arg
    return ast.copy_location(ast.arg(arg.arg, annotation.args[0], arg.type_comment), arg)


def _defaults(template: Template, plain: list[ast.arg]) -> list[ast.expr]:
    """Defaults of parameters that stay, which a function of TensorIR refuses."""
    args = template.node.args
    pairs = [
        *zip(args.args[len(args.args) - len(args.defaults) :], args.defaults, strict=True),
        *zip(args.kwonlyargs, args.kw_defaults, strict=True),
    ]
    return [value for arg, value in pairs if value is not None and any(arg is kept for kept in plain)]


def _attribute(ev: Evaluator, value: Meta, name: str, span: Span) -> Meta:
    if name != "specialize":
        raise ev.refuse(f"a function of `T.jit` has no attribute `{name}`", span)
    return Method(value, name)


def _method(ev: Evaluator, callee: Meta, site: CallSite) -> Meta:
    if not isinstance(callee, Method) or not isinstance(callee.receiver, Template) or ev.specialize is None:
        raise site.misfit("cannot be called here")
    return ev.specialize(callee.receiver, site)


TEMPLATES = Family((Template,), attribute=_attribute, method=_method)
"""How templates are specialised."""
