"""Atomic operations (TIW-006, TIW-007): values worked out from the operations, by hand."""

import numpy as np
import pytest

from refmlc.diag import RefmlcError
from refmlc.lang.script import read
from refmlc.observe.sanitize import sanitize
from refmlc.run.interp.machine import Machine

IDS = "T.device_entry()\nb = T.cta_id([{blocks}])\nt = T.thread_id([32])\n"
BEFORE = "d = T.alloc_local((1,), '{}')\n"


def module(body, *arrays, blocks=1):
    params = ", ".join(
        f"{name}: T.Buffer({item.shape}, '{item.dtype}')" for name, item in zip("ABCD", arrays, strict=False)
    )
    lines = "".join(f"    {line}\n" for line in (IDS.format(blocks=blocks) + body).split("\n"))
    return read(f"@T.prim_func\ndef f({params}):\n{lines}", "f.py")


def run(body, *arrays, blocks=1):
    Machine(module(body, *arrays, blocks=blocks)).call("f", arrays)


def failure(body, *arrays, blocks=1):
    with pytest.raises(RefmlcError) as caught:
        run(body, *arrays, blocks=blocks)
    return caught.value


@pytest.mark.parametrize(
    "pointer", ["A.data", "T.address_of(A[0])", "T.tvm_access_ptr(T.type_annotation('int32'), A.data, 0, 1, 3)"]
)
def test_all_threads_add_to_an_element(pointer):
    total, old = np.int32([5, 0]), np.zeros(32, "int32")
    run(f"B[t] = T.cuda.atomic_add({pointer}, t)", total, old)
    assert total.tolist() == [5 + 496, 0]
    assert old.tolist() == [5 + t * (t - 1) // 2 for t in range(32)]


def test_a_sum_wraps():
    total = np.uint32([0xFFFFFFFF])
    run("T.evaluate(T.cuda.atomic_add(A.data, T.uint32(2)))", total)
    assert total.tolist() == [63]


def test_a_ticket_is_taken_once():
    lock, taken = np.int32([0]), np.zeros(32, "int32")
    run("B[t] = T.cuda.atomic_cas(A.data, 0, t + 1)", lock, taken)
    assert lock.tolist() == [1]
    assert taken.tolist() == [0] + [1] * 31


@pytest.mark.parametrize(
    ("operation", "begin", "dtype", "end"),
    [
        ("add.u32(d[0], {p}, T.uint32(t))", 3, "uint32", 499),
        ("add.s32(d[0], {p}, -t)", 3, "int32", -493),
        ("add.u64(d[0], {p}, T.uint64(1) << T.uint64(40))", 1, "uint64", 1 + (1 << 45)),
        ("min.s32(d[0], {p}, 7 - t)", 5, "int32", -24),
        ("max.u32(d[0], {p}, T.uint32(t + 4))", 5, "uint32", 35),
        ("and_.b32(d[0], {p}, T.uint32(t + 32))", 0xFF, "uint32", 32),
        ("or_.b32(d[0], {p}, T.uint32(t))", 64, "uint32", 95),
        ("xor.b32(d[0], {p}, T.uint32(t + t // 31))", 0, "uint32", 31 ^ 32),
        ("inc.u32(d[0], {p}, T.uint32(9))", 0, "uint32", 2),
        ("dec.u32(d[0], {p}, T.uint32(9))", 0, "uint32", 8),
        ("exch.b32(d[0], {p}, T.uint32(t))", 99, "uint32", 31),
        ("cas.b32(d[0], {p}, T.uint32(t), T.uint32(t + 1))", 0, "uint32", 32),
        ("add.f32(d[0], {p}, T.float32(0.5))", 1.0, "float32", 17.0),
        ("add.noftz.f16(d[0], {p}, T.float16(0.5))", 1.0, "float16", 17.0),
    ],
)
@pytest.mark.parametrize("family", ["atom", "red"])
def test_an_instruction_does_what_its_name_says(operation, begin, dtype, end, family):
    place = np.full(1, begin, dtype)
    text = f"T.ptx.{family}.relaxed.gpu.global_.{operation.format(p='A.data')}"
    body = BEFORE.format(dtype) + (text if family == "atom" else text.replace("d[0], ", ""))
    if family == "red" and operation.startswith(("exch", "cas")):
        with pytest.raises(RefmlcError, match=r"is no modifier of `T\.ptx\.red`"):
            run(body, place)
        return
    run(body, place)
    assert place.tolist() == [end]


def test_the_value_before_is_written():
    place, old = np.uint32([7]), np.zeros(32, "uint32")
    run(f"{BEFORE.format('uint32')}T.ptx.atom.global_.inc.u32(d[0], A.data, T.uint32(20))\nB[t] = d[0]", place, old)
    assert old.tolist() == [(7 + t) % 21 for t in range(32)]


def test_the_printed_form_is_the_same():
    place = np.int32([1])
    run('T.ptx.red(A.data, t, "release", "gpu", "global", "add", "", "s32", "")', place)
    assert place.tolist() == [497]


def test_an_element_of_shared_memory():
    out = np.zeros(32, "int32")
    run(
        "S = T.alloc_shared((4,), 'int32')\nif t < 4:\n    S[t] = 0\nT.cuda.cta_sync()\n"
        "T.ptx.red.shared.add.s32(T.cuda.cvta_generic_to_shared(T.address_of(S[t % 4])), t)\nT.cuda.cta_sync()\n"
        "A[t] = S[t % 4]",
        out,
    )
    assert out.tolist() == [sum(range(t % 4, 32, 4)) for t in range(32)]


def test_bits_are_those_of_the_instruction_not_of_the_buffer():
    place = np.int32([-2])
    run("T.ptx.red.global_.max.u32(A.data, T.uint32(9))", place)
    assert place.tolist() == [-2]


# --------------------------------------------------------------------------------------------------------- floats


def test_a_sum_of_floats_that_is_the_same_in_every_order():
    total = np.float32([0.25])
    run("T.evaluate(T.cuda.atomic_add(A.data, T.float32(t) * T.float32(0.125)))", total, blocks=2)
    assert total.tolist() == [0.25 + 2 * 496 * 0.125]


def test_a_sum_of_one_thread_has_one_order():
    total = np.float32([0.0] * 32)
    run("for k in range(5):\n    T.evaluate(T.cuda.atomic_add(T.address_of(A[t]), T.float32(0.1)))", total)
    expected = np.float32(0.0)
    for _ in range(5):
        expected = np.float32(expected + np.float32(0.1))
    assert total.tobytes() == np.full(32, expected).tobytes()


@pytest.mark.parametrize(
    ("dtype", "value", "begin"),
    [
        ("float32", "T.Select(t == 0, T.float32(2.0**25), T.float32(1.0))", 0.0),
        ("float32", "T.float32(1.0)", 0.1),
        ("float16", "T.float16(1.0)", 2040.0),
        ("float32", "T.float32(2.0**127)", 0.0),
        ("float32", "T.infinity('float32')", 0.0),
    ],
)
def test_a_sum_that_depends_on_the_order_is_unsupported(dtype, value, begin):
    caught = failure(f"T.evaluate(T.cuda.atomic_add(A.data, {value}))", np.full(1, begin, dtype))
    assert caught.code.id == "RM504"
    assert "several threads add to an element of `A`, and the sum depends on their order" in caught.diagnostic.message


def test_an_operation_may_have_no_destination():
    total = np.uint32([7])
    run("T.ptx.atom.global_.add.u32(A.data, T.uint32(2))", total)
    assert total.tolist() == [71]
    run("T.ptx.atom.global_.cas.b32(A.data, T.uint32(71), T.uint32(5))", total)
    assert total.tolist() == [5]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("T.ptx.red.global_.add.v2.f32(A.data, T.float32(1))", "in this form is not executed"),
        ("T.ptx.red.global_.add.f32(A.data)", "in this form is not executed"),
        ("T.ptx.red.global_.add.f32(A.data, T.float32(1), pred=True)", "with a predicate"),
        ("T.evaluate(T.cuda.atomic_cas(A.data, T.float32(1), T.float32(1)))", "of float32 is not executed"),
        ("T.ptx.red.global_.add.s32(A.data, T.float32(1))", "of int32 takes no other value"),
    ],
)
def test_other_forms_are_unsupported_by_name(body, message):
    caught = failure(body, np.int32([1]))
    assert caught.code.id == "RM502"
    assert message in caught.diagnostic.message


