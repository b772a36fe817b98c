"""Accesses through pointers that a kernel computes: what the sanitizer sees of them (TIA-001, TIM-004, TIX-008).

Each text is what TVM's lowering of tile primitives writes; where each element lies is worked out by hand.
"""

import numpy as np
import pytest

from refmlc.lang.script import read
from refmlc.observe.sanitize import sanitize

SOURCE = (
    "\\ntemplate <typename T>\\n__forceinline__ __device__ T* tvm_builtin_pointer_offset(T* ptr, int offset) {\\n"
    "    return ptr + offset;\\n}\\n"
)
HEAD = """@T.prim_func
def main(A: T.Buffer((64,), "float16"), B: T.Buffer((64,), "uint32")):
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([32])
    S = T.alloc_shared((64,), "float16")
    R = T.alloc_local((1,), "uint32")
"""
FILL = ("S[t * 2] = A[t * 2]", "S[t * 2 + 1] = A[t * 2 + 1]")
ALL, OUT = "T.cuda.cta_sync()", "B[t] = R[0]"


def offset(buffer, count):
    call = f'T.cuda.func_call("tvm_builtin_pointer_offset", T.address_of({buffer}[0]), {count}, source_code="{SOURCE}"'
    return f"p: T.let[T.handle] = {call}, return_type=T.handle().ty)"


def text(*statements):
    return HEAD + "".join(f"    {line}\n" for part in statements for line in part.split("\n"))


def sanitized(*statements):
    arguments = [np.arange(64, dtype="float16"), np.zeros(64, "uint32")]
    report = sanitize(read(text(*statements), "case.py"), "main", arguments)
    return {code for code, number in report.counts.items() if number} or report.verdict, arguments


LOAD = "T.ptx.ldmatrix.sync.aligned.m8n8.x1.shared.b16(R[0], T.cuda.cvta_generic_to_shared(p))"
TURNED = LOAD.replace("x1", "x1.trans")
STORE = "T.ptx.stmatrix.sync.aligned.m8n8.x1.shared.b16(T.cuda.cvta_generic_to_shared(p), R[0])"
ROW = offset("S", "t % 8 * 8")


@pytest.mark.parametrize("load", [LOAD, TURNED])
def test_ldmatrix_through_a_pointer(load):
    found, (matrix, words) = sanitized(*FILL, ALL, ROW, load, OUT)
    assert found == "defined"
    rows = matrix.reshape(8, 8)
    rows = rows.T if load is TURNED else rows
    assert words[:32].view("float16").tolist() == rows.reshape(-1).tolist()


@pytest.mark.parametrize(
    ("statements", "code"),
    [
        ((*FILL, ROW, LOAD, OUT), "defined"),  # lane t reads what it wrote itself: elements 2 t and 2 t + 1
        ((*FILL, ROW, TURNED, OUT), "RM321"),  # what others wrote, and nothing orders them
        ((FILL[0], ALL, ROW, LOAD, OUT), "RM305"),  # every second element was never written
        ((*FILL, ALL, ROW, LOAD, "S[t] = T.float16(0)", OUT), "RM321"),  # a write that the reads do not come before
        ((*FILL, ALL, ROW, LOAD, ALL, "S[t] = T.float16(0)", OUT), "defined"),
        ((*FILL, ALL, offset("S", "t % 8 * 8 + 1"), LOAD, OUT), "RM313"),
        ((*FILL, ALL, offset("S", "t % 8 * 8 + 8"), LOAD, OUT), "RM313"),  # row 7 is beyond the memory
        (("R[0] = T.uint32(1)", ROW, STORE, OUT, ALL, "B[t] = T.reinterpret('uint16', S[t])"), "defined"),
        (("R[0] = T.uint32(1)", ROW, STORE, "B[t] = T.reinterpret('uint16', S[63 - t])"), "RM321"),
        ((*FILL, "R[0] = T.uint32(1)", ROW, STORE), "RM321"),
        (("R[0] = T.uint32(1)", offset("S", "t % 8 * 8 + 8"), STORE), "RM313"),
    ],
)
def test_faults_of_matrices_through_a_pointer(statements, code):
    found, _ = sanitized(*statements)
    assert found == code if code == "defined" else code in found


