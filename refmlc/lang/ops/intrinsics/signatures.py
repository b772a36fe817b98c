"""Whether the arguments and the dtype of a call of an intrinsic are those that its row says."""

from refmlc.diag.catalogue import ARITY, TYPE_MISMATCH, Code
from refmlc.lang.dtypes import DType
from refmlc.lang.ir import tir
from refmlc.lang.ops.intrinsics.rows import Intrinsic
from refmlc.lang.ops.intrinsics.table import INTRINSICS

_HALVES = ("vectorlow", "vectorhigh")


def call_problem(call: tir.Call) -> tuple[Code, str] | None:
    """What is wrong with the arguments or the dtype of a call of an intrinsic; None when nothing is."""
    name = call.callee
    row = INTRINSICS.get(name) if isinstance(name, str) else None
    if row is None or row.takes is None:
        return None
    kinds = row.takes.split()
    rest = kinds.pop()[1:] if kinds and kinds[-1].startswith("*") else None
    count = len(call.args)
    if count < len(kinds) or (rest is None and count > len(kinds)):
        least = f"{'' if rest is None else 'at least '}{len(kinds)}"
        return ARITY, f"`T.{name}` takes {least} argument{'' if len(kinds) == 1 else 's'}, {count} given"
    expected = [*kinds, *([rest or "any"] * (count - len(kinds)))]
    for number, (arg, kind) in enumerate(zip(call.args, expected, strict=True)):
        if not _is_of(arg, kind):
            return TYPE_MISMATCH, f"argument {number} of `T.{name}` is {_described(arg)}, not {_article(kind)}"
    return _result_problem(row, call.dtype, [arg.dtype for arg in call.args if isinstance(arg, tir.Expr)])


def _result_problem(row: Intrinsic, dtype: DType, operands: list[DType]) -> tuple[Code, str] | None:
    """What is wrong with the declared dtype of a call whose arguments are well."""
    lanes = sum(operand.lanes for operand in operands if operand.is_vector) // (2 if row.name in _HALVES else 1)
    match row.name:
        case "vectorlow" | "vectorhigh" | "vectorcombine":
            fits = {operand.element for operand in operands} == {dtype.element} and dtype.lanes == lanes
        case "get_active_lane_mask":
            fits = dtype.bits == 1 or dtype.kind == "bool"
        case (
            "vscale"
            | "cuda.ffs_u32"
            | "cuda.cvta_generic_to_shared"
            | "cuda.thread_rank"
            | "assume"
            | "prefetch"
            | "start_profile_intrinsic"
            | "end_profile_intrinsic"
        ):
            fits = not dtype.is_vector
        case "isnullptr":
            fits = (dtype.bits == 1 or dtype.kind in ("bool", "void")) and not dtype.is_vector
        case (
            "cuda.thread_fence"
            | "cuda.wgmma.noop_barrier"
            | "cuda.wgmma.encode_matrix_descriptor"
            | "cuda.tcgen05.encode_matrix_descriptor"
            | "cuda.tcgen05.encode_instr_descriptor"
            | "cuda.tcgen05.encode_instr_descriptor_block_scaled"
            | "cuda.runtime_instr_desc"
        ):
            fits = dtype.kind == "void"
        case "tvm_thread_invariant" | "ignore_loop_partition" | "fma":
            fits = all(operand == dtype for operand in operands)
        case _ if row.result == "handle":
            fits = dtype.kind in ("handle", "void")
        case _:
            fits = True
    if fits:
        return None
    listed = " and ".join(map(str, operands))
    return TYPE_MISMATCH, f"`T.{row.name}` of {listed or 'nothing'} is not {dtype}"


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
