"""Parameters of functions of the text that are called while it is read: plain functions and macros."""

import ast
from collections.abc import Mapping
from dataclasses import replace

from refmlc.lang.script.reader.arguments import REQUIRED, CallSite
from refmlc.lang.script.reader.bindings import bindings
from refmlc.lang.script.reader.evaluate import Evaluator
from refmlc.lang.script.reader.values import Meta

_ELSEWHERE = (ast.Subscript, ast.Attribute, ast.Global, ast.Nonlocal)
"""What changes a name that may be of a scope around."""


def parameters(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> list[str]:
    """The names of all parameters."""
    args = node.args
    extra = [arg for arg in (args.vararg, args.kwarg) if arg is not None]
    return [arg.arg for arg in (*args.posonlyargs, *args.args, *args.kwonlyargs, *extra)]


def own_names(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> set[str]:
    """The names of its scope: parameters, and what its body binds."""
    body = [] if isinstance(node, ast.Lambda) else node.body
    local = {name for name, places in bindings(body).items() if any(not isinstance(p.node, _ELSEWHERE) for p in places)}
    return {*parameters(node), *local}


def defaults_of(ev: Evaluator, node: ast.FunctionDef) -> dict[str, Meta]:
    """The values of parameters that have one, computed where the function is defined."""
    args = node.args
    plain = [*args.posonlyargs, *args.args]
    pairs = [
        *zip(plain[len(plain) - len(args.defaults) :], args.defaults, strict=True),
        *((arg, value) for arg, value in zip(args.kwonlyargs, args.kw_defaults, strict=True) if value is not None),
    ]
    return {arg.arg: ev.eval(value) for arg, value in pairs}


def arguments(node: ast.FunctionDef, defaults: Mapping[str, Meta], site: CallSite) -> dict[str, Meta]:
    """The values of the parameters in a call. Fails: RM105."""
    args = node.args
    before = [arg.arg for arg in args.posonlyargs]
    plain = [*before, *(arg.arg for arg in args.args)]
    names = [*plain, *(arg.arg for arg in args.kwonlyargs)]
    if len(site.args) > len(plain) and args.vararg is None:
        raise site.misfit(f"takes at most {len(plain)} positional arguments and gets {len(site.args)}")
    more = {key: value for key, value in site.kwargs.items() if key not in names or key in before}
    if more and args.kwarg is None:
        key = next(iter(more))
        raise site.misfit(f"has no parameter `{key}` that is named", site.place(key))
    known = {key: value for key, value in site.kwargs.items() if key not in more}
    plain_site = replace(site, args=site.args[: len(plain)], kwargs=known)
    values = plain_site.take(**{name: defaults.get(name, REQUIRED) for name in names})
    if args.vararg is not None:
        values[args.vararg.arg] = tuple(site.args[len(plain) :])
    if args.kwarg is not None:
        values[args.kwarg.arg] = more
    return values
