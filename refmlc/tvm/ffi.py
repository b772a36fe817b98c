"""`tvm_ffi`: the names of TVM's foreign function interface that scripts use; refmlc has no such interface.

| name                                     | is                                             |
|------------------------------------------|------------------------------------------------|
| `structural_equal`, `get_global_func`    | those of `tvm.ir` and `tvm`                    |
| `register_global_func`                   | the same                                       |
| `Array`, `Map`, `Shape`, `Function`      | classes for `isinstance`; `Shape([1])` is one  |
"""

from collections.abc import Mapping, Sequence

from refmlc.run.memory.registry import register_func as register_global_func
from refmlc.run.memory.values import Shape as ShapeValue
from refmlc.tvm.ir import structural_equal
from refmlc.tvm.missing_names import refusal
from refmlc.tvm.nodes import NodeClass
from refmlc.tvm.packed_functions import get_global_func

__all__ = ["Array", "Function", "Map", "Shape", "get_global_func", "register_global_func", "structural_equal"]


def _shape(content: Sequence[int]) -> ShapeValue:
    return ShapeValue(tuple(content))


Array = NodeClass("tvm_ffi.Array", lambda value: isinstance(value, tuple | list), tuple)
Map = NodeClass("tvm_ffi.Map", lambda value: isinstance(value, Mapping), dict)
Shape = NodeClass("tvm_ffi.Shape", lambda value: isinstance(value, ShapeValue), _shape)
Function = NodeClass("tvm_ffi.Function", callable)

__getattr__ = refusal(
    __name__, __all__, reasons={"register_object": "refmlc has no objects of C++ that a class could stand for"}
)
