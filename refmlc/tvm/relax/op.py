"""`tvm.relax.op`: a function for each operator of the library, which gives the call. Nothing is listed here.

`op.add(a, b)`, `op.sum(x, axis=1)`, `op.nn.relu(x)`: arguments are given in the order of the operator's parameters, or
by name; attributes follow. Of 2022: `op.relu` is `op.nn.relu`, where there is no operator of the flat name.
"""

from collections.abc import Mapping

import numpy as np

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_ARGUMENTS
from refmlc.dtypes import DType
from refmlc.ir import relax, tir
from refmlc.library import OPERATORS, Operator
from refmlc.te import Value
from refmlc.tvm.covered import missing
from refmlc.tvm.relax.calling import call_dps_packed, call_pure_packed, call_tir
from refmlc.tvm.relax.making import const, prim_value, shape_expr

__all__ = ["call_dps_packed", "call_pure_packed", "call_tir"]


class Maker:
    """Makes calls of one operator."""

    def __init__(self, operator: Operator) -> None:
        """The maker of `operator`."""
        self.operator = operator
        self.__name__ = operator.name.rpartition(".")[2]
        self.__doc__ = operator.compute.__doc__

    def __call__(self, *args: object, **kwargs: object) -> relax.Call:
        """The call. Fails: RM105 where an argument is none, missing, or given twice."""
        kinds = dict(self.operator.signature)
        given = self._named(args, kwargs, list(kinds))
        taken = [name for name in self.operator.arguments if name in given]
        values = [_argument(given[name], kinds[name]) for name in taken if given[name] is not None]
        attrs = {name: _attribute(value) for name, value in given.items() if kinds[name] == "a"}
        return relax.Call(relax.Op(self.operator.name), tuple(values), attrs)

    def _named(self, args: tuple[object, ...], kwargs: Mapping[str, object], names: list[str]) -> dict[str, object]:
        if len(args) > len(names):
            raise fail(BAD_ARGUMENTS, f"`{self.operator.name}` takes {len(names)} arguments, {len(args)} are given")
        given = dict(zip(names, args, strict=False))
        for name, value in kwargs.items():
            if name not in names or name in given:
                known = ", ".join(names)
                raise fail(BAD_ARGUMENTS, f"`{self.operator.name}` takes {known}; `{name}` is not one, or given twice")
            given[name] = value
        return given


def _argument(value: object, kind: str) -> relax.Expr:
    """An argument as an expression: numbers, arrays, shapes and tuples of Python stand for themselves."""
    match value:
        case np.ndarray():
            return const(value)
        case tuple() | list() if kind == "s":
            return shape_expr(value)
        case tuple() | list():
            return relax.Tuple(tuple(_argument(one, "x") for one in value))
        case bool() | int() | float() | Value():
            return prim_value(value)
    if isinstance(value, relax.Expr):
        return value
    raise fail(BAD_ARGUMENTS, f"an argument of an operator is an expression; this is {type(value).__name__}")


def _attribute(value: object) -> tir.Attr:
    match value:
        case list() | tuple():
            return tuple(_attribute(one) for one in value)
        case None | bool() | int() | float() | str() | DType():
            return str(value) if isinstance(value, DType) else value
        case Value():
            return value.expr
    raise fail(BAD_ARGUMENTS, f"an attribute of an operator is a plain value; this is {type(value).__name__}")


class Group:
    """Operators whose names begin alike: `op.nn`, `op.image`."""

    def __init__(self, prefix: str) -> None:
        """Those of `prefix`."""
        self._prefix = prefix

    def __getattr__(self, name: str) -> "Maker | Group":
        """An operator, or a longer beginning."""
        return found(f"{self._prefix}.{name}")

    def __dir__(self) -> list[str]:
        """The names that follow."""
        start = f"{self._prefix}."
        return sorted(one.removeprefix(start) for one in OPERATORS if one.startswith(start))


def found(name: str) -> "Maker | Group":
    """What is called `name` below `op`. Fails: AttributeError."""
    for full in (name, f"nn.{name}"):
        if full in OPERATORS:
            return Maker(OPERATORS[full])
    if any(one.startswith(f"{name}.") for one in OPERATORS):
        return Group(name)
    raise missing(__name__, name)


def __getattr__(name: str) -> "Maker | Group":
    """An operator, or a group of them."""
    if name.startswith("__"):
        raise AttributeError(name)
    return found(name)


def __dir__() -> list[str]:
    """The operators."""
    return sorted(OPERATORS)
