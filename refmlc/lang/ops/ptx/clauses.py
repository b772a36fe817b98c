"""The clause of each PTX operator that is executed, by the name under which TVM registers it.

`meaning.CLAUSES` has those of forms on registers and memory; the table here has the others, which the interpreter
executes in `threads` and `asynchronous`. `tests/e2e/ptx_table.py` compares them with what is executed.
"""

from collections.abc import Mapping
from functools import cache

from refmlc.lang.ops.ptx import meaning
from refmlc.lang.ops.ptx.registry import registered

_BY_CLAUSE = {
    "PTX-021": """
    applypriority* cp_async_bulk_prefetch cp_async_bulk_prefetch_evict_last cp_async_bulk_tensor_prefetch*
    """,
    "PTX-023": "atom_half* atom_vec_* red_half red_vec_*",
    "PTX-024": "mapa* getctarank*",
    "PTX-025": "stmatrix_m16n8_b8",
    "PTX-026": "st_async st_async_vec cp_async_bulk_s2c",
    "TIX-007": "bar_warp_sync",
    "TIX-009": "addr",
    "TIX-022": "barrier_cluster_arrive barrier_cluster_wait",
    "TIX-033": "cp_async_bulk_g2s_cluster_multicast* cp_async_bulk_tensor_g2s_cluster_multicast*",
    "TIW-002": "shfl_sync*",
    "TIW-003": "vote_sync* match_* redux_sync*",
    "TIW-004": "activemask elect_sync",
    "TIW-005": "bar_arrive bar_sync* bar_red_* barrier_arrive barrier_sync* barrier_red_*",
    "TIW-006": "atom atom_bitbucket atom_cas* atom_exch* red",
    "TIW-007": "atom_f32_noftz* red_f32_noftz",
    "TIA-011": "cp_async_ca* cp_async_cg*",
    "TIA-012": "cp_async_commit_group cp_async_wait_all cp_async_wait_group",
    "TIA-013": "cp_async_mbarrier_arrive",
    "TIA-014": "cp_async_bulk_g2s_cta cp_async_bulk_g2s_cluster",
    "TIA-015": "cp_async_bulk_s2g cp_async_bulk_commit_group cp_async_bulk_wait_group",
    "TIA-021": """
    mbarrier_init mbarrier_inval mbarrier_arrive mbarrier_arrive_nocount mbarrier_arrive_drop
    mbarrier_arrive_drop_nocount
    """,
    "TIA-022": """
    mbarrier_expect_tx mbarrier_complete_tx mbarrier_arrive_expect_tx mbarrier_arrive_drop_expect_tx
    """,
    "TIA-023": "mbarrier_try_wait_parity mbarrier_try_wait_parity_no_hint",
    "TIA-024": """
    mbarrier_arrive_state mbarrier_arrive_count_state mbarrier_arrive_expect_tx_state mbarrier_arrive_no_complete
    mbarrier_arrive_no_complete_sink mbarrier_arrive_drop_state mbarrier_arrive_drop_count_state
    mbarrier_arrive_drop_expect_tx_state mbarrier_arrive_drop_no_complete mbarrier_arrive_drop_no_complete_sink
    mbarrier_pending_count mbarrier_test_wait mbarrier_test_wait_parity mbarrier_try_wait mbarrier_try_wait_hint
    """,
    "TIA-031": "fence fence_proxy_fabric fence_proxy_tensormap_*",
    "TIA-032": "fence_mbarrier_init fence_proxy",
    "TIA-042": "cp_async_bulk_tensor_g2s_cta cp_async_bulk_tensor_g2s_cluster cp_async_bulk_tensor_s2g",
    "TIM-003": "mma mma_f16acc mma_f16c_f32d mma_f64 mma_int",
    "TIM-004": "ldmatrix stmatrix movmatrix",
    "TIM-011": "wgmma_*_ss wgmma_*_rs",
    "TIM-013": "wgmma_fence wgmma_commit_group wgmma_wait_group",
    "TIM-016": """
    tcgen05_mma_ss tcgen05_mma_ts tcgen05_mma_ws_ss tcgen05_mma_ws_ts tcgen05_mma_block_scale_ss
    tcgen05_mma_block_scale_ts tcgen05_mma_block_scale_block_ss tcgen05_mma_block_scale_block_ts
    """,
    "TIM-019": "tcgen05_commit tcgen05_commit_multicast",
    "TMM-002": "tcgen05_alloc tcgen05_dealloc tcgen05_relinquish_alloc_permit",
    "TMM-003": "tcgen05_ld tcgen05_ld_split tcgen05_st tcgen05_st_split",
    "TMM-004": "tcgen05_wait",
    "TMM-005": "tcgen05_fence",
    "TMM-006": "tcgen05_cp",
}
"""Names by clause; `*` stands for any part of a name."""


@cache
def clauses_of_operators() -> Mapping[str, str]:
    """The clause of each operator that is executed, by its name without `tirx.ptx.`."""
    rows = {name: clause for name, clause in meaning.CLAUSES.items() if meaning.is_executed(name)}
    for clause, patterns in _BY_CLAUSE.items():
        rows |= {name: clause for pattern in patterns.split() for name in _matching(pattern)}
    return rows


def _matching(pattern: str) -> list[str]:
    """The registered names that a pattern stands for; all of them where it has no `*`."""
    head, star, tail = pattern.partition("*")
    if not star:
        return [pattern]
    return [name for name in registered() if name.startswith(head) and name.endswith(tail)]
