"""`tvm.relax.op`: functions that give calls: one for each operator of the library, those of `graph_op`.

`op.add(a, b)`, `op.sum(x, axis=1)`, `op.nn.relu(x)`: parameters are TVM's, in its order (`attributes`). Of 2022:
`op.relu` is `op.nn.relu`, where there is no operator of the flat name; so is `op.roi_align` that of `op.vision`.
"""

from collections.abc import Callable, Iterator, Mapping
from inspect import Parameter, Signature

import numpy as np

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_ARGUMENTS
from refmlc.lang.dtypes import DType
from refmlc.lang.ir import relax, tir
from refmlc.lang.library import OPERATORS, Operator
from refmlc.lang.te import Value
from refmlc.tvm.missing_names import missing
from refmlc.tvm.relax.attributes import completed, defaults, parameter_names
from refmlc.tvm.relax.constructors import const, prim_value, shape_expr
from refmlc.tvm.relax.graph_op import FUNCTIONS, MISSING

FORMER = {"distributed": "dist"}
"""Groups that the text calls otherwise."""


class Maker:
    """Makes calls of one operator."""

    def __init__(self, operator: Operator) -> None:
        self.operator = operator
        self.__name__ = operator.name.rpartition(".")[2]
        self.__doc__ = operator.compute.__doc__
        self._names = parameter_names(operator)
        self._defaults = defaults(operator)
        self.__signature__ = Signature(list(self._parameters()))

    def _parameters(self) -> Iterator[Parameter]:
        """As `help` shows them. What may be left out stands at the end."""
        needed = {own: _is_needed(self.operator, own, self._defaults) for own in self._names.values()}
        for name, own in self._names.items():
            default = Parameter.empty if needed[own] else self._defaults.get(own)
            yield Parameter(name, Parameter.POSITIONAL_OR_KEYWORD, default=default)

    def __call__(self, *args: object, **kwargs: object) -> relax.Call:
        """The call. Fails: RM105 where an argument is none, missing, or given twice."""
        kinds = dict(self.operator.signature)
        arguments = {**self._defaults, **self._named(args, kwargs)}
        present = [name for name in self.operator.arguments if arguments.get(name) is not None]
        values = [_argument(arguments[name], kinds[name]) for name in present]
        attrs = {name: _attribute(arguments[name]) for name, kind in kinds.items() if kind == "a" and name in arguments}
        return relax.Call(relax.Op(self.operator.name), tuple(values), completed(self.operator, attrs))

    def _named(self, args: tuple[object, ...], kwargs: Mapping[str, object]) -> dict[str, object]:
        """The arguments by the names of the library, which may be used for TVM's too."""
        names = list(self._names.values())
        if len(args) > len(names):
            raise fail(BAD_ARGUMENTS, f"`{self.operator.name}` takes {len(names)} arguments, {len(args)} are given")
        values = dict(zip(names, args, strict=False))
        for name, value in kwargs.items():
            own = self._names.get(name, name)
            if own not in names or own in values:
                known = ", ".join(self._names)
                raise fail(BAD_ARGUMENTS, f"`{self.operator.name}` takes {known}; `{name}` is not one, or given twice")
            values[own] = value
        return values


def _is_needed(operator: Operator, name: str, known: Mapping[str, object]) -> bool:
    optional = "None" in str(operator.parameters[name].annotation)
    return name not in known and not (optional and name in operator.arguments)


def _argument(value: object, kind: str) -> relax.Expr:
    """An argument as an expression: numbers, arrays, shapes and tuples of Python stand for themselves."""
    match value:
        case np.ndarray():
            return const(value)
        case tuple() | list() if kind == "s":
            return shape_expr(value)
        case tuple() | list():
            return relax.Tuple(tuple(_argument(item, "x") for item in value))
        case bool() | int() | float() | Value():
            return prim_value(value)
    if isinstance(value, relax.Expr):
        return value
    if isinstance(value, tir.Expr):
        return relax.PrimValue(value)
    raise fail(BAD_ARGUMENTS, f"an argument of an operator is an expression; this is {type(value).__name__}")


def _attribute(value: object) -> tir.Attr:
    match value:
        case list() | tuple():
            return tuple(_attribute(item) for item in value)
        case None | bool() | int() | float() | str() | DType():
            return str(value) if isinstance(value, DType) else value
        case np.integer() | np.floating() | np.bool_():
            return _attribute(value.item())
        case Value():
            return value.expr
    if isinstance(value, tir.Expr):
        return value
    raise fail(BAD_ARGUMENTS, f"an attribute of an operator is a plain value; this is {type(value).__name__}")


class Group:
    """Operators whose names begin alike: `op.nn`, `op.image`."""

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix

    def __getattr__(self, name: str) -> "Maker | Group | Callable[..., relax.Call]":
        """An operator, or a longer beginning."""
        if name.startswith("__"):
            raise AttributeError(name)
        return member_named(f"{self._prefix}.{name}")

    def __dir__(self) -> list[str]:
        """The names that follow."""
        start = f"{self._prefix}."
        return sorted(path.removeprefix(start) for path in (*OPERATORS, *FUNCTIONS) if path.startswith(start))


def member_named(name: str) -> "Maker | Group | Callable[..., relax.Call]":
    """The member `name` of `op`. Fails: AttributeError."""
    first, dot, rest = name.partition(".")
    name = f"{FORMER.get(first, first)}{dot}{rest}"
    if name in FUNCTIONS:
        return FUNCTIONS[name]
    for full in (name, f"nn.{name}", f"vision.{name}"):
        if full in OPERATORS and OPERATORS[full].reason:
            raise AttributeError(f"`tvm.relax.op.{name}` is not covered: {OPERATORS[full].reason}")
        if full in OPERATORS:
            return Maker(OPERATORS[full])
    if name in MISSING:
        raise AttributeError(f"`tvm.relax.op.{name}` is not covered: {MISSING[name]}")
    if any(path.startswith(f"{name}.") for path in (*OPERATORS, *FUNCTIONS, *MISSING)):
        return Group(name)
    raise missing(__name__, name)


def __getattr__(name: str) -> "Maker | Group | Callable[..., relax.Call]":
    """An operator, or a group of them."""
    if name.startswith("__"):
        raise AttributeError(name)
    return member_named(name)


def __dir__() -> list[str]:
    """The operators."""
    return sorted((*OPERATORS, *FUNCTIONS))
