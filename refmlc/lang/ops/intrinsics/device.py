"""The operators of devices by name: facts of the operator registry of TVM 0.27, and of the signatures of its texts.

`NAMED`: the name in a text, `=` the name in the registry where that is another, under the dtype of the result: always
the same, that of an argument (its number), written first (`first`), or said by a rule or a keyword (`own`).
`OPERANDS`: the least and the most arguments of those in a text, where the signature of TVM's function says them.
`PTX`: a family of instructions, the least and the most operands (`-`: it depends on the modifiers), its modifiers.

`tests/e2e/tvm_side/device_operators.py` prints the same from a TVM; a test compares them.
"""

from collections.abc import Mapping
from dataclasses import dataclass

NAMED = {
    "0": """
    cuda.cta_reduce cuda.warp_reduce metal.simd_shuffle metal.simd_shuffle_down metal.simd_shuffle_up s_tir.ldg32
    webgpu.subgroup_shuffle webgpu.subgroup_shuffle_down webgpu.subgroup_shuffle_up
    """,
    "1": """
    cuda.__shfl_down_sync cuda.__shfl_sync cuda.__shfl_up_sync cuda.__shfl_xor_sync cuda.atomic_add cuda.atomic_cas
    """,
    "first": """
    cuda.mma_fill=mma_fill cuda.mma_store=mma_store s_tir.cp_async_raw
    """,
    "float32": """
    cuda.bfloat162float cuda.fdividef cuda.float2_x cuda.float2_y cuda.half2float cuda.uint_as_float
    """,
    "int32": """
    cuda.any_sync cuda.ffs_u32 cuda.thread_rank nvshmem.my_pe nvshmem.n_pes
    """,
    "int64": """
    cuda.syncthreads_and cuda.syncthreads_or
    """,
    "own": """
    cuda.func_call cuda.ldg cuda.mma_fill_legacy=mma_fill_legacy cuda.mma_store_legacy=mma_store_legacy
    cuda.mov_sreg metal.make_filled_simdgroup_matrix=make_filled_simdgroup_matrix
    metal.simdgroup_load=simdgroup_load metal.simdgroup_multiply_accumulate=simdgroup_multiply_accumulate
    metal.simdgroup_store=simdgroup_store ptx_legacy.ldmatrix ptx_legacy.mma
    """,
    "uint32": """
    cuda.__activemask cuda.ballot_sync cuda.cvta_generic_to_shared cuda.elect_sync cuda.float22bfloat162_rn
    cuda.float22bfloat162_rn_from_float2 cuda.float_as_uint cuda.fp8x4_e4m3_from_float4 cuda.get_tmem_addr
    cuda.hmax2 cuda.hmin2 cuda.iket.official_event=cuda.iket_official_event
    cuda.iket.range_start=cuda.iket_range_start cuda.iket.sentinel_token=cuda.iket_sentinel_token
    cuda.reduce_add_sync_u32 cuda.reduce_min_sync_u32 cuda.sm100_2sm_leader_smem_addr cuda.smem_addr_from_uint64
    """,
    "uint64": """
    cuda.bfloat1622float2 cuda.clock64 cuda.fadd2_rn cuda.fmul2_rn cuda.make_float2
    """,
    "void": """
    cuda.cluster_sync cuda.cta_sync cuda.float22half2 cuda.float8tohalf8 cuda.grid_sync cuda.half8tofloat8
    cuda.iket.mark=cuda.iket_mark cuda.iket.range_end=cuda.iket_range_end cuda.iket.range_pop=cuda.iket_range_pop
    cuda.iket.range_push=cuda.iket_range_push cuda.mbarrier_wait cuda.mbarrier_wait_acquire_cluster cuda.nano_sleep
    cuda.printf cuda.runtime_instr_desc cuda.tcgen05.encode_instr_descriptor=cuda.tcgen05_encode_instr_descriptor
    cuda.tcgen05.encode_instr_descriptor_block_scaled=cuda.tcgen05_encode_instr_descriptor_block_scaled
    cuda.tcgen05.encode_matrix_descriptor=cuda.tcgen05_encode_matrix_descriptor cuda.thread_fence
    cuda.timer_end=timer_end_cuda cuda.timer_finalize=timer_finalize_cuda cuda.timer_init=timer_init_cuda
    cuda.timer_start=timer_start_cuda cuda.trap_when_assert_failed cuda.wait_until cuda.warp_sync
    cuda.warpgroup_sync cuda.wgmma.encode_matrix_descriptor=cuda.wgmma_encode_matrix_descriptor
    cuda.wgmma.noop_barrier=cuda.wgmma_noop_barrier nki.activation nki.activation_reduce nki.affine_select
    nki.identity nki.load nki.matmul nki.memset nki.reciprocal nki.scalar_tensor_scalar nki.scalar_tensor_tensor
    nki.store nki.tensor_copy nki.tensorreduce nki.tensorscalar nki.tensorscalar_reduce nki.tensortensor
    nvshmem.barrier_all nvshmem.fence nvshmem.getmem_nbi nvshmem.getmem_nbi.block=nvshmem.getmem_nbi_block
    nvshmem.getmem_nbi.warp=nvshmem.getmem_nbi_warp nvshmem.putmem_nbi
    nvshmem.putmem_nbi.block=nvshmem.putmem_nbi_block nvshmem.putmem_nbi.warp=nvshmem.putmem_nbi_warp
    nvshmem.putmem_signal_nbi nvshmem.putmem_signal_nbi.block=nvshmem.putmem_signal_nbi_block
    nvshmem.putmem_signal_nbi.warp=nvshmem.putmem_signal_nbi_warp nvshmem.quiet nvshmem.signal_op nvshmem.wait_until
    """,
}