VECTOR = "T.ptx.ld.shared.v2.u32(R[0], Q[0], T.cuda.cvta_generic_to_shared(p))"


@pytest.mark.parametrize(
    ("statements", "code"),
    [
        ((*FILL, ALL), "defined"),
        ((*FILL, ALL, *FILL), "RM321"),
        (FILL, "RM305"),  # the lane after it has not come yet
        ((FILL[0], ALL), "RM305"),
    ],
)
def test_faults_of_loads_through_a_pointer(statements, code):
    other = 'Q = T.alloc_local((1,), "uint32")'
    found, _ = sanitized(other, *statements, offset("S", "t // 2 * 4"), VECTOR, OUT)
    assert found == code if code == "defined" else code in found


COPY = "T.ptx.cp.async_.ca.shared.global_(T.cuda.cvta_generic_to_shared(p), T.address_of(A[t * 2]), 4)"
PART = 'V = T.decl_buffer((1,), "float16", data=S.data, scope="shared")'
DONE = "T.ptx.cp.async_.wait_all()"
READ = "B[t] = T.Cast('uint32', S[{}])"


@pytest.mark.parametrize(
    ("statements", "code"),
    [
        ((COPY, DONE, ALL, READ.format("63 - t")), "defined"),
        ((COPY, DONE, READ.format("2 * t + 1")), "defined"),
        ((COPY, DONE, READ.format("63 - t")), "RM305"),  # what the later lanes have not waited for yet
        ((COPY, READ.format("2 * t")), "RM341"),
        ((PART, COPY.replace("p)", "V.data) + T.Cast('uint32', t * 4)"), DONE, READ.format("2 * t")), "defined"),
        ((*FILL, PART, COPY.replace("p)", "V.data) + T.Cast('uint32', 124 - t * 4)"), DONE), "RM321"),
        ((*FILL, COPY.replace("p)", "p) + T.uint32(4) * T.Cast('uint32', 1 - t // 31)"), DONE), "RM321"),
    ],
)
def test_copies_through_a_pointer(statements, code):
    found, _ = sanitized(offset("S", "t * 2"), *statements)
    assert found == code if code == "defined" else code in found


WHOLE = """@T.prim_func
def main(A: T.Buffer((256,), "float16"), B: T.Buffer((256,), "float16")):
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([32])
    S = T.alloc_shared((256,), "float16")
    F = T.alloc_buffer((256,), "float16", scope="wmma.accumulator")
"""
FILL_ALL = "for i in range(8):\n    S[t * 8 + i] = A[t * 8 + i]"
LOAD_ALL = 'T.tvm_load_matrix_sync(F.data, 16, 16, 16, 0, S.data, 16, "row_major")'
STORE_ALL = 'T.tvm_store_matrix_sync(F.data, 16, 16, 16, 0, S.data, 16, "row_major")'
COPY_ALL = "for i in range(8):\n    B[t * 8 + i] = S[t * 8 + i]"


@pytest.mark.parametrize(
    ("statements", "code"),
    [
        ((FILL_ALL, ALL, LOAD_ALL, ALL, STORE_ALL, ALL, COPY_ALL), "defined"),
        ((FILL_ALL, LOAD_ALL), "RM321"),
        ((FILL_ALL, ALL, LOAD_ALL, STORE_ALL, COPY_ALL), "RM321"),
        (("S[t] = A[t]", ALL, LOAD_ALL), "RM305"),
    ],
)
def test_faults_of_whole_matrices(statements, code):
    body = WHOLE + "".join(f"    {line}\n" for part in statements for line in part.split("\n"))
    report = sanitize(read(body, "case.py"), "main", [np.arange(256, dtype="float16"), np.zeros(256, "float16")])
    found = {name for name, number in report.counts.items() if number} or report.verdict
    assert found == code if code == "defined" else code in found
