"""Calls of TensorIR as text: where each intrinsic says its dtype.

| form                                   | intrinsics                                                       |
|----------------------------------------|------------------------------------------------------------------|
| `T.name(dtype, …)`                     | `call_extern`, `call_llvm_intrin`, `vectorlow` … , `reinterpret` |
| `T.tvm_struct_get(…, dtype)`           | that one                                                         |
| `T.name(…)`                            | whose dtype is always the same, or void, or that of an argument  |
| `T.call_intrin(dtype, "tirx.name", …)` | any other                                                        |
| `Module.f(…)`, before 0.27 `cls.f(…)`  | a function of the module                                         |
"""

from collections.abc import Callable, Mapping

from refmlc.lang.dtypes import HANDLE, DType
from refmlc.lang.ir import tir
from refmlc.lang.script.printer.literals import dtype_text, handle_text, string_text
from refmlc.lang.script.printer.page import Page

DTYPE_FIRST = frozenset(
    (
        *("call_extern", "call_pure_extern", "call_llvm_intrin", "call_llvm_pure_intrin"),
        *("vectorlow", "vectorhigh", "vectorcombine", "get_active_lane_mask", "reinterpret"),
    )
)
ALWAYS: Mapping[str, str] = {
    **dict.fromkeys(("call_packed", "call_cpacked", "call_packed_lowered", "call_cpacked_lowered"), "int32"),
    **dict.fromkeys(("tvm_struct_set", "TVMBackendFreeWorkspace", "vscale", "undef", "dp4a"), "int32"),
    **dict.fromkeys(("assume", "isnullptr", "filter", "ignore_loop_partition"), "bool"),
    **dict.fromkeys(("TVMBackendAllocWorkspace", "tvm_stack_make_array", "lookup_param"), "handle"),
    **dict.fromkeys(("tvm_stack_alloca", "handle_add_byte_offset", "anylist_getitem"), "handle"),
    **dict.fromkeys(("address_of", "tvm_access_ptr", "tvm_stack_make_shape"), "handle"),
    "tvm_warp_activemask": "uint32",
}
FOLLOWING: Mapping[str, int] = {
    "tvm_warp_shuffle": 1,
    "tvm_warp_shuffle_up": 1,
    "tvm_warp_shuffle_down": 1,
    "tvm_warp_shuffle_xor": 1,
    "tvm_thread_invariant": 0,
    "selector": 0,
    "fma": 0,
}

Argument = Callable[[Page, object], str]


def call_text(page: Page, node: tir.Call, argument: Argument) -> str:
    """The call; `argument` writes an argument or attribute."""
    args = [argument(page, arg) for arg in node.args]
    args.extend(f"{key}={argument(page, value)}" for key, value in node.attrs.items())
    if isinstance(node.callee, tir.GlobalVar):
        return f"{function_name(page, node.callee)}({', '.join(args)})"
    name = node.callee
    if name == "type_annotation":
        return f"T.type_annotation({dtype_text(node.dtype)})"
    if name in DTYPE_FIRST:
        return f"T.{name}({', '.join([_result(node), *args])})"
    if name == "tvm_struct_get":
        return f"T.{name}({', '.join([*args, _result(node)])})"
    if _is_plain(name, node):
        return f"T.{name}({', '.join(args)})"
    prefix = "tirx" if page.modern else "tir"
    return f"T.call_intrin({', '.join([_result(node), string_text(f'{prefix}.{name}'), *args])})"


def function_name(page: Page, var: tir.GlobalVar) -> str:
    """How a function of the module is named inside of it."""
    if page.oldest:
        return var.name
    # No `cls` is bound in a function of TensorIR.
    owner = page.module if page.modern and page.domain == "tir" and page.module else "cls"
    return f"{owner}.{var.name}"


def _result(node: tir.Call) -> str:
    if node.dtype != HANDLE:
        return dtype_text(node.dtype)
    text = handle_text(node.pointer, modern=True)
    return f"{text}.ty" if "(" in text else f"{text}().ty"


def _is_plain(name: str, node: tir.Call) -> bool:
    """Whether a reader knows the dtype without being told."""
    if name in ALWAYS:
        return str(node.dtype) == ALWAYS[name]
    if name in FOLLOWING and len(node.args) > FOLLOWING[name]:
        followed: object = getattr(node.args[FOLLOWING[name]], "dtype", None)
        return isinstance(followed, DType) and followed == node.dtype
    return node.dtype.kind == "void" or "ret_ty" in node.attrs