def test_an_element_out_of_bounds_or_never_written_is_undefined():
    assert failure("T.evaluate(T.cuda.atomic_add(T.address_of(A[t]), 1))", np.zeros(31, "int32")).code.id == "RM304"
    body = "S = T.alloc_shared((1,), 'int32')\nT.evaluate(T.cuda.atomic_add(S.data, 1))"
    assert failure(body, np.zeros(1, "int32")).code.id == "RM305"


# ---------------------------------------------------------------------------------------------------------- races


def codes(body, *arrays, blocks=1):
    report = sanitize(module(body, *arrays, blocks=blocks), "f", list(arrays))
    return {code for code, count in report.counts.items() if count}


ADD = "T.evaluate(T.cuda.atomic_add(A.data, 1))"


def test_atomic_operations_do_not_race_with_each_other():
    assert codes(ADD, np.zeros(1, "int32"), blocks=2) == set()
    assert codes("T.ptx.red.cta.global_.add.s32(A.data, 1)", np.zeros(1, "int32")) == set()


@pytest.mark.parametrize(
    "body",
    [
        f"{ADD}\nif t == 31:\n    A[0] = 3",
        f"if t == 0:\n    A[0] = 3\n{ADD}",
        f"B[t] = A[0]\n{ADD}",
        f"{ADD}\nif t == 31:\n    B[0] = A[0]",
    ],
)
def test_an_atomic_operation_races_with_a_plain_access(body):
    assert codes(body, np.zeros(1, "int32"), np.zeros(32, "int32")) == {"RM321"}


