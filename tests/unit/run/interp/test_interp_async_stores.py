"""Asynchronous stores, copies within a cluster, and stores of matrices of bytes (PTX-025, PTX-026)."""

import ml_dtypes
import numpy as np
import pytest

from refmlc.diag import RefmlcError
from refmlc.lang.script import read
from refmlc.lang.wellformed import check_module
from refmlc.observe.sanitize.sanitizer import Sanitizer
from refmlc.run.interp.machine import Machine

HEAD = """@T.prim_func
def f(A: T.Buffer((16,), "{dtype}"), B: T.Buffer((16,), "{dtype}")):
    T.device_entry()
    T.cta_id([1])
    t = T.thread_id([{threads}])
    S = T.alloc_shared((16,), "{dtype}", align=16)
    Q = T.alloc_shared((16,), "{dtype}", align=16)
    bar = T.alloc_shared((1,), "uint64")
    if t == 0:
        T.ptx.mbarrier.init.shared.b64(T.address_of(bar[0]), T.uint32(1))
        T.ptx.mbarrier.arrive.expect_tx.shared.b64(T.address_of(bar[0]), T.uint32({nbytes}))
    T.ptx.fence.mbarrier_init.release.cluster()
    T.cuda.cta_sync()
"""
WAIT = "T.cuda.mbarrier_wait(T.address_of(bar[0]), 0)"
COMPLETION = "mbarrier__complete_tx__bytes"


def run(*lines, dtype="uint32", nbytes=0, threads=2, watched=True):
    text = HEAD.format(dtype=dtype, nbytes=nbytes, threads=threads)
    text += "".join(f"    {line}\n" for text in lines for line in text.split("\n"))
    module = read(text, "f.py")
    assert not check_module(module)
    a, b = np.arange(1, 17).astype(dtype), np.full(16, 99, dtype)
    Machine(module, hooks=Sanitizer(module) if watched else None).call("f", [a, b])
    return b.tolist()


def failure(*lines, **options):
    with pytest.raises(RefmlcError) as caught:
        run(*lines, **options)
    return caught.value.diagnostic


def store(place, *values, kind="u32", keywords=""):
    vector = f"v{len(values)}." if len(values) > 1 else ""
    operands = ", ".join((f"S.ptr_to([{place}])", *values, "T.address_of(bar[0])"))
    return f"T.ptx.st_async.shared__cluster.{COMPLETION}.{vector}{kind}({operands}{keywords})"


@pytest.mark.parametrize("watched", [True, False])
@pytest.mark.parametrize("lanes", [1, 2, 4])
def test_a_store_is_there_for_those_who_have_seen_the_phase(lanes, watched):
    values = [f"A[{lanes} * t + {k}]" for k in range(lanes)]
    lines = (store(f"{lanes} * t", *values), WAIT, f"B[t] = S[{2 * lanes - 1} - t]")
    assert run(*lines, nbytes=8 * lanes, watched=watched)[:2] == [2 * lanes, 2 * lanes - 1]


@pytest.mark.parametrize(
    ("dtype", "kind"), [("float32", "f32"), ("float64", "b64"), ("int64", "s64"), ("int32", "b32")]
)
def test_the_bits_of_a_register_are_stored(dtype, kind):
    size = np.dtype(dtype).itemsize
    lines = (f"x: T.{dtype} = -A[t]", store("t", "x", kind=kind), WAIT, "B[t] = S[t]")
    assert run(*lines, dtype=dtype, nbytes=2 * size)[:2] == [-1, -2]


def test_a_number_in_the_text_is_stored():
    assert run(store("t", "T.uint32(7)"), WAIT, "B[t] = S[1 - t]", nbytes=8)[:2] == [7, 7]


def test_a_false_predicate_stores_nothing():
    assert run(store("t", "A[t]", keywords=", pred=t == 1"), WAIT, "B[t] = S[1]", nbytes=4)[:2] == [2, 2]


@pytest.mark.parametrize(
    ("lines", "nbytes", "code"),
    [
        ((store("t", "A[t]"), "B[t] = S[t]"), 8, "RM341"),
        ((store("t", "A[t]"), "S[t] = T.uint32(1)", WAIT, "B[t] = S[t]"), 8, "RM341"),
        ((store("t", "A[t]"), WAIT), 12, "RM343"),
        ((store("1", "A[0]", "A[1]"), WAIT), 8, "RM313"),
        ((store("0", "A[0]").replace("S.ptr_to", "B.ptr_to"),), 8, "RM313"),
        ((store("16", "A[0]").replace("S.ptr_to([16])", "T.ptx.addr(S.data, 64)"),), 8, "RM304"),
    ],
)
def test_stores_that_are_wrong(lines, nbytes, code):
    assert failure(*lines, nbytes=nbytes).code.id == code


