"""Loads and stores: bounds per axis, initialisation, what the messages say."""

import ml_dtypes
import numpy as np
import pytest

from refmlc.run.interp.hooks import Hooks

COPY = """
@T.prim_func(s_tir=True)
def copy(A: T.Buffer((2, 4), "float32"), B: T.Buffer((2, 4), "float32"), r: T.int32, c: T.int32):
    B[r, c] = A[r, c]
"""


def matrix(*shape, dtype="float32"):
    return np.arange(int(np.prod(shape)), dtype=dtype).reshape(shape)


def test_element_is_copied(run):
    a, b = matrix(2, 4), np.zeros((2, 4), "float32")
    run(COPY, a, b, 1, 3)
    assert b[1, 3] == 7.0
    assert np.count_nonzero(b) == 1


@pytest.mark.parametrize(
    ("row", "column", "label"),
    [
        (2, 0, "index 0 is 2, extent is 2"),
        (0, 4, "index 1 is 4, extent is 4"),  # inside the storage, still outside its axis
        (-1, 0, "index 0 is -1, extent is 2"),
        (0, -1, "index 1 is -1, extent is 4"),
    ],
)
def test_index_outside_its_axis(failing, row, column, label):
    found = failing(COPY, matrix(2, 4), matrix(2, 4), row, column)
    assert found.code.id == "RM304"
    assert found.message == "load from `A` is out of bounds"
    assert found.label == label
    assert found.related[0].message == "`A` is declared here"
    assert found.notes == ("in `copy`, step 1",)
    assert found.span.line == 5


def test_store_outside_names_the_loops(failing):
    found = failing(
        """
@T.prim_func(s_tir=True)
def fill(A: T.Buffer((2, 4), "int32")):
    for i, j in T.grid(2, 5):
        A[i, j] = i
""",
        matrix(2, 4, dtype="int32"),
    )
    assert found.code.id == "RM304"
    assert found.message == "store to `A` is out of bounds"
    assert found.notes == ("i = 0, j = 4 in `fill`, step 7",)  # the call, one of i, five of j


SHAPES = [(), (3,), (2, 3), (2, 3, 2), (2, 1, 2, 3)]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", ["float32", "int8", "float16", "bool", "bfloat16", "uint64"])
def test_every_rank_and_form(run, shape, dtype):
    """Each element moves to where it was, through variables, sums and constants as indices."""
    names = "ijkl"[: len(shape)]
    ranges = ", ".join(map(str, shape)) or "1"
    index = ", ".join(names) or "()"
    shifted = ", ".join(f"{name} + 1 - 1" for name in names) or "()"
    text = f"""
@T.prim_func(s_tir=True)
def move(A: T.Buffer({shape}, "{dtype}"), B: T.Buffer({shape}, "{dtype}"), C: T.Buffer({shape}, "{dtype}")):
    for {", ".join(names) or "i"} in T.grid({ranges}):
        B[{index}] = A[{index}]
        C[{shifted}] = A[{shifted}]
"""
    stored = np.dtype(ml_dtypes.bfloat16) if dtype == "bfloat16" else np.dtype(dtype)
    a = np.asarray(np.arange(int(np.prod(shape))).reshape(shape) % 2, dtype=stored)
    b, c = np.zeros_like(a), np.zeros_like(a)
    run(text, a, b, c)
    assert np.array_equal(a, b)
    assert np.array_equal(a, c)


@pytest.mark.parametrize("shape", [(3,), (2, 3), (2, 3, 2)])
def test_out_of_bounds_in_every_form(failing, shape):
    index = ", ".join(["n"] * len(shape))
    for statement in (f"A[{index}] = T.float32(0)", f"B[0] = A[{index}]"):
        text = f"""
@T.prim_func(s_tir=True)
def f(A: T.Buffer({shape}, "float32"), B: T.Buffer((1,), "float32"), n: T.int32):
    {statement}
"""
        for n in (-1, 2, 3):
            a, b = np.zeros(shape, "float32"), np.zeros(1, "float32")
            if n == 2 and shape == (3,):
                continue
            assert failing(text, a, b, n).code.id == "RM304"


@pytest.mark.parametrize("index", ["i", "i, 0", "i, 0, 0", "i, j", "i + 0, j"])
def test_uninitialised_read(failing, index):
    rank = index.count(",") + 1
    shape = (2,) * rank
    text = f"""
@T.prim_func(s_tir=True)
def f(B: T.Buffer((2,), "float32")):
    A = T.alloc_buffer({shape}, "float32")
    for i in range(2):
        for j in range(1):
            A[{", ".join(["0"] * rank)}] = T.float32(3)
            B[i] = A[{index}]
"""
    b = np.zeros(2, "float32")
    found = failing(text, b)
    assert found.code.id == "RM305"
    assert "is read but was never written" in found.message
    assert found.related[0].message == "`A` is allocated here"
    assert found.notes[0].startswith("i = 1, j = 0 in `f`")
    assert b[0] == 3.0


