"""Calls of TensorIR as text: where each intrinsic says its dtype.

| form                                   | intrinsics                                                       |
|----------------------------------------|------------------------------------------------------------------|
| `T.name(dtype, …)`                     | `call_extern`, `call_llvm_intrin`, `vectorlow` … , `reinterpret` |
| `T.tvm_struct_get(…, dtype)`           | that one                                                         |
| `T.name(…)`                            | whose dtype is always the same, or void, or that of an argument  |
| `T.call_intrin(dtype, "tirx.name", …)` | any other                                                        |
| `Module.f(…)`, before 0.27 `cls.f(…)`  | a function of the module                                         |
"""

from collections.abc import Callable

from refmlc.lang.dtypes import HANDLE, DType
from refmlc.lang.ir import tir
from refmlc.lang.ir.offsets import own_index
from refmlc.lang.ir.ptx import ADDRESS, PREDICATE, PREFIX, SINK
from refmlc.lang.ops.intrinsics import Result, Written, intrinsic, registered
from refmlc.lang.script.printer.literals import dtype_text, handle_text, string_text
from refmlc.lang.script.printer.page import Page

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
    if name == SINK:
        return f"T.{name}"
    if name == "ptx_legacy.ldmatrix" and str(node.dtype) != "int8":
        return f"T.{name}({', '.join([*args, f'dtype={_result(node)}'])})"
    if name.startswith(PREFIX) and not all(part.isidentifier() for part in name.split(".")):
        return f"T.ptx[{string_text(name.removeprefix(PREFIX))}]({', '.join(args)})"
    row = intrinsic(name)
    result = Written.KEYWORD if row is None else row.result
    if name == "cuda.func_call":
        returned = [] if node.dtype.kind == "void" else [f"return_type={_result(node)}"]
        return f"T.{name}({', '.join([*args, *returned])})"
    if result is Written.FIRST:
        return f"T.{name}({', '.join([_result(node), *args])})"
    if result is Written.LAST:
        return f"T.{name}({', '.join([*args, _result(node)])})"
    if _is_plain(result, node):
        return f"T.{name}({', '.join(args)})"
    prefix = "tirx" if page.modern else "tir"
    return f"T.call_intrin({', '.join([_result(node), string_text(f'{prefix}.{registered(name)}'), *args])})"


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


def _is_plain(result: Result, node: tir.Call) -> bool:
    """Whether a reader knows the dtype from the row."""
    if isinstance(result, str):
        return str(node.dtype) == result
    if isinstance(result, int) and len(node.args) > result:
        followed: object = getattr(node.args[result], "dtype", None)
        return isinstance(followed, DType) and followed == node.dtype
    return node.dtype.kind == "void" or "ret_ty" in node.attrs or str(node.dtype) == _own_result(node)


def _own_result(node: tir.Call) -> str:
    """The dtype of a call that one of its arguments says, by a rule of its own."""
    match node.callee, node.args:
        case "cuda.ldg", (_, tir.StringImm(value=name)):
            return name
        case "ptx_legacy.ldmatrix", _:
            return "int8"
        case "ptr_byte_offset", _:
            return "handle"
        case "buffer_offset", (tir.BufferLoad(buffer=tir.Buffer(shape=shape)), *_):
            return str(own_index(shape))
        case "cuda.mov_sreg", (tir.IntImm(value=bits), _):
            return f"int{bits}"
        case name, (operand, *_) if name in (ADDRESS, PREDICATE):
            return str(getattr(operand, "dtype", ""))
    return ""
