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
            Signature([Parameter(param.name, kind, default=param.default) for param in _ordered(params)])
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
        arguments = {param.name: param.default for param in order if param.default is not Parameter.empty}
        arguments |= dict(zip((param.name for param in order), args, strict=False)) | kwargs
        for param in params:
            if param.fixed and arguments[param.name] != param.default:
                raise fail(BAD_ARGUMENTS, f"`topi.{name}` takes {param.name}={param.default!r} alone here")
        own = {param.own: arguments[param.name] for param in params if not param.fixed}
        return _called(operator, own)

    call.__doc__ = operator.compute.__doc__
    return Function(name, operator.name, params, call)


def _called(operator: Operator, arguments: Mapping[str, object]) -> Result:
    """The function of an operator, on arguments by the names of the library."""
    dtype = next((parameter.dtype for parameter in arguments.values() if isinstance(parameter, Tensor)), None)
    parameters = operator.parameters
    args, attrs = [], {}
    for name, parameter in parameters.items():
        if name not in arguments:
            continue
        if parameter.kind is Parameter.KEYWORD_ONLY:
            attrs[name] = plain(arguments[name])
        else:
            args.append(_argument(arguments[name], parameter.annotation, dtype))
    return operator.compute(*args, **attrs)


def plain(value: object) -> object:
    """An attribute: numbers of expressions as numbers of Python, lists as tuples."""
    match value:
        case list() | tuple():
            return tuple(plain(item) for item in value)
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
            return tuple(item if isinstance(item, Tensor) else Value(extent(item)) for item in value)
        case _:
            return value


def names() -> tuple[str, ...]:
    """The names of all functions below `topi`."""
    return tuple(sorted({*OPERATORS, *ROWS, *FUNCTIONS}))


def members(group: str = "") -> tuple[Callable[[str], Function], Callable[[], list[str]]]:
    """`__getattr__` and `__dir__` of the module whose functions' names begin with `group`."""

    def attribute(name: str) -> Function:
        if name.startswith("__"):
            raise AttributeError(name)
        return function_named(f"{group}{name}")

    own = sorted(name.removeprefix(group) for name in names() if name.startswith(group))
    return attribute, lambda: own if group else [name for name in own if "." not in name]


def function_named(name: str) -> Function:
    """The function called `name` below `topi`. Fails: AttributeError."""
    if name in ROWS:
        operator, params = row(ROWS[name])
        return _of_row(name, OPERATORS[operator], params)
    if name in FUNCTIONS:
        return Function(name, name, (), FUNCTIONS[name])
    reason = absent(name)
    if name in OPERATORS and not OPERATORS[name].reason and not reason:
        parameters = OPERATORS[name].parameters.values()
        params = tuple(Param(parameter.name, parameter.name, parameter.default) for parameter in parameters)
        return _of_row(name, OPERATORS[name], params)
    group, _, own = name.rpartition(".")
    others = [other for other in (own, f"nn.{own}") if group and other != name and other in (*ROWS, *FUNCTIONS)]
    if others:
        return function_named(others[0])
    if reason:
        raise AttributeError(f"`tvm.topi.{name}` is not covered: {reason}")
    raise missing("tvm.topi", name)
