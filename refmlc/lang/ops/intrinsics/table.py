"""The rows: name, meaning, clause, effect, TVMScript name, and why it is not executed where it is not."""

from collections.abc import Mapping

from refmlc.lang.ops.intrinsics.rows import Effect, Intrinsic

THREADS = "it needs the threads of a warp together, or memory that threads change at the same time"
HARDWARE = "it belongs to one kind of hardware"
RUNTIME = "it belongs to TVM's runtime"
LATER = "refmlc does not define it yet"

PURE, READS, WRITES, CONTROL = Effect.PURE, Effect.READS, Effect.WRITES, Effect.CONTROL


def _rows() -> tuple[Intrinsic, ...]:
    return (
        # ------------------------------------------------------------------------------ plain: TIR-301 …
        Intrinsic("type_annotation", "a dtype as an argument", "TIR-301", PURE, "type_annotation"),
        Intrinsic("prefetch", "a hint without meaning", "TIR-301", PURE),
        Intrinsic("start_profile_intrinsic", "a hint without meaning", "TIR-301", PURE, "start_profile_intrinsic"),
        Intrinsic("end_profile_intrinsic", "a hint without meaning", "TIR-301", PURE, "end_profile_intrinsic"),
        Intrinsic("tvm_thread_invariant", "its argument", "TIR-302", PURE, "tvm_thread_invariant"),
        Intrinsic("ignore_loop_partition", "its argument", "TIR-302", PURE, "ignore_loop_partition"),
        Intrinsic("vscale", "1", "TIR-303", PURE, "vscale"),
        Intrinsic("vectorlow", "the first half of the lanes", "TIR-304", PURE, "vectorlow"),
        Intrinsic("vectorhigh", "the second half of the lanes", "TIR-304", PURE, "vectorhigh"),
        Intrinsic("vectorcombine", "the lanes of one, then of the other", "TIR-304", PURE, "vectorcombine"),
        Intrinsic("get_active_lane_mask", "base + lane < limit, per lane", "TIR-305", PURE, "get_active_lane_mask"),
        Intrinsic("assume", "undefined unless the condition holds", "TIR-306", PURE, "assume"),
        Intrinsic("undef", "a value that must not be used", "TIR-307", PURE, "undef"),
        Intrinsic("ret", "ends the function with a value", "TIR-308", CONTROL, "ret"),
        Intrinsic("fma", "a * b + c rounded once", "TIR-309", PURE, "fma"),
        # ----------------------------------------------------------------------------- memory: TIR-321 …
        Intrinsic("address_of", "the pointer to an element", "TIR-321", PURE, "address_of"),
        Intrinsic("tvm_access_ptr", "the pointer some elements further on", "TIR-322", PURE, "tvm_access_ptr"),
        Intrinsic(
            "handle_add_byte_offset", "the pointer some bytes further on", "TIR-323", PURE, "handle_add_byte_offset"
        ),
        Intrinsic("isnullptr", "whether the pointer is null", "TIR-324", PURE, "isnullptr"),
        Intrinsic("reinterpret", "the handle under another type; 0 is null", "TIR-332", PURE, "reinterpret"),
        Intrinsic("TVMBackendAllocWorkspace", "fresh storage", "TIR-325", WRITES, "TVMBackendAllocWorkspace"),
        Intrinsic(
            "TVMBackendFreeWorkspace", "ends the life of a workspace", "TIR-325", WRITES, "TVMBackendFreeWorkspace"
        ),
        Intrinsic("tvm_throw_last_error", "stops the program", "TIR-326", CONTROL, "tvm_throw_last_error"),
        Intrinsic("tvm_stack_make_shape", "extents as a value", "TIR-327", PURE, "tvm_stack_make_shape"),
        Intrinsic("tvm_stack_make_array", "a tensor on a pointer", "TIR-328", PURE, "tvm_stack_make_array"),
        Intrinsic("tvm_stack_alloca", "an array of structures", "TIR-329", WRITES, "tvm_stack_alloca"),
        Intrinsic("tvm_struct_get", "a field of a structure", "TIR-330", READS, "tvm_struct_get"),
        Intrinsic("tvm_struct_set", "writes a field of a structure", "TIR-330", WRITES, "tvm_struct_set"),
        Intrinsic("call_packed_lowered", "calls a packed function", "TIR-331", WRITES, "call_packed_lowered"),
        Intrinsic("call_cpacked_lowered", "calls a packed function", "TIR-331", WRITES, "call_cpacked_lowered"),
        # ---------------------------------------------------------------------------- outside: TIR-341 …
        Intrinsic("call_packed", "calls a packed function by name", "TIR-341", WRITES, "call_packed"),
        Intrinsic("call_cpacked", "calls a packed function by name", "TIR-341", WRITES, "call_cpacked"),
        Intrinsic("call_extern", "calls a C function by name", "TIR-342", WRITES, "call_extern"),
        Intrinsic("call_pure_extern", "calls a C function that has no effects", "TIR-342", PURE, "call_pure_extern"),
        Intrinsic("call_llvm_intrin", "an LLVM intrinsic by name", "TIR-343", WRITES, "call_llvm_intrin"),
        Intrinsic("call_llvm_pure_intrin", "an LLVM intrinsic by name", "TIR-343", PURE, "call_llvm_pure_intrin"),
        # ---------------------------------------------------------------------------- threads: TIR-227 …
        Intrinsic("tvm_storage_sync", "all threads of a block wait", "TIR-227", WRITES, "tvm_storage_sync"),
        Intrinsic("tvm_thread_allreduce", "a value of all threads", "TIR-228", WRITES, "tvm_thread_allreduce"),
        Intrinsic("call_ffi_kernel", "launches a kernel of the module", "TIR-333", WRITES, "call_ffi_kernel"),
        *_unexecuted(),
    )


