"""The tensor intrinsics of real TVM: which descriptions and implementations are equal, by the command that says it."""

import os

import pytest
from intrinsic_table import outcomes_of, printed


@pytest.mark.needs("tvm")
def test_descriptions_and_implementations_are_equal_up_to_known_layouts(tmp_path):
    chosen = (
        "^(mma_(fill|store|i8|f16f16f16)|mma_ldmatrix_(f16|i8)_.*[ab]$|wmma_.*(f16f16f32|s8s8s32|s4)|simdgroup|ROCM)"
    )
    printed(os.environ["REFMLC_TVM_PYTHON"], tmp_path)  # a product is compared with the loads of its operands, too
    outcomes = outcomes_of(tmp_path, chosen)
    verdicts = {outcome.name: outcome.verdict for outcome in outcomes}
    assert len(verdicts) >= 40
    apart = {"mma_ldmatrix_f16_b", "mma_f16f16f16", "mma_i8i8i32_trans_b"}
    apart |= {f"mma_f16f16f16{trans}" for trans in ("_trans_a", "_trans_b", "_trans_a_trans_b")}
    assert {name for name, verdict in verdicts.items() if verdict == "layout"} == apart
    assert set(verdicts.values()) == {"equal", "layout"}
