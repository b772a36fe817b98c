"""Bulk copies and asynchronous tile primitives, worked out by hand (TIA-014, TIA-015, TIP-015)."""

import numpy as np
import pytest

from refmlc.diag import RefmlcError
from refmlc.lang.script import read
from refmlc.observe.sanitize import sanitize
from refmlc.run.interp.machine import Machine

HEAD = """@T.prim_func
def main(A: T.Buffer((8, 8), "int32"), B: T.Buffer((8, 8), "int32")):
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([64])
    S = T.alloc_shared((8, 8), "int32")
    bar = T.alloc_shared((1,), "uint64")
    if t == 0:
        T.ptx.mbarrier.init.shared.b64(T.address_of(bar[0]), T.uint32(1))
    T.cuda.cta_sync()
"""
A = np.arange(64, dtype="int32").reshape(8, 8)
LOAD = "T.ptx.cp.async_.bulk.shared__cta.global_.mbarrier__complete_tx__bytes(S.data, A.data, T.uint32(256), bar.data)"
STORE = "T.ptx.cp.async_.bulk.global_.shared__cta.bulk_group(B.data, S.data, T.uint32(256))"
COMMIT, WAIT = "T.ptx.cp.async_.bulk.commit_group()", "T.ptx.cp.async_.bulk.wait_group({})"
READ = "T.ptx.cp.async_.bulk.wait_group.read(0)"
CP = "T.ptx.cp.async_.commit_group()\nT.ptx.cp.async_.wait_group(0)"
FENCE = "T.ptx.fence.proxy.async_.shared__cta()"
PHASE, BLOCK = "T.cuda.mbarrier_wait(bar.data, 0)", "T.cuda.cta_sync()"
OUT = "B[t // 8, t % 8] = S[7 - t // 8, t % 8]"
BEYOND = "Tx.copy_async(S[0:8, 0:8], A[4:12, 0:8], dispatch='tma_explicit'"
FLIPPED = A[::-1].tolist()


def expect(nbytes):
    return f"T.ptx.mbarrier.arrive.expect_tx.shared.b64(bar.data, T.uint32({nbytes}))"


def first(*statements):
    return "\n".join(("if t == 0:", *(f"    {line}" for text in statements for line in text.split("\n"))))


def text_of(statements):
    return HEAD + "".join(f"    {line}\n" for part in statements for line in part.split("\n"))


def run(*statements):
    out = np.full((8, 8), -1, "int32")
    Machine(read(text_of(statements), "f.py")).call("main", [A.copy(), out])
    return out.tolist()


def failure(*statements):
    with pytest.raises(RefmlcError) as caught:
        run(*statements)
    return caught.value


def found(*statements):
    arguments = [A.copy(), np.zeros((8, 8), "int32")]
    report = sanitize(read(text_of(statements), "f.py"), "main", arguments)
    return {code for code, number in report.counts.items() if number} or report.verdict


# ------------------------------------------------------------------------------------------------- bulk copies


@pytest.mark.parametrize("begin", [(LOAD, expect(256)), (expect(256), LOAD)])
def test_a_phase_brings_a_bulk_copy(begin):
    assert run(first(*begin), PHASE, OUT) == FLIPPED
    assert found(first(*begin), PHASE, OUT) == "defined"


@pytest.mark.parametrize(
    ("statements", "code"),
    [
        ((first(LOAD, expect(256)), BLOCK, OUT), "RM341"),
        ((first(LOAD, expect(240)), PHASE, OUT), "RM343"),
        ((first(LOAD, expect(272)), PHASE, OUT), "RM343"),
        ((first(LOAD, "T.ptx.mbarrier.arrive.shared.b64(bar.data)"), PHASE, OUT), "RM343"),
        ((first(expect(256), LOAD, "A[3, 3] = 0"), PHASE, OUT), "RM341"),
        ((first(expect(256), LOAD, "S[3, 3] = 0"), PHASE, OUT), "RM341"),
        ((first(expect(512), LOAD, LOAD), PHASE, OUT), "RM341"),
        ((first(LOAD.replace("S.data", "S.ptr_to([0, 1])").replace("256", "16"), expect(16)), PHASE), "RM313"),
        ((first(LOAD.replace("256", "8"), expect(8)), PHASE), "RM504"),
        ((first(LOAD.replace("256", "272"), expect(272)), PHASE), "RM304"),
        ((first(LOAD.replace("A.data", "S.data"), expect(256)), PHASE), "RM313"),
    ],
)
def test_faults_of_bulk_copies_to_shared_memory(statements, code):
    assert failure(*statements).code.id == code


def test_the_first_of_two_copies_does_not_complete_a_phase_that_expects_too_few_bytes_for_both():
    half = LOAD.replace("256", "128")
    other = half.replace("S.data", "S.ptr_to([4, 0])").replace("A.data", "A.ptr_to([4, 0])")
    assert run(first(expect(256), half, other), PHASE, OUT) == FLIPPED
    assert failure(first(expect(128), half, other), PHASE, OUT).code.id == "RM341"
    assert failure(first(half, other, expect(128)), PHASE, OUT).code.id == "RM343"


def test_who_has_not_seen_the_phase_races_with_the_copy():
    seen = (first(LOAD, expect(256)), BLOCK, first(PHASE))
    assert found(*seen, "B[t // 8, t % 8] = S[0, 0]") == {"RM321"}
    assert found(*seen, BLOCK, "B[t // 8, t % 8] = S[0, 0]") == "defined"


