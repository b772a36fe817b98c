"""Operators whose result depends on extents that only the call has: every way to run has the same."""

import numpy as np
import pytest

import refmlc
from refmlc.diag import RefmlcError
from refmlc.lang.script import show
from refmlc.oracle.implementations.implementation import Ended
from refmlc.oracle.implementations.lookup import implementation
from refmlc.rewrite.transform import legalize_ops

WAYS = ("interp", "interp:sanitized", pytest.param("native", marks=pytest.mark.needs("compiler")), "numpy")


def main(params, form):
    return f"@R.function\ndef main({params}):\n    r = {form}\n    return r\n"


def run(way, text, *arrays):
    """What comes, as arrays; None where the way does not take it."""
    prepared = implementation(way).prepare(refmlc.read(text))
    answer = prepared.run("main", [refmlc.Tensor.from_numpy(one.copy()) for one in arrays])
    if not isinstance(answer, Ended):
        assert answer.why.value == "unsupported", answer
        return None
    values = answer.value if isinstance(answer.value, tuple) else (answer.value,)
    return [one.numpy() for one in values]


def i32(*shape):
    return np.arange(np.prod(shape), dtype=np.int32).reshape(shape)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("types", "form", "arrays", "wanted"),
    [
        (("n", "3", "m"), "R.squeeze(a)", [i32(1, 3, 1)], [i32(3)]),
        (("n", "3", "m"), "R.squeeze(a)", [i32(2, 3, 1)], [i32(2, 3)]),
        (("n", "2"), "R.split(a, 3)", [i32(7, 2)], [i32(7, 2)[:3], i32(7, 2)[3:6], i32(7, 2)[6:]]),
        (("n", "2"), "R.split(a, 3)", [i32(1, 2)], [i32(1, 2), i32(0, 2), i32(0, 2)]),
        (("n", "2"), "R.split(a, [2, 8])", [i32(5, 2)], [i32(5, 2)[:2], i32(5, 2)[2:], i32(0, 2)]),
        (("4", "h", "1"), "R.nn.pixel_shuffle(a, 2)", [i32(4, 1, 1)], [i32(1, 2, 2)]),
        (("n", "h", "1"), "R.nn.pixel_shuffle(a, 2)", [i32(4, 1, 1)], [i32(1, 2, 2)]),
        (("n", "m"), 'R.einsum((a, a), subscripts="ij,jk->ik")', [i32(2, 2)], [i32(2, 2) @ i32(2, 2)]),
        (("n", "4"), "R.reshape(a, (0, 2, -1))", [i32(3, 4)], [i32(3, 4).reshape(3, 2, 2)]),
    ],
)
def test_extents_of_the_call(way, types, form, arrays, wanted):
    dims = ", ".join(one if one.isdigit() else f'"{one}"' for one in types)
    found = run(way, main(f'a: R.Tensor(({dims}), "int32")', form), *arrays)
    if found is not None:
        assert [one.tolist() for one in found] == [one.tolist() for one in wanted]
        assert [one.shape for one in found] == [one.shape for one in wanted]


@pytest.mark.parametrize("way", WAYS)
def test_broadcast_letters_of_the_call(way):
    """A letter of two extents is one of those that are broadcast, or not, as the call has them."""
    a, b = i32(2, 1), i32(3, 4)
    text = main(
        'a: R.Tensor(("n", "m"), "int32"), b: R.Tensor(("k", "l"), "int32")',
        'R.einsum((a, b), subscripts="ij,jk->ik")',
    )
    found = run(way, text, a, b)
    if found is not None:
        assert found[0].tolist() == (np.broadcast_to(a, (2, 3)) @ b).tolist()


@pytest.mark.parametrize("way", WAYS)
def test_sums_that_the_call_decides(way):
    text = main('a: R.Tensor((2, 3), "int32"), b: R.Tensor(("n", 3), "int32")', "R.collapse_sum_like(a, b)")
    for rows, wanted in ((1, [[3, 5, 7]]), (2, [[0, 1, 2], [3, 4, 5]])):
        found = run(way, text, i32(2, 3), i32(rows, 3))
        if found is not None:
            assert found[0].tolist() == wanted


def test_what_the_run_decides_is_not_lowered():
    text = main('a: R.Tensor(("n", 3), "int32")', "R.squeeze(a)")
    assert "R.squeeze" in show(legalize_ops(refmlc.read(text)))


@pytest.mark.parametrize(
    ("form", "code"),
    [
        ("R.split(a, [-1])", "RM105"),
        ("R.reshape(a, (2, 3, 0))", "RM202"),
        ("R.reshape(a, (0, 0, 2))", "RM202"),
    ],
)
def test_refused(form, code):
    with pytest.raises(RefmlcError) as caught:
        refmlc.VirtualMachine(refmlc.build(refmlc.read(main('a: R.Tensor((2, 3), "int32")', form))))["main"](i32(2, 3))
    assert caught.value.code.id == code


@pytest.mark.parametrize(
    ("form", "same"),
    [
        ("R.arange(5)", 'R.arange(0, 5, 1, dtype="int64")'),
        ("R.arange(1, 5.0)", 'R.arange(1, 5.0, 1, dtype="float32")'),
        ("R.arange(n)", 'R.arange(0, n, 1, dtype="int64")'),
        ("R.unique(a, axis=0)", "R.unique(a, True, False, False, False, 0)"),
        ("R.unique(a, axis=None)", "R.unique(a)"),
        ("R.linear(a, a, a)", "R.add(R.matmul(a, R.permute_dims(a)), a)"),
        ("R.linear(a, a)", "R.matmul(a, R.permute_dims(a))"),
    ],
)
def test_what_is_left_out_in_text(form, same):
    params = 'a: R.Tensor((2, 2), "int32"), n: R.Prim("int64")'
    assert refmlc.structural_equal(refmlc.read(main(params, form)), refmlc.read(main(params, same)))


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("channels", "groups"), [(4, 2), (2, 1)])
def test_channels_of_the_call(way, channels, groups):
    """How many channels a group has is what the call says; the same on the module that is lowered before."""
    text = main(
        'a: R.Tensor(("n", "c", "m"), "float32"), g: R.Tensor(("c",), "float32")',
        f"R.nn.group_norm(a, g, g, num_groups={groups}, channel_axis=1, axes=[2])",
    )
    a = np.random.default_rng(0).standard_normal((2, channels, 3)).astype("float32")
    g = np.arange(channels, dtype="float32")
    parts = a.astype("float64").reshape(2, groups, -1)
    scaled = (parts - parts.mean(2, keepdims=True)) / np.sqrt(parts.var(2, keepdims=True) + 1e-5)
    wanted = scaled.reshape(a.shape) * g[:, None] + g[:, None]
    for module in (text, show(legalize_ops(refmlc.read(text)))):
        found = run(way, module, a, g)
        if found is not None:
            assert np.allclose(found[0], wanted, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(
    ("form", "code"),
    [
        ("R.nn.group_norm(a, g, g, num_groups=2, channel_axis=1, axes=[2, 3])", "RM105"),
        ("R.nn.pixel_shuffle(a, 2)", "RM202"),
    ],
)
def test_channels_that_the_call_has_left_over(form, code):
    text = main('a: R.Tensor((2, "c", 3, 1), "float32"), g: R.Tensor(("c",), "float32")', form)
    with pytest.raises(RefmlcError) as caught:
        refmlc.VirtualMachine(refmlc.build(refmlc.read(text)))["main"](np.zeros((2, 3, 3, 1), "f4"), np.zeros(3, "f4"))
    assert caught.value.code.id == code
