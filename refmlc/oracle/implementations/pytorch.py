"""Graphs of Relax through PyTorch: a witness that nobody of us wrote. `torch`, with the extra `refmlc[torch]`.

Functions of TensorIR are not taken, by name: PyTorch has none. It promises no verdicts. Tensors share their memory with
PyTorch's; results are copied, in the dtype and shape that PyTorch gives them.

`OPERATORS` maps operators of Relax to calls of PyTorch that mean the same.

Left out, because PyTorch means something else: `maximum`, `minimum`, `max`, `min`, `clip`, `nn.relu` (PyTorch hands NaN
on, TVM's select does not, NUM-106); `argmax`, `sort`, `topk` of equal elements; `floor_divide` of floats; `sqrt` (its
vector code was seen to be 1 ulp off, NUM-502); `resize2d`, random numbers. `divide` of integers is a float there.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import ml_dtypes
import numpy as np
import torch

from refmlc.diag.errors import RefmlcError
from refmlc.lang.dtypes.storage import dtype_of
from refmlc.lang.ir import IRModule, relax, tir
from refmlc.lang.library.definition import plain
from refmlc.lang.wellformed.reader_checks import checked
from refmlc.oracle.implementations.implementation import Limits, Prepared, Stopped
from refmlc.oracle.implementations.local_calls import stopped
from refmlc.oracle.implementations.loops.adapter import InLoops
from refmlc.oracle.implementations.loops.graph import Graph
from refmlc.oracle.implementations.loops.memory import Array, Pointer
from refmlc.oracle.implementations.loops.operators import NotTaken
from refmlc.run.memory.values import Shape

Tensor: TypeAlias = torch.Tensor
Operator: TypeAlias = Callable[..., object]

UNARY = (
    *("abs", "ceil", "floor", "trunc", "round", "exp", "log", "sin", "cos", "tan", "sinh"),
    *("cosh", "tanh", "asin", "acos", "atan", "asinh", "acosh", "atanh", "rsqrt", "sigmoid", "erf", "negative"),
    *("square", "isnan", "isinf", "isfinite", "logical_not", "bitwise_not"),
)
BINARY = (
    *("add", "subtract", "multiply", "logical_and", "logical_or", "logical_xor", "bitwise_and", "bitwise_or"),
    *("bitwise_xor", "less", "less_equal", "greater", "greater_equal", "not_equal"),
)


def _floats(function: Operator, name: str) -> Operator:
    """`function` of floats only."""

    def checked(*args: object, **attrs: object) -> object:
        if not all(arg.is_floating_point() for arg in args if isinstance(arg, torch.Tensor)):
            raise NotTaken(f"operator `{name}` of integers")
        return function(*args, **attrs)

    return checked


def _integers(function: Operator, name: str) -> Operator:
    """`function` of integers only."""

    def checked(*args: object, **attrs: object) -> object:
        if any(arg.is_floating_point() for arg in args if isinstance(arg, torch.Tensor)):
            raise NotTaken(f"operator `{name}` of floats")
        return function(*args, **attrs)

    return checked


def _axes(axis: object, rank: int) -> tuple[int, ...]:
    """Axes as PyTorch takes them; None: all."""
    if axis is None:
        return tuple(range(rank))
    return tuple(axis) if isinstance(axis, Sequence) and not isinstance(axis, str) else (int(str(axis)),)


def _sum(x: Tensor, axis: object = None, keepdims: bool = False) -> Tensor:
    axes = _axes(axis, x.ndim)
    return torch.sum(x, axes, keepdim=keepdims, dtype=x.dtype) if axes else x.clone()


def _mean(x: Tensor, axis: object = None, keepdims: bool = False) -> Tensor:
    axes = _axes(axis, x.ndim)
    return torch.mean(x, axes, keepdim=keepdims) if axes else x.clone()


def _squeeze(x: Tensor, axis: object = None) -> Tensor:
    return torch.squeeze(x) if axis is None else torch.squeeze(x, _axes(axis, x.ndim))


def _expand_dims(x: Tensor, axis: object) -> Tensor:
    axes = _axes(axis, x.ndim)
    rank = x.ndim + len(axes)
    for place in sorted(value % rank for value in axes):
        x = x.unsqueeze(place)
    return x


def _permute(x: Tensor, axes: object = None) -> Tensor:
    return x.permute(tuple(reversed(range(x.ndim))) if axes is None else _axes(axes, x.ndim))


def _cumsum(data: Tensor, axis: object = None, dtype: object = None, exclusive: bool = False) -> Tensor:
    if exclusive or dtype not in (None, "void", ""):
        raise NotTaken("operator `cumsum` of another dtype, or exclusive")
    flat = data.reshape(-1) if axis is None else data
    return torch.cumsum(flat, 0 if axis is None else int(str(axis)), dtype=data.dtype)


def _matmul(x1: Tensor, x2: Tensor, out_dtype: object = None) -> Tensor:
    if out_dtype not in (None, "void", "", str(x1.dtype).removeprefix("torch.")):
        raise NotTaken("operator `matmul` of another dtype")
    return torch.matmul(x1, x2)


def _repeat(data: Tensor, repeats: int, axis: object = None) -> Tensor:
    return torch.repeat_interleave(data, repeats, None if axis is None else int(str(axis)))


def _like(make: Operator) -> Operator:
    def like(x: Tensor, *rest: object, dtype: object = None) -> object:
        if dtype not in (None, "void", ""):
            raise NotTaken("another dtype")
        return make(x, *rest)

    return like


def _astype(x: Tensor, dtype: object) -> Tensor:
    target = getattr(torch, str(dtype), None)
    if not isinstance(target, torch.dtype):
        raise NotTaken(f"operator `astype` to {dtype}")
    return x.to(target)


def _prod(x: Tensor, axis: object = None, keepdims: bool = False) -> Tensor:
    for place in sorted((value % x.ndim for value in _axes(axis, x.ndim)), reverse=True):
        x = torch.prod(x, place, keepdim=keepdims, dtype=x.dtype)
    return x


def _torch_function(name: str) -> Operator:
    return getattr(torch, name)  # type: ignore[no-any-return]  # torch has no types here


FLOATING = (
    "sqrt",
    "rsqrt",
    "exp",
    "log",
    "log2",
    "log10",
    "log1p",
    "sin",
    "cos",
    "tan",
    "sinh",
    "cosh",
    "tanh",
    "asin",
)
TABLE: Mapping[str, Operator] = {
    **{
        name: _floats(_torch_function(name), name) if name in FLOATING else _torch_function(name)
        for name in (*UNARY, *BINARY)
    },
    "divide": _floats(torch.true_divide, "divide"),
    "floor_divide": _integers(torch.floor_divide, "floor_divide"),
    "mod": torch.fmod,
    "floor_mod": _integers(torch.remainder, "floor_mod"),
    "equal": torch.eq,
    "atan2": _floats(torch.atan2, "atan2"),
    "astype": _astype,
    "outer": torch.outer,
    "prod": _prod,
    "power": _floats(torch.pow, "power"),
    "where": torch.where,
    "matmul": _matmul,
    "permute_dims": _permute,
    "expand_dims": _expand_dims,
    "squeeze": _squeeze,
    "broadcast_to": lambda x, shape: torch.broadcast_to(x, tuple(shape)).clone(),
    "flatten": lambda x: x.reshape(-1),
    "concat": lambda tensors, axis=0: torch.concat(tensors, 0 if axis is None else int(axis)),
    "stack": lambda tensors, axis=0: torch.stack(tensors, int(axis)),
    "sum": _sum,
    "mean": _floats(_mean, "mean"),
    "flip": lambda data, axis: torch.flip(data, (int(axis),)),
    "tile": lambda data, repeats: torch.tile(data, tuple(repeats)),
    "repeat": _repeat,
    "tril": lambda x, k=0: torch.tril(x, int(k)),
    "triu": lambda x, k=0: torch.triu(x, int(k)),
    "cumsum": _cumsum,
    "zeros_like": _like(torch.zeros_like),
    "ones_like": _like(torch.ones_like),
    "gather_elements": lambda data, indices, axis=0: torch.gather(data, int(axis), indices.long()),
    "nn.softmax": lambda data, axis=-1: torch.softmax(data, int(axis)),
    "nn.log_softmax": lambda data, axis=-1: torch.log_softmax(data, int(axis)),
    "nn.gelu": torch.nn.functional.gelu,
    "nn.silu": torch.nn.functional.silu,
}


SHARED = ("bool", "int8", "int16", "int32", "int64", "uint8", "float16", "float32", "float64")


class TorchGraph(Graph):
    """A graph whose operators PyTorch computes."""

    def call(self, name: str, args: Sequence[object]) -> object:
        """A function of Relax. Fails: `NotTaken`."""
        if isinstance(self.functions.get(name), tir.PrimFunc):
            raise NotTaken(f"the prim_func `{name}`")
        return super().call(name, args)

    def operator(self, name: str, call: relax.Call, args: Sequence[object]) -> object:
        """An operator. Fails: `NotTaken` where the table has none, or PyTorch refuses the dtype."""
        if name not in TABLE:
            raise NotTaken(f"operator `{name}`")
        try:
            result = TABLE[name](*map(to_torch, args), **{key: plain(value) for key, value in call.attrs.items()})
        except (RuntimeError, TypeError) as problem:
            raise NotTaken(f"operator `{name}`: {' '.join(str(problem).split())[:200]}") from None
        return _from_torch(result)


def to_torch(value: object) -> object:
    """A value for PyTorch. Fails: `NotTaken`."""
    match value:
        case Array():
            return _tensor(value)
        case Shape():
            return tuple(value)
        case tuple():
            return [to_torch(item) for item in value]
        case _:
            return value


def _tensor(array: Array) -> torch.Tensor:
    kind = str(array.dtype)
    if kind == "bfloat16":
        return torch.from_numpy(array.numpy().view(np.int16).copy()).view(torch.bfloat16)
    if kind not in SHARED:
        raise NotTaken(f"tensors of {kind}")
    return torch.from_numpy(array.numpy().copy())


def _from_torch(value: object) -> object:
    if isinstance(value, torch.Tensor):
        return from_torch(value)
    if isinstance(value, list | tuple):
        return tuple(_from_torch(item) for item in value)
    return value


def from_torch(tensor: torch.Tensor) -> Array:
    """The tensor, copied into an array."""
    contiguous = tensor.detach().contiguous()
    brief = contiguous.dtype is torch.bfloat16
    array = contiguous.view(torch.int16).numpy().view(ml_dtypes.bfloat16) if brief else contiguous.numpy()
    raw = np.frombuffer(array.tobytes(), np.uint8).copy()
    return Array(Pointer(raw), dtype_of(array.dtype), tuple(tensor.shape))


@dataclass(frozen=True)
class Torch:
    """PyTorch in this process. `check`: modules that break a static rule are rejected."""

    limits: Limits = field(default_factory=Limits)
    check: bool = True
    name: str = "torch"
    promises_verdicts: bool = False
    version: str = str(torch.__version__)

    def prepare(self, module: IRModule) -> Prepared | Stopped:
        try:
            checked(module, check=self.check)
        except RefmlcError as failure:
            return stopped(failure)
        return InLoops(TorchGraph(module), self.limits)

    def close(self) -> None:
        """Nothing is held."""