def test_a_group_brings_a_bulk_copy_to_global_memory():
    start = ("S[t // 8, t % 8] = A[7 - t // 8, t % 8]", FENCE, BLOCK)
    assert run(*start, first(STORE, COMMIT, WAIT.format(0))) == FLIPPED
    assert found(*start, first(STORE, COMMIT, WAIT.format(0)), BLOCK, "B[t // 8, t % 8] = 0") == "defined"
    assert found(*start, first(STORE, COMMIT, WAIT.format(0)), "B[t // 8, t % 8] = 0") == {"RM321"}
    assert run(*start, first(STORE, COMMIT, READ, "S[0, 0] = 5")) == FLIPPED
    for wrong in (
        first(STORE, COMMIT, WAIT.format(1)),
        first(STORE, READ),
        first(STORE, COMMIT, "S[0, 0] = 5", READ),
        first(STORE, COMMIT, READ, "B[0, 0] = B[1, 1]"),
        first(STORE, COMMIT, "T.ptx.cp.async_.wait_all()"),
    ):
        assert failure(*start, wrong).code.id == "RM341"


# --------------------------------------------------------------------------------------------- tile primitives


@pytest.mark.parametrize("scope", ["cta", "warp", "thread"])
def test_a_tile_is_there_when_all_of_its_threads_have_waited(scope):
    region = {"cta": "0:8, 0:8", "warp": "t // 32 * 4 : t // 32 * 4 + 4, 0:8", "thread": "t // 8, t % 8 : t % 8 + 1"}
    prefix = "Tx" if scope == "thread" else f"Tx.{scope}"
    issue = f"{prefix}.copy_async(S[{region[scope]}], A[{region[scope]}])"
    assert run(issue, CP, BLOCK, OUT) == FLIPPED
    assert found(issue, CP, BLOCK, OUT) == "defined"
    assert failure(issue, BLOCK, OUT).code.id == "RM341"
    assert failure(issue, "T.ptx.cp.async_.commit_group()", BLOCK, OUT).code.id == "RM341"


def test_a_tile_is_not_there_before_the_last_thread_has_waited():
    issue = "Tx.cta.copy_async(S[0:8, 0:8], A[0:8, 0:8])"
    waits = "\n".join(["if t < 63:", *(f"    {line}" for line in CP.split("\n"))])
    assert failure(issue, waits, BLOCK, OUT).code.id == "RM341"
    assert found(issue, CP, "B[t // 8, t % 8] = S[t // 8, t % 8]") == {"RM341"}


def test_a_tile_of_a_barrier_and_one_to_global_memory():
    load = "Tx.copy_async(S[0:8, 0:8], A[0:8, 0:8], dispatch='tma_auto', mbar=bar.ptr_to([0]))"
    store = "Tx.copy_async(B[0:8, 0:8], S[0:8, 0:8], dispatch='tma_auto')"
    assert run(first(load, expect(256)), PHASE, OUT) == FLIPPED
    assert found(first(load, expect(256)), PHASE, OUT) == "defined"
    assert failure(first(load, expect(128)), PHASE, OUT).code.id == "RM343"
    assert run(first(load, expect(256), PHASE, store, COMMIT, WAIT.format(0))) == A.tolist()
    assert failure(first(load, expect(256), PHASE, store, COMMIT)).code.id == "RM341"


def test_layouts_say_where_the_elements_of_a_tile_lie():
    layout = "T.TileLayout(T.S[(8, 8) : (1, 8)])"
    turned = f"P = T.alloc_buffer((8, 8), 'int32', scope='shared', layout={layout})"
    flat = "Q = T.decl_buffer((64,), 'int32', data=P.data, scope='shared')"
    issue = "Tx.cta.copy_async(P[0:8, 0:8], A[0:8, 0:8])"
    assert run(turned, flat, issue, CP, BLOCK, "B[t // 8, t % 8] = Q[t]") == A.T.tolist()


@pytest.mark.parametrize(
    ("statement", "part"),
    [
        ("Tx.copy_async(S[0:8, 0:8], A[0:8, 0:8], gather4=[0, 1, 2, 3])", "the setting `gather4`"),
        ("Tx.copy_async(S[0:8, 0:8], A[0:8, 0:8], cta_group=2)", "the setting `cta_group`"),
        ("Tx.copy_async(S[0:4, 0:8], S[4:8, 0:8])", "scope `shared` as destination"),
        ("Tx.copy_async(B[0:8, 0:8], A[0:8, 0:8])", "scope `global` as destination"),
        ("Tx.copy_async(B[0:8, 0:8], S[0:8, 0:8], mbar=bar.ptr_to([0]))", "and a barrier that completes it"),
        (f"{BEYOND}, mbar=bar.ptr_to([0]))", "beyond the bounds"),
    ],
)
def test_what_has_no_completion_is_refused(statement, part):
    caught = failure("S[t // 8, t % 8] = 0", BLOCK, first(statement))
    assert caught.code.id == "RM504"
    assert part in caught.diagnostic.message


def test_several_threads_issue_no_bulk_copy():
    caught = failure("Tx.warp.copy_async(S[0:8, 0:8], A[0:8, 0:8], mbar=bar.ptr_to([0]))")
    assert "one thread issues a bulk copy" in caught.diagnostic.message
