"""Small changes to modules and functions that people make by hand: a function put in another's place, an attribute.

A module and its functions are immutable: each of these gives a new one.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import TypeVar

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_USAGE
from refmlc.lang.ir import IRModule, relax, tir

F = TypeVar("F", tir.PrimFunc, relax.Function)
AnyFunction = tir.PrimFunc | relax.Function | relax.ExternFunc


def update_func(module: IRModule, name: str | tir.GlobalVar, func: AnyFunction) -> IRModule:
    """`module` with `func` as `name`, replaced or added."""
    key = name.name if isinstance(name, tir.GlobalVar) else name
    return replace(module, functions={**module.functions, key: named(key, func)})


def named(name: str, func: AnyFunction) -> AnyFunction:
    """`func` as the function `name` of a module, where a `global_symbol` that is the name needs no attribute."""
    if isinstance(func, relax.ExternFunc) or func.attrs.get("global_symbol") != name:
        return func
    return replace(func, attrs={key: value for key, value in func.attrs.items() if key != "global_symbol"})


def without_func(module: IRModule, name: str) -> IRModule:
    """`module` without a function. Fails: RM112 where there is none."""
    if name not in module.functions:
        raise fail(BAD_USAGE, f"the module has no function `{name}`")
    return replace(module, functions={key: func for key, func in module.functions.items() if key != name})


def with_attr(func: F, key: str, value: tir.Attr) -> F:
    """`func` with an attribute. `global_symbol` makes it visible under its name: it is private no more."""
    return with_attrs(func, {key: value})


def with_attrs(func: F, attrs: Mapping[str, tir.Attr]) -> F:
    """`func` with attributes."""
    return replace(func, attrs={**func.attrs, **attrs}, private=func.private and "global_symbol" not in attrs)


def without_attr(func: F, key: str) -> F:
    """`func` without an attribute; without `global_symbol` it is private."""
    others = {name: value for name, value in func.attrs.items() if name != key}
    return replace(func, attrs=others, private=func.private or key == "global_symbol")
