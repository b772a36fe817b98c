"""What once came out otherwise in C than in the interpreter: the smallest programs, with what they do by hand."""

from textwrap import indent

import numpy as np
import pytest

from refmlc.check.reading import read
from refmlc.vm import VirtualMachine, build

HEAD = "from tvm.script import ir as I, tir as T\n\n@I.ir_module\nclass Module:\n"
SIDE = 50_000  # a square of it has more elements than int32 has numbers
SQUARE = """
@T.prim_func
def f(A: T.Buffer((50000, 50000), "int8"), B: T.Buffer((2,), "int8"), C: T.Buffer((2,), "int32")):
    {0}
"""
VIEW = """for i in range(1):
        with T.sblock("view"):
            v = T.axis.spatial(1, i)
            D = T.match_buffer({0}, {1}, "int8")
            B[v] = {2}"""


def native(text, **options):
    return VirtualMachine(build(read(HEAD + indent(text, "    ")), tier="native", **options))


@pytest.fixture(scope="module")
def square():
    """Zeros but for two elements: the system gives memory for those pages only."""
    cells = np.zeros((SIDE, SIDE), np.int8)
    cells[SIDE - 1, SIDE - 1], cells[SIDE - 1, 7] = 3, 5
    return cells


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("B[0] = A[49999, 49999]", 3),
        ("B[0] = A[T.min(T.max(C[0], 0), 49999), 7]", 5),
        ("B[0] = A[C[0] % 50000, C[0] % 50000]", 3),
        (VIEW.format("A[49999, 49998:50000]", "(2,)", "D[1]"), 3),
        (VIEW.format("A[0:50000, 0:50000]", "(50000, 50000)", "D[49999, 49999]"), 3),
        (VIEW.format("A[0:50000, 0:50000]", "(50000, 50000)", "D[T.min(T.max(C[0], 0), 49999), 7]"), 5),
    ],
)
def test_numbers_of_elements_are_no_int32(square, statement, expected):
    out = np.zeros(2, np.int8)
    vm = native(SQUARE.format(statement))
    vm["f"](square, out, np.full(2, SIDE - 1, np.int32))
    assert vm.native.counts.native == 1
    assert out[0] == expected
