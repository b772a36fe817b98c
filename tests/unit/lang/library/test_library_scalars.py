"""Each operator on one element against NumPy and Python's `math`; fillings, conversions, volumes."""

import math

import numpy as np
import pytest
from needs import imported
from test_library_elements import f32, run

inf, nan = math.inf, math.nan
EXACT = {
    "round": np.rint, "trunc": np.trunc, "floor": np.floor, "ceil": np.ceil, "sqrt": np.sqrt, "square": np.square,
    "abs": np.abs, "negative": np.negative, "isinf": np.isinf, "isfinite": np.isfinite, "isnan": np.isnan,
}  # fmt: skip
NEAR = {
    "log": math.log, "sin": math.sin, "cos": math.cos, "tan": math.tan, "sinh": math.sinh, "cosh": math.cosh,
    "tanh": math.tanh, "asin": math.asin, "acos": math.acos, "atan": math.atan, "asinh": math.asinh,
    "acosh": math.acosh, "atanh": math.atanh, "erf": math.erf, "exp": math.exp, "rsqrt": lambda x: 1 / math.sqrt(x),
    "sigmoid": lambda x: 1 / (1 + math.exp(-x)),
}  # fmt: skip
EDGES = f32(0, -0.0, 0.5, 1.5, 2.5, -0.5, -1.5, 7.25, -7.75, 1e-40, 3e38, inf, -inf, nan)
LIMITS = {
    "sigmoid": [(inf, 1), (-inf, 0), (0, 0.5)], "erf": [(inf, 1), (-inf, -1)], "atan": [(-0.0, -0.0)],
    "log": [(0, -inf), (inf, inf), (-1, nan)], "rsqrt": [(inf, 0), (0, inf), (-1, nan)], "acosh": [(1, 0), (0.5, nan)],
    "atanh": [(1, inf), (-1, -inf), (2, nan)], "asin": [(2, nan)], "acos": [(1, 0), (-2, nan)], "asinh": [(inf, inf)],
    "sinh": [(-inf, -inf)], "cosh": [(-inf, inf)], "tan": [(inf, nan)], "sin": [(-0.0, -0.0)], "cos": [(0, 1)],
}  # fmt: skip


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", EXACT)
def test_rounded_once_as_numpy(name):
    with np.errstate(all="ignore"):
        wanted = EXACT[name](EDGES)
    found = run(f"{name}(a)", EDGES)
    assert np.array_equal(found, wanted, equal_nan=True)
    number = ~np.isnan(np.asarray(wanted, "float64"))
    assert np.array_equal(np.signbit(found[number]), np.signbit(wanted[number]))


@pytest.mark.parametrize("name", NEAR)
def test_functions_as_python_has_them(name):
    least, greatest = {"acosh": (1, 9), "log": (0.1, 9), "rsqrt": (0.1, 9)}.get(name, (-0.95, 0.95))
    x = np.linspace(least, greatest, 23, dtype="float32")
    wanted = np.array([NEAR[name](float(one)) for one in x])
    assert np.allclose(run(f"{name}(a)", x), wanted, rtol=4e-7, atol=1e-30)
    assert np.allclose(run(f"{name}(a)", x.astype("float64")), [NEAR[name](one) for one in x.astype("float64")], 1e-14)


@pytest.mark.parametrize("name", LIMITS)
def test_functions_at_their_limits(name):
    given, wanted = (np.array(one, "float32") for one in zip(*LIMITS[name], strict=True))
    found = run(f"{name}(a)", given)
    assert np.array_equal(found, wanted, equal_nan=True)
    assert np.array_equal(np.signbit(found[wanted == 0]), np.signbit(wanted[wanted == 0]))


