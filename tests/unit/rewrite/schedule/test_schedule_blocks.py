"""`blockize` and `tensorize`: what comes of them, written by hand; what is refused, in which words."""

import numpy as np
import pytest
from test_schedule_steps import MAP, function, loops, refusal, same

from refmlc.lang.dtypes import FLOAT32
from refmlc.lang.ir import IRModule
from refmlc.lang.wellformed.module import check_module
from refmlc.lang.wellformed.reader_checks import read
from refmlc.observe.sanitize import sanitize
from refmlc.rewrite import schedule
from refmlc.rewrite.schedule import TensorIntrin
from refmlc.run.memory.tensor import Tensor

PARAMS = 'A: T.Buffer((8, 4), "float32"), B: T.Buffer((4, 6), "float32"), X: T.Buffer((8, 6), "float32")'
PRODUCT = """
for i0, j, k0, i1, k1 in T.grid(4, 6, 2, 2, 2):
    with T.sblock("product"):
        vi = T.axis.spatial(8, i0 * 2 + i1)
        vj = T.axis.spatial(6, j)
        vk = T.axis.reduce(4, k0 * 2 + k1)
        with T.init():
            X[vi, vj] = T.float32(0)
        X[vi, vj] = X[vi, vj] + A[vi, vk] * B[vk, vj]
"""


def product():
    return function(PRODUCT, PARAMS)


def test_a_reduction_as_a_block_has_its_init_outside():
    func = product()
    found, name = schedule.blockize(func, loops(func, "product")[3])
    assert name == "product_o"
    assert same(
        found,
        """
for i0, j, k0 in T.grid(4, 6, 2):
    with T.sblock("product_o"):
        vo, vj, ko = T.axis.remap("SSR", [i0, j, k0])
        with T.init():
            for i in range(2):
                with T.sblock("product_init"):
                    v = T.axis.spatial(2, i)
                    X[vo * 2 + v, vj] = T.float32(0)
        for i1, k1 in T.grid(2, 2):
            with T.sblock("product"):
                v, k = T.axis.remap("SR", [i1, k1])
                X[vo * 2 + v, vj] = X[vo * 2 + v, vj] + A[vo * 2 + v, ko * 2 + k] * B[ko * 2 + k, vj]
""",
        PARAMS,
    )


def test_all_of_a_map_as_a_block():
    func = function(MAP)
    assert same(
        schedule.blockize(func, loops(func)[0])[0],
        """
with T.sblock("map_o"):
    vio = T.axis.spatial(1, 0)
    vjo = T.axis.spatial(1, 0)
    for i, j in T.grid(6, 4):
        with T.sblock("map"):
            vi, vj = T.axis.remap("SS", [i, j])
            X[vi, vj] = A[vi, vj] + T.float32(1)
""",
    )


@pytest.mark.parametrize(
    ("body", "place", "words"),
    [
        (PRODUCT.replace("i0 * 2 + i1", "i1 * 4 + i0"), 3, "`vi` does not divide between the loops"),
        (PRODUCT.replace("k0 * 2 + k1", "k1 * 2 + k0"), 3, "`vk` does not divide between the loops"),
        (PRODUCT.replace("k0 * 2 + k1", "k0 * 2 + 1 - k1"), 3, "`vk` does not divide between the loops"),
        (
            PRODUCT.replace("        with T.init", "        T.where(i0 * 2 + i1 < 7)\n        with T.init"),
            3,
            "together",
        ),
        (PRODUCT, 1, None),
        (PRODUCT, 4, None),
        (PRODUCT.replace("k0 * 2 + k1", "k1 * 2 + k0"), 2, None),
    ],
)
def test_what_divides_and_what_does_not(body, place, words):
    func = function(body, PARAMS)
    if words is None:
        assert schedule.blockize(func, loops(func, "product")[place])[1] == "product_o"
    else:
        assert words in refusal(lambda: schedule.blockize(func, loops(func, "product")[place]))


def test_loops_with_two_blocks_are_no_block():
    second = MAP.replace("for i, j in T.grid(6, 4):\n", "").strip("\n").replace('"map"', '"again"')
    text = MAP + second.replace("X[", "A[")
    func = function(text)
    assert "not only loops and one block" in refusal(lambda: schedule.blockize(func, loops(func)[0]))


def test_a_reduction_that_shares_its_loop_is_no_block():
    text = PRODUCT.replace("vj = T.axis.spatial(6, j)", "vj = T.axis.spatial(6, j + k1)")
    func = function(text.replace("(4, 6, 2, 2, 2)", "(4, 5, 2, 2, 2)"), PARAMS)
    assert "RM504 `blockize` is refused" in refusal(lambda: schedule.blockize(func, loops(func, "product")[3]))


# ------------------------------------------------------------------------------------------------- tensorize

TILE = 'A: T.Buffer((2, 2), "float32"), B: T.Buffer((2,), "float32"), X: T.Buffer((2,), "float32")'
DESC = """
with T.sblock("root"):
    T.reads(X[0:2], A[0:2, 0:2], B[0:2])
    T.writes(X[0:2])
    for i, k in T.grid(2, 2):
        with T.sblock("product"):
            vi, vk = T.axis.remap("SR", [i, k])
            X[vi] = X[vi] + A[vi, vk] * B[vk]
"""
IMPL = """
with T.sblock("root"):
    T.reads(X[0:2], A[0:2, 0:2], B[0:2])
    T.writes(X[0:2])
    X[0] = X[0] + A[0, 0] * B[0]
    X[0] = X[0] + A[0, 1] * B[1]
    X[1] = X[1] + A[1, 0] * B[0]
    X[1] = X[1] + A[1, 1] * B[1]
"""
HEAD = "from tvm.script import tirx as T\n\n@T.prim_func(s_tir=True)\ndef f(a: T.handle, b: T.handle, x: T.handle):\n"


