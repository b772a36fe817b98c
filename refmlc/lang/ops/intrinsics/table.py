"""The rows: name, meaning, clause, effect, arguments, dtype of the result, and the reason if it is not executed."""

from collections.abc import Mapping

from refmlc.lang.ir.matrix_units import FRAGMENTS, INSTRUCTIONS, LEGACY, OF_THREAD, TENSOR_MEMORY, WARPGROUP
from refmlc.lang.ops.intrinsics.device import NAMED_OPERATORS
from refmlc.lang.ops.intrinsics.rows import Effect, Intrinsic, Result, Written

THREADS = "it needs the threads of a warp together, or memory that threads change at the same time"
HARDWARE = "it belongs to one kind of hardware"
RUNTIME = "it belongs to TVM's runtime"
LATER = "refmlc does not define it yet"
DEVICES = "it accesses the memory of several devices"
MAPS = "the bits of a tensor map are not defined"
FILTERS = "its meaning is known in the condition of an `if` of a kernel only, with a scope id"
SELECTORS = "it is for the metadata of a compiler, and has no code"
CANCELS = "which clusters are still to be launched is not known"

PURE, READS, WRITES, CONTROL = Effect.PURE, Effect.READS, Effect.WRITES, Effect.CONTROL
FIRST, LAST = Written.FIRST, Written.LAST
MATRIX_UNITS = (
    (FRAGMENTS, "whole matrices of a warp", "TIM-001"),
    (LEGACY, "the matrix unit of a warp", "TIM-003"),
    (INSTRUCTIONS, "the matrix unit of a warp", "TIM-003"),
    (WARPGROUP, "a product of a warpgroup, its groups", "TIM-011"),
    (TENSOR_MEMORY, "tensor memory, its copies and products", "TMM-001"),
    (OF_THREAD, "a thread's part of a matrix", "TIM-006"),
)
FOUR_PLACES = "pointer integer pointer integer pointer integer pointer integer"
OPERANDS_OF_MATRICES = {
    "tvm_fill_fragment": "pointer integer integer integer integer scalar",
    "tvm_load_matrix_sync": "pointer integer integer integer integer pointer integer name",
    "tvm_store_matrix_sync": "pointer integer integer integer integer pointer integer name",
    "tvm_mma_sync": FOUR_PLACES,
    "tvm_bmma_sync": FOUR_PLACES,
    "metal.make_filled_simdgroup_matrix": "pointer integer scalar *integer",
    "metal.simdgroup_load": "pointer integer pointer integer *any",
    "metal.simdgroup_store": "pointer integer pointer integer *any",
    "metal.simdgroup_multiply_accumulate": FOUR_PLACES,
    **dict.fromkeys(("cuda.mma_fill", "cuda.mma_fill_legacy"), "integer pointer integer"),
    **dict.fromkeys(("cuda.mma_store", "cuda.mma_store_legacy"), "integer integer pointer pointer integer integer"),
}
"""The operands of those calls of matrix units whose number and kinds never depend on modifiers."""
FIRST_OF_THREAD = ("cuda.mma_fill", "cuda.mma_store")
ARRAY = "pointer expr expr expr expr *integer"


def _packed(name: str, meaning: str, clause: str, *, lowered: bool = False) -> Intrinsic:
    takes = "name expr integer integer *any" if lowered else "name *any"
    return Intrinsic(name, meaning, clause, WRITES, takes, "int32", tensors=not lowered, also=f"tvm_{name}")


def _unexecuted(why: str, names: str, *, result: Result = Written.KEYWORD) -> tuple[Intrinsic, ...]:
    return tuple(
        Intrinsic(name, "see TVM's documentation", "TIR-399", WRITES, result=result, missing=why)
        for name in names.split()
    )


