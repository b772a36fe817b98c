"""What a call of an instruction needs to have a meaning, and that the table counts no call without one."""

import ptx_kernels
import pytest
from ptx_kernels import kernel
from ptx_table import DEFINED, UNDEFINED, judged, masked, prove_itself, verdict

SHARED, MANY = "T.cuda.cvta_generic_to_shared(S.ptr_to([0]))", "'mbarrier::complete_tx::bytes'"
BOX = f"T.ptx.cp({SHARED}, A.ptr_to([0]), r_int32[2], r_int32[3], {SHARED}, 'async', 'bulk', 'tensor', '2d'"
NEEDY = {
    "mask": "T.ptx.vote_sync(r_uint32[0], r_uint32[1], r_uint32[2], 'ballot', 'b32', 'p1')",
    "barrier": "T.ptx.mbarrier(A.ptr_to([0]), r_uint32[1], 'arrive', '', '', '', 'b64', '')",
    "memory for a barrier": "T.ptx.mbarrier(A.ptr_to([0]), r_uint32[1], 'init', '', '', 'b64', '')",
    "state": f"T.ptx.mbarrier(r_uint32[0], {SHARED}, r_uint64[2], 'test_wait', '', '', '', 'shared', 'b64', '')",
    "state without completion": "T.ptx.mbarrier(r_uint32[0], r_uint64[1], 'pending_count', '', 'b64', '')",
    "own places": f"T.ptx.cp({SHARED}, A.ptr_to([0]), 4, 'async', 'ca', 'shared', 'global', '', '', '')",
    "bytes of a phase": f"T.ptx.cp({SHARED}, A.ptr_to([0]), r_uint32[2], {SHARED}, 'async', 'bulk', '', '', "
    f"'shared::cta', 'global', {MANY}, '', '', '', '')",
    "bytes of a group": f"T.ptx.cp(A.ptr_to([0]), {SHARED}, r_uint32[2], 'async', 'bulk', '', '', 'global', "
    "'shared::cta', 'bulk_group', '', '', '', '')",
    "map": f"{BOX}, 'shared::cta', 'global', '', {MANY}, '', '', '')",
    "store": f"T.ptx.st_async(A.ptr_to([0]), r_uint32[1], r_uint32[2], A.ptr_to([0]), '', '', {MANY}, 'v2', 'b32', '')",
    "address": "T.ptx.getctarank(r_uint32[0], r_uint64[1], 'shared::cluster', 'u64', '')",
}


@pytest.mark.parametrize("name", NEEDY)
def test_a_call_that_gets_what_it_needs_ends(name):
    assert judged([NEEDY[name]]) == ("executed", "")


@pytest.mark.parametrize("name", NEEDY)
def test_it_is_undefined_without(name, monkeypatch):
    monkeypatch.setattr(ptx_kernels, "NEEDS", ())
    assert judged([NEEDY[name]])[0] == "undefined"


def test_an_operator_whose_calls_are_all_undefined_is_not_counted(monkeypatch):
    assert judged(UNDEFINED)[0] == "undefined"
    assert judged([*UNDEFINED, DEFINED])[0] == "executed"
    prove_itself()
    monkeypatch.setattr("ptx_table.verdict", lambda *_: ("executed", ""))
    with pytest.raises(SystemExit, match="cannot fail"):
        prove_itself()


def test_unsupported_is_no_better_than_undefined():
    unsupported = "T.ptx.spcompress(r_uint32[0], r_uint32[1], r_uint32[2], 'b8', 'b2', 'sp::2:4', 'x1', '')"
    assert verdict(unsupported, (1,))[0] == "unsupported"
    assert judged([unsupported])[0] == "unsupported"
    assert judged([unsupported, UNDEFINED[0]])[0] == "undefined"


def test_other_numbers_are_tried_where_some_are_unsupported():
    counted = "T.ptx.barrier(r_uint32[0], r_uint32[1], r_uint32[2], r_uint32[3], 'red', 'popc', '', 'u32', 'p3')"
    assert verdict(counted, (1,))[0] == "unsupported"
    assert judged([counted]) == ("executed", "")


def test_a_kernel_waits_for_the_bytes_that_it_expects():
    text = kernel(NEEDY["map"], (1,))
    assert "cuTensorMapEncodeTiled', m, 'uint32', 2, A.data, 4, 2, 16, 4, 2, 1, 1, 0, 0, 0, 0" in text
    assert "expect_tx.shared__cta.b64(bar.ptr_to([0]), T.uint32(32))" in text
    assert text.index("expect_tx") < text.index("'tensor'") < text.index("mbarrier_wait")


def test_reasons_are_grouped_without_names():
    reason = "`T.ptx.ldmatrix` with the modifiers sync aligned m8n16 x1 s8 s4: not executed"
    assert masked(reason) == "_: not executed"
    assert masked("`.im2col` is not executed") == "_ is not executed"
