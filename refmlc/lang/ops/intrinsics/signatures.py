"""What the executed intrinsics take and give: one kind per operand, the last one repeated after `*`.

| kind      | is                                            |
|-----------|-----------------------------------------------|
| `vector`  | an expression with lanes                      |
| `number`  | an expression without lanes that is no handle |
| `integer` | a number of an integer dtype, or bool         |
| `bool`    | a number of bool                              |
| `pointer` | an expression that is a handle                |
| `name`    | a text                                        |
| `expr`    | any expression                                |
| `any`     | whatever a call may have                      |
"""

from collections.abc import Mapping

from refmlc.diag.catalogue import ARITY, TYPE_MISMATCH, Code
from refmlc.lang.dtypes import DType
from refmlc.lang.ir import tir

_TAKES: Mapping[str, str] = {
    "type_annotation": "*any",
    "prefetch": "*any",
    "start_profile_intrinsic": "*any",
    "end_profile_intrinsic": "*any",
    "ret": "*expr",
    "vscale": "",
    "tvm_throw_last_error": "",
    "tvm_thread_invariant": "expr",
    "ignore_loop_partition": "expr",
    "vectorlow": "vector",
    "vectorhigh": "vector",
    "vectorcombine": "vector vector",
    "get_active_lane_mask": "integer integer",
    "assume": "bool",
    "fma": "number number number",
    "address_of": "expr",
    "tvm_access_ptr": "expr pointer integer *any",
    "handle_add_byte_offset": "pointer integer",
    "isnullptr": "pointer",
    "reinterpret": "expr",
    "TVMBackendAllocWorkspace": "any any integer *any",
    "TVMBackendFreeWorkspace": "any any pointer",
    "tvm_stack_make_shape": "*integer",
    "tvm_stack_make_array": "pointer expr expr expr expr *integer",
    "tvm_stack_alloca": "name integer",
    "tvm_struct_get": "expr integer integer *any",
    "tvm_struct_set": "expr integer integer expr *any",
    "call_packed_lowered": "name expr integer integer *any",
    "call_cpacked_lowered": "name expr integer integer *any",
    "call_packed": "name *any",
    "call_cpacked": "name *any",
    "call_extern": "name *any",
    "call_ffi_kernel": "name *any",
    "call_pure_extern": "name *any",
    "call_llvm_intrin": "name *expr",
    "call_llvm_pure_intrin": "name *expr",
}
_POINTERS = (
    *("address_of", "tvm_access_ptr", "handle_add_byte_offset", "TVMBackendAllocWorkspace", "tvm_stack_alloca"),
    *("tvm_stack_make_shape", "tvm_stack_make_array"),
)
_HALVES = ("vectorlow", "vectorhigh")
_SAME = ("tvm_thread_invariant", "ignore_loop_partition", "fma")


def call_problem(call: tir.Call) -> tuple[Code, str] | None:
    """What is wrong with the arguments or the dtype of a call of an intrinsic; None when nothing is."""
    name = call.callee
    if not isinstance(name, str) or name not in _TAKES:
        return None
    kinds = _TAKES[name].split()
    rest = kinds.pop()[1:] if kinds and kinds[-1].startswith("*") else None
    given = len(call.args)
    if given < len(kinds) or (rest is None and given > len(kinds)):
        least = f"{'' if rest is None else 'at least '}{len(kinds)}"
        return ARITY, f"`T.{name}` takes {least} argument{'' if len(kinds) == 1 else 's'}, {given} given"
    wanted = [*kinds, *([rest or "any"] * (given - len(kinds)))]
    for number, (arg, kind) in enumerate(zip(call.args, wanted, strict=True)):
        if not _is_of(arg, kind):
            return TYPE_MISMATCH, f"argument {number} of `T.{name}` is {_described(arg)}, not {_article(kind)}"
    return _result_problem(name, call.dtype, [arg.dtype for arg in call.args if isinstance(arg, tir.Expr)])


def _result_problem(name: str, dtype: DType, given: list[DType]) -> tuple[Code, str] | None:
    """What is wrong with the declared dtype of a call whose arguments are well."""
    lanes = sum(one.lanes for one in given if one.is_vector) // (2 if name in _HALVES else 1)
    match name:
        case "vectorlow" | "vectorhigh" | "vectorcombine":
            fits = {one.element for one in given} == {dtype.element} and dtype.lanes == lanes
        case "get_active_lane_mask":
            fits = dtype.bits == 1 or dtype.kind == "bool"
        case "vscale" | "assume" | "prefetch" | "start_profile_intrinsic" | "end_profile_intrinsic":
            fits = not dtype.is_vector
        case "isnullptr":
            fits = dtype.bits == 1 or dtype.kind in ("bool", "void")
        case _ if name in _POINTERS:
            fits = dtype.kind in ("handle", "void")
        case _ if name in _SAME:
            fits = all(one == dtype for one in given)
        case _:
            fits = True
    if fits:
        return None
    listed = " and ".join(str(one) for one in given)
    return TYPE_MISMATCH, f"`T.{name}` of {listed or 'nothing'} is not {dtype}"


def _is_of(arg: tir.Attr, kind: str) -> bool:
    if kind == "any":
        return True
    if kind == "name":
        return isinstance(arg, str | tir.StringImm)
    if not isinstance(arg, tir.Expr):
        return False
    if kind == "expr":
        return True
    dtype = arg.dtype
    match kind:
        case "vector":
            return dtype.is_vector
        case "pointer":
            return dtype.kind == "handle" and not dtype.is_vector and not isinstance(arg, tir.StringImm)
        case "integer":
            return not dtype.is_vector and (dtype.is_integer or dtype.kind == "bool")
        case "bool":
            return not dtype.is_vector and dtype.kind == "bool"
        case _:
            return not dtype.is_vector and dtype.kind not in ("handle", "void")


def _described(arg: tir.Attr) -> str:
    if isinstance(arg, tir.StringImm | str):
        return "a text"
    return str(arg.dtype) if isinstance(arg, tir.Expr) else f"a {type(arg).__name__}"


def _article(kind: str) -> str:
    if kind == "expr":
        return "an expression"
    return f"{'an' if kind == 'integer' else 'a'} {kind}"
