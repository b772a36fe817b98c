"""Elements found, against NumPy; the shapes of the results follow from the elements."""

import math

import numpy as np
import pytest
from test_library_elements import f32, run

import refmlc
from refmlc.diag import RefmlcError
from refmlc.lang.dtypes import FLOAT32, INT64
from refmlc.lang.ir import tir
from refmlc.lang.ir.equal import structural_equal
from refmlc.lang.ir.types import TensorType
from refmlc.lang.library import OPERATORS, lowered, type_of
from refmlc.rewrite.transform import legalize_ops

RANDOM = np.random.default_rng(13)
TIES = RANDOM.integers(0, 4, (3, 7)).astype("int32")
FLAGS = ("return_index", "return_inverse", "return_counts")


@pytest.mark.parametrize("x", [TIES, TIES.astype("bool"), TIES * 0, np.zeros((0, 3), "int8"), TIES.astype("float16")])
def test_nonzero_as_numpy(x):
    found = run("nonzero(a)", x)
    assert found.dtype == np.int64
    assert np.array_equal(found, np.stack(np.nonzero(x)))


def test_nonzero_by_hand():
    assert run("nonzero(a)", f32(0, -0.0, math.nan, math.inf, -1)).tolist() == [[2, 3, 4]]
    assert run("nonzero(a)", np.array(3, "int32")).tolist() == [[0]]
    assert run("nonzero(a)", np.array(0, "int32")).shape == (1, 0)


@pytest.mark.parametrize("axis", [None, 0, 1, -1])
def test_unique_as_numpy(axis):
    x = np.concatenate([TIES, TIES[:2]]).take([0, 1, 1, 2, 0], 1).copy()
    call = f"unique(a, R.prim_value(True), {', '.join(['R.prim_value(True)'] * 3)}"
    call += ")" if axis is None else f", R.prim_value({axis}))"
    wanted = np.unique(x, **dict.fromkeys(FLAGS, True), axis=axis)
    for ours, theirs in zip(run(call, x), wanted, strict=True):
        assert np.array_equal(ours, np.ravel(theirs) if theirs.dtype == np.int64 else theirs)


def test_unique_in_the_order_of_the_first():
    x = np.array([3, 1, 3, 2, 1], "int32")
    flags = ", ".join(["R.prim_value(False)"] + ["R.prim_value(True)"] * 3)
    values, index, inverse, counts = (one.tolist() for one in run(f"unique(a, {flags})", x))
    assert values == [3, 1, 2]
    assert index == [0, 1, 3]
    assert inverse == [0, 1, 0, 2, 1]
    assert counts == [2, 2, 1]
    rows, none = np.array([[2, 1], [1, 2], [2, 1]], "int32"), ", ".join(["R.prim_value(False)"] * 3)
    assert run(f"unique(a, R.prim_value(False), {none}, R.prim_value(0))", rows).tolist() == [[2, 1], [1, 2]]
    assert run(f"unique(a, R.prim_value(True), {none}, R.prim_value(0))", rows).tolist() == [[1, 2], [2, 1]]


def test_unique_of_edge_values():
    found = run("unique(a)", f32(math.nan, 0.0, -0.0, math.inf, math.nan, -math.inf))
    assert np.array_equal(found, f32(-math.inf, 0, math.inf, math.nan), equal_nan=True)
    assert not np.signbit(found[1])
    assert run("unique(a)", f32()).shape == (0,)
    assert run("unique(a)", np.array(4, "int32")).tolist() == [4]


@pytest.mark.parametrize(
    ("begin", "end", "step"),
    [((0, 1), (3, 6), (2, 1)), ((2, -2), (-4, 1), (-1, -2)), ((-9, 9), (9, -9), (1, -3)), ((2, 2), (1, 2), (1, 1))],
)
def test_slices_said_by_tensors_as_numpy(begin, end, step):
    vectors = [np.array(one, "int64") for one in (begin, end, step)]
    parts = tuple(slice(*one) for one in zip(begin, end, step, strict=True))
    text = """
@R.function
def main(a: R.Tensor((3, 7), "int32"), b: R.Tensor((2,), "int64"), c: R.Tensor((2,), "int64"),
         d: R.Tensor((2,), "int64")) -> R.Tensor("int32", ndim=2):
    r = R.dynamic_strided_slice(a, b, c, d)
    return r
"""
    machine = refmlc.VirtualMachine(refmlc.build(refmlc.read(text), tier="interp"))
    assert np.array_equal(machine["main"](TIES, *vectors).numpy(), TIES[parts])