OPERANDS = {
    "0": """
    cuda.__activemask cuda.clock64 cuda.cluster_sync cuda.cta_sync cuda.elect_sync cuda.grid_sync
    cuda.iket.range_pop cuda.thread_fence cuda.thread_rank cuda.warp_sync nvshmem.barrier_all nvshmem.fence
    nvshmem.my_pe nvshmem.n_pes nvshmem.quiet
    """,
    "1": """
    cuda.bfloat1622float2 cuda.bfloat162float cuda.cvta_generic_to_shared cuda.ffs_u32
    cuda.float22bfloat162_rn_from_float2 cuda.float2_x cuda.float2_y cuda.float_as_uint cuda.half2float
    cuda.iket.sentinel_token cuda.nano_sleep cuda.sm100_2sm_leader_smem_addr cuda.smem_addr_from_uint64
    cuda.syncthreads_and cuda.syncthreads_or cuda.trap_when_assert_failed cuda.uint_as_float cuda.warpgroup_sync
    cuda.wgmma.noop_barrier
    """,
    "1-2": """
    cuda.iket.mark cuda.iket.range_end cuda.iket.range_push cuda.iket.range_start
    """,
    "1-3": """
    cuda.iket.official_event
    """,
    "1-": """
    cuda.printf
    """,
    "2": """
    cuda.any_sync cuda.atomic_add cuda.ballot_sync cuda.fadd2_rn cuda.fdividef cuda.float22bfloat162_rn
    cuda.float22half2 cuda.float8tohalf8 cuda.fmul2_rn cuda.half8tofloat8 cuda.hmax2 cuda.hmin2 cuda.make_float2
    cuda.mbarrier_wait cuda.mbarrier_wait_acquire_cluster cuda.mov_sreg cuda.reduce_add_sync_u32
    cuda.reduce_min_sync_u32 cuda.runtime_instr_desc metal.simd_shuffle metal.simd_shuffle_down
    metal.simd_shuffle_up nki.identity nki.load nki.memset nki.reciprocal nki.store nki.tensor_copy
    webgpu.subgroup_shuffle webgpu.subgroup_shuffle_down webgpu.subgroup_shuffle_up
    """,
    "2-3": """
    cuda.warp_reduce
    """,
    "2-4": """
    cuda.ldg
    """,
    "2-": """
    cuda.func_call
    """,
    "3": """
    cuda.atomic_cas cuda.get_tmem_addr
    """,
    "3-4": """
    nki.matmul nvshmem.wait_until
    """,
    "3-5": """
    metal.make_filled_simdgroup_matrix nki.activation
    """,
    "3-7": """
    cuda.wait_until
    """,
    "4": """
    cuda.__shfl_down_sync cuda.__shfl_sync cuda.__shfl_up_sync cuda.__shfl_xor_sync cuda.cta_reduce
    cuda.fp8x4_e4m3_from_float4 cuda.mma_fill cuda.mma_fill_legacy nki.affine_select nki.tensortensor
    nvshmem.getmem_nbi.block nvshmem.getmem_nbi.warp nvshmem.putmem_nbi.block nvshmem.putmem_nbi.warp
    nvshmem.signal_op s_tir.ldg32
    """,
    "4-5": """
    nki.tensorscalar
    """,
    "4-7": """
    metal.simdgroup_load metal.simdgroup_store
    """,
    "4-": """
    nki.tensorreduce
    """,
    "5": """
    cuda.tcgen05.encode_matrix_descriptor cuda.timer_finalize cuda.timer_init
    cuda.wgmma.encode_matrix_descriptor
    """,
    "5-7": """
    nki.activation_reduce
    """,
    "6": """
    cuda.timer_end cuda.timer_start
    """,
    "6-7": """
    nki.tensorscalar_reduce
    """,
    "6-8": """
    nki.scalar_tensor_scalar nki.scalar_tensor_tensor
    """,
    "7": """
    cuda.mma_store cuda.mma_store_legacy nvshmem.putmem_signal_nbi.block nvshmem.putmem_signal_nbi.warp
    """,
    "8": """
    metal.simdgroup_multiply_accumulate
    """,
    "9-14": """
    cuda.tcgen05.encode_instr_descriptor
    """,
    "13-17": """
    cuda.tcgen05.encode_instr_descriptor_block_scaled
    """,
}

