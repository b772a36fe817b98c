"""What programs run on: storage with shadows, tensors, values, the function registry, budgets, input files."""

from refmlc.runtime.budget import Budget
from refmlc.runtime.pointer import Pointer
from refmlc.runtime.registry import FunctionRegistry, get_func, register_func
from refmlc.runtime.storage import Storage
from refmlc.runtime.tensor import Tensor, tensor
from refmlc.runtime.values import Closure, PackedFunc, Shape, Value

__all__ = [
    "Budget",
    "Closure",
    "FunctionRegistry",
    "PackedFunc",
    "Pointer",
    "Shape",
    "Storage",
    "Tensor",
    "Value",
    "get_func",
    "register_func",
    "tensor",
]
