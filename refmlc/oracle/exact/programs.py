"""The calls of operators in a run, each as a program of its own: one operator, its inputs as arguments."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from refmlc.lang.dtypes import BOOL, FLOAT64, INT64
from refmlc.lang.ir import IRModule, relax, tir
from refmlc.lang.ir.types import TensorType
from refmlc.lang.library import OPERATORS, Operator
from refmlc.run.interp.hooks import Hooks
from refmlc.run.memory.tensor import Tensor
from refmlc.run.memory.values import Shape

MAIN = "main"


@dataclass(frozen=True)
class OperatorCall:
    """A call of `op` with its inputs; `node` is where the program has it."""

    op: Operator
    node: relax.Call
    values: tuple[object, ...]

    @property
    def key(self) -> tuple[object, ...]:
        """Equal for calls that are one operator on the same inputs."""
        return self.op.name, repr(sorted(self.node.attrs.items(), key=str)), tuple(map(_key, self.values))


def _key(value: object) -> object:
    match value:
        case Tensor():
            return str(value.dtype), value.shape, value.array.tobytes()
        case tuple() if not isinstance(value, Shape):
            return tuple(map(_key, value))
        case _:
            return repr(value)


class OperatorCalls(Hooks):
    """Keeps each call of an operator of the library, with a copy of its inputs."""

    def __init__(self) -> None:
        self.calls: list[OperatorCall] = []

    def operator(self, call: relax.Call, values: Sequence[object], result: object) -> None:
        """A call has its result."""
        del result
        if isinstance(call.op, relax.Op) and call.op.name in OPERATORS:
            self.calls.append(OperatorCall(OPERATORS[call.op.name], call, tuple(map(_copy, values))))


def _copy(value: object) -> object:
    match value:
        case Tensor():
            return Tensor.from_numpy(value.array.copy(), value.dtype)
        case tuple() if not isinstance(value, Shape):
            return tuple(map(_copy, value))
        case _:
            return value


@dataclass(frozen=True)
class OperatorProgram:
    """A program of one operator on the inputs of one call."""

    call: OperatorCall
    name: str = ""
    func: str = MAIN
    calls: tuple[int, ...] = (0,)

    def arguments(self, number: int = 0) -> list[object]:
        """Fresh inputs: the tensors, those in tuples too, in their order."""
        del number
        return [_copy(tensor) for tensor in _tensors(self.call.values)]

    @cached_property
    def module(self) -> IRModule:
        """`main`, which calls the operator on its parameters."""
        params: list[relax.Var] = []
        args = tuple(
            _expr(value, arg, params) for value, arg in zip(self.call.values, self.call.node.args, strict=True)
        )
        node, result = self.call.node, relax.Var("r", None)
        call = relax.Call(node.op, args, node.attrs, node.ty_args)
        block = relax.BindingBlock((relax.VarBinding(result, call),))
        body = relax.SeqExpr((block,), result)
        functions: Mapping[str, relax.Function] = {MAIN: relax.Function(tuple(params), body, None)}
        return IRModule(functions)


def _tensors(values: Sequence[object]) -> list[Tensor]:
    found: list[Tensor] = []
    for value in values:
        if isinstance(value, Tensor):
            found.append(value)
        elif isinstance(value, tuple) and not isinstance(value, Shape):
            found += _tensors(value)
    return found


def _expr(value: object, arg: relax.Expr, params: list[relax.Var]) -> relax.Expr:
    """An argument of the call: a parameter for each tensor, numbers and shapes as they are."""
    match value:
        case Tensor():
            ty = TensorType(tuple(tir.IntImm(INT64, extent) for extent in value.shape), value.dtype)
            params.append(relax.Var(f"x{len(params)}", ty))
            return params[-1]
        case Shape():
            return relax.ShapeExpr(tuple(tir.IntImm(INT64, extent) for extent in value))
        case tuple():
            parts = arg.fields if isinstance(arg, relax.Tuple) else (arg,) * len(value)
            return relax.Tuple(tuple(_expr(item, part, params) for item, part in zip(value, parts, strict=True)))
        case bool() | int():
            dtype = arg.value.dtype if isinstance(arg, relax.PrimValue) else BOOL if isinstance(value, bool) else INT64
            return relax.PrimValue(tir.IntImm(dtype, int(value)))
        case float():
            dtype = arg.value.dtype if isinstance(arg, relax.PrimValue) else FLOAT64
            return relax.PrimValue(tir.FloatImm(dtype, value))
        case _:
            return arg
