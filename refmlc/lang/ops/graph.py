"""The operators of Relax that belong to the graph itself: name, arguments, purity, clause. One row each.

Every other operator of Relax (`add`, `nn.softmax`, …) is pure; refmlc knows its name and does not define it yet.
The functions that the lowered forms call by name (`vm.builtin.…`) are rows of `BUILTINS`.
"""

from collections.abc import Mapping
from dataclasses import dataclass

MANY = 1 << 16


@dataclass(frozen=True, slots=True)
class GraphOp:
    """A row. A call has `least` … `most` arguments, and no effect where `pure`."""

    name: str
    meaning: str
    clause: str
    least: int
    most: int
    pure: bool = True


def _by_name(*rows: GraphOp) -> Mapping[str, GraphOp]:
    return {row.name: row for row in rows}


GRAPH_OPS: Mapping[str, GraphOp] = _by_name(
    # ------------------------------------------------------------------------ calls into functions
    GraphOp("call_tir", "allocate the outputs, call, return them", "RLX-201", 2, 3),
    GraphOp("call_tir_inplace", "the same, some outputs being inputs", "RLX-202", 2, 3),
    GraphOp("call_tir_with_grad", "call_tir, its gradient being named", "RLX-203", 2, 3),
    GraphOp("call_dps_packed", "call_tir of a packed function", "RLX-204", 2, 2),
    GraphOp("call_pure_packed", "call a packed function that has no effect", "RLX-205", 1, MANY),
    GraphOp("call_inplace_packed", "call a packed function that changes arguments", "RLX-206", 1, MANY),
    GraphOp("call_py_func", "call a Python function by name", "RLX-207", 2, 2),
    GraphOp("call_builtin_with_ctx", "call a function of the virtual machine", "RLX-208", 2, 2, pure=False),
    GraphOp("make_closure", "a function with its last arguments", "RLX-211", 2, 2),
    GraphOp("invoke_closure", "call a closure", "RLX-212", 2, 2, pure=False),
    GraphOp("invoke_pure_closure", "call a closure that has no effect", "RLX-212", 2, 2),
    GraphOp("vm.call_tir_dyn", "call with the ints of a shape as arguments", "RLX-213", 2, 2, pure=False),
    # --------------------------------------------------------------------------------------- values
    GraphOp("null_value", "null", "RLX-221", 0, 0),
    GraphOp("print", "write values", "RLX-222", 1, MANY, pure=False),
    GraphOp("assert_op", "stop unless a condition holds", "RLX-223", 1, MANY, pure=False),
    GraphOp("to_vdevice", "the same on another device", "RLX-224", 1, 2),
    GraphOp("hint_on_device", "the same, with a hint", "RLX-224", 1, 2),
    GraphOp("builtin.stop_lift_params", "the same, with a hint", "RLX-224", 1, 1),
    # --------------------------------------------------------------------------------------- shapes
    GraphOp("shape_of", "the shape of a tensor", "RLX-231", 1, 1),
    GraphOp("tensor_to_shape", "the shape in a tensor", "RLX-232", 1, 1),
    GraphOp("shape_to_tensor", "a tensor of a shape", "RLX-233", 1, 1),
    GraphOp("inspect.tensor_stride_i", "stride of an axis, in elements", "RLX-234", 2, 2),
    GraphOp("inspect.tensor_byte_offset", "offset in the storage, in bytes", "RLX-234", 1, 1),
    GraphOp("inspect.tensor_elem_offset", "offset in the storage, in elements", "RLX-234", 1, 1),
    GraphOp("inspect.tensor_dtype_code", "kind of the dtype, in DLPack's numbers", "RLX-234", 1, 1),
    GraphOp("inspect.tensor_dtype_bits", "bits of one lane", "RLX-234", 1, 1),
    GraphOp("inspect.tensor_dtype_lanes", "lanes", "RLX-234", 1, 1),
    GraphOp("inspect.tensor_ndim", "number of axes", "RLX-234", 1, 1),
    GraphOp("inspect.tensor_shape_i", "extent of an axis", "RLX-234", 2, 2),
    GraphOp("reshape", "the elements in another shape", "RLX-241", 2, 2),
    # --------------------------------------------------------------------------------------- memory
    GraphOp("builtin.alloc_tensor", "a fresh tensor", "RLX-301", 2, 4),
    GraphOp("memory.alloc_storage", "fresh memory", "RLX-302", 4, 4),
    GraphOp("vm.alloc_storage", "fresh memory", "RLX-302", 3, 4),
    GraphOp("memory.alloc_tensor", "a tensor in a storage", "RLX-303", 4, 5),
    GraphOp("vm.alloc_tensor", "a tensor in a storage", "RLX-303", 4, 5),
    GraphOp("memory.kill_storage", "end a variable", "RLX-304", 1, 1, pure=False),
    GraphOp("memory.kill_tensor", "end a variable", "RLX-304", 1, 1, pure=False),
    GraphOp("vm.kill_object", "end a variable", "RLX-304", 1, 1, pure=False),
    GraphOp("memory.view", "the memory of a tensor seen as another", "RLX-305", 1, 4),
    GraphOp("memory.ensure_zero_offset", "a tensor at the begin of its storage", "RLX-306", 1, 1),
)