def _of_threads() -> tuple[Intrinsic, ...]:
    """What threads of a block do together, and atomic operations: TIW-002 to TIW-008."""
    shuffles = ("", "_up", "_down", "_xor")
    return (
        *(
            Intrinsic(
                f"cuda.__shfl{way}_sync", "the value of another lane", "TIW-002", WRITES, "expr expr expr expr", 1
            )
            for way in shuffles
        ),
        Intrinsic("ptx.shfl_sync", "the value of another lane", "TIW-002", WRITES, "*any"),
        Intrinsic("cuda.any_sync", "whether a lane votes for it", "TIW-003", WRITES, "expr expr", "int32"),
        Intrinsic(
            "cuda.ballot_sync", "a bit for each lane that votes for it", "TIW-003", WRITES, "expr expr", "uint32"
        ),
        Intrinsic("ptx.vote_sync", "a vote of the lanes", "TIW-003", WRITES, "*any"),
        Intrinsic("ptx.match", "the lanes with the same value", "TIW-003", WRITES, "*any"),
        Intrinsic("cuda.reduce_add_sync_u32", "the sum over lanes", "TIW-003", WRITES, "expr expr", "uint32"),
        Intrinsic("cuda.reduce_min_sync_u32", "the least over lanes", "TIW-003", WRITES, "expr expr", "uint32"),
        Intrinsic("ptx.redux_sync", "a reduction over lanes", "TIW-003", WRITES, "*any"),
        Intrinsic("cuda.ffs_u32", "the place of the lowest bit that is 1", "TIW-003", PURE, "integer", "int32"),
        Intrinsic("cuda.warp_reduce", "a reduction over lanes, step by step", "TIW-008", WRITES, "expr any any", 0),
        Intrinsic("cuda.cta_reduce", "a reduction over a block in steps", "TIX-020", WRITES, "expr any any any", 0),
        Intrinsic("tvm_warp_activemask", "the lanes that come together", "TIW-004", WRITES, "", "uint32"),
        Intrinsic("cuda.__activemask", "the lanes that come together", "TIW-004", WRITES, "", "uint32"),
        Intrinsic("ptx.activemask", "the lanes that come together", "TIW-004", WRITES, "*any"),
        Intrinsic("ptx.elect_sync", "one lane of those in the mask", "TIW-004", WRITES, "*any"),
        Intrinsic("cuda.thread_rank", "the number of the thread in its block", "TIW-004", PURE, "", "int32"),
        Intrinsic("cuda.syncthreads_and", "a barrier; whether all say so", "TIW-005", WRITES, "expr", "int64"),
        Intrinsic("cuda.syncthreads_or", "a barrier; whether any says so", "TIW-005", WRITES, "expr", "int64"),
        Intrinsic("ptx.bar", "a numbered barrier", "TIW-005", WRITES, "*any"),
        Intrinsic("ptx.barrier", "a numbered barrier", "TIW-005", WRITES, "*any"),
        Intrinsic("cuda.atomic_add", "adds to an element; the value before", "TIW-006", WRITES, "expr expr", 1),
        Intrinsic("cuda.atomic_cas", "writes where a value is expected", "TIW-006", WRITES, "expr expr expr", 1),
        Intrinsic("ptx.atom", "an atomic operation; the value before", "TIW-006", WRITES, "*any"),
        Intrinsic("ptx.red", "an atomic operation without a value", "TIW-006", WRITES, "*any"),
        Intrinsic("cuda.thread_fence", "orders accesses around it", "TIA-031", WRITES, ""),
        Intrinsic("ptx.applypriority", "a priority of memory in a cache: no effect", "PTX-021", WRITES, "*any"),
    )


def _of_clusters() -> tuple[Intrinsic, ...]:
    """What the blocks of a cluster do together, and which of them is meant."""
    return (
        Intrinsic("cuda.cluster_sync", "a barrier of the threads of a cluster", "TIX-022", WRITES, ""),
        Intrinsic("ptx.mapa", "the place in a block of the cluster", "PTX-024", WRITES, "*any"),
        Intrinsic("ptx.getctarank", "the number of a block in its cluster", "PTX-024", WRITES, "*any"),
    )


