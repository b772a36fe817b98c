"""`tvm.get_global_func`: packed functions by name, to be called from Python."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from refmlc.diag import RefmlcError
from refmlc.diag.catalogue import NO_PACKED_FUNC
from refmlc.run.memory.registry import as_value, get_func, python_func
from refmlc.run.memory.tensor import Tensor
from refmlc.run.memory.values import PackedFunc, Shape


def reshape(tensor: Tensor, shape: Shape) -> np.ndarray:
    """The elements in another shape, sharing memory."""
    return tensor.numpy().reshape(tuple(shape))


MACHINE: Mapping[str, Callable[..., object]] = {"vm.builtin.reshape": reshape}
"""Functions of TVM's virtual machine that scripts call too."""


@dataclass(frozen=True)
class GlobalFunction:
    """A packed function as Python calls it."""

    func: PackedFunc

    def __call__(self, *args: object) -> object:
        """The result. Arrays are tensors, lists are tuples. Fails: RM403, RM404, as the function does."""
        return self.func([as_value(arg, self.func.name, None) for arg in args])


def get_global_func(name: str, allow_missing: bool = False) -> GlobalFunction | None:
    """The function `name`; None for one that is nowhere, if `allow_missing`.

    Fails: RM402; RM504 for one that TVM's runtime has and refmlc does not.
    """
    try:
        return GlobalFunction(get_func(name))
    except RefmlcError as reason:
        if name in MACHINE:
            return GlobalFunction(python_func(name, MACHINE[name]))
        if allow_missing and reason.diagnostic.code is NO_PACKED_FUNC:
            return None
        raise
