"""Moments of channels and attention against PyTorch; edge values worked by hand."""

import math

import numpy as np
import pytest
from needs import imported
from test_library_elements import f32
from test_library_images import refused

import refmlc

torch = imported("torch")
F = torch.nn.functional
inf, nan = math.inf, math.nan


def run(call, *arrays):
    """What `R.<call>` gives on arrays that are called a, b … f."""
    names = "abcdef"[: len(arrays)]
    params = ", ".join(f'{n}: R.Tensor({tuple(x.shape)}, "{x.dtype}")' for n, x in zip(names, arrays, strict=True))
    text = f"@R.function\ndef main({params}):\n    r = R.{call}\n    return r\n"
    found = refmlc.VirtualMachine(refmlc.build(refmlc.read(text), tier="interp"))["main"](*arrays)
    return [one.numpy() for one in found] if isinstance(found, tuple) else found.numpy()


def normal(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype("float32")


# ------------------------------------------------------------------------------------------------------ batch norm


def batch(*shape):
    channels = shape[1]
    vectors = [normal(channels, seed=seed) for seed in (1, 2, 3)]
    return [normal(*shape), *vectors, np.abs(normal(channels, seed=4)) + np.float32(0.5)]


@pytest.mark.parametrize("shape", [(2, 3), (2, 3, 4), (2, 3, 2, 2)])
@pytest.mark.parametrize("training", [False, True])
def test_batch_norm_as_pytorch(shape, training):
    x, gamma, beta, mean, var = batch(*shape)
    kept_mean, kept_var = torch.tensor(mean), torch.tensor(var)
    wanted = F.batch_norm(
        torch.tensor(x), kept_mean, kept_var, torch.tensor(gamma), torch.tensor(beta), training, momentum=0.25
    )
    call = f"nn.batch_norm(a, b, c, d, e, axis=1, momentum=0.25, training={training})"
    found, new_mean, new_var = run(call, x, gamma, beta, mean, var)
    assert np.allclose(found, wanted.numpy(), rtol=1e-4, atol=1e-5)
    assert np.allclose(new_mean, kept_mean.numpy(), rtol=1e-5, atol=1e-6)
    count = x.size // shape[1]
    factor = (count - 1) / count if training else 1  # PyTorch keeps the variance with its correction
    assert np.allclose(new_var - 0.75 * var * training, (kept_var.numpy() - 0.75 * var * training) * factor, rtol=1e-4)


def test_batch_norm_along_the_last_axis_without_scale_and_centre():
    x, gamma, beta, mean, var = batch(2, 3, 4)
    turned = np.ascontiguousarray(x.transpose(0, 2, 1))
    call = "nn.batch_norm(a, b, c, d, e, axis=-1, scale=False, center=False, training=False)"
    wanted = (turned - mean) / np.sqrt(var + np.float32(1e-5))
    assert np.array_equal(run(call, turned, gamma, beta, mean, var)[0], wanted)


def test_batch_norm_by_hand():
    x, one, zero = f32(1, 3)[:, None], f32(1), f32(0)
    found, mean, var = run("nn.batch_norm(a, b, c, d, e, axis=1, epsilon=0.0)", x, one, zero, zero, one)
    assert found[:, 0].tolist() == [-1, 1]
    assert mean[0] == np.float32(0.1) * np.float32(2)
    assert var[0] == np.float32(np.float32(0.9) + np.float32(0.1))
    flat, _, _ = run("nn.batch_norm(a, b, c, d, e, axis=1, epsilon=0.0)", f32(2, 2)[:, None], one, zero, zero, one)
    assert np.isnan(flat).all()
    empty, mean, _ = run("nn.batch_norm(a, b, c, d, e, axis=1)", np.zeros((0, 1), "float32"), one, zero, zero, one)
    assert empty.shape == (0, 1)
    assert np.isnan(mean).all()


def test_batch_norms_that_are_none():
    x, gamma = normal(2, 3), normal(3)
    refused("RM105", "a momentum from 0 to 1", "nn.batch_norm(a, b, b, b, b, axis=1, momentum=2.0)", x, gamma)
    refused("RM202", "the channels of `nn.batch_norm`", "nn.batch_norm(a, b, b, b, b, axis=0)", x, gamma)
    refused("RM201", "takes vectors of this dtype", "nn.batch_norm(a, b, b, b, b, axis=1)", x, gamma.astype("float16"))
    refused("RM105", "needs the attribute `axis`", "nn.batch_norm(a, b, b, b, b)", x, gamma)


# ------------------------------------------------------------------------------------------------------- attention


def heads(batch, n, m, d, e, count=2):
    return normal(batch, n, count, d), normal(batch, m, count, d, seed=1), normal(batch, m, count, e, seed=2)


def attended(q, k, v, mask=None, scale=None):
    turned = [torch.tensor(one).transpose(1, 2) for one in (q, k, v)]
    mask = None if mask is None else torch.tensor(mask)
    return F.scaled_dot_product_attention(*turned, attn_mask=mask, scale=scale).transpose(1, 2).numpy()


@pytest.mark.parametrize(("n", "m", "d", "e"), [(3, 3, 4, 4), (2, 5, 3, 1), (4, 2, 1, 5)])
@pytest.mark.parametrize("scale", [None, 0.5])
def test_attention_as_pytorch(n, m, d, e, scale):
    q, k, v = heads(2, n, m, d, e)
    attrs = "" if scale is None else f", scale={scale}"
    assert np.allclose(
        run(f"nn.attention(a, b, c{attrs})", q, k, v), attended(q, k, v, scale=scale), rtol=1e-5, atol=1e-6
    )


@pytest.mark.parametrize("shape", [(2, 2, 3, 5), (1, 2, 1, 5), (2, 1, 3, 1), (1, 1, 1, 5)])
def test_a_bias_is_broadcast(shape):
    q, k, v = heads(2, 3, 5, 4, 4)
    bias = normal(*shape, seed=5)
    wanted = attended(q, k, v, np.broadcast_to(bias, (2, 2, 3, 5)).copy())
    assert np.allclose(run("nn.attention_bias(a, b, c, d)", q, k, v, bias), wanted, rtol=1e-5, atol=1e-6)
    assert np.array_equal(
        run("nn.attention(a, b, c, d)", q, k, v, bias), run("nn.attention_bias(a, b, c, d)", q, k, v, bias)
    )


@pytest.mark.parametrize("mask", ["TopLeft", "BottomRight"])
@pytest.mark.parametrize(("n", "m"), [(3, 3), (2, 4), (4, 2)])
def test_causal_masks(mask, n, m):
    q, k, v = heads(1, n, m, 4, 3)
    seen = np.tril(np.ones((n, m), bool), k=abs(n - m) if mask == "BottomRight" else 0)
    found = run(f"nn.attention(a, b, c, causal_mask='{mask}')", q, k, v)
    assert np.allclose(found, attended(q, k, v, seen), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("window", [1, 2, 9])
@pytest.mark.parametrize("mask", ["TopLeft", "BottomRight"])
@pytest.mark.parametrize(("n", "m"), [(4, 4), (2, 5)])
def test_windows_of_keys(n, m, mask, window):
    q, k, v = heads(1, n, m, 4, 3)
    last = np.arange(n)[:, None] + (m - n if mask == "BottomRight" else 0)
    seen = (np.arange(m) <= last) & (np.arange(m) > last - window)
    found = run(f"nn.attention(a, b, c, causal_mask='{mask}', window_size={window})", q, k, v)
    assert np.allclose(found, attended(q, k, v, seen), rtol=1e-5, atol=1e-6)


def test_a_window_without_keys():
    q, k, v = heads(1, 4, 2, 3, 3)
    found = run("nn.attention(a, b, c, causal_mask='TopLeft', window_size=2)", q, k, v)
    assert np.array_equal(found[:, 2], v[:, 1:2][:, 0])
    assert not found[:, 3].any()


def test_very_small_scores_under_a_mask():
    q, k, v = (
        f32(200)[None, :, None, None].repeat(2, 1),
        f32(-1, -1)[None, :, None, None],
        f32(3, 5)[None, :, None, None],
    )
    assert run("nn.attention(a, b, c, causal_mask='TopLeft')", q, k, v)[0, :, 0, 0].tolist() == [3, 4]


def test_what_is_not_seen_has_no_part():
    q, k, v = f32(1, 1)[None, :, None, None], f32(1, nan)[None, :, None, None], f32(3, 5)[None, :, None, None]
    assert run("nn.attention(a, b, c, causal_mask='TopLeft')", q, k, v)[0, 0, 0, 0] == 3
    hidden = f32(-inf, -inf)[None, None, None]
    assert np.isnan(run("nn.attention_bias(a, b, c, d)", q, q, v, hidden)).all()


@pytest.mark.parametrize("attrs", ["", ", causal_mask='TopLeft'"])
def test_attention_to_nothing_is_nothing(attrs):
    q, k, v = heads(1, 2, 0, 3, 4)
    assert not run(f"nn.attention(a, b, c{attrs})", q, k, v).any()
    assert run(f"nn.attention(a, b, c{attrs})", *heads(1, 0, 2, 3, 4)).shape == (1, 0, 2, 4)


def test_attentions_that_are_none():
    q, k, v = heads(1, 3, 3, 4, 4)
    refused("RM105", "needs a causal_mask", "nn.attention(a, b, c, window_size=2)", q, k, v)
    refused("RM105", "is at least 1", "nn.attention(a, b, c, causal_mask='TopLeft', window_size=0)", q, k, v)
    refused("RM105", "this is 'Left'", "nn.attention(a, b, c, causal_mask='Left')", q, k, v)
    refused("RM105", "`key` has 3", "nn.attention(a, b, c)", q, k[0], v)
    refused("RM202", "the keys and values", "nn.attention(a, b, c)", q, k, v[:, :2].copy())
    refused("RM201", "`value` is float16", "nn.attention(a, b, c)", q, k, v.astype("float16"))


# ------------------------------------------------------------------------------------- sequences of their own lengths

STARTS, LONGEST = np.array([0, 2, 2, 5], "int32"), np.array(3, "int32")


def of_sequences(queries, keys, attrs="", *limits):
    """Attention of each sequence apart, by PyTorch, and all at once; further limits as arguments d and on."""
    q, k, v = heads(1, 6, 7, 4, 3)
    names = ", ".join("defg"[: len(limits)])
    found = run_named(f"nn.attention_var_len(a, b, c, {names}{attrs})", q, k, v, *limits)
    parts = zip(queries, queries[1:], keys, keys[1:], strict=False)
    return q, k, v, found, list(parts)


def run_named(call, *arrays):
    names = "abcdefg"[: len(arrays)]
    params = ", ".join(f'{n}: R.Tensor({x.shape}, "{x.dtype}")' for n, x in zip(names, arrays, strict=True))
    module = refmlc.read(f"@R.function\ndef main({params}):\n    r = R.{call}\n    return r\n")
    return [refmlc.VirtualMachine(refmlc.build(module, tier=tier))["main"](*arrays).numpy() for tier in TIERS]


TIERS = ("interp", "native")


@pytest.mark.parametrize("mask", [None, "TopLeft", "BottomRight"])
@pytest.mark.parametrize("keyed", [False, True])
def test_sequences_as_pytorch_has_each(mask, keyed):
    keys = np.array([1, 2, 3, 7], "int32") if keyed else STARTS
    limits = (STARTS, LONGEST, keys, LONGEST + 1) if keyed else (STARTS, LONGEST)
    attrs = "" if mask is None else f", causal_mask='{mask}'"
    q, k, v, (found, native), parts = of_sequences(STARTS, keys, attrs, *limits)
    for begin, end, first, after in parts:
        n, m = end - begin, after - first
        more = abs(n - m) if mask == "BottomRight" else 0
        seen = None if mask is None else np.tril(np.ones((n, m), bool), k=more)
        wanted = attended(q[:, begin:end], k[:, first:after], v[:, first:after], seen)
        assert np.allclose(found[:, begin:end], wanted, rtol=1e-5, atol=1e-6)
    assert not found[:, 5:].any()
    assert np.array_equal(found, native)


def test_the_order_that_tvm_prints_is_understood():
    keys = np.array([1, 2, 3, 7], "int32")
    read = of_sequences(STARTS, keys, "", STARTS, LONGEST, keys, LONGEST)[3][0]
    assert np.array_equal(read, of_sequences(STARTS, keys, "", STARTS, keys, LONGEST, LONGEST)[3][0])


def test_sequences_do_not_meet():
    q, k, v = heads(1, 5, 5, 4, 3)
    broken = v.copy()
    broken[:, 2:] = nan
    call = "nn.attention_var_len(a, b, c, d, e)"
    found = [run_named(call, q, k, values, STARTS, LONGEST)[0] for values in (v, broken)]
    assert np.array_equal(found[0][:, :2], found[1][:, :2])
    assert np.isnan(found[1][:, 2:]).all()


def test_sequences_that_are_none():
    q, k, v = heads(1, 5, 5, 4, 3)
    call = "nn.attention_var_len(a, b, c, d, e)"
    refused("RM201", "takes integers", call, q, k, v, f32(0, 5), LONGEST)
    refused("RM202", "the first axis", call, *heads(2, 5, 5, 4, 3), STARTS, LONGEST)
    with pytest.raises(refmlc.RefmlcError, match="RM304"):
        run(call, q, k, v, STARTS + np.int32(1), LONGEST)
