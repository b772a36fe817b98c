"""PyTorch as an implementation of graphs. It promises no verdicts.

Tensors share their memory with PyTorch's; results are copied, in the dtype and shape that PyTorch gives them.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import ml_dtypes
import numpy as np
import torch

from refmlc.diag.errors import RefmlcError
from refmlc.lang.dtypes.storage import dtype_of
from refmlc.lang.ir import IRModule, relax, tir
from refmlc.lang.library.definition import plain
from refmlc.lang.wellformed.reader_checks import checked
from refmlc.oracle.implementations.implementation import Prepared, Stopped
from refmlc.oracle.implementations.limits import Limits
from refmlc.oracle.implementations.local_calls import stopped
from refmlc.oracle.implementations.loops.adapter import InLoops
from refmlc.oracle.implementations.loops.graph import Graph
from refmlc.oracle.implementations.loops.memory import Array, Pointer
from refmlc.oracle.implementations.loops.operators import NotTaken
from refmlc.oracle.implementations.pytorch.table import TABLE
from refmlc.run.memory.values import Shape

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
        return _given(result)


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


def _given(value: object) -> object:
    if isinstance(value, torch.Tensor):
        return from_torch(value)
    if isinstance(value, list | tuple):
        return tuple(_given(item) for item in value)
    return value


def from_torch(tensor: torch.Tensor) -> Array:
    """The tensor, copied into an array."""
    whole = tensor.detach().contiguous()
    brief = whole.dtype is torch.bfloat16
    array = whole.view(torch.int16).numpy().view(ml_dtypes.bfloat16) if brief else whole.numpy()
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
        """Check `module`."""
        try:
            checked(module, check=self.check)
        except RefmlcError as failure:
            return stopped(failure)
        return InLoops(TorchGraph(module), self.limits)

    def close(self) -> None:
        """Nothing is held."""