def _rows() -> tuple[Intrinsic, ...]:
    return (
        # -------------------- plain: TIR-301 …
        Intrinsic("type_annotation", "a dtype as an argument", "TIR-301", PURE, "*any"),
        Intrinsic("prefetch", "a hint without meaning", "TIR-301", PURE, "*any"),
        Intrinsic("start_profile_intrinsic", "a hint without meaning", "TIR-301", PURE, "*any"),
        Intrinsic("end_profile_intrinsic", "a hint without meaning", "TIR-301", PURE, "*any"),
        Intrinsic("tvm_thread_invariant", "its argument", "TIR-302", PURE, "expr", 0),
        Intrinsic("ignore_loop_partition", "its argument", "TIR-302", PURE, "expr", "bool"),
        Intrinsic("vscale", "1", "TIR-303", PURE, "", "int32"),
        Intrinsic("vectorlow", "the first half of the lanes", "TIR-304", PURE, "vector", FIRST),
        Intrinsic("vectorhigh", "the second half of the lanes", "TIR-304", PURE, "vector", FIRST),
        Intrinsic("vectorcombine", "the lanes of one, then of the other", "TIR-304", PURE, "vector vector", FIRST),
        Intrinsic("get_active_lane_mask", "base + lane < limit, per lane", "TIR-305", PURE, "integer integer", FIRST),
        Intrinsic("assume", "undefined unless the condition holds", "TIR-306", PURE, "bool", "bool"),
        Intrinsic("undef", "a value that must not be used", "TIR-307", PURE, result="int32"),
        Intrinsic("ret", "ends the function with a value", "TIR-308", CONTROL, "*expr"),
        Intrinsic("fma", "a * b + c rounded once", "TIR-309", PURE, "number number number", 0),
        # -------------------- memory: TIR-321 …
        Intrinsic("address_of", "the pointer to an element", "TIR-321", PURE, "expr", "handle"),
        Intrinsic(
            "tvm_access_ptr", "the pointer some elements on", "TIR-322", PURE, "expr pointer integer *any", "handle"
        ),
        Intrinsic("handle_add_byte_offset", "the pointer some bytes on", "TIR-323", PURE, "pointer integer", "handle"),
        Intrinsic("isnullptr", "whether the pointer is null", "TIR-324", PURE, "pointer", "bool"),
        Intrinsic("reinterpret", "the handle under another type; 0 is null", "TIR-332", PURE, "expr", FIRST),
        Intrinsic("TVMBackendAllocWorkspace", "fresh storage", "TIR-325", WRITES, "any any integer *any", "handle"),
        Intrinsic("TVMBackendFreeWorkspace", "ends a workspace", "TIR-325", WRITES, "any any pointer", "int32"),
        Intrinsic("tvm_throw_last_error", "stops the program", "TIR-326", CONTROL, ""),
        Intrinsic("tvm_stack_make_shape", "extents as a value", "TIR-327", PURE, "*integer", "handle"),
        Intrinsic("tvm_stack_make_array", "a tensor on a pointer", "TIR-328", PURE, ARRAY, "handle"),
        Intrinsic("tvm_stack_alloca", "an array of structures", "TIR-329", WRITES, "name integer", "handle"),
        Intrinsic("tvm_struct_get", "a field of a structure", "TIR-330", READS, "expr integer integer *any", LAST),
        Intrinsic(
            "tvm_struct_set",
            "sets a field of a structure",
            "TIR-330",
            WRITES,
            "expr integer integer expr *any",
            "int32",
        ),
        _packed("call_packed_lowered", "calls a packed function", "TIR-331", lowered=True),
        _packed("call_cpacked_lowered", "calls a packed function", "TIR-331", lowered=True),
        # -------------------- outside: TIR-341 …
        _packed("call_packed", "calls a packed function by name", "TIR-341"),
        _packed("call_cpacked", "calls a packed function by name", "TIR-341"),
        Intrinsic("call_extern", "calls a C function by name", "TIR-342", WRITES, "name *any", FIRST),
        Intrinsic("call_pure_extern", "calls a C function that has no effects", "TIR-342", PURE, "name *any", FIRST),
        Intrinsic("call_llvm_intrin", "an LLVM intrinsic by name", "TIR-343", WRITES, "name *expr", FIRST),
        Intrinsic("call_llvm_pure_intrin", "an LLVM intrinsic by name", "TIR-343", PURE, "name *expr", FIRST),
        # -------------------- threads: TIR-227 …
        Intrinsic("tvm_storage_sync", "all threads of a block wait", "TIR-227", WRITES),
        Intrinsic("tvm_thread_allreduce", "a value of all threads", "TIR-228", WRITES),
        Intrinsic("call_ffi_kernel", "launches a kernel of the module", "TIR-333", WRITES, "name *any"),
        # -------------------- addresses: TIX-008
        Intrinsic("cuda.func_call", "the pointer some elements on; other functions never", "TIX-008", WRITES, "*any"),
        Intrinsic("cuda.cvta_generic_to_shared", "an address in shared memory", "TIX-009", PURE, "expr", "uint32"),
        Intrinsic("cuda.ldg", "elements of global memory, through a cache", "TIX-010", WRITES, "*any"),
        # -------------------- threads of a part of a block: TIX-007
        Intrinsic("cuda.cta_sync", "all threads of a block wait", "TIX-007", WRITES, "*any"),
        Intrinsic("cuda.warpgroup_sync", "all threads of a warpgroup wait", "TIX-007", WRITES, "*any"),
        Intrinsic("cuda.warp_sync", "all threads of a warp wait", "TIX-007", WRITES, "*any"),
        Intrinsic("cuda.elect_sync", "1 in one thread of a warp, 0 in the others", "TIX-007", WRITES, "*any", "uint32"),
        *(
            Intrinsic(
                f"tvm_warp_shuffle{way}", f"the value of {lane}", "TIX-007", WRITES, "expr expr expr expr expr", 1
            )
            for way, lane in (
                ("", "a lane"),
                ("_up", "a lane before"),
                ("_down", "a lane after"),
                ("_xor", "a partner"),
            )
        ),
        *_of_threads(),
        *_of_clusters(),
        Intrinsic("tensormap_encode_tiled", "makes a tensor map", "TIA-040", WRITES, "pointer pointer *integer"),
        # -------------------- matrix units: TIM-001
        *(
            Intrinsic(
                name,
                meaning,
                clause,
                WRITES,
                OPERANDS_OF_MATRICES.get(name, "*any"),
                result=FIRST if name in FIRST_OF_THREAD else Written.KEYWORD,
            )
            for names, meaning, clause in MATRIX_UNITS
            for name in names
        ),
        *(
            Intrinsic(
                f"cuda.{family}.encode_matrix_descriptor",
                "writes what describes a matrix in shared memory",
                "TIM-012",
                WRITES,
                "pointer pointer integer integer integer",
            )
            for family in ("wgmma", "tcgen05")
        ),
        *(
            Intrinsic(f"cuda.{name}", "writes the descriptor of a product", "TIM-017", WRITES, takes)
            for name, takes in (
                ("tcgen05.encode_instr_descriptor", "pointer *any"),
                ("tcgen05.encode_instr_descriptor_block_scaled", "pointer *any"),
                ("runtime_instr_desc", "pointer integer"),
            )
        ),
        Intrinsic(
            "cuda.get_tmem_addr",
            "an address in tensor memory, some lanes and columns on",
            "TMM-001",
            PURE,
            "integer integer integer",
            "uint32",
        ),
        Intrinsic("cuda.wgmma.noop_barrier", "a register, as it is", "TIM-012", WRITES, "expr"),
        # -------------------- not executed: TIR-399
        *_unexecuted(THREADS, "tvm_global_barrier_kinit thread_return atomic_add"),
        *_unexecuted(
            HARDWARE,
            "mma_fill mma_fill_legacy mma_store mma_store_legacy make_filled_simdgroup_matrix "
            "simdgroup_load simdgroup_multiply_accumulate simdgroup_store cooperative_tensor_fill "
            "cooperative_tensor_load cooperative_tensor_multiply_accumulate cooperative_tensor_store "
            "texture2d_load texture2d_store dma_copy dma_start_group dma_end_group dma_wait "
            "call_spirv_pure_glsl450 call_intrin",
        ),
        *_unexecuted(HARDWARE, "dp4a", result="int32"),
        *_unexecuted(
            DEVICES,
            "ptx.fabric ptx.multimem_cp ptx.multimem_ld_reduce ptx.multimem_red ptx.multimem_red_async ptx.multimem_st "
            "ptx.multimem_st_async",
        ),
        *_unexecuted(MAPS, "ptx.tensormap_replace ptx.tensormap_cp_fenceproxy"),
        *_unexecuted(CANCELS, "ptx.clusterlaunchcontrol"),
        *_unexecuted(LATER, "ptx.red_async ptx.spcompress ptx.spdecompress"),
        *_unexecuted(RUNTIME, "anylist_getitem lookup_param", result="handle"),
        *_unexecuted(
            RUNTIME,
            "anylist_resetitem anylist_setitem_call_packed anylist_setitem_call_cpacked "
            "TVMBackendAnyListMoveFromPackedReturn TVMBackendAnyListSetPackedArg tvm_context_id "
            "tvm_static_handle tvm_kernel_replace_point tvm_call_trace_packed "
            "tvm_call_trace_packed_lowered nd_mem_alloc_with_scope timer_init_cuda timer_start_cuda "
            "timer_end_cuda timer_finalize_cuda print_buffer",
        ),
        *_unexecuted(LATER, "tvm_tuple masked_load masked_store buffer_data buffer_offset ptr_byte_offset"),
        Intrinsic("filter", "a condition on threads", "TIX-021", WRITES, result="bool", missing=FILTERS),
        *_unexecuted(SELECTORS, "selector", result=0),
    )


