"""Buffers of one element that a text names without an index, as TVM 0.27 prints them: loads, stores, other names."""

import os
import subprocess

import numpy as np
import pytest

from refmlc.diag import Malformed
from refmlc.lang.ir.equal import structural_equal
from refmlc.lang.script import read
from refmlc.lang.wellformed.reader_checks import checked
from refmlc.vm import VirtualMachine, build

HEAD = "# from tvm.script import tirx as T\n\n@T.prim_func\ndef main({0}):\n    {1}\n"
PAIR = 'A: T.Buffer((1,), "float32"), B: T.Buffer((1,), "float32")'

PRINTED = {
    "B = A": "B[0] = A[0]",
    "for i in range(2):\n        B = A": "for i in range(2):\n        B[0] = A[0]",
    "if A > T.float32(1.0):\n        B = A": "if A[0] > T.float32(1.0):\n        B[0] = A[0]",
    "x: T.float32 = A\n    B = x + A": "x: T.float32 = A[0]\n    B[0] = x + A[0]",
    "x: T.float32\n    for i in range(1):\n        x = A\n    B = x": (
        "x: T.float32\n    for i in range(1):\n        x = A[0]\n    B[0] = x"
    ),
    "B = T.max(A, T.exp(B)) * A": "B[0] = T.max(A[0], T.exp(B[0])) * A[0]",
    "B = T.Select(A < B, B, A)": "B[0] = T.Select(A[0] < B[0], B[0], A[0])",
    "B = T.Cast('float32', T.Cast('int32', A))": "B[0] = T.Cast('float32', T.Cast('int32', A[0]))",
    "B = A.source[0]": "B[0] = A[0]",
}


def called(body, params, *arrays, tier="interp"):
    VirtualMachine(build(checked(read(HEAD.format(params, body))), tier=tier))["main"](*arrays)
    return [array.tolist() for array in arrays]


@pytest.mark.parametrize("body", PRINTED)
def test_a_name_where_a_value_is_wanted_is_the_element(body):
    expected = read(HEAD.format(PAIR, PRINTED[body]))
    assert structural_equal(read(HEAD.format(PAIR, body)), expected)


@pytest.mark.parametrize("tier", ["interp", "native"])
def test_a_copy_inside_a_loop_is_a_store(tier):
    body = """x: T.float32
    y: T.float32
    for i in range(1):
        x = A
    y = x + A
    for i in range(1):
        B = y * A
    A = T.float32(0.0)"""
    arrays = np.array([3], "float32"), np.array([7], "float32")
    assert called(body, PAIR, *arrays, tier=tier) == [[0.0], [18.0]]


def test_a_new_name_and_a_longer_buffer_are_other_names():
    longer = 'A: T.Buffer((4,), "float32"), B: T.Buffer((1,), "float32")'
    assert called("X = A\n    X[0] = T.float32(2.0)", PAIR, np.ones(1, "float32"), np.ones(1, "float32")) == [[2], [1]]
    body = "for i in range(2):\n        B = A\n        B[3] = T.float32(2.0)"
    assert called(body, longer, np.ones(4, "float32"), np.ones(1, "float32")) == [[1, 1, 1, 2], [1]]


@pytest.mark.parametrize(
    ("body", "params", "message"),
    [
        ("B = A", PAIR.replace('(1,), "float32")', '(1,), "float32", strides=(2,))', 1), "only elements are assigned"),
        (
            "B[0] = A",
            'A: T.Buffer((2,), "float32"), B: T.Buffer((1,), "float32")',
            "stands where an expression is wanted",
        ),
        ("B[0] = A + 1.0", 'A: T.Buffer((1, 1), "float32"), B: T.Buffer((1,), "float32")', "has no meaning on"),
        ("B[0] = A + 1.0", PAIR.replace('"float32")', '"float32", align=128)', 1), "has no meaning on"),
        ("B[0] = -A", 'A: T.Buffer((2,), "float32"), B: T.Buffer((1,), "float32")', "has no meaning on"),
    ],
)
def test_a_buffer_of_which_tvm_prints_an_index_is_no_value(body, params, message):
    with pytest.raises(Malformed, match=message):
        read(HEAD.format(params, body))


PRINT = """
import sys
from tvm.script import from_source
for part in sys.stdin.read().split("#next\\n"):
    print(from_source(part).script(show_meta=True), end="#next\\n")
"""


@pytest.mark.needs("tvm")
def test_what_tvm_prints_is_read_as_what_it_was():
    texts = [HEAD.format(PAIR, body).partition("\n\n")[2] for body in PRINTED.values()]
    python = os.environ["REFMLC_TVM_PYTHON"]
    done = subprocess.run(
        [python, "-c", PRINT], input="#next\n".join(texts), check=True, capture_output=True, text=True
    )
    printed = done.stdout.split("#next\n")[:-1]
    assert len(printed) == len(texts)
    assert all("A[0]" not in text for text in printed)
    for text, body in zip(printed, PRINTED.values(), strict=True):
        again, expected = read(text), read(HEAD.format(PAIR, body))
        assert structural_equal(next(iter(again.functions.values())), expected.functions["main"]), text
