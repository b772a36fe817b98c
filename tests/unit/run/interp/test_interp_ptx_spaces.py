"""Policies, state spaces, zeros in bulk and hints of PTX in a kernel (PTX-016, PTX-021, PTX-022)."""

import numpy as np
import pytest

from refmlc.diag import RefmlcError
from refmlc.lang.script import read
from refmlc.run.interp.machine import Machine

IDS = "T.device_entry()\nb = T.cta_id([1])\nt = T.thread_id([1])\n"
SHARED = "S = T.alloc_shared((8,), 'uint32')\nfor k in range(8):\n    S[k] = T.uint32(7)\n"


def run(body, *arrays):
    params = ", ".join(
        f"{name}: T.Buffer({item.shape}, '{item.dtype}')" for name, item in zip("ABCD", arrays, strict=False)
    )
    lines = "".join(f"    {line}\n" for line in (IDS + body).split("\n"))
    Machine(read(f"@T.prim_func\ndef f({params}):\n{lines}", "f.py")).call("f", arrays)


def failure(body, *arrays):
    with pytest.raises(RefmlcError) as caught:
        run(body, *arrays)
    return caught.value


def words(*values):
    return np.array(values, "uint32")


ZEROS = "T.ptx.st_bulk.weak.shared__cta(T.cuda.cvta_generic_to_shared(S.ptr_to([{at}])), {size})\n"
COPY = "for k in range(8):\n    A[k] = S[k]"


@pytest.mark.parametrize(("at", "size", "dtype"), [(2, 16, "uint32"), (0, 8, "uint64"), (4, 0, "uint32")])
def test_bytes_of_shared_memory_become_zeros(at, size, dtype):
    out = words(*range(8))
    run(SHARED + ZEROS.format(at=at, size=f"T.{dtype}({size})") + COPY, out)
    assert out.tolist() == [0 if at <= place < at + size // 4 else 7 for place in range(8)]


@pytest.mark.parametrize(
    ("body", "code", "message"),
    [
        (SHARED + ZEROS.format(at=2, size="T.uint32(20)"), "RM313", "of 20 bytes: the number is not a multiple of 8"),
        (SHARED + ZEROS.format(at=1, size="T.uint32(8)"), "RM313", "it is not aligned"),
        ("T.ptx.st_bulk(A.ptr_to([0]), T.uint32(8))", "RM313", "accesses shared memory, the address is in `global`"),
        (SHARED + ZEROS.format(at=6, size="T.uint32(16)"), "RM304", "store to `S` is beyond its storage"),
    ],
)
def test_zeros_elsewhere_are_undefined(body, code, message):
    caught = failure(body, words(*range(8)))
    assert caught.code.id == code
    assert message in caught.diagnostic.message


def test_a_state_space_is_that_of_the_memory():
    out = words(9, 9, 9, 9)
    pairs = [("shared", "S"), ("global_", "S"), ("global_", "A"), ("local", "L")]
    calls = [f"T.ptx.isspacep.{space}(A[{k}], {name}.ptr_to([0]))" for k, (space, name) in enumerate(pairs)]
    run("\n".join([f"{SHARED}L = T.alloc_local((4,), 'uint32')", *calls]), out)
    assert out.tolist() == [1, 0, 1, 1]


def test_memory_that_no_buffer_names_has_no_space():
    caught = failure("T.ptx.isspacep.global_(A[0], T.reinterpret('handle', T.uint64(8)))", words(1))
    assert caught.code.id == "RM502"
    assert "the memory of its address is not known" in caught.diagnostic.message


POLICY = "p: T.uint64\nT.ptx.createpolicy.fractional.L2__evict_last.b64(p)\n"


def test_a_policy_changes_no_value():
    out = words(5, 0)
    run(POLICY + "T.ptx.ld.global_.L2__cache_hint.b32(A[1], A.ptr_to([0]), p)", out)
    assert out.tolist() == [5, 5]


def test_a_policy_is_no_number():
    caught = failure(POLICY + "A[0] = T.cast(p, 'uint32')", words(5))
    assert caught.code.id == "RM305"


@pytest.mark.parametrize(
    "call",
    [
        "T.ptx.applypriority.global_.L2__evict_normal(A.ptr_to([99]))",
        "T.ptx.applypriority(A.ptr_to([0]), T.uint32(16), 'async', 'bulk', '', 'bulk_group', 'L2::evict_normal', '')",
        "T.ptx.cp.async_.bulk.prefetch.L2.global_(A.ptr_to([99]), T.uint32(16))",
        "T.ptx.cp(A.ptr_to([0]), 3, 'async', 'bulk', 'prefetch', 'tensor', '1d', 'L2', 'global', '', '', '')",
    ],
)
def test_a_hint_changes_nothing(call):
    out = words(5)
    run(call, out)
    assert out.tolist() == [5]


@pytest.mark.parametrize(
    "call",
    [
        "T.ptx.applypriority.global_.L2__evict_normal(A.ptr_to([0]), 3)",
        "T.ptx.cp.async_.bulk.prefetch.L2.global_(A.ptr_to([0]))",
    ],
)
def test_a_hint_with_other_operands_is_unsupported(call):
    caught = failure(call, words(5))
    assert caught.code.id == "RM502"
    assert "it has other modifiers or operands than a hint" in caught.diagnostic.message