def test_bits():
    a, b = np.array([0b1100, -1, 5], "int32"), np.array([0b1010, 3, 1], "int32")
    assert run("bitwise_or(a, b)", a, b).tolist() == [0b1110, -1, 5]
    assert run("bitwise_and(a, b)", a, b).tolist() == [0b1000, 3, 1]
    assert run("bitwise_xor(a, b)", a, b).tolist() == [0b0110, -4, 4]
    assert run("bitwise_not(a)", a).tolist() == [-13, 0, -6]
    assert run("right_shift(a, b)", a, np.array([2, 1, 0], "int32")).tolist() == [3, -1, 5]
    assert run("left_shift(a, b)", a, np.array([2, 0, 1], "int32")).tolist() == [48, -1, 10]


def test_angles_of_points():
    y, x = f32(0, -0.0, 1, -1, 0, -0.0, 3), f32(1, 1, 0, 0, -1, -1, -4)
    wanted = np.array([math.atan2(*one) for one in zip(y.tolist(), x.tolist(), strict=True)], "float32")
    found = run("atan2(a, b)", y, x)
    assert np.allclose(found, wanted, rtol=2e-7, atol=0)
    assert np.array_equal(np.signbit(found), np.signbit(wanted))


def test_fillings():
    x = np.ones((2, 0, 3), "int8")
    assert run('ones((2, 2), dtype="float16")', x).tolist() == [[1, 1], [1, 1]]
    assert run("zeros_like(a)", f32(1, nan)).tolist() == [0, 0]
    assert run('zeros_like(a, dtype="int32")', x).shape == (2, 0, 3)
    assert run("full_like(a, R.const(2.5, 'float32'))", f32(1, 2)).tolist() == [2.5, 2.5]


def test_conversions():
    assert run('astype(a, dtype="int32")', f32(1.9, -1.9, -0.0)).tolist() == [1, -1, 0]
    assert run('astype(a, dtype="uint8")', np.array([300, -1], "int32")).tolist() == [44, 255]
    assert run('astype(a, dtype="bool")', f32(0, -0.0, 0.25, nan)).tolist() == [False, False, True, True]
    assert run('astype(a, dtype="float16")', f32(1e6, 2049, -1e-9)).tolist() == [inf, 2048, 0]
    found = run('wrap_param(a, dtype="float32")', np.array([1, 2], "int8"))
    assert (found.tolist(), found.dtype) == ([1, 2], np.float32)


def test_products_of_2022():
    a, b = np.arange(6, dtype="int32").reshape(2, 3), np.arange(12, dtype="int32").reshape(4, 3)
    assert np.array_equal(run("nn.dense(a, b)", a, b), a @ b.T)


def test_volumes_as_pytorch():
    torch = imported("torch")
    rng = np.random.default_rng(7)
    x, w = (rng.integers(-3, 4, shape).astype("float32") for shape in ((1, 2, 4, 5, 4), (3, 2, 2, 2, 2)))
    given, kernel = torch.tensor(x), torch.tensor(w)
    wanted = torch.nn.functional.conv3d(given, kernel, stride=2, padding=1)
    assert np.array_equal(run("nn.conv3d(a, b, strides=[2, 2, 2], padding=[1, 1, 1, 1, 1, 1])", x, w), wanted.numpy())
    turned = w.transpose(1, 0, 2, 3, 4).copy()
    wanted = torch.nn.functional.conv_transpose3d(given, torch.tensor(turned), stride=2)
    assert np.array_equal(run("nn.conv3d_transpose(a, b, strides=[2, 2, 2])", x, turned), wanted.numpy())
    wanted = torch.nn.functional.max_pool3d(given, 2, 1)
    assert np.array_equal(run("nn.max_pool3d(a, pool_size=[2, 2, 2])", x), wanted.numpy())
    wanted = torch.nn.functional.adaptive_avg_pool3d(given, (2, 1, 2))
    assert np.allclose(run("nn.adaptive_avg_pool3d(a, output_size=[2, 1, 2])", x), wanted.numpy(), rtol=1e-6, atol=1e-6)
