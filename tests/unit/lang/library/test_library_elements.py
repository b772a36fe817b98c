"""Operators element by element against NumPy, SciPy-free formulas and PyTorch; edge values worked by hand."""

import math

import numpy as np
import pytest
from needs import imported

import refmlc
from refmlc.diag import RefmlcError

inf, nan = math.inf, math.nan


def run(call, *arrays, result=None):
    """What `R.<call>` gives on arrays that are called a, b, c."""
    names = "abcdef"[: len(arrays)]
    params = ", ".join(f'{n}: R.Tensor({tuple(x.shape)}, "{x.dtype}")' for n, x in zip(names, arrays, strict=True))
    text = f"@R.function\ndef main({params}):\n    r = R.{call}\n    return r\n"
    found = refmlc.VirtualMachine(refmlc.build(refmlc.read(text), tier="interp"))["main"](*arrays)
    return [one.numpy() for one in found] if isinstance(found, tuple) else found.numpy()


def f32(*values):
    return np.array(values, "float32")


GRID = np.array([-7.5, -2, -1, -0.5, -0.0, 0.0, 0.5, 1, 3, 8], "float32")
BINARY = {
    "add": np.add, "subtract": np.subtract, "multiply": np.multiply, "divide": np.divide, "mod": np.fmod,
    "power": np.power, "maximum": np.maximum, "minimum": np.minimum, "equal": np.equal, "not_equal": np.not_equal,
    "less": np.less, "less_equal": np.less_equal, "greater": np.greater, "greater_equal": np.greater_equal,
}  # fmt: skip


@pytest.mark.parametrize("name", [name for name in BINARY if name != "power"])
def test_floats_as_numpy(name):
    a, b = GRID[:, None], np.array([[-3, -0.75, 0.5, 2, 5]], "float32")
    assert np.array_equal(run(f"{name}(a, b)", a.copy(), b), BINARY[name](a, b))


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "int64"])
@pytest.mark.parametrize("name", ["add", "subtract", "multiply", "mod", "maximum", "less", "greater_equal"])
def test_integers_as_numpy(name, dtype):
    a = np.array([[7], [9], [5]], dtype)
    b = np.array([[2, 5, 1, 4]], dtype)
    assert np.array_equal(run(f"{name}(a, b)", a, b), BINARY[name](a, b))


def test_divisions_of_integers_by_hand():
    a, b = np.array([7, -7, 7, -7], "int32"), np.array([2, 2, -2, -2], "int32")
    assert run("divide(a, b)", a, b).tolist() == [3, -3, -3, 3]
    assert run("floor_divide(a, b)", a, b).tolist() == [3, -4, -4, 3]
    assert run("mod(a, b)", a, b).tolist() == [1, -1, 1, -1]
    assert run("floor_mod(a, b)", a, b).tolist() == [1, 1, -1, -1]
    with pytest.raises(RefmlcError) as found:
        run("divide(a, b)", a, np.zeros(4, "int32"))
    assert found.value.code.id == "RM307"


def test_floor_mod_of_floats_is_its_formula():
    a, b = f32(5.5, -5.5, 0.3), f32(2, 2, 0.1)
    assert np.array_equal(run("floor_mod(a, b)", a, b), a - np.floor(a / b) * b)


def test_a_number_takes_the_dtype_of_the_tensor():
    assert run("add(a, R.prim_value(1))", f32(0.5)).tolist() == [1.5]
    assert run("subtract(R.prim_value(1), a)", np.array([3], "int8")).tolist() == [-2]


def test_broadcasting_over_empty_and_no_dimensions():
    assert run("add(a, b)", np.zeros((0, 3), "float32"), f32(1, 2, 3)).shape == (0, 3)
    assert run("add(a, b)", np.array(2, "float32"), np.array(3, "float32")).shape == ()
    assert run("multiply(a, b)", np.ones((2, 1, 3), "float32"), np.ones((4, 1), "float32")).shape == (2, 4, 3)


def test_logic():
    a, b = np.array([False, False, True, True]), np.array([False, True, False, True])
    assert run("logical_and(a, b)", a, b).tolist() == [False, False, False, True]
    assert run("logical_or(a, b)", a, b).tolist() == [False, True, True, True]
    assert run("logical_xor(a, b)", a, b).tolist() == [False, True, True, False]
    assert run("logical_not(a)", a).tolist() == [True, True, False, False]
    x, y = np.array([12, -1], "int8"), np.array([10, 3], "int8")
    assert run("bitwise_and(a, b)", x, y).tolist() == [8, 3]
    assert run("bitwise_xor(a, b)", x, y).tolist() == [6, -4]
    assert run("left_shift(a, b)", np.array([3], "int32"), np.array([4], "int32")).tolist() == [48]


def test_signs_by_hand():
    assert run("sign(a)", f32(-3, -0.0, 0, 2, inf, nan)).tolist() == [-1, 0, 0, 1, 1, 0]
    assert run("sign(a)", np.array([0, 200], "uint8")).tolist() == [0, 1]
    assert np.signbit(run("negative(a)", f32(0.0, -0.0))).tolist() == [True, False]
    assert run("abs(a)", f32(-0.0, -inf)).tolist() == [0, inf]
    assert run("isnan(a)", f32(nan, 1)).tolist() == [True, False]


