"""`topi`'s functions from the rows of the operator library: on tensors of tensor expressions they give tensors.

An operator's function is found by the names in its row's `topi`, and by the operator's own name. Arguments and
attributes are taken in the order of the operator's parameters, numbers are converted to the dtype of the tensors.
"""

from collections.abc import Iterator, Mapping
from inspect import Parameter

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_ARGUMENTS
from refmlc.ir import tir
from refmlc.library import OPERATORS, Operator
from refmlc.library.definition import Result
from refmlc.te import Tensor, Value, const
from refmlc.tvm.covered import missing

FORMER: Mapping[str, str] = {
    "transpose": "permute_dims",
    "concatenate": "concat",
    "cast": "astype",
    "nn.batch_matmul": "matmul",
    "nn.matmul": "matmul",
}
"""Names of `topi` that are not those of Relax, where the operator is the same."""


class Function:
    """The function of one operator under a name of `topi`."""

    def __init__(self, name: str, operator: Operator) -> None:
        """The function of `operator`."""
        self.__name__ = self.__qualname__ = name.rpartition(".")[2]
        self.__doc__ = operator.compute.__doc__
        self.operator = operator

    def __call__(self, *args: object, **kwargs: object) -> Result:
        """The tensors. Fails: RM105 for arguments that it does not take, else as the operator does."""
        parameters = self.operator.parameters
        if len(args) > len(parameters):
            raise fail(BAD_ARGUMENTS, f"`{self.__name__}` takes {len(parameters)} arguments, {len(args)} are given")
        given = dict(zip(parameters, args, strict=False))
        for name, value in kwargs.items():
            if name not in parameters or name in given:
                known = ", ".join(parameters)
                raise fail(BAD_ARGUMENTS, f"`{self.__name__}` takes {known}; `{name}` is not one, or given twice")
            given[name] = value
        dtype = next((one.dtype for one in given.values() if isinstance(one, Tensor)), None)
        keyword = {name for name, one in parameters.items() if one.kind is Parameter.KEYWORD_ONLY}
        positional = [_argument(value, dtype) for name, value in given.items() if name not in keyword]
        return self.operator.compute(*positional, **{name: given[name] for name in given if name in keyword})

    def __repr__(self) -> str:
        """The name."""
        return f"<topi function {self.__name__}>"


def _argument(value: object, dtype: str | None) -> object:
    match value:
        case bool() | int() | float():
            return const(value, dtype) if dtype is not None else const(value)
        case list():
            return tuple(_argument(one, None) if isinstance(one, int) else one for one in value)
        case tuple():
            return tuple(Value(_integer(one)) if isinstance(one, int) else one for one in value)
        case _:
            return value


def _integer(value: int) -> tir.Expr:
    return const(value, "int64").expr


def names() -> Iterator[tuple[str, Operator]]:
    """All names, with their operators."""
    for operator in OPERATORS.values():
        yield from ((name, operator) for name in (operator.name, *operator.topi))
    yield from ((name, OPERATORS[own]) for name, own in FORMER.items() if own in OPERATORS)


def found(name: str) -> Function:
    """The function called `name` below `topi`. Fails: AttributeError."""
    for one, operator in names():
        if one == name:
            return Function(name, operator)
    raise missing("tvm.topi", name)