def _unexecuted() -> tuple[Intrinsic, ...]:
    reasons = {
        THREADS: (
            *("tvm_warp_shuffle", "tvm_warp_shuffle_up"),
            *("tvm_warp_shuffle_down", "tvm_warp_shuffle_xor", "tvm_warp_activemask", "tvm_global_barrier_kinit"),
            *("thread_return", "atomic_add"),
        ),
        HARDWARE: (
            *("tvm_bmma_sync", "tvm_fill_fragment", "tvm_load_matrix_sync", "tvm_mma_sync", "tvm_store_matrix_sync"),
            *("mma_fill", "mma_fill_legacy", "mma_store", "mma_store_legacy", "make_filled_simdgroup_matrix"),
            *("simdgroup_load", "simdgroup_multiply_accumulate", "simdgroup_store", "cooperative_tensor_fill"),
            *("cooperative_tensor_load", "cooperative_tensor_multiply_accumulate", "cooperative_tensor_store"),
            *("texture2d_load", "texture2d_store", "dma_copy", "dma_start_group", "dma_end_group", "dma_wait"),
            *("call_spirv_pure_glsl450", "dp4a"),
            *("tensormap_encode_tiled", "call_intrin"),
        ),
        RUNTIME: (
            *("anylist_getitem", "anylist_resetitem", "anylist_setitem_call_packed", "anylist_setitem_call_cpacked"),
            *("TVMBackendAnyListMoveFromPackedReturn", "TVMBackendAnyListSetPackedArg", "tvm_context_id"),
            *(
                "tvm_static_handle",
                "tvm_kernel_replace_point",
                "tvm_call_trace_packed",
                "tvm_call_trace_packed_lowered",
            ),
            *("lookup_param", "nd_mem_alloc_with_scope", "timer_init_cuda", "timer_start_cuda"),
            *("timer_end_cuda", "timer_finalize_cuda", "print_buffer"),
        ),
        LATER: (
            *("tvm_tuple", "masked_load", "masked_store", "buffer_data", "buffer_offset", "ptr_byte_offset"),
            *("filter", "selector"),
        ),
    }
    return tuple(
        Intrinsic(name, "see TVM's documentation", "TIR-399", WRITES, name, why)
        for why, names in reasons.items()
        for name in names
    )


INTRINSICS: Mapping[str, Intrinsic] = {row.name: row for row in _rows()}

FAMILIES: Mapping[str, str] = dict.fromkeys(
    ("ptx", "ptx_legacy", "cuda", "metal", "webgpu", "nki", "nvshmem", "tile", "s_tir", "hexagon"), HARDWARE
)
"""Families of intrinsics: the part of the name before the first dot, and why none of them is executed."""

ALIASES: Mapping[str, str] = {
    "tvm_call_packed": "call_packed",
    "tvm_call_cpacked": "call_cpacked",
    "tvm_call_packed_lowered": "call_packed_lowered",
    "tvm_call_cpacked_lowered": "call_cpacked_lowered",
}


def intrinsic(name: str) -> Intrinsic | None:
    """The row of the intrinsic `name` (TVM's name without `tirx.`), also of a member of a family; None: unknown."""
    found = INTRINSICS.get(ALIASES.get(name, name))
    family = name.partition(".")[0]
    if found is None and "." in name and family in FAMILIES:
        return Intrinsic(name, "see TVM's documentation", "TIR-399", WRITES, name, FAMILIES[family])
    return found