def test_read_only_memory_is_not_written(failing):
    text = """
@T.prim_func(s_tir=True)
def f(A: T.Buffer((2,), "float32"), B: T.Buffer((2, 2), "float32"), C: T.Buffer((1, 1, 1), "float32"), n: T.int32):
    if n == 0:
        A[0] = T.float32(1)
    if n == 1:
        B[0, 0] = T.float32(1)
    if n == 2:
        B[n - 2, 0] = T.float32(1)
    if n == 3:
        C[0, 0, 0] = T.float32(1)
"""
    arrays = [np.zeros(2, "float32"), np.zeros((2, 2), "float32"), np.zeros((1, 1, 1), "float32")]
    for array in arrays:
        array.flags.writeable = False
    for n in range(4):
        found = failing(text, *arrays, n)
        assert found.code.id == "RM313"
        assert "read-only" in found.message


def test_view_beyond_its_storage(failing, run):
    text = """
@T.prim_func(s_tir=True)
def f(A: T.Buffer((4,), "float32"), B: T.Buffer((1,), "float32"), n: T.int32, store: T.bool):
    W = T.decl_buffer((8,), "float32", data=A.data)
    if store:
        W[n] = T.float32(9)
    else:
        B[0] = W[n]
"""
    a, b = np.arange(4, dtype="float32"), np.zeros(1, "float32")
    run(text, a, b, 3, False)
    assert b[0] == 3.0
    run(text, a, b, 3, True)
    assert a[3] == 9.0
    for store in (False, True):
        found = failing(text, a, b, 4, store)
        assert found.code.id == "RM304"
        assert "beyond its storage" in found.message


def test_undef_store_forgets(failing):
    text = """
@T.prim_func(s_tir=True)
def f(A: T.Buffer((4,), "float32"), B: T.Buffer((1,), "float32")):
    C = T.alloc_buffer((1,), "float32")
    C[0] = A[0]
    C[0] = T.undef()
    B[0] = C[0]
"""
    assert failing(text, np.zeros(4, "float32"), np.zeros(1, "float32")).code.id == "RM305"


class Recorder(Hooks):
    def __init__(self):
        self.seen = []

    def load(self, access, indices, value, frame):
        self.seen.append(("load", access.buffer.name, indices, value))

    def store(self, access, indices, value, frame):
        self.seen.append(("store", access.buffer.name, indices, value))


def test_hooks_see_loads_and_stores(run):
    recorder = Recorder()
    a, b = matrix(2, 4), np.zeros((2, 4), "float32")
    run(COPY, a, b, 1, 2, hooks=recorder)
    assert recorder.seen == [("load", "A", (1, 2), 6.0), ("store", "B", (1, 2), 6.0)]
    assert b[1, 2] == 6.0


def test_watched_accesses_are_checked_too(failing):
    found = failing(COPY, matrix(2, 4), matrix(2, 4), 0, 4, hooks=Recorder())
    assert (found.code.id, found.label) == ("RM304", "index 1 is 4, extent is 4")
    text = """
@T.prim_func(s_tir=True)
def f(A: T.Buffer((4,), "float32"), n: T.int32):
    W = T.decl_buffer((8,), "float32", data=A.data)
    U = T.alloc_buffer((1,), "float32")
    if n == 0:
        W[7] = T.float32(1)
    if n == 1:
        A[0] = W[7]
    A[0] = U[0]
"""
    codes = [failing(text, np.zeros(4, "float32"), n, hooks=Recorder()).code.id for n in range(3)]
    assert codes == ["RM304", "RM304", "RM305"]


@pytest.mark.parametrize("fast", [True, False])
@pytest.mark.parametrize(("dtype", "at"), [("uint8", 6), ("uint16", 3), ("uint32", 1)])
def test_a_store_beyond_the_storage_of_a_view_is_out_of_bounds(failing, fast, dtype, at):
    """6 bytes: of the element at which the view ends some bytes may be there, or none."""
    text = f"""
@T.prim_func(s_tir=True)
def f(A: T.Buffer((6,), "uint8")):
    W = T.decl_buffer(({at + 1},), "{dtype}", data=A.data)
    W[{at}] = T.{dtype}(1)
"""
    found = failing(text, np.zeros(6, "uint8"), fast=fast)
    assert (found.code.id, found.message) == ("RM304", "store to `W` is beyond its storage")
