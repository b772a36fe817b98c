"""The table of the operators that TVM registers for PTX (`ptx_table.py`) counts what is executed."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from ptx_table import shown

from refmlc.lang.ops.ptx.clauses import clauses_of_operators

TABLE = Path(__file__).parent / "ptx_table.py"

UNSHOWN = """
cp_async_bulk_g2s_cluster cp_async_bulk_tensor_g2s_cluster cp_async_bulk_tensor_g2s_cluster_multicast16
cp_async_bulk_tensor_g2s_cluster_multicast32 fence_mbarrier_init mbarrier_try_wait_parity mma_f16c_f32d tcgen05_alloc
tcgen05_commit tcgen05_commit_multicast tcgen05_dealloc tcgen05_fence tcgen05_mma_block_scale_block_ss
tcgen05_mma_block_scale_block_ts tcgen05_mma_block_scale_ss tcgen05_mma_block_scale_ts tcgen05_mma_ss tcgen05_mma_ts
tcgen05_mma_ws_ss tcgen05_mma_ws_ts tcgen05_relinquish_alloc_permit tcgen05_st_split
"""
"""Executed, with a clause, and in no case that returns and that TVM reads; one that a case shows leaves this list."""

pytestmark = pytest.mark.needs("tvm")


def test_operators_are_executed_or_unsupported():
    command = [sys.executable, str(TABLE), "--tvm", os.environ["REFMLC_TVM_PYTHON"], "--calls", "2"]
    done = subprocess.run(
        [*command, "--names", "^(add|sub_half|bfe|ld|ex2|cvt_rs_f8x4_f32)$", "--reasons"],
        check=False,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout
    assert "5 of them have a clause and a case that cites it" in done.stdout
    assert "executed without a clause or a case: none" in done.stdout
    assert "6 of 7 operators are executed" in done.stdout
    assert "0 are undefined, whatever their operands" in done.stdout
    assert "1 unsupported, of 1 families (cvt): " in done.stdout
    assert "cvt_rs_f8x4_f32: unsupported" in done.stdout


def test_operators_that_no_case_shows_are_these():
    cases = shown(os.environ["REFMLC_TVM_PYTHON"])
    assert set(clauses_of_operators()) - set(cases) == set(UNSHOWN.split())
