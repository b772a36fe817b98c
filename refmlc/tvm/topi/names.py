"""`topi`'s functions from the operator library: on tensors of tensor expressions they give tensors.

| where    | holds                                                                            |
|----------|----------------------------------------------------------------------------------|
| `rows`   | functions that are one operator, with TVM's names of the parameters              |
| `shaped` | functions of other signatures: shapes, orders, slices                            |
| `neural` | functions of other signatures: convolutions, pools, dense layers                 |
| `absent` | what TVM has besides, with the reason why it is not here                         |

An operator's own name leads to it too: `topi.permute_dims`. Numbers are converted to the dtype of the tensors.
"""

from collections.abc import Callable, Mapping
from inspect import Parameter, Signature, signature

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_ARGUMENTS
from refmlc.lang.ir import tir
from refmlc.lang.library import OPERATORS, Operator
from refmlc.lang.library.definition import Numbers, Result, Shape, Tensors
from refmlc.lang.te import Tensor, Value, const
from refmlc.tvm.missing_names import missing
from refmlc.tvm.nodes import extent
from refmlc.tvm.topi.missing_functions import absent
from refmlc.tvm.topi.neural import NEURAL
from refmlc.tvm.topi.rows import ROWS, Param, row
from refmlc.tvm.topi.shape_functions import SHAPED

FUNCTIONS: Mapping[str, Callable[..., Result]] = {**SHAPED, **NEURAL}
SEQUENCES = (Shape, Numbers, Numbers | None)


class Function:
    """A function of `topi`. `operator`: whose it is; of several operators the one of its name."""

    def __init__(self, name: str, operator: str, params: tuple[Param, ...], call: Callable[..., Result]) -> None:
        """The function `name`; `call` takes the parameters in order."""
        self.__name__ = self.__qualname__ = name.rpartition(".")[2]
        self.__doc__ = call.__doc__
        self.operator = OPERATORS.get(operator)
        self._call = call
        kind = Parameter.POSITIONAL_OR_KEYWORD
        self.__signature__ = (
            Signature([Parameter(one.name, kind, default=one.default) for one in _ordered(params)])
            if params
            else signature(call)
        )

    def __call__(self, *args: object, **kwargs: object) -> Result:
        """The tensors. Fails: RM105 for arguments that it does not take, else as the operator does."""
        try:
            bound = self.__signature__.bind(*args, **kwargs)
        except TypeError as reason:
            raise fail(BAD_ARGUMENTS, f"`{self.__name__}{self.__signature__}`: {reason}") from None
        return self._call(*bound.args, **bound.kwargs)

    def __repr__(self) -> str:
        return f"<topi function {self.__name__}>"


def _ordered(params: tuple[Param, ...]) -> list[Param]:
    """What may be left out stands at the end."""
    return sorted(params, key=lambda one: one.default is not Parameter.empty)


def _of_row(name: str, operator: Operator, params: tuple[Param, ...]) -> Function:
    """The function of one operator."""
    order = _ordered(params)

    def call(*args: object, **kwargs: object) -> Result:
        given = {one.name: one.default for one in order if one.default is not Parameter.empty}
        given |= dict(zip((one.name for one in order), args, strict=False)) | kwargs
        for one in params:
            if one.fixed and given[one.name] != one.default:
                raise fail(BAD_ARGUMENTS, f"`topi.{name}` takes {one.name}={one.default!r} alone here")
        own = {one.own: given[one.name] for one in params if not one.fixed}
        return _called(operator, own)

    call.__doc__ = operator.compute.__doc__
    return Function(name, operator.name, params, call)


def _called(operator: Operator, given: Mapping[str, object]) -> Result:
    """The function of an operator, on arguments by the names of the library."""
    dtype = next((one.dtype for one in given.values() if isinstance(one, Tensor)), None)
    parameters = operator.parameters
    args, attrs = [], {}
    for name, one in parameters.items():
        if name not in given:
            continue
        if one.kind is Parameter.KEYWORD_ONLY:
            attrs[name] = plain(given[name])
        else:
            args.append(_argument(given[name], one.annotation, dtype))
    return operator.compute(*args, **attrs)


def plain(value: object) -> object:
    """An attribute: numbers of expressions as numbers of Python, lists as tuples."""
    match value:
        case list() | tuple():
            return tuple(plain(one) for one in value)
        case Value(expr=tir.IntImm() | tir.FloatImm() as found) | (tir.IntImm() | tir.FloatImm() as found):
            return found.value
        case _:
            return value


def _argument(value: object, annotation: object, dtype: str | None) -> object:
    match value:
        case bool() | int() | float() if annotation in (*SEQUENCES, Tensors):
            return (Value(extent(int(value))),)
        case bool() | int() | float() if annotation in (Value, Value | None):
            return Value(extent(value)) if isinstance(value, int) else const(value, dtype or "float32")
        case bool() | int() | float():
            return const(value, dtype) if dtype is not None else const(value)
        case list() | tuple():
            return tuple(one if isinstance(one, Tensor) else Value(extent(one)) for one in value)
        case _:
            return value


def names() -> tuple[str, ...]:
    """All names."""
    return tuple(sorted({*OPERATORS, *ROWS, *FUNCTIONS}))


def found(name: str) -> Function:
    """The function called `name` below `topi`. Fails: AttributeError."""
    if name in ROWS:
        operator, params = row(ROWS[name])
        return _of_row(name, OPERATORS[operator], params)
    if name in FUNCTIONS:
        return Function(name, name, (), FUNCTIONS[name])
    reason = absent(name)
    if name in OPERATORS and not OPERATORS[name].reason and not reason:
        parameters = OPERATORS[name].parameters.values()
        params = tuple(Param(one.name, one.name, one.default) for one in parameters)
        return _of_row(name, OPERATORS[name], params)
    group, _, own = name.rpartition(".")
    inner = next((one for one in (own, f"nn.{own}") if group and one != name and one in (*ROWS, *FUNCTIONS)), "")
    if inner:
        return found(inner)
    if reason:
        raise AttributeError(f"`tvm.topi.{name}` is not covered: {reason}")
    raise missing("tvm.topi", name)
