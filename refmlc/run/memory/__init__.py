"""The memory of a run, its values and limits, and everything that enters it from outside.

| file             | holds                                                                          |
|------------------|--------------------------------------------------------------------------------|
| `storage`        | bytes, and a shadow that marks those that were written                         |
| `reservations`   | the bytes of operations that are not complete                                  |
| `overwrites`     | writes to bytes that operations which are not complete have read               |
| `array_memory`   | views on the memory of NumPy arrays                                            |
| `cells`          | elements of a storage as Python values, and their shadow                       |
| `pointer`        | a storage and a byte in it                                                     |
| `tensor_memory`  | the tensor memory of a block                                                   |
| `space_numbers`  | numbers of addresses in the shared memory of a block                           |
| `tensor`         | dtype, shape and strides on a storage                                          |
| `initialisation` | the mask of written elements, the warning where some are missing               |
| `dlpack`         | tensors from and to other libraries, without copies                            |
| `tensor_maps`    | what copies of boxes know of a tensor, and how a host makes it                 |
| `picture`        | a tensor as a heat map                                                         |
| `values`         | every kind of value of a run                                                   |
| `budget`         | the limits of a run                                                            |
| `registry`       | packed functions by name                                                       |
| `c_functions`    | C functions as packed functions                                                |
| `shipped/`       | packed functions that TVM's own runtime has                                    |
| `files/`         | arrays from input files                                                        |
"""

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
