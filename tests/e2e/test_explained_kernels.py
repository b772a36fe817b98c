"""TVM's kernels without a meaning: the smallest kernel of each cause, and one beside it that has one."""

import re

import numpy as np
import pytest
from explained_kernels import ROWS, row_of, told
from kernel_server import executed

from refmlc.diag import RefmlcError
from refmlc.lang.spec import clauses

CAST = """
@T.prim_func
def main(A: T.Buffer((32, 4), "float32"), B: T.Buffer((32, 4), "float16")):
    T.device_entry()
    T.cta_id([1])
    tx = T.thread_id([32])
    reg_src = T.alloc_local((4,), "float32")
    reg_dst = T.alloc_local((4,), "float16")
    for i in range(4):
        reg_src[i] = A[tx, i]
    source = reg_src.view(32, 4, layout=T.TileLayout(T.S[(32, 4):(1@T.Axis.tid_in_wg, 1)]))
    target = reg_dst.view(32, 4, layout=T.TileLayout(T.S[(32, 4):(1@T.Axis.tid_in_wg, 1)]))
    T.warp.cast(target[0:32, 0:2], source[0:32, 0:2])
    for i in range(END):
        B[tx, i] = reg_dst[i]
"""
REDUCTION = """
@T.prim_func
def main(A: T.Buffer((8, 8), "float32"), B: T.Buffer((8,), "float32")):
    T.device_entry()
    T.cta_id([1])
    T.thread_id([32])
    A_smem = T.alloc_shared((8, 8), "float32")
    B_smem = T.alloc_shared((8,), "float32")
    T.cta.copy(A_smem[0:8, 0:8], A[0:8, 0:8])
    T.cuda.cta_sync()
    T.cta.sum(B_smem[2:7], A_smem[1:6, 1:9 - 1], [-1], False)
    T.cuda.cta_sync()
    T.cta.copy(B[BEGIN:7], B_smem[BEGIN:7])
"""
COPY = """
@T.prim_func
def main(A: T.Buffer((2,), "float32"), B: T.Buffer((2,), "float32")):
    T.device_entry()
    T.cta_id([1])
    t = T.thread_id([32])
    A_shared = T.alloc_shared((2,), "float32")
    for i in range(2):
        A_shared[i] = T.float32(5)
    BARRIER
    T.ptx["cp.async.ca.shared.global"](A_shared.ptr_to([0]), A.ptr_to([0]), 8)
    T.ptx.cp.async_.commit_group()
    T.ptx.cp.async_.wait_group(0)
    T.cuda.cta_sync()
    if t < 2:
        B[t] = A_shared[t]
"""
KERNELS = {
    "slice of a cast": (CAST.replace("END", "4"), CAST.replace("END", "2")),
    "slice of a reduction": (REDUCTION.replace("BEGIN", "0"), REDUCTION.replace("BEGIN", "2")),
    "32 threads that copy to one place": (
        COPY.replace("BARRIER", "pass"),
        COPY.replace("BARRIER", "T.cuda.cta_sync()"),
    ),
}


def ran(text):
    """What a kernel leaves of its second argument, while detectors watch; its first one holds ones."""
    sizes = [tuple(map(int, re.findall(r"\d+", shape))) for shape in re.findall(r"T\.Buffer\(\(([\d, ]+)\), ", text)]
    dtypes = re.findall(r'T\.Buffer\(\([\d, ]+\), "(\w+)"', text)
    arguments = [
        np.full(size, 1 - number, dtype) for number, (size, dtype) in enumerate(zip(sizes, dtypes, strict=True))
    ]
    executed(text, "main", arguments, 60, True)
    return arguments[1]


@pytest.mark.parametrize("name", KERNELS)
def test_the_cause_is_found_in_a_kernel_of_a_few_lines(name):
    (row,) = [row for row in ROWS if row["name"] == name]
    kernel, _ = KERNELS[name]
    with pytest.raises(RefmlcError) as failure:
        ran(kernel)
    reason = f"{failure.value.code.id} {failure.value.diagnostic.message}"
    assert re.match(row["reason"].split("\\[")[0], reason), reason


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("slice of a cast", [[1, 1, 0, 0]] * 32),
        ("slice of a reduction", [0, 0, 7, 7, 7, 7, 7, 0]),
        ("32 threads that copy to one place", [1, 1]),
    ],
)
def test_the_kernel_beside_it_has_a_meaning(name, expected):
    _, innocent = KERNELS[name]
    np.testing.assert_array_equal(ran(innocent), expected)


def test_rows_cite_clauses_and_are_not_taken_twice():
    assert all(set(row) >= {"name", "files", "reason", "clauses", "why"} for row in ROWS)
    assert {clause for row in ROWS for clause in row["clauses"]} <= set(clauses())
    assert len({row["name"] for row in ROWS}) == len(ROWS)


def test_a_row_hides_no_other_finding():
    file = "operator/tile_primitive/cuda/elementwise/test_unary.py"
    reason = "RM305 `reg_dst[4]` is read but was never written"
    assert row_of(file, "test_cast_local_view_sliced[0-4]", reason)["name"] == "slice of a cast"
    assert row_of(file, "test_exp", reason) is None
    assert row_of(file, "test_cast_local_view_sliced[0-4]", reason.replace("reg_dst", "reg_src")) is None
    assert row_of(file.replace("unary", "binary"), "test_cast_local_view_sliced[0-4]", reason) is None
    lines = told([(file, "", reason), (file, "", "RM304 beyond")])
    assert sorted(map(str.strip, lines)) == [
        "1 undefined, not traced",
        "1 undefined, traced, slice of a cast (TIR-007, TIP-014)",
    ]