def strided(body, old="", new=""):
    """The function of this body, whose buffers may lie anywhere."""
    rows = [
        "    s0 = T.int32()\n    s1 = T.int32()\n",
        '    A = T.match_buffer(a, (2, 2), "float32", strides=[s0, 1], offset_factor=1)\n',
        '    B = T.match_buffer(b, (2,), "float32", strides=[s1], offset_factor=1)\n',
        '    X = T.match_buffer(x, (2,), "float32", offset_factor=1)\n',
    ]
    lines = [f"    {line}\n" for line in body.strip("\n").splitlines()]
    return read(HEAD + "".join(rows + lines).replace(old, new), "i.py")["f"]


OUT = PARAMS.replace("X: T.Buffer((8, 6)", "X: T.Buffer((6, 8)").replace("B: T.Buffer((4, 6)", "B: T.Buffer((6, 4)")
ROWS = PRODUCT.replace("X[vi, vj]", "X[vj, vi]").replace("B[vk, vj]", "B[vj, vk]")


def result(func):
    a = np.arange(32, dtype=np.float32).reshape(8, 4) / 7
    b = np.arange(24, dtype=np.float32).reshape(6, 4) / 3 - 2
    target = Tensor.empty((6, 8), FLOAT32)
    report = sanitize(IRModule({"main": func}), "main", [a, b, target])
    assert report.verdict == "defined"
    found = np.zeros((6, 8), np.float32)
    for k in range(4):
        found = found + b[:, k, None] * a[None, :, k]
    return target.numpy().tobytes(), found.tobytes()


@pytest.mark.parametrize("impl", [function(IMPL, TILE), strided(IMPL)])
def test_a_loop_becomes_the_intrinsic(impl):
    func = function(ROWS, OUT)
    found, name = schedule.tensorize(func, loops(func, "product")[3], TensorIntrin(function(DESC, TILE), impl))
    assert name == "product_o"
    assert "T.match_buffer(A[" in found.script()
    assert check_module(IRModule({"main": found})) == ()
    ours, by_hand = result(found)
    assert ours == by_hand
    again = schedule.blockize(func, loops(func, "product")[3])[0]
    assert (
        schedule.tensorize(again, "product_o", TensorIntrin(function(DESC, TILE), impl))[0].script() == found.script()
    )


def test_one_intrinsic_is_used_twice():
    text = ROWS + ROWS.replace("product", "second").replace("X[", "Y[")
    func = function(text, OUT + ', Y: T.Buffer((6, 8), "float32")')
    pair = TensorIntrin(function(DESC, TILE), strided(IMPL))
    for block in ("product", "second"):
        func = schedule.tensorize(func, loops(func, block)[3], pair)[0]
    assert check_module(IRModule({"main": func})) == ()
    assert func.script().count("T.match_buffer(") == 6


@pytest.mark.parametrize(
    ("desc", "impl", "words"),
    [
        (DESC.replace("A[vi, vk] * B", "A[vk, vi] * B"), IMPL, "`product_o` is not what the description says"),
        (DESC.replace("* B[vk]", "* B[1 - vk]"), IMPL, "`product_o` is not what the description says"),
        (DESC.replace("+ A", "- A"), IMPL, "`product_o` is not what the description says"),
        (DESC.replace("T.grid(2, 2)", "T.grid(2, 1)"), IMPL, "`product_o` is not what the description says"),
    ],
)
def test_another_description(desc, impl, words):
    func = function(ROWS, OUT)
    pair = TensorIntrin(function(desc, TILE), function(impl, TILE))
    assert words in refusal(lambda: schedule.tensorize(func, loops(func, "product")[3], pair))


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("strides=[s1], offset_factor=1", "strides=[2], offset_factor=1", "`B` may not have the stride that it says"),
        ("strides=[s1], offset_factor=1", "strides=[s1], offset_factor=4", "the offset of `B` may be no multiple of 4"),
        ("strides=[s1], offset_factor=1", 'strides=[s1], scope="shared"', "`B` is of scope shared, `B` of global"),
        ("(2, 2)", "(2, 3)", "`A` is not the buffer that the description has"),
    ],
)
def test_another_implementation(old, new, words):
    func = function(ROWS, OUT)
    pair = TensorIntrin(function(DESC, TILE), strided(IMPL, old, new))
    assert words in refusal(lambda: schedule.tensorize(func, loops(func, "product")[3], pair))


def test_a_part_that_is_written_under_two_names():
    func = function(
        """
for i0, i1 in T.grid(4, 2):
    with T.sblock("twice"):
        vi = T.axis.spatial(8, i0 * 2 + i1)
        X[vi] = X[vi] + X[vi]
""",
        'X: T.Buffer((8,), "float32")',
    )
    desc = function(
        """
for i in range(2):
    with T.sblock("sum"):
        vi = T.axis.spatial(2, i)
        Y[vi] = Y[vi] + Z[vi]
""",
        'Y: T.Buffer((2,), "float32"), Z: T.Buffer((2,), "float32")',
    )
    pair = TensorIntrin(desc, desc)
    words = refusal(lambda: schedule.tensorize(func, loops(func, "twice")[1], pair))
    assert words == "RM504 `tensorize` is refused: `X` would be written under two names"
