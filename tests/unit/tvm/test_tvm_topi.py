"""`topi` and `relax.op` by TVM's signatures, against NumPy; what they refuse. Against TVM: `e2e/test_topi_tvm.py`."""

import inspect

import numpy as np
import pytest

from refmlc import tvm
from refmlc.diag import RefmlcError
from refmlc.tvm import relax, te, topi
from refmlc.tvm.script import relax as R  # noqa: N812 - as programs name it

DATA = np.random.default_rng(0).normal(size=(4, 6)).astype("float32")


def run(function, *shapes):
    """The result of a function of tensor expressions on the first elements of `DATA` in these shapes."""
    arrays = [np.resize(DATA, shape) for shape in shapes]
    tensors = [te.placeholder(shape, name=f"p{number}") for number, shape in enumerate(shapes)]
    made = function(*tensors)
    builder = relax.BlockBuilder()
    params = [relax.Var(f"p{n}", R.Tensor(shape, "float32")) for n, shape in enumerate(shapes)]
    with builder.function("main", params):
        builder.emit_func_output(builder.emit_te(function, *params))
    out = relax.VirtualMachine(tvm.build(builder.get()), tvm.cpu())["main"](*arrays).numpy()
    assert str(out.dtype) == made.dtype
    return out


@pytest.mark.parametrize(
    ("function", "wanted"),
    [
        (lambda x: topi.reshape(x, (3, -1)), DATA.reshape(3, 8)),
        (lambda x: topi.reshape(x, [24]), DATA.reshape(24)),
        (lambda x: topi.transpose(a=x, axes=[1, 0]), DATA.T),
        (lambda x: topi.expand_dims(x, -1, 2), DATA[..., None, None]),
        (lambda x: topi.strided_slice(x, [1, 0], [4, 6], [1, 2]), DATA[1:4, ::2]),
        (lambda x: topi.strided_slice(x, [1], [3], axes=[1]), DATA[:, 1:3]),
        (lambda x: topi.strided_slice(x, [1, 2], [2, 3], slice_mode="size"), DATA[1:3, 2:5]),
        (lambda x: topi.argmax(x, axis=1), DATA.argmax(1).astype("int32")),
        (lambda x: topi.argmin(x, [0], True), DATA.argmin(0, keepdims=True).astype("int32")),
        (lambda x: topi.sort(x, axis=0, is_ascend=0), -np.sort(-DATA, 0)),
        (lambda x: topi.topk(x, 2, ret_type="values"), -np.sort(-DATA, 1)[:, :2]),
        (lambda x: topi.full_like(x, 2), np.full_like(DATA, 2)),
        (lambda x: topi.trilu(x, 1, False), np.tril(DATA, 1)),
        (lambda x: topi.elemwise_sum([x, x, x]), DATA + DATA + DATA),
        (lambda x: topi.nn.pad(x, [1, 0], [0, 2], 0.5), np.pad(DATA, [(1, 0), (0, 2)], constant_values=0.5)),
        (lambda x: topi.nn.reflect_pad(x, (0, 2), (1, 0)), np.pad(DATA, [(0, 1), (2, 0)], "reflect")),
        (lambda x: topi.image.transpose(x), DATA.T),
        (lambda x: topi.tanh(x), np.tanh(DATA)),
    ],
)
def test_functions_of_one_matrix(function, wanted):
    found = run(function, (4, 6))
    assert found.dtype == wanted.dtype
    np.testing.assert_allclose(found, wanted, rtol=1e-6)


def test_indices_of_places_stand_along_the_first_axis():
    indices = te.placeholder((2, 3), dtype="int64", name="i")
    data = te.placeholder((4, 6), name="x")
    out = tvm.nd.empty((3,))
    places = np.array([[0, 3, 1], [5, 0, 2]])
    func = te.create_prim_func([data, indices, topi.gather_nd(data, indices)])
    tvm.build(func)(DATA, places, out)
    assert out.numpy().tolist() == [DATA[0, 5], DATA[3, 0], DATA[1, 2]]


def test_a_convolution_as_it_is_called():
    found = run(lambda x, w: topi.nn.conv2d(x, w, 1, "SAME", 1), (1, 1, 4, 4), (1, 1, 3, 3))
    x, w = np.pad(np.resize(DATA, (4, 4)), 1), np.resize(DATA, (3, 3))
    wanted = [[(x[i : i + 3, j : j + 3] * w).sum() for j in range(4)] for i in range(4)]
    np.testing.assert_allclose(found[0, 0], wanted, rtol=1e-5)


@pytest.mark.parametrize(
    "call",
    [
        lambda x: topi.argmax(x, 0, False, True),
        lambda x: topi.nn.conv2d(x, x),
        lambda x: topi.strided_slice(x, [0], [1], slice_mode="middle"),
        lambda x: topi.take(x, x, batch_dims=1),
        lambda x: topi.add(x, x, x),
        lambda x: topi.nn.pool2d(x, 1, 1, 1, 0, "median"),
        lambda x: topi.nn.pad(x, [1]),
    ],
)
def test_what_is_not_taken_is_one_message(call):
    with pytest.raises((RefmlcError, ValueError)) as raised:
        call(te.placeholder((1, 1, 4, 4), name="x"))
    assert isinstance(raised.value, RefmlcError)
    assert raised.value.code.id == "RM105"


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("nn.lstm", "Relax has no such operator"),
        ("fast_tanh", "exact"),
        ("nn.conv2d_NCHWc", "schedule or a device"),
        ("nn.bitpack", "packed bits"),
        ("dyn_tile", "depends on elements"),
    ],
)
def test_what_tvm_has_besides_is_refused_with_the_reason(name, reason):
    group, _, own = name.rpartition(".")
    with pytest.raises(AttributeError, match=reason):
        getattr(getattr(topi, group) if group else topi, own)


def test_signatures_are_seen():
    assert str(inspect.signature(topi.nn.softmax)) == "(x, axis=-1)"
    assert str(inspect.signature(relax.op.sum)) == "(x, axis=None, keepdims=False)"
    assert str(inspect.signature(relax.op.add)) == "(x1, x2)"


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda x: relax.op.reshape(x, (2, -1)), "R.reshape(x, R.shape([2, 12]))"),
        (lambda x: relax.op.sum(x, axis=1), "R.sum(x, axis=[1], keepdims=False)"),
        (lambda x: relax.op.arange(5), 'R.arange(0, 5, 1, dtype="int64")'),
        (lambda x: relax.op.eye(2), 'R.eye(2, 2, 0, dtype="float32")'),
        (lambda x: relax.op.tril(x), "R.tril(x, 0)"),
        (lambda x: relax.op.nn.relu6(x), "R.clip(x, 0, 6)"),
        (lambda x: relax.op.shape_of(x), "R.shape_of(x)"),
        (lambda x: relax.op.concat([x, x], axis=1), "R.concat((x, x), axis=1)"),
    ],
)
def test_calls_are_written_as_tvm_writes_them(make, text):
    # The texts are those that TVM 0.27 printed.
    assert make(relax.Var("x", R.Tensor((4, 6), "float32"))).script() == text
