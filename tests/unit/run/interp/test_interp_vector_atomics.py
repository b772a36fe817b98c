"""Atomic operations on vectors and on halves in registers of bits (PTX-023), worked out by hand."""

import numpy as np
import pytest

from refmlc.diag import RefmlcError
from refmlc.lang.script import read
from refmlc.observe.sanitize import sanitize
from refmlc.run.interp.machine import Machine

IDS = "T.device_entry()\nb = T.cta_id([1])\nt = T.thread_id([32])\n"


def module(body, *arrays):
    params = ", ".join(
        f"{name}: T.Buffer({item.shape}, '{item.dtype}')" for name, item in zip("ABCD", arrays, strict=False)
    )
    lines = "".join(f"    {line}\n" for line in (IDS + body).split("\n"))
    return read(f"@T.prim_func\ndef f({params}):\n{lines}", "f.py")


def run(body, *arrays):
    Machine(module(body, *arrays)).call("f", arrays)


def test_each_element_of_a_vector_is_changed():
    total, old = np.float32([1, 2, 3, 4]), np.zeros((32, 2), "float32")
    body = "T.ptx.atom.global_.add.v2.f32(d[0], d[1], A.ptr_to([2]), T.float32(1), T.float32(2))"
    run(f"d = T.alloc_local((2,), 'float32')\n{body}\nfor k in range(2):\n    B[t, k] = d[k]", total, old)
    assert total.tolist() == [1, 2, 35, 68]
    assert old.tolist() == [[3 + t, 4 + 2 * t] for t in range(32)]


def test_a_vector_without_destinations_under_a_policy():
    total = np.float32([1, 2, 3, 4])
    values = "T.float32(1), T.float32(0), T.float32(2), T.float32(0), T.uint64(0)"
    run(f"T.ptx.red.global_.add.L2__cache_hint.v4.f32(A.ptr_to([0]), {values})", total)
    assert total.tolist() == [33, 2, 67, 4]


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("red.global_.add.noftz.f16(A.ptr_to([1]), T.uint16(0x3C00))", [1, 34, 3, 4]),
        ("red.global_.add.noftz.f16x2(A.ptr_to([2]), T.uint32(0x40003C00))", [1, 2, 35, 68]),
        ("red.global_.add.noftz.v2.f16x2(T.ptx.addr(A.ptr_to([0]), 0), T.uint32(0x3C00), T.uint32(0))", [33, 2, 3, 4]),
        ("atom.global_.add.noftz.v2.f16(A.ptr_to([0]), T.uint16(0x3C00), T.uint16(0x4000))", [33, 66, 3, 4]),
        ("red.global_.max.noftz.v2.f16(A.ptr_to([2]), T.uint16(0x4500), T.uint16(0))", [1, 2, 5, 4]),
        ("red.global_.min.noftz.v2.f16(A.ptr_to([2]), T.uint16(0x4500), T.uint16(0xBC00))", [1, 2, 3, -1]),
    ],
)
def test_halves_in_registers_of_bits(call, expected):
    total = np.float16([1, 2, 3, 4])
    run(f"T.ptx.{call}", total)
    assert total.tolist() == expected


def test_the_values_before_of_a_pair_are_a_pair():
    total, old = np.array([1, 2], "uint16"), np.zeros(1, "uint32")
    total = np.array([0x3F80, 0x4000], "uint16")  # 1 and 2 of bfloat16
    run("if t == 3:\n    T.ptx.atom.global_.add.noftz.bf16x2(B[0], A.ptr_to([0]), T.uint32(0x40004000))", total, old)
    assert [hex(each) for each in total] == ["0x4040", "0x4080"]
    assert old.tolist() == [0x4000_3F80]


def test_a_vector_in_shared_memory():
    out = np.zeros(2, "float32")
    body = (
        "S = T.alloc_shared((2,), 'float32')\nif t < 2:\n    S[t] = T.float32(1)\nT.cuda.cta_sync()\n"
        "T.ptx.red.shared.add.v2.f32(T.cuda.cvta_generic_to_shared(S.ptr_to([0])), T.float32(1), T.float32(2))\n"
        "T.cuda.cta_sync()\nif t < 2:\n    A[t] = S[t]"
    )
    run(body, out)
    assert out.tolist() == [33, 65]


def test_two_of_them_do_not_race():
    total = np.float32([0, 0])
    report = sanitize(
        module("T.ptx.red.global_.add.v2.f32(A.ptr_to([0]), T.float32(1), T.float32(2))", total), "f", [total]
    )
    assert not list(report.findings)


@pytest.mark.parametrize(
    ("call", "code", "message"),
    [
        ("red.global_.add.v2.f32(A.ptr_to([1]), T.float32(0), T.float32(1))", "RM313", "it is not aligned"),
        ("red.global_.add.v2.f32(A.ptr_to([4]), T.float32(0), T.float32(1))", "RM304", "`A"),
        ("red.global_.max.v2.f32(A.ptr_to([0]), T.float32(0), T.float32(1))", "RM502", "in this form"),
        ("red.global_.add.f16(A.ptr_to([0]), T.uint16(0))", "RM502", "in this form"),
        ("red.global_.add.v4.f32(A.ptr_to([0]), T.float32(0))", "RM502", "in this form"),
        ("red.shared__cluster.add.v2.f32(A.ptr_to([0]), T.float32(0), T.float32(0))", "RM313", "in `global`"),
        ("red.global_.add.noftz.f16(A.ptr_to([0]), T.uint32(0))", "RM502", "in registers of other sizes"),
        ("atom.global_.add.v2.f32(t, t, A.ptr_to([0]), T.float32(0), T.float32(0))", "RM502", "no element of a buffer"),
        ("red.global_.add.v2.f32(A.ptr_to([0]), T.float32(0), T.float32(0), pred=True)", "RM502", "with a predicate"),
        ("red.global_.max.noftz.v2.f16(A.ptr_to([0]), T.uint16(0x7FFF), T.uint16(0))", "RM502", "gives no max of"),
        ("red.global_.min.noftz.v2.f16(A.ptr_to([0]), T.uint16(0x8000), T.uint16(0))", "RM502", "gives no min of"),
        ("red.global_.add.v2.f32(A.ptr_to([0]), T.float32(0.1), T.float32(0))", "RM504", "depends on their order"),
    ],
)
def test_what_is_refused(call, code, message):
    data = np.zeros(4, "float32")
    with pytest.raises(RefmlcError) as caught:
        run(f"T.ptx.{call}", data)
    assert caught.value.code.id == code
    assert message in caught.value.diagnostic.message