def test_a_stride_of_zero():
    with pytest.raises(RefmlcError) as found:
        run("dynamic_strided_slice(a, b, b, c)", f32(1, 2), np.array([0], "int64"), np.array([0], "int64"))
    assert found.value.code.id == "RM307"


@pytest.mark.parametrize("tier", ["interp", "native"])
def test_what_follows_before_the_run(tier):
    """Ranks and dtypes; a function that goes on with what is found."""
    n = tir.Var("n", INT64)
    given = TensorType((n, tir.IntImm(INT64, 3)), FLOAT32)
    found = type_of(OPERATORS["nonzero"], [given], {})
    assert structural_equal(found, TensorType(None, INT64, 2))
    assert lowered(OPERATORS["nonzero"], [given], {}) is None
    text = """
@R.function
def main(a: R.Tensor(("n",), "float32")) -> R.Tensor("float32"):
    m = T.int64()
    i = R.nonzero(a)
    j = R.match_cast(i, R.Tensor((1, m), "int64"))
    k = R.flatten(j)
    r = R.take(a, k)
    return r
"""
    machine = refmlc.VirtualMachine(refmlc.build(refmlc.read(text), tier=tier))
    for _ in range(2):
        assert machine["main"](f32(0, 3, 0, 4)).numpy().tolist() == [3, 4]
        assert machine["main"](f32(0, 3, 0, 0)).numpy().tolist() == [3]


@pytest.mark.parametrize(
    ("call", "arrays", "code"),
    [
        (f"unique(a, {', '.join(['R.prim_value(True)'] * 4)}, axis=R.prim_value(2))", (TIES,), "RM105"),
        ("unique(a, axis=R.prim_value(2))", (TIES,), "RM105"),
        ("dynamic_strided_slice(a, b, b, b)", (TIES, np.zeros(2, "int32")), "RM201"),
        ("dynamic_strided_slice(a, b, b, b)", (TIES, np.zeros(1, "int64")), "RM202"),
        ("dynamic_strided_slice(a, b, b, b)", (TIES, np.zeros((2, 1), "int64")), "RM105"),
    ],
)
def test_misfits(call, arrays, code):
    with pytest.raises(RefmlcError) as found:
        run(call, *arrays)
    assert found.value.code.id == code


@pytest.mark.needs("compiler")
@pytest.mark.parametrize("call", ["nonzero(a)", "unique(a, True, True, True, True)", "unique(a, False)"])
@pytest.mark.parametrize("flow", [False, True])
def test_what_is_counted_is_in_c_too(call, flow):
    bound = f"    with R.dataflow():\n        r = R.{call}\n        R.output(r)" if flow else f"    r = R.{call}"
    module = refmlc.read(f'@R.function\ndef main(a: R.Tensor((3, "n"), "float32")):\n{bound}\n    return r\n')
    made = legalize_ops(module)
    assert "R.nonzero(" not in made.script()
    assert "R.unique(" not in made.script()
    assert refmlc.read(made.script()).script() == made.script()
    native = refmlc.build(module, tier="native")
    assert sum(tier.value == "native" for tier in native.tiers.values()) == 2
    x = np.array([[1, 0, 2, 2], [0, -0.0, 5, np.nan], [7, 7, np.nan, 7]], "float32")
    given = [refmlc.VirtualMachine(refmlc.build(module, tier=tier))["main"](x) for tier in ("interp", "native")]
    one, other = ([part.numpy().tolist() for part in (r if isinstance(r, tuple) else (r,))] for r in given)
    assert repr(one) == repr(other)