INTRINSICS: Mapping[str, Intrinsic] = {row.name: row for row in _rows()}

FAMILIES: Mapping[str, str] = dict.fromkeys(
    ("ptx", "ptx_legacy", "cuda", "metal", "webgpu", "nki", "nvshmem", "tile", "s_tir", "hexagon"), HARDWARE
)
"""Families of intrinsics: the part of the name before the first dot, and why none of them is executed."""

ALIASES: Mapping[str, str] = {
    **{
        row.registered: name
        for name, row in NAMED_OPERATORS.items()
        if row.registered != name and "." in row.registered
    },
    **{row.also: row.name for row in INTRINSICS.values() if row.also},
}
"""Other names by which TVM's texts and files call an intrinsic."""


def intrinsic(name: str) -> Intrinsic | None:
    """The row of the intrinsic `name` (TVM's name without `tirx.`), also of a member of a family; None: unknown."""
    name = ALIASES.get(name, name)
    family, _, member = name.partition(".")
    row = INTRINSICS.get(name) or INTRINSICS.get(f"{family}.{member.partition('.')[0]}")
    if row is None and "." in name and family in FAMILIES:
        missing = FAMILIES[family]
        return Intrinsic(name, "see TVM's documentation", "TIR-399", WRITES, result=_result(name), missing=missing)
    return row


def _result(name: str) -> Result:
    """The dtype of a call of an operator of a device, as far as its row says it."""
    row = NAMED_OPERATORS.get(name)
    if row is None or row.result in ("own", "void"):
        return Written.KEYWORD
    if row.result == "first":
        return FIRST
    return int(row.result) if row.result.isdecimal() else row.result


def registered(name: str) -> str:
    """The name of an intrinsic in TVM's registry, without `tirx.`."""
    row = NAMED_OPERATORS.get(name)
    return name if row is None else row.registered