def test_creation_as_numpy():
    assert np.array_equal(run('zeros(R.shape([2, 3]), dtype="int8")'), np.zeros((2, 3), "int8"))
    assert np.array_equal(run('full(R.shape([2]), a, dtype="int32")', np.array(2.75, "float32")), [2, 2])
    assert np.array_equal(run('ones_like(a, dtype="float16")', f32(1, 2)), np.ones(2, "float16"))
    assert np.array_equal(run('eye(3, 4, 1, dtype="float32")'), np.eye(3, 4, 1))
    assert np.array_equal(run("eye_like(a, -1)", np.zeros((3, 2), "int32")), np.eye(3, 2, -1, "int32"))
    for first, last, step in ((1, 7, 2), (0, 0, 1), (5, -4, -3), (3, 1, 1)):
        found = run(f'arange({first}, {last}, {step}, dtype="int64")')
        assert np.array_equal(found, np.arange(first, last, step))
    found = run('arange(R.prim_value(0.5), R.prim_value(3.0), R.prim_value(0.5), dtype="float32")')
    assert np.array_equal(found, np.arange(0.5, 3, 0.5, "float32"))
    x = np.arange(24, dtype="int32").reshape(2, 3, 4)
    assert np.array_equal(run("tril(a, 1)", x), np.tril(x, 1))
    assert np.array_equal(run("triu(a, -1)", x), np.triu(x, -1))


def test_a_window_as_numpy():
    size = "R.prim_value(8)"
    numbers = "R.prim_value(0.54), R.prim_value(0.46)"
    found = run(f'hamming_window({size}, R.prim_value(False), {numbers}, dtype="float32")')
    assert np.allclose(found, np.hamming(8), rtol=0, atol=3e-7)
    found = run(f'hamming_window({size}, R.prim_value(True), {numbers}, dtype="float32")')
    assert np.allclose(found, np.hamming(9)[:8], rtol=0, atol=3e-7)
    with pytest.raises(RefmlcError, match=r"RM105.*takes a size of at least 1, not 0"):  # as TVM's type rule
        run(f'hamming_window(R.prim_value(0), R.prim_value(True), {numbers}, dtype="float32")')


def test_choices_by_hand():
    condition = np.array([[True], [False]])
    assert run("where(a, b, c)", condition, f32(1, 2), f32(3, 4)).tolist() == [[1, 2], [3, 4]]
    assert run("clip(a, -1, 2)", f32(-5, 0.5, inf)).tolist() == [-1, 0.5, 2]
    assert run("clip(a, 2, -1)", f32(-5, 5)).tolist() == [2, 2]
    assert run("ewise_fma(a, b, c)", f32(2), f32(3), f32(4)).tolist() == [10]
    assert run("log_add_exp(a, b)", f32(1000), f32(0)).tolist() == [inf]
    scale, point = f32(0.5, 2), np.array([0, 10], "int8")
    quantized = run(
        'quantize(a, b, c, axis=1, out_dtype="int8")', np.array([[0.75, 3], [-100, 500]], "float32"), scale, point
    )
    assert quantized.tolist() == [[2, 12], [-128, 127]]
    back = run('dequantize(a, b, c, axis=1, out_dtype="float32")', quantized, scale, point)
    assert back.tolist() == [[1, 4], [-64, 234]]


@pytest.mark.parametrize(
    ("call", "peer"),
    [
        ("nn.relu(a)", "relu"),
        ("nn.leakyrelu(a, alpha=0.1)", lambda nn, x: nn.leaky_relu(x, 0.1)),
        ("nn.gelu(a)", "gelu"),
        ("nn.gelu_tanh(a)", lambda nn, x: nn.gelu(x, approximate="tanh")),
        ("nn.silu(a)", "silu"),
        ("nn.selu(a)", "selu"),
        ("nn.softplus(a)", "softplus"),
        ("nn.softplus(a, beta=2.0, threshold=3.0)", lambda nn, x: nn.softplus(x, 2, 3)),
    ],
)  # fmt: skip
def test_activations_as_pytorch(call, peer):
    torch = imported("torch")
    x = np.concatenate([GRID, np.linspace(-6, 30, 37, dtype="float32")])
    functional = torch.nn.functional
    wanted = getattr(functional, peer)(torch.tensor(x)) if isinstance(peer, str) else peer(functional, torch.tensor(x))
    assert np.allclose(run(call, x), wanted.numpy(), rtol=3e-6, atol=1e-6)


def test_prelu_and_dropout_by_hand():
    x = np.array([[-2, -2], [4, -4]], "float32")
    assert run("nn.prelu(a, b, axis=1)", x, f32(0.5, 0.25)).tolist() == [[-1, -0.5], [4, -1]]
    same, mask = run("nn.dropout(a, rate=0.5)", x)
    assert same.tolist() == x.tolist()
    assert mask.tolist() == [[1, 1], [1, 1]]


@pytest.mark.parametrize(
    ("call", "arrays", "code"),
    [
        ("logical_and(a, b)", (np.ones(2, "int32"), np.ones(2, "int32")), "RM201"),
        ("where(a, b, c)", (np.ones(2, "int32"), f32(1), f32(1)), "RM201"),
        ("nn.prelu(a, b, axis=1)", (np.ones((2, 3), "float32"), f32(1)), "RM202"),
        ("nn.gelu(a)", (np.ones(2, "int32"),), "RM201"),
        ("power(a, a)", (np.ones(2, "int32"),), "RM201"),
        ("add(a, a)", (np.ones(2, "bool"),), "RM201"),
        ("sum(a)", (np.ones(2, "bool"),), "RM201"),
        ("max(a)", (np.ones(2, "bool"),), "RM201"),
        ('arange(0, 4, 0, dtype="int64")', (), "RM105"),
        ("tril(a, 0)", (f32(1),), "RM105"),
        ("add(R.prim_value(1), R.prim_value(2))", (), "RM201"),
        ("full(R.shape([2]), a)", (f32(1),), "RM105"),
    ],
)
def test_misfits(call, arrays, code):
    with pytest.raises(RefmlcError) as found:
        run(call, *arrays)
    assert found.value.code.id == code
