"""What intrinsics take: one call that fits per row, and one for each way in which a call does not."""

import pytest

from refmlc.lang.dtypes import dtype
from refmlc.lang.ir import tir
from refmlc.lang.ir.matrix_units import OF_PART, OF_THREAD
from refmlc.lang.ops.intrinsics import INTRINSICS, call_problem
from refmlc.lang.ops.intrinsics.table import _rows

I32, F32, BOOL, HANDLE, VOID = (dtype(name) for name in ("int32", "float32", "bool", "handle", "void"))
N, X, B, P = tir.Var("n", I32), tir.Var("x", F32), tir.Var("b", BOOL), tir.Var("p", HANDLE)
V = tir.Var("v", F32.with_lanes(4))
S = tir.StringImm("s")
LETTERS = {"n": N, "x": X, "b": B, "p": P, "v": V, "s": S, "o": None}

FITS = [
    *(("tvm_thread_invariant", "n", I32), ("ignore_loop_partition", "b", BOOL), ("vscale", "", I32)),
    *(("vectorlow", "v", "float32x2"), ("vectorhigh", "v", "float32x2"), ("vectorcombine", "vv", "float32x8")),
    *(("get_active_lane_mask", "nn", "uint1x4"), ("get_active_lane_mask", "nn", "boolx4"), ("assume", "b", BOOL)),
    *(("fma", "xxx", F32), ("address_of", "x", HANDLE), ("tvm_access_ptr", "xpnnn", HANDLE), ("prefetch", "o", VOID)),
    *(("handle_add_byte_offset", "pn", HANDLE), ("isnullptr", "p", BOOL), ("reinterpret", "p", HANDLE)),
    *(("TVMBackendAllocWorkspace", "nnnnn", HANDLE), ("TVMBackendFreeWorkspace", "nnp", I32), ("ret", "", VOID)),
    *(("tvm_stack_make_shape", "", HANDLE), ("tvm_stack_make_shape", "nn", HANDLE), ("tvm_throw_last_error", "", VOID)),
    *(("tvm_stack_make_array", "ppnnx", HANDLE), ("tvm_stack_make_array", "pppnxn", HANDLE), ("ret", "v", VOID)),
    *(("tvm_stack_alloca", "sn", HANDLE), ("tvm_struct_get", "pnn", I32), ("tvm_struct_set", "pnnx", I32)),
    *(("call_packed_lowered", "spnn", I32), ("call_packed", "sxov", I32), ("call_extern", "s", F32)),
    ("call_ffi_kernel", "s", I32),
    *(("cuda.cta_sync", "", VOID), ("cuda.warpgroup_sync", "n", VOID), ("cuda.warp_sync", "", VOID)),
    ("cuda.cluster_sync", "", VOID),
    *((f"tvm_warp_shuffle{way}", "nxnnn", F32) for way in ("", "_up", "_down", "_xor")),
    ("cuda.elect_sync", "", "uint32"),
    *((f"cuda.__shfl{way}_sync", "nxnn", F32) for way in ("", "_up", "_down", "_xor")),
    *(("cuda.any_sync", "nb", I32), ("cuda.ballot_sync", "nb", "uint32"), ("cuda.ffs_u32", "n", I32)),
    *((f"cuda.reduce_{op}_sync_u32", "nn", "uint32") for op in ("add", "min")),
    *((name, "", "uint32") for name in ("tvm_warp_activemask", "cuda.__activemask")),
    *(("cuda.warp_reduce", "xsn", F32), ("cuda.thread_rank", "", I32), ("cuda.cta_reduce", "xsnp", F32)),
    *((f"cuda.syncthreads_{op}", "b", "int64") for op in ("and", "or")),
    *(("cuda.atomic_add", "px", F32), ("cuda.atomic_cas", "pnn", I32)),
    *((f"ptx.{name}", "xn", VOID) for name in ("shfl_sync", "vote_sync", "match", "redux_sync", "activemask")),
    *((f"ptx.{name}", "xn", VOID) for name in ("elect_sync", "bar", "barrier", "atom", "red", "applypriority")),
    *((f"ptx.{name}", "xn", VOID) for name in ("mapa", "getctarank")),
    *(("cuda.func_call", "spn", HANDLE), ("cuda.cvta_generic_to_shared", "p", "uint32"), ("cuda.ldg", "p", F32)),
    *((f"cuda.{family}.encode_matrix_descriptor", "ppnnn", VOID) for family in ("wgmma", "tcgen05")),
    *(
        *((f"cuda.tcgen05.encode_instr_descriptor{rest}", "psssnnn", VOID) for rest in ("", "_block_scaled")),
        *(("cuda.runtime_instr_desc", "pn", VOID), ("cuda.get_tmem_addr", "nnn", "uint32")),
        ("cuda.wgmma.noop_barrier", "x", VOID),
        ("cuda.thread_fence", "", VOID),
        ("tensormap_encode_tiled", "ppnn", VOID),
    ),
    *(("call_llvm_intrin", "sx", F32), ("unknown", "oo", F32), ("type_annotation", "", F32)),
]
WRONG = [
    ("vectorlow", "", VOID, "RM206", "`T.vectorlow` takes 1 argument, 0 given"),
    ("fma", "xx", F32, "RM206", "`T.fma` takes 3 arguments, 2 given"),
    ("tvm_struct_set", "pnn", I32, "RM206", "`T.tvm_struct_set` takes at least 4 arguments, 3 given"),
    ("vscale", "n", I32, "RM206", "`T.vscale` takes 0 arguments, 1 given"),
    ("vectorlow", "x", F32, "RM201", "argument 0 of `T.vectorlow` is float32, not a vector"),
    ("vectorlow", "o", F32, "RM201", "argument 0 of `T.vectorlow` is a NoneType, not a vector"),
    ("fma", "xpx", F32, "RM201", "argument 1 of `T.fma` is handle, not a number"),
    ("assume", "n", BOOL, "RM201", "argument 0 of `T.assume` is int32, not a bool"),
    ("isnullptr", "s", BOOL, "RM201", "argument 0 of `T.isnullptr` is a text, not a pointer"),
    (
        "handle_add_byte_offset",
        "px",
        HANDLE,
        "RM201",
        "argument 1 of `T.handle_add_byte_offset` is float32, not an integer",
    ),
    ("reinterpret", "o", HANDLE, "RM201", "argument 0 of `T.reinterpret` is a NoneType, not an expression"),
    ("call_packed", "x", I32, "RM201", "argument 0 of `T.call_packed` is float32, not a name"),
    ("vectorlow", "v", "float32x4", "RM201", "`T.vectorlow` of float32x4 is not float32x4"),
    ("vectorcombine", "vv", "int32x8", "RM201", "`T.vectorcombine` of float32x4 and float32x4 is not int32x8"),
    ("get_active_lane_mask", "nn", "int32x4", "RM201", "`T.get_active_lane_mask` of int32 and int32 is not int32x4"),
    ("vscale", "", "int32x4", "RM201", "`T.vscale` of nothing is not int32x4"),
    ("isnullptr", "p", I32, "RM201", "`T.isnullptr` of handle is not int32"),
    ("cuda.thread_fence", "", BOOL, "RM201", "`T.cuda.thread_fence` of nothing is not bool"),
    ("cuda.wgmma.noop_barrier", "x", F32, "RM201", "`T.cuda.wgmma.noop_barrier` of float32 is not float32"),
    ("isnullptr", "p", "uint1x4", "RM201", "`T.isnullptr` of handle is not uint1x4"),
    (
        "cuda.cvta_generic_to_shared",
        "p",
        "int64x4",
        "RM201",
        "`T.cuda.cvta_generic_to_shared` of handle is not int64x4",
    ),
    ("tvm_stack_make_shape", "n", I32, "RM201", "`T.tvm_stack_make_shape` of int32 is not int32"),
    ("ignore_loop_partition", "n", F32, "RM201", "`T.ignore_loop_partition` of int32 is not float32"),
]