BUILTINS: Mapping[str, GraphOp] = _by_name(
    GraphOp("vm.builtin.alloc_shape_heap", "room for symbolic dimensions", "RLX-401", 1, 1),
    GraphOp("vm.builtin.match_shape", "check or keep the extents of a shape", "RLX-402", 3, MANY),
    GraphOp("vm.builtin.match_prim_value", "check or keep an int", "RLX-402", 4, 5),
    GraphOp("vm.builtin.make_shape", "a shape of kept extents", "RLX-403", 2, MANY),
    GraphOp("vm.builtin.make_prim_value", "a kept int", "RLX-403", 3, 3),
    GraphOp("vm.builtin.check_tensor_info", "stop unless it is such a tensor", "RLX-404", 2, 4),
    GraphOp("vm.builtin.check_shape_info", "stop unless it is such a shape", "RLX-404", 2, 3),
    GraphOp("vm.builtin.check_prim_value_info", "stop unless it is such a primitive value", "RLX-404", 2, 3),
    GraphOp("vm.builtin.check_tuple_info", "stop unless it is such a tuple", "RLX-404", 2, 3),
    GraphOp("vm.builtin.check_func_info", "stop unless it is a function", "RLX-404", 1, 2),
    GraphOp("vm.builtin.check_string_info", "stop unless it is a string", "RLX-404", 1, 2),
    GraphOp("vm.builtin.alloc_storage", "vm.alloc_storage", "RLX-302", 3, 4),
    GraphOp("vm.builtin.alloc_tensor", "vm.alloc_tensor", "RLX-303", 4, 5),
    GraphOp("vm.builtin.reshape", "reshape", "RLX-241", 2, 2),
    GraphOp("vm.builtin.shape_of", "shape_of", "RLX-231", 1, 1),
    GraphOp("vm.builtin.tensor_to_shape", "tensor_to_shape", "RLX-232", 1, 1),
    GraphOp("vm.builtin.copy", "the same value", "RLX-405", 1, 1),
    GraphOp("vm.builtin.to_device", "the same value", "RLX-405", 1, 4),
    GraphOp("vm.builtin.null_value", "null", "RLX-221", 0, 0),
    GraphOp("vm.builtin.read_if_cond", "a condition as a bool", "RLX-406", 1, 1),
    GraphOp("vm.builtin.tuple_getitem", "a field of a tuple", "RLX-407", 2, 2),
    GraphOp("vm.builtin.make_tuple", "a tuple", "RLX-407", 0, MANY),
    GraphOp("vm.builtin.make_closure", "a function with its last arguments", "RLX-211", 1, MANY),
    GraphOp("vm.builtin.invoke_closure", "call a closure", "RLX-212", 1, MANY),
    GraphOp("vm.builtin.call_tir_dyn", "vm.call_tir_dyn", "RLX-213", 2, MANY),
    GraphOp("vm.builtin.ensure_zero_offset", "memory.ensure_zero_offset", "RLX-306", 1, 1),
    GraphOp("runtime.TVMTensorCreateView", "memory.view", "RLX-305", 4, 4),
    GraphOp("relax.run.print", "print", "RLX-222", 1, MANY),
    GraphOp("relax.run.assert_op", "assert_op", "RLX-223", 2, MANY),
    GraphOp("relax.run.shape_to_tensor", "shape_to_tensor", "RLX-233", 1, 1),
)


def is_pure(name: str) -> bool:
    """Whether a call of operator `name` has no effect."""
    row = GRAPH_OPS.get(name)
    return row is None or row.pure