PTX = """
abs 2 2 bf16 bf16x2 f16 f16x2 f32 f64 ftz s16 s32 s64
activemask 1 1 b32
add 3 3 bf16 bf16x2 f16 f16x2 f32 f32x2 f64 ftz rm rn rp rz s16 s16x2 s32 s64 sat u16 u16x2 u32 u64
and_ 3 3 b16 b32 b64 pred
applypriority 1 - 1d 2d 3d 4d 5d L2__evict_normal async_ bulk bulk_group global_ im2col im2col__w im2col__w__128
    override__global_address override__global_dim override__global_dim_stride tensor tile tile__gather4
atom 1 - L2__cache_hint acq_rel acquire add and_ b128 b16 b32 b64 bf16 bf16x2 cas cluster cta dec exch f16 f16x2 f32
    f64 global_ gpu inc max min noftz or_ relaxed release s32 s64 shared shared__cluster shared__cta sys u32 u64 v2
    v4 v8 xor
bar 1 4 and_ arrive cta or_ popc pred red sync u32 warp
barrier 0 4 acquire aligned and_ arrive cluster cta or_ popc pred red relaxed release sync u32 wait
bfe 4 4 s32 s64 u32 u64
bfi 5 5 b32 b64
bfind 2 2 s32 s64 shiftamt u32 u64
bmsk 3 3 b32 clamp wrap
brev 2 2 b32 b64
clmad 4 4 hi lo u64
clusterlaunchcontrol 2 5 async_ b128 b32 get_first_ctaid get_first_ctaid__x get_first_ctaid__y get_first_ctaid__z
    is_canceled mbarrier__complete_tx__bytes multicast__cluster__all pred query_cancel shared__cta try_cancel v4
clz 2 2 b32 b64
cnot 2 2 b16 b32 b64
copysign 3 3 f32 f64
cos 2 2 approx f32 ftz
cp 0 - 1d 2d 3d 4d 5d L2 L2__128B L2__256B L2__64B L2__cache_hint L2__evict_last add and_ arrive async_ b128 b32 b64
    bf16 bulk bulk_group ca cg cluster commit_group cp_mask cta cta_group__1 cta_group__2 dec f16 f32 f64 global_
    gpu ignore_oob im2col im2col__w im2col__w__128 im2col_no_offs im2col_no_offs__w inc max mbarrier
    mbarrier__complete_tx__bytes mbarrier__report__disabled mbarrier__report__validity__per_16bytes__8
    mbarrier__report__validity__per_16bytes__80 mbarrier__report__validity__per_16bytes__8000
    mbarrier__report__validity__per_16bytes__80000000 mbarrier__report__validity__per_element__ff min
    multicast__cluster multicast__cluster__16b multicast__cluster__32b noftz noinc or_ override__global_address
    override__global_dim override__global_dim_stride prefetch read reduce relaxed s32 s64 shared shared__cluster
    shared__cta sys tensor tile tile__gather4 tile__scatter4 u32 u64 wait_all wait_group weak xor
createpolicy 1 4 L2 L2__evict_first L2__evict_last L2__evict_normal L2__evict_unchanged b64 cvt fractional global_
    range
cvt 2 - bf16 bf16x2 e2m1x2 e2m1x4 e2m3x2 e2m3x4 e3m2x2 e3m2x4 e4m3x2 e4m3x4 e5m2x2 e5m2x4 f16 f16x2 f32 f64 ftz pzo
    relu rm rmi rn rna rni rp rpi rs rz rzi s16 s2f6x2 s32 s64 s8 sat satfinite scaled__n1__ue8m0 scaled__n2__ue8m0
    tf32 u16 u32 u64 u8 ue5m3x2 ue8m0x2
cvt_pack 3 4 b32 s16 s2 s32 s4 s8 sat u16 u2 u4 u8
cvta 2 2 const global_ local param param__entry shared shared__cluster shared__cta to u64
discard 1 1 L2 global_
div 3 3 approx f32 f64 ftz full rm rn rp rz s16 s32 s64 u16 u32 u64
dp2a 4 4 hi lo s32 u32
dp4a 4 4 s32 u32
elect_sync 3 3
ex2 2 2 approx bf16 bf16x2 f16 f16x2 f32 ftz
fabric 0 6 add and_ async_ b128 b32 b64 bf16 cp_mask f16 f32 f64 max
    mbarrier__complete_tx__16B.mbarrier__report__fabric
    mbarrier__complete_tx__16B.mbarrier__report__fabric.counted__bytes
    mbarrier__complete_tx__bytes.mbarrier__report__fabric min multimem op_restrict__fetching or_ relaxed s32 s64
    shared__cta submit sync sync_restrict__reads sys try_get try_pullred try_put try_red u32 u64 wait xor
fence 0 1 acq_rel acquire alias async_ cluster cta fabric__fabric fabric__generic generic__fabric global_ gpu
    mbarrier_init proxy release sc shared__cluster shared__cta sys tensormap__generic
fma 4 4 bf16 bf16x2 f16 f16x2 f32 f32x2 f64 ftz oob relu rm rn rp rz sat
fns 4 4 b32
getctarank 2 2 shared__cluster u32 u64
griddepcontrol 0 0 launch_dependents wait
isspacep 2 2 const global_ local param param__entry shared shared__cluster shared__cta
ld 1 - L1__evict_first L1__evict_last L1__evict_normal L1__evict_unchanged L1__no_allocate L2__128B L2__256B L2__64B
    L2__cache_hint L2__evict_first L2__evict_last L2__evict_normal acquire b128 b16 b32 b64 b8 ca cg cluster cs cta
    cv f32 f64 global_ gpu local lu mmio nc proxy__readonly relaxed s16 s32 s64 s8 shared shared__cluster
    shared__cta sys u16 u32 u64 u8 v2 v4 v8 volatile weak
ldmatrix 1 - aligned b16 b4x16_p64 b6x16_p32 b8 b8x16 m16n16 m8n16 m8n8 s4 s8 shared shared__cta sync trans x1 x2 x4
ldu 1 - b128 b16 b32 b64 b8 f32 f64 global_ s16 s32 s64 s8 u16 u32 u64 u8 v2 v4
lg2 2 2 approx f32 ftz
lop3 5 7 and_ b32 or_
mad 4 4 f32 f64 ftz hi lo rm rn rp rz s16 s32 s64 sat u16 u32 u64 wide
mad24 4 4 hi lo s32 sat u32
mapa 3 3 shared__cluster u32 u64
match 3 4 all any b32 b64 sync
max 3 4 NaN abs bf16 bf16x2 f16 f16x2 f32 f64 ftz relu s16 s16x2 s32 s64 u16 u16x2 u32 u64 xorsign
mbarrier 1 6 acquire arrive arrive_drop b64 check_layout cluster complete_tx cta expect_tx init inval layout__v0
    layout__v1 multicast__cluster__32b noComplete parity pending_count phase_type__conditional phase_type__primary
    relaxed release shared shared__cluster shared__cta test_wait try_wait
min 3 4 NaN abs bf16 bf16x2 f16 f16x2 f32 f64 ftz relu s16 s16x2 s32 s64 u16 u16x2 u32 u64 xorsign
mma 0 - aligned and_ b1 bf16 col e4m3 e5m2 f16 f32 f64 m16n8k128 m16n8k16 m16n8k256 m16n8k32 m16n8k4 m16n8k64
    m16n8k8 m8n8k128 m8n8k16 m8n8k32 m8n8k4 popc rm rn row rp rz s32 s4 s8 satfinite sp sp__ordered_metadata sync
    tf32 u4 u8 xor
mov 2 5 b128 b16 b32 b64 f32 f64 pred s16 s32 s64 u16 u32 u64
movmatrix 2 2 aligned b16 m8n8 sync trans
mul 3 3 bf16 bf16x2 f16 f16x2 f32 f32x2 f64 ftz hi lo rm rn rp rz s16 s32 s64 sat u16 u32 u64 wide
mul24 3 3 hi lo s32 u32
multimem_cp 3 - add and_ async_ b128 b32 b64 bf16 bulk bulk_group cluster cp_mask cta dec f16 f32 f64 global_ gpu
    inc max min noftz or_ reduce relaxed s32 s64 shared__cta sys u32 u64 weak xor
multimem_ld_reduce 1 - acc__f32 acquire add and_ b32 b64 bf16 bf16x2 cluster cta f16 f16x2 f32 f64 global_ gpu max
    min or_ relaxed s32 s64 sys u32 u64 v2 v4 v8 weak xor
multimem_red 1 - add and_ b32 b64 bf16 bf16x2 cluster cta f16 f16x2 f32 f64 global_ gpu max min or_ relaxed release
    s32 s64 sys u32 u64 v2 v4 v8 xor
multimem_red_async 2 2 add global_ gpu release s32 sys u32 u64
multimem_st 1 - b32 b64 bf16 bf16x2 cluster cta f16 f16x2 f32 f64 global_ gpu relaxed release s32 s64 sys u32 u64 v2
    v4 v8 weak
multimem_st_async 2 2 b16 b32 b64 b8 f32 f64 global_ gpu release s16 s32 s64 s8 sys u16 u32 u64 u8
neg 2 2 bf16 bf16x2 f16 f16x2 f32 f64 ftz s16 s32 s64
not_ 2 2 b16 b32 b64 pred
or_ 3 3 b16 b32 b64 pred
popc 2 2 b32 b64
prefetch 1 1 L1 L1__32B L2 L2__evict_last L2__evict_normal const global_ local param tensormap valid_addr
prefetchu 1 1 L1
prmt 4 4 b32 b4e ecl ecr f4e rc16 rc8
rcp 2 2 approx f32 f64 ftz rm rn rp rz
red 1 - L2__cache_hint add and_ b32 b64 bf16 bf16x2 cluster cta dec f16 f16x2 f32 f64 global_ gpu inc max min noftz
    or_ relaxed release s32 s64 shared shared__cluster shared__cta sys u32 u64 v2 v4 v8 xor
red_async 2 3 add and_ b32 cluster dec global_ gpu inc max mbarrier__complete_tx__bytes min mmio or_ relaxed release
    s32 s64 shared__cluster sys u32 u64 xor
redux_sync 3 3 NaN abs add and_ b32 f32 max min or_ s32 u32 xor
rem 3 3 s16 s32 s64 u16 u32 u64
rsqrt 2 2 approx f32 f64 ftz
sad 4 4 s16 s32 s64 u16 u32 u64
selp 4 4 b16 b32 b64 f32 f64 s16 s32 s64 u16 u32 u64
set 3 4 and_ b16 b32 b64 bf16 bf16x2 eq equ f16 f16x2 f32 f64 ftz ge geu gt gtu hi hs le leu lo ls lt ltu nan ne neu
    num or_ s16 s16x2 s32 s64 s8x4 u16 u16x2 u32 u64 u8x4 xor
setmaxnreg 1 1 aligned dec inc sync u32
setp 3 5 and_ b16 b32 b64 bf16 bf16x2 eq equ f16 f16x2 f32 f64 ftz ge geu gt gtu hi hs le leu lo ls lt ltu nan ne
    neu num or_ s16 s32 s64 u16 u32 u64 xor
shf 4 4 b32 clamp l r wrap
shfl_sync 5 6 b32 bfly down idx up
shl 3 3 b16 b32 b64
shr 3 3 b16 b32 b64 s16 s32 s64 u16 u32 u64
sin 2 2 approx f32 ftz
slct 4 4 b16 b32 b64 f32 f64 ftz s16 s32 s64 u16 u32 u64
spcompress 1 - b16 b2 b4 b8 sp__2__colon__4 x1 x16 x2 x32 x4 x64 x8
spdecompress 0 - b16 b2 b4 b8 sp__1__colon__16 sp__1__colon__2 sp__1__colon__4 sp__1__colon__8 sp__2__colon__16
    sp__2__colon__4 sp__2__colon__8 sp__4__colon__16 sp__4__colon__8 x1 x16 x2 x32 x4 x64 x8
sqrt 2 2 approx f32 f64 ftz rm rn rp rz
st 1 - L1__evict_first L1__evict_last L1__evict_normal L1__evict_unchanged L1__no_allocate L2__cache_hint
    L2__evict_first L2__evict_last L2__evict_normal b128 b16 b32 b64 b8 cg cluster cs cta f32 f64 global_ gpu local
    mmio relaxed release s16 s32 s64 s8 shared shared__cluster shared__cta sys u16 u32 u64 u8 v2 v4 v8 volatile wb
    weak wt
st_async 2 - b128 b16 b32 b64 b8 f32 f64 global_ gpu mbarrier__complete_tx__bytes mmio release s16 s32 s64 s8
    shared__cluster sys u16 u32 u64 u8 v2 v4 weak
st_bulk 2 2 shared__cta weak
stmatrix 1 - aligned b16 b8 m16n8 m8n8 shared shared__cta sync trans x1 x2 x4
sub 3 3 bf16 bf16x2 f16 f16x2 f32 f32x2 f64 ftz rm rn rp rz s16 s32 s64 sat u16 u32 u64
szext 3 3 clamp s32 u32 wrap
tanh 2 2 approx bf16 bf16x2 f16 f16x2 f32
tcgen05 0 - 128x128b 128x256b 16x128b 16x256b 16x32bx2 16x64b 32x128b 32x32b 4x256b 64x128b NaN abs aligned alloc
    ashift b2 b32 b4x16_p64 b64 b6x16_p32 b8x16 block16 block32 block_scale collector__a__discard collector__a__fill
    collector__a__lastuse collector__a__use collector__b0__discard collector__b0__fill collector__b0__lastuse
    collector__b0__use collector__b1__discard collector__b1__fill collector__b1__lastuse collector__b1__use
    collector__b2__discard collector__b2__fill collector__b2__lastuse collector__b2__use collector__b3__discard
    collector__b3__fill collector__b3__lastuse collector__b3__use collector__b__discard collector__b__fill
    collector__b__lastuse collector__b__use commit cp cta_group__1 cta_group__2 dealloc decompress__lut__b exclusive
    f32 fence__after_thread_sync fence__before_thread_sync kind__f16 kind__f8f6f4 kind__i8 kind__mxf4 kind__mxf4nvf4
    kind__mxf8f6f4 kind__tf32 kind__ti16 ld max mbarrier__arrive__one min mma multicast__cluster
    multicast__cluster__16b multicast__cluster__32b pack__16b red relinquish_alloc_permit s32 scale_vec__1X
    scale_vec__2X scale_vec__4X shared__cluster shared__cta sp sp__2__colon__4 spcompress st sync
    sync_restrict__shared__read__mma__a u32 unpack__16b wait__ld wait__st warpx2__01_23 warpx2__02_13 warpx4 ws x1
    x128 x16 x2 x32 x4 x64 x8
tensormap_cp_fenceproxy 2 2 aligned cluster cta global_ gpu release shared__cta sync sys tensormap__generic
tensormap_replace 2 3 b1024 b32 b64 box_dim element_stride elemtype fill_mode global_ global_address global_dim
    global_stride interleave_layout rank shared__cta swizzle_mode tile
testp 2 2 f32 f64 finite infinite normal notanumber number subnormal
vote_sync 3 3 all any b32 ballot pred uni
wgmma 0 - aligned and_ b1 bf16 commit_group e4m3 e5m2 f16 f32 fence m64n104k16 m64n104k32 m64n104k8 m64n112k16
    m64n112k256 m64n112k32 m64n112k8 m64n120k16 m64n120k32 m64n120k8 m64n128k16 m64n128k256 m64n128k32 m64n128k8
    m64n136k16 m64n136k32 m64n136k8 m64n144k16 m64n144k256 m64n144k32 m64n144k8 m64n152k16 m64n152k32 m64n152k8
    m64n160k16 m64n160k256 m64n160k32 m64n160k8 m64n168k16 m64n168k32 m64n168k8 m64n16k16 m64n16k256 m64n16k32
    m64n16k8 m64n176k16 m64n176k256 m64n176k32 m64n176k8 m64n184k16 m64n184k32 m64n184k8 m64n192k16 m64n192k256
    m64n192k32 m64n192k8 m64n200k16 m64n200k32 m64n200k8 m64n208k16 m64n208k256 m64n208k32 m64n208k8 m64n216k16
    m64n216k32 m64n216k8 m64n224k16 m64n224k256 m64n224k32 m64n224k8 m64n232k16 m64n232k32 m64n232k8 m64n240k16
    m64n240k256 m64n240k32 m64n240k8 m64n248k16 m64n248k32 m64n248k8 m64n24k16 m64n24k256 m64n24k32 m64n24k8
    m64n256k16 m64n256k256 m64n256k32 m64n256k8 m64n32k16 m64n32k256 m64n32k32 m64n32k8 m64n40k16 m64n40k32 m64n40k8
    m64n48k16 m64n48k256 m64n48k32 m64n48k8 m64n56k16 m64n56k32 m64n56k8 m64n64k16 m64n64k256 m64n64k32 m64n64k8
    m64n72k16 m64n72k32 m64n72k8 m64n80k16 m64n80k256 m64n80k32 m64n80k8 m64n88k16 m64n88k32 m64n88k8 m64n8k16
    m64n8k256 m64n8k32 m64n8k8 m64n96k16 m64n96k256 m64n96k32 m64n96k8 mma_async popc s32 s8 satfinite sync tf32 u8
    wait_group
xor 3 3 b16 b32 b64 pred
"""