def test_a_barrier_orders_atomic_operations_and_plain_accesses():
    out = np.zeros(32, "int32")
    assert codes(f"{ADD}\nT.cuda.cta_sync()\nB[t] = A[0]", np.zeros(1, "int32"), out) == set()
    assert out.tolist() == [32] * 32


def test_an_operation_that_is_atomic_in_its_block_races_with_another_block():
    assert codes("T.ptx.red.cta.global_.add.s32(A.data, 1)", np.zeros(1, "int32"), blocks=2) == {"RM321"}


def test_the_fence_of_a_named_barrier_orders_through_a_third_warp():
    """Warp 0 writes and arrives, warp 1 waits and arrives at the next one, warp 2 reads: no race; without it, one."""
    text = """
@T.prim_func
def f(A: T.Buffer((32,), "int32")):
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([96])
    S = T.alloc_shared((32,), "int32")
    if t < 32:
        S[t] = t
        T.ptx.bar.arrive(1, 64)
    elif t < 64:
        T.ptx.bar.sync(1, 64)
        T.ptx.bar.arrive(2, 64)
    else:
        T.ptx.bar.sync(2, 64)
        A[t - 64] = S[95 - t]
"""
    out = np.zeros(32, "int32")
    report = sanitize(read(text, "f.py"), "f", [out])
    assert not any(report.counts.values())
    assert out.tolist() == list(range(31, -1, -1))
    for before, after in (("bar.arrive(1, 64)", "bar.arrive(3, 64)"), ("bar.sync(2, 64)", "bar.sync(2, 32)")):
        broken = sanitize(read(text.replace(before, after), "f.py"), "f", [out])
        assert broken.counts["RM321"] or broken.counts["RM327"]
    unordered = text.replace("        T.ptx.bar.sync(1, 64)\n", "")
    assert sanitize(read(unordered, "f.py"), "f", [out]).counts["RM321"]
