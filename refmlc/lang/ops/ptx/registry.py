"""The 507 operators that TVM 0.27 registers for PTX, and which of them are executed.

A row is a family and the rest of each name, `.` where there is none. `tests/e2e/test_ptx_forms.py` compares them with
a TVM. `addr` is no instruction: an address with an offset, an operand of those that access memory.
"""

from collections.abc import Mapping
from functools import cache

from refmlc.lang.ops.ptx.forms import forms
from refmlc.lang.ops.ptx.meaning import is_executed, missing

NAMES = """
abs . _f _half
activemask .
add . _half _int _mixed_vec_down_bf16 _mixed_vec_down_f16 _mixed_vec_up
addr .
and .
applypriority . _async_bulk _async_bulk_tensor _async_bulk_tensor_im2col _async_bulk_tensor_override_address
    _async_bulk_tensor_override_address_im2col _async_bulk_tensor_override_global_dim_b16
    _async_bulk_tensor_override_global_dim_b8 _async_bulk_tensor_override_global_dim_stride_b16
    _async_bulk_tensor_override_global_dim_stride_b8
atom . _bitbucket _cas _cas_bitbucket _exch _exch_bitbucket _f32_noftz _f32_noftz_bitbucket _half _half_bitbucket
    _vec_f32 _vec_f32_bitbucket _vec_f32_noftz _vec_f32_noftz_bitbucket _vec_half _vec_half_bitbucket
bar _arrive _red_popc _red_popc_count _red_pred _red_pred_count _sync _sync_count _warp_sync
barrier _arrive _cluster_arrive _cluster_wait _red_popc _red_popc_count _red_pred _red_pred_count _sync _sync_count
bfe .
bfi .
bfind .
bmsk .
brev .
clmad .
clusterlaunchcontrol _query_cancel_get_first_ctaid _query_cancel_get_first_ctaid_v4 _query_cancel_is_canceled
    _try_cancel
clz .
cnot .
copysign .
cos .
cp _async_bulk_commit_group _async_bulk_g2s_cluster _async_bulk_g2s_cluster_multicast16
    _async_bulk_g2s_cluster_multicast32 _async_bulk_g2s_cluster_report _async_bulk_g2s_cta
    _async_bulk_g2s_cta_report _async_bulk_prefetch _async_bulk_prefetch_evict_last _async_bulk_s2c _async_bulk_s2g
    _async_bulk_tensor_g2s_cluster _async_bulk_tensor_g2s_cluster_im2col _async_bulk_tensor_g2s_cluster_multicast16
    _async_bulk_tensor_g2s_cluster_multicast32 _async_bulk_tensor_g2s_cluster_override_address
    _async_bulk_tensor_g2s_cluster_override_address_im2col _async_bulk_tensor_g2s_cluster_override_global_dim_b16
    _async_bulk_tensor_g2s_cluster_override_global_dim_b8
    _async_bulk_tensor_g2s_cluster_override_global_dim_stride_b16
    _async_bulk_tensor_g2s_cluster_override_global_dim_stride_b8 _async_bulk_tensor_g2s_cluster_report
    _async_bulk_tensor_g2s_cta _async_bulk_tensor_g2s_cta_im2col _async_bulk_tensor_g2s_cta_override_address
    _async_bulk_tensor_g2s_cta_override_address_im2col _async_bulk_tensor_g2s_cta_override_global_dim_b16
    _async_bulk_tensor_g2s_cta_override_global_dim_b8 _async_bulk_tensor_g2s_cta_override_global_dim_stride_b16
    _async_bulk_tensor_g2s_cta_override_global_dim_stride_b8 _async_bulk_tensor_g2s_cta_report
    _async_bulk_tensor_prefetch _async_bulk_tensor_prefetch_evict_last _async_bulk_tensor_prefetch_im2col
    _async_bulk_tensor_prefetch_im2col_evict_last _async_bulk_tensor_prefetch_override_address
    _async_bulk_tensor_prefetch_override_address_evict_last _async_bulk_tensor_prefetch_override_address_im2col
    _async_bulk_tensor_prefetch_override_address_im2col_evict_last
    _async_bulk_tensor_prefetch_override_global_dim_b16 _async_bulk_tensor_prefetch_override_global_dim_b8
    _async_bulk_tensor_prefetch_override_global_dim_evict_last_b16
    _async_bulk_tensor_prefetch_override_global_dim_evict_last_b8
    _async_bulk_tensor_prefetch_override_global_dim_stride_b16
    _async_bulk_tensor_prefetch_override_global_dim_stride_b8
    _async_bulk_tensor_prefetch_override_global_dim_stride_evict_last_b16
    _async_bulk_tensor_prefetch_override_global_dim_stride_evict_last_b8 _async_bulk_tensor_s2g
    _async_bulk_tensor_s2g_im2col_no_offs_w _async_bulk_tensor_s2g_override_address
    _async_bulk_tensor_s2g_override_address_im2col_no_offs_w _async_bulk_tensor_s2g_override_global_dim_b16
    _async_bulk_tensor_s2g_override_global_dim_b8 _async_bulk_tensor_s2g_override_global_dim_stride_b16
    _async_bulk_tensor_s2g_override_global_dim_stride_b8 _async_bulk_wait_group _async_ca _async_ca_ignore_src
    _async_ca_src_size _async_cg _async_cg_ignore_src _async_cg_src_size _async_commit_group _async_mbarrier_arrive
    _async_wait_all _async_wait_group _reduce_async_bulk_s2c _reduce_async_bulk_s2g _reduce_async_bulk_s2g_f32_noftz
    _reduce_async_bulk_tensor _reduce_async_bulk_tensor_im2col_no_offs_w _reduce_async_bulk_tensor_override_address
    _reduce_async_bulk_tensor_override_address_im2col_no_offs_w _reduce_async_bulk_tensor_override_global_dim_b16
    _reduce_async_bulk_tensor_override_global_dim_b8 _reduce_async_bulk_tensor_override_global_dim_stride_b16
    _reduce_async_bulk_tensor_override_global_dim_stride_b8
createpolicy _cvt _fraction _fractional _range
cvt . _94_narrow_f32 _94_narrow_fp16x2 _bf16x2_f32 _bf16x2_f4x2 _bf16x2_f6x2 _bf16x2_f8x2 _bf16x2_s2f6x2
    _bf16x2_ue5m3x2 _bf16x2_ue8m0x2 _f16x2_f32 _f16x2_f4x2 _f16x2_f6x2 _f16x2_f8x2 _f16x2_ue5m3x2 _f4x2_f32
    _f4x2_fp16x2 _f6x2_f32 _f6x2_fp16x2 _f8x2_f32 _f8x2_fp16x2 _pzo_fp16x2_f32 _pzo_scalar_f32 _pzo_tf32_f32
    _rs_bf16x2_f32 _rs_f16x2_f32 _rs_f4x4_f32 _rs_f6x4_f32 _rs_f8x4_f32 _s2f6x2_bf16x2 _s2f6x2_f32 _tf32_f32
    _ue5m3x2_f32 _ue5m3x2_f32_scaled _ue5m3x2_fp16x2 _ue5m3x2_fp16x2_scaled _ue8m0x2_bf16x2 _ue8m0x2_f32
cvt_pack . _c
cvta . _generic
discard .
div . _f
dp2a .
dp4a .
elect_sync .
ex2 . _half
fabric _submit _try_get _try_pullred _try_put _try_put_counted _try_put_cp_mask _try_red _try_red_counted _wait
fence . _mbarrier_init _proxy _proxy_fabric _proxy_tensormap_acquire _proxy_tensormap_release
fma . _half _mixed_vec
fns .
getctarank . _generic
griddepcontrol .
isspacep .
ld . _proxy_readonly _vec _vec256
ldmatrix . _b8fmt _m16n16_b8 _s8_s4
ldu . _vec
lg2 .
lop3 . _bool _bool_sink
mad _f _int _wide
mad24 .
mapa . _u32 _u64_raw _u64_shared
match _all_sync _all_sync_p _any_sync
max . 3
mbarrier _arrive _arrive_count_state _arrive_drop _arrive_drop_count_state _arrive_drop_expect_tx
    _arrive_drop_expect_tx_multicast32 _arrive_drop_expect_tx_state _arrive_drop_multicast32
    _arrive_drop_multicast32_nocount _arrive_drop_no_complete _arrive_drop_no_complete_sink _arrive_drop_nocount
    _arrive_drop_state _arrive_expect_tx _arrive_expect_tx_multicast32 _arrive_expect_tx_state _arrive_multicast32
    _arrive_multicast32_nocount _arrive_no_complete _arrive_no_complete_sink _arrive_nocount _arrive_state
    _check_layout _complete_tx _complete_tx_multicast32 _expect_tx _expect_tx_multicast32 _init _inval
    _pending_count _test_wait _test_wait_parity _test_wait_parity_report _test_wait_parity_report_value
    _test_wait_report _test_wait_report_value _try_wait _try_wait_hint _try_wait_parity _try_wait_parity_no_hint
    _try_wait_parity_report _try_wait_parity_report_hint _try_wait_parity_report_value
    _try_wait_parity_report_value_hint _try_wait_report _try_wait_report_hint _try_wait_report_value
    _try_wait_report_value_hint
min . 3
mma . _f16acc _f16c_f32d _f64 _int _sp _sp_all _sp_f16acc _sp_f16acc_pair _sp_int_all _sp_int_pair _sp_pair
mov . _pack_b16x2 _pack_b16x4 _pack_b32x2 _pack_b32x4 _pack_b64x2 _unpack_b16x2 _unpack_b16x4 _unpack_b32x2
    _unpack_b32x4 _unpack_b64x2
movmatrix .
mul . _half _int _mixed_vec_bf16_f16 _mixed_vec_down_bf16 _mixed_vec_down_f16 _mixed_vec_f16_bf16 _wide
mul24 .
multimem_cp _async_bulk _reduce_async_bulk _reduce_async_bulk_f32_noftz
multimem_ld_reduce . _f _f_vec
multimem_red . _f _f_vec
multimem_red_async .
multimem_st . _f _f_vec
multimem_st_async .
neg . _half _int
not .
or .
popc .
prefetch . _valid_addr
prefetchu .
prmt .
rcp .
red . _f32_noftz _half _vec_f32 _vec_f32_noftz _vec_half
red_async . _release
redux_sync . _bitwise _f32
rem .
rsqrt .
sad .
selp .
set . _bool _half _half_bool _packed
setmaxnreg .
setp . _bool _bool_pq _half _half_bool _half_bool_pq _half_pq _pq
shf .
shfl_sync . _p
shl .
shr .
sin .
slct .
spcompress .
spdecompress .
sqrt .
st . _vec _vec256
st_async . _release _vec
st_bulk .
stmatrix . _m16n8_b8
sub . _half _int _mixed_vec_down_bf16 _mixed_vec_down_f16 _mixed_vec_up
szext .
tanh . _half
tcgen05 _alloc _alloc_exclusive _commit _commit_multicast _commit_multicast_width _commit_sync_restrict
    _commit_sync_restrict_multicast _cp _dealloc _dealloc_exclusive _fence _ld _ld_red _ld_red_spcompress
    _ld_red_split _ld_spcompress _ld_split _mma_ashift_collector_b_ts _mma_block_scale_block_ss
    _mma_block_scale_block_ts _mma_block_scale_collector_ab_ss _mma_block_scale_collector_ab_ts
    _mma_block_scale_lut_b_ss _mma_block_scale_lut_b_ts _mma_block_scale_ss _mma_block_scale_ts _mma_collector_ab_ss
    _mma_collector_ab_ts _mma_lut_b_ss _mma_lut_b_ts _mma_sp_ashift_collector_b_ts
    _mma_sp_block_scale_collector_ab_ss _mma_sp_block_scale_collector_ab_ts _mma_sp_collector_ab_ss
    _mma_sp_collector_ab_ts _mma_sp_ti16_ss _mma_sp_ti16_ss_collector_b _mma_sp_ti16_ts _mma_sp_ti16_ts_collector_b
    _mma_ss _mma_ti16_ss _mma_ti16_ss_collector_b _mma_ti16_ts _mma_ti16_ts_collector_b _mma_ts _mma_ws_sp_ti16_ss
    _mma_ws_sp_ti16_ss_mask _mma_ws_sp_ti16_ts _mma_ws_sp_ti16_ts_mask _mma_ws_ss _mma_ws_ti16_ss
    _mma_ws_ti16_ss_mask _mma_ws_ti16_ts _mma_ws_ti16_ts_mask _mma_ws_ts _relinquish_alloc_permit _st _st_split
    _wait
tensormap_cp_fenceproxy .
tensormap_replace _address _dim _elemtype _fill_mode _interleave_layout _rank _stride _swizzle_mode
    _swizzle_mode_sm103a
testp .
vote_sync . _ballot
wgmma _b1_rs _b1_ss _bf16_rs _bf16_ss _commit_group _f16_f16acc_rs _f16_f16acc_ss _f16_rs _f16_ss _fence
    _fp8_f16acc_rs _fp8_f16acc_ss _fp8_rs _fp8_ss _int_rs _int_ss _tf32_rs _tf32_ss _wait_group
xor .
"""


@cache
def registered() -> Mapping[str, str]:
    """The family of each operator, by its name without `tirx.ptx.`."""
    rows = {}
    for line in NAMES.strip().replace("\n    ", " ").split("\n"):
        family, *rest = line.split()
        rows.update({family + part.removeprefix("."): family for part in rest})
    return rows


def executed() -> frozenset[str]:
    """The operators that have a meaning here."""
    return frozenset(name for name in registered() if name == "addr" or is_executed(name))


def reasons() -> Mapping[str, str]:
    """Why an operator of a family that is executed is not."""
    return {name: missing(name) for name in forms() if not is_executed(name)}
