"""What programs run on: storage with shadows, tensors, values, the function registry, budgets, input files."""

from refmlc.run.memory.budget import Budget
from refmlc.run.memory.pointer import Pointer
from refmlc.run.memory.registry import FunctionRegistry, get_func, register_func
from refmlc.run.memory.storage import Storage
from refmlc.run.memory.tensor import Tensor, tensor
from refmlc.run.memory.values import Closure, PackedFunc, Shape, Value

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