@dataclass(frozen=True, slots=True)
class Named:
    """An operator: its name in the registry, the dtype of its result as the head of the table says, its arguments."""

    registered: str
    result: str
    least: int = 0
    most: int | None = None


@dataclass(frozen=True, slots=True)
class InstructionFamily:
    """A family of PTX instructions."""

    least: int
    most: int | None
    modifiers: frozenset[str]


def _counts() -> dict[str, tuple[int, int | None]]:
    rows: dict[str, tuple[int, int | None]] = {}
    for count, words in OPERANDS.items():
        least, dash, most = count.partition("-")
        rows |= dict.fromkeys(words.split(), (int(least), int(most) if most else None if dash else int(least)))
    return rows


def _named() -> dict[str, Named]:
    rows: dict[str, Named] = {}
    counts = _counts()
    for result, words in NAMED.items():
        for word in words.split():
            name, _, registered = word.partition("=")
            rows[name] = Named(registered or name, result, *counts.get(name, (0, None)))
    return rows


def _families() -> dict[str, InstructionFamily]:
    rows: dict[str, InstructionFamily] = {}
    for line in PTX.replace("\n    ", " ").split("\n"):
        if line:
            name, least, most, *modifiers = line.split()
            rows[name] = InstructionFamily(int(least), None if most == "-" else int(most), frozenset(modifiers))
    return rows


NAMED_OPERATORS: Mapping[str, Named] = _named()
PTX_FAMILIES: Mapping[str, InstructionFamily] = _families()
PTX_WORDS: Mapping[str, str] = {"addr": "handle", "pred": "0"}
"""What a text writes beside instructions: an address with an offset, an operand that is a predicate."""