@pytest.mark.parametrize(
    ("line", "part"),
    [
        ("T.ptx.st_async.release.gpu.global_.u32(B.ptr_to([0]), A[0])", "refmlc does not define it yet"),
        (store("0", "A[0]", kind="u64"), "no register of u64"),
        (store("0", "A[0]", "A[1]").replace("v2.", ""), "it has 4 operands"),
    ],
)
def test_other_stores_are_refused(line, part):
    caught = failure(line)
    assert caught.code.id == "RM502"
    assert part in caught.message


COPY = (
    f"T.ptx.cp.async_.bulk.shared__cluster.shared__cta.{COMPLETION}"
    "(S.ptr_to([4]), Q.ptr_to([0]), T.uint32(32), T.address_of(bar[0]))"
)
FENCE = "T.ptx.fence.proxy.async_.shared__cta()"


def test_a_copy_within_the_cluster():
    fill = "for k in range(8):\n    Q[8 * t + k] = A[8 * t + k]"
    lines = (fill, FENCE, "T.cuda.cta_sync()", f"if t == 0:\n    {COPY}", WAIT, "B[t] = S[4 + t]\nB[2 + t] = S[10 + t]")
    assert run(*lines, nbytes=32)[:4] == [1, 2, 7, 8]
    assert failure(*lines[:1], *lines[2:], nbytes=32).code.id == "RM344"
    assert failure(*lines[:4], "B[t] = S[4 + t]", nbytes=32).code.id == "RM341"


def test_a_copy_from_global_memory_is_another_form():
    assert failure(f"if t == 0:\n    {COPY}".replace("Q.ptr_to", "A.ptr_to"), nbytes=32).code.id == "RM313"


# ------------------------------------------------------------------------------------------------ matrices of bytes

BYTES = """@T.prim_func
def f(R: T.Buffer((32, {count}), "uint32"), B: T.Buffer(({rows}, 16), "uint8")):
    T.device_entry()
    T.cta_id([1])
    t = T.thread_id([32])
    S = T.alloc_shared(({rows}, 16), "uint8", align=16)
    T.ptx.stmatrix.sync.aligned.m16n8.x{count}.trans.shared.b8(S.ptr_to([{row}, {column}]), {registers})
    T.cuda.cta_sync()
    for k in range({rows} // 8 * 4):
        B[k // 4 + {rows} // 8 * (t // 4), t % 4 * 4 + k % 4] = S[k // 4 + {rows} // 8 * (t // 4), t % 4 * 4 + k % 4]
"""


def bytes_text(count, column=0):
    registers = ", ".join(f"R[t, {k}]" for k in range(count))
    return BYTES.format(count=count, rows=8 * count, row=f"t % {8 * count}", column=column, registers=registers)


@pytest.mark.parametrize("count", [1, 2, 4])
def test_matrices_of_bytes_are_stored_transposed(count):
    """Each matrix has the fragments of an accumulator of `mma.m16n8`: NumPy's view of them, by rows of 16."""
    matrices = np.arange(128 * count, dtype="uint32").astype("uint8").reshape(count, 16, 8)
    matrices = matrices * 37 + 11
    registers = np.zeros((32, count), "uint32")
    for lane in range(32):
        group, inner = divmod(lane, 4)
        parts = matrices[:, [group, group, group + 8, group + 8], [2 * inner, 2 * inner + 1] * 2]
        registers[lane] = np.ascontiguousarray(parts).view("<u4").ravel()
    out = np.zeros((8 * count, 16), "uint8")
    Machine(read(bytes_text(count), "f.py")).call("f", [registers, out])
    assert (out == matrices.transpose(0, 2, 1).reshape(8 * count, 16)).all()


def test_a_row_of_bytes_is_aligned():
    with pytest.raises(RefmlcError) as caught:
        Machine(read(bytes_text(1, column=8), "f.py")).call(
            "f", [np.zeros((32, 1), "uint32"), np.zeros((8, 16), "uint8")]
        )
    assert caught.value.code.id == "RM313"


def test_registers_may_be_packed_floats():
    """Bytes are bytes: those of float8 numbers come out as they are."""
    numbers = np.arange(16, dtype="float32").astype(ml_dtypes.float8_e4m3fn).view("uint8")
    registers = np.zeros((32, 1), "uint32")
    registers[:4, 0] = int.from_bytes(bytes(numbers[[1, 2, 3, 4]]), "little")
    out = np.zeros((8, 16), "uint8")
    Machine(read(bytes_text(1), "f.py")).call("f", [registers, out])
    assert out[:, 0].tolist() == numbers[[1, 2] * 4].tolist()
    assert out[:, 8].tolist() == numbers[[3, 4] * 4].tolist()