def call(name, args, result):
    declared = dtype(result) if isinstance(result, str) else result
    return tir.Call(name, tuple(LETTERS[letter] for letter in args), declared)


@pytest.mark.parametrize(("name", "args", "result"), FITS)
def test_calls_that_fit(name, args, result):
    assert call_problem(call(name, args, result)) is None


def test_every_signature_has_a_call_that_fits():
    alike = {"call_cpacked", "call_cpacked_lowered", "call_pure_extern", "call_llvm_pure_intrin"}
    alike |= {"start_profile_intrinsic", "end_profile_intrinsic", *OF_PART, *OF_THREAD}
    assert {name for name, _, _ in FITS} - {"unknown"} == {
        name for name, row in INTRINSICS.items() if row.takes is not None
    } - alike


@pytest.mark.parametrize(("name", "args", "result", "code", "message"), WRONG)
def test_calls_that_do_not(name, args, result, code, message):
    found = call_problem(call(name, args, result))
    assert found is not None
    assert (found[0].id, found[1]) == (code, message)


def test_calls_of_functions_are_not_looked_at():
    assert call_problem(tir.Call(tir.GlobalVar("f"), (), VOID)) is None


def test_a_name_has_one_row():
    names = [row.name for row in _rows()]
    assert sorted(names) == sorted(set(names))
