"""Convolutions, pools and paddings against PyTorch and NumPy; edge values worked by hand."""

import math

import numpy as np
import pytest
from needs import imported
from test_library_elements import f32, run

import refmlc
from refmlc.diag import RefmlcError
from refmlc.lang.dtypes import FLOAT32, INT64
from refmlc.lang.ir import tir
from refmlc.lang.ir.types import TensorType
from refmlc.lang.library import OPERATORS, type_of
from refmlc.lang.te import Value
from refmlc.rewrite.transform import legalize_ops

torch = imported("torch")
F = torch.nn.functional
inf, nan = math.inf, math.nan
SIZES = {1: (9,), 2: (6, 5), 3: (5, 3, 4)}
KERNELS = {1: (3,), 2: (3, 2), 3: (2, 2, 2)}


def ints(*shape, dtype="float32", seed=0):
    """Small integers: sums of products of them are exact in every order."""
    return np.random.default_rng(seed).integers(-4, 5, shape).astype(dtype)


def said(**attrs):
    return "".join(f", {name}={value!r}" for name, value in attrs.items())


def refused(code, text, call, *arrays):
    with pytest.raises(RefmlcError) as found:
        run(call, *arrays)
    assert found.value.code.id == code
    assert text in found.value.diagnostic.message


# ---------------------------------------------------------------------------------------------------- convolution

CONVOLUTIONS = [
    {},
    {"strides": [2], "padding": [1]},
    {"dilation": [2], "padding": [2]},
    {"groups": 2},
    {"groups": 2, "strides": [2], "padding": [1], "dilation": [2]},
]


@pytest.mark.parametrize("attrs", CONVOLUTIONS)
@pytest.mark.parametrize("rank", [1, 2, 3])
def test_convolutions_as_pytorch(rank, attrs):
    groups = attrs.get("groups", 1)
    x, w = ints(1, 4, *SIZES[rank]), ints(2, 4 // groups, *KERNELS[rank], seed=1)
    names = {"strides": "stride"}
    numbers = {names.get(n, n): v if n == "groups" else v[0] for n, v in attrs.items()}
    wanted = getattr(F, f"conv{rank}d")(torch.tensor(x), torch.tensor(w), **numbers).numpy()
    assert np.array_equal(run(f"nn.conv{rank}d(a, b{said(**attrs)})", x, w), wanted)


@pytest.mark.parametrize("attrs", [*CONVOLUTIONS, {"strides": [3], "output_padding": [2]}])
@pytest.mark.parametrize("rank", [1, 2, 3])
def test_transposed_convolutions_as_pytorch(rank, attrs):
    groups = attrs.get("groups", 1)
    x, w = ints(1, 4, *SIZES[rank]), ints(4, 2 // groups, *KERNELS[rank], seed=1)
    names = {"strides": "stride"}
    numbers = {names.get(n, n): v if n == "groups" else v[0] for n, v in attrs.items()}
    wanted = getattr(F, f"conv_transpose{rank}d")(torch.tensor(x), torch.tensor(w), **numbers).numpy()
    assert np.array_equal(run(f"nn.conv{rank}d_transpose(a, b{said(**attrs)})", x, w), wanted)


def test_padding_is_before_and_after():
    x, w = ints(1, 1, 4, 5), ints(1, 1, 2, 2, seed=1)
    around = np.pad(x, ((0, 0), (0, 0), (1, 3), (0, 2)))
    assert np.array_equal(run("nn.conv2d(a, b, padding=[1, 0, 3, 2])", x, w), run("nn.conv2d(a, b)", around, w))
    both = run("nn.conv2d(a, b, padding=[1, 2])", x, w)
    assert np.array_equal(both, run("nn.conv2d(a, b, padding=[1, 2, 1, 2])", x, w))


@pytest.mark.parametrize("layout", ["NHWC", "HWCN", "NCWH"])
@pytest.mark.parametrize("kernel", ["HWIO", "OHWI", "IOWH"])
def test_layouts_go_by_their_letters(layout, kernel):
    x, w = ints(2, 4, 7, 6), ints(3, 2, 3, 2, seed=1)
    attrs = {"strides": [2, 1], "padding": [0, 1, 1, 0], "groups": 1}
    wanted = run(f"nn.conv2d(a, b{said(**attrs)})", x[:, :2].copy(), w)
    to, of = (["NCHW".index(one) for one in layout], ["OIHW".index(one) for one in kernel])
    given = np.ascontiguousarray(x[:, :2].transpose(to)), np.ascontiguousarray(w.transpose(of))
    call = f"nn.conv2d(a, b{said(**attrs)}, data_layout='{layout}', kernel_layout='{kernel}'"
    assert np.array_equal(run(f"{call})", *given), wanted.transpose(to))
    assert np.array_equal(run(f"{call}, out_layout='NCHW')", *given), wanted)


def test_a_transposed_convolution_in_another_layout():
    x, w = ints(1, 3, 4, 5), ints(3, 2, 3, 3, seed=1)
    wanted = run("nn.conv2d_transpose(a, b, strides=[2, 2], padding=[1, 1])", x, w)
    given = np.ascontiguousarray(x.transpose(0, 2, 3, 1)), np.ascontiguousarray(w.transpose(2, 3, 1, 0))
    layouts = 'data_layout="NHWC", kernel_layout="HWOI"'
    found = run(f"nn.conv2d_transpose(a, b, strides=[2, 2], padding=[1, 1], {layouts})", *given)
    assert np.array_equal(found, wanted.transpose(0, 2, 3, 1))


def test_the_dtype_of_the_result():
    x, w = ints(1, 2, 4, 4, dtype="int8"), ints(2, 2, 3, 3, dtype="int8", seed=1)
    wanted = F.conv2d(torch.tensor(x).int(), torch.tensor(w).int()).numpy()
    assert np.array_equal(run("nn.conv2d(a, b, out_dtype='int32')", x * 20, w * 20), wanted * 400)
    mixed = run("nn.conv2d(a, b, out_dtype='float32')", x, w.astype("float32"))
    assert mixed.dtype == np.float32
    assert np.array_equal(mixed, wanted)


def test_nothing_to_convolve():
    assert run("nn.conv2d(a, b)", ints(0, 2, 4, 4), ints(3, 2, 3, 3)).shape == (0, 3, 2, 2)
    assert np.array_equal(run("nn.conv2d(a, b)", ints(1, 0, 4, 4), ints(3, 0, 3, 3)), np.zeros((1, 3, 2, 2)))
    assert run("nn.conv2d(a, b)", ints(1, 2, 4, 4), ints(0, 2, 3, 3)).shape == (1, 0, 2, 2)
    assert not run("nn.conv1d_transpose(a, b)", ints(1, 0, 4), ints(0, 3, 3)).any()


def test_an_infinite_weight():
    x, w = f32(1, 2, 3)[None, None], f32(inf, 1)[None, None]
    assert np.array_equal(run("nn.conv1d(a, b, padding=[1])", x, w)[0, 0], f32(nan, inf, inf, inf), equal_nan=True)
    spread = run("nn.conv1d_transpose(a, b, strides=[3])", x, w)
    assert np.array_equal(spread[0, 0], f32(inf, 1, 0, inf, 2, 0, inf, 3))


CONV = [
    ("RM202", "greater by 1 than the padded data", "nn.conv2d(a, b)", (1, 2, 2, 4), (1, 2, 3, 3)),
    ("RM202", "2 groups do not divide the 3 channels", "nn.conv2d(a, b, groups=2)", (1, 4, 4, 4), (3, 2, 3, 3)),
    ("RM202", "the channels of the data", "nn.conv2d(a, b, groups=2)", (1, 3, 4, 4), (2, 2, 3, 3)),
    ("RM105", "strides is an integer of at least 1", "nn.conv2d(a, b, strides=[0, 1])", (1, 2, 4, 4), (1, 2, 3, 3)),
    ("RM105", "padding is an integer of at least 0", "nn.conv2d(a, b, padding=-1)", (1, 2, 4, 4), (1, 2, 3, 3)),
    ("RM105", "padding is 1, 2 or 4 numbers; 3", "nn.conv2d(a, b, padding=[1, 1, 1])", (1, 2, 4, 4), (1, 2, 3, 3)),
    ("RM105", "groups is an integer", "nn.conv2d(a, b, groups=0)", (1, 2, 4, 4), (1, 2, 3, 3)),
    ("RM501", '"NCHW4c" is blocked', "nn.conv2d(a, b, data_layout='NCHW4c')", (1, 2, 4, 4), (1, 2, 3, 3)),
    ("RM105", 'is "NCHH"', "nn.conv2d(a, b, data_layout='NCHH')", (1, 2, 4, 4), (1, 2, 3, 3)),
    ("RM105", "this has 3", "nn.conv2d(a, b)", (1, 2, 4), (1, 2, 3, 3)),
    ("RM105", "output_padding 2", "nn.conv1d_transpose(a, b, strides=2, output_padding=2)", (1, 2, 4), (2, 1, 3)),
    ("RM202", "has an empty result", "nn.conv1d_transpose(a, b, padding=9)", (1, 2, 4), (2, 1, 3)),
    ("RM202", "an extent of 0", "nn.conv1d_transpose(a, b)", (1, 2, 0), (2, 1, 3)),
]


@pytest.mark.parametrize(("code", "text", "call", "data", "weight"), CONV)
def test_convolutions_that_are_none(code, text, call, data, weight):
    refused(code, text, call, ints(*data), ints(*weight))


def test_dtypes_that_differ_need_an_out_dtype():
    refused("RM201", "or an out_dtype", "nn.conv1d(a, b)", ints(1, 1, 4), ints(1, 1, 2, dtype="float16"))


N, H = tir.Var("n", INT64), tir.Var("h", INT64)


def of(*shape):
    return TensorType(tuple(tir.IntImm(INT64, one) if isinstance(one, int) else one for one in shape), FLOAT32)


def shown(ty):
    return [repr(Value(extent)).splitlines()[-1] for extent in ty.shape]


def test_symbolic_shapes():
    found = type_of(OPERATORS["nn.conv2d"], [of(N, 3, H, 8), of(4, 3, 3, 3)], {"padding": (1, 1), "strides": (2, 2)})
    assert found.shape[0] is N
    assert [one.value for one in (found.shape[1], found.shape[3])] == [4, 4]
    assert "h" in shown(found)[2]
    pooled = type_of(OPERATORS["nn.adaptive_avg_pool2d"], [of(N, 3, H, 8)], {"output_size": (1, 1)})
    assert [one.value for one in pooled.shape[1:]] == [3, 1, 1]


SYMBOLIC = {
    "nn.conv2d(a, b, padding=1, strides=2)": lambda x, w: F.conv2d(x, w, padding=1, stride=2),
    "nn.conv2d(a, b, groups=2)": lambda x, w: F.conv2d(x, w, groups=2),
    "nn.conv2d_transpose(a, b, strides=2)": lambda x, w: F.conv_transpose2d(x, w, stride=2),
    "nn.max_pool2d(a, pool_size=3, strides=2, padding=1, ceil_mode=True)": lambda x, _: F.max_pool2d(
        x, 3, 2, 1, ceil_mode=True
    ),
    "nn.avg_pool2d(a, pool_size=2, padding=1)": lambda x, _: F.avg_pool2d(x, 2, 1, 1, count_include_pad=False),
    "nn.adaptive_avg_pool2d(a, output_size=[3, 1])": lambda x, _: F.adaptive_avg_pool2d(x, (3, 1)),
    "nn.adaptive_avg_pool2d(a)": lambda x, _: x,
}


@pytest.mark.parametrize("tier", ["interp", "native"])
@pytest.mark.parametrize("call", SYMBOLIC)
def test_one_function_serves_all_shapes(call, tier):
    x, w = ints(1, 2, 5, 6), ints(2, 1 if "groups" in call else 2, 3, 2, seed=1)
    shapes = {
        "nn.conv2d(a, b, groups=2)": ('("n", 2, "h", "w")', "(2, 1, 3, 2)"),
        "nn.conv2d_transpose(a, b, strides=2)": ('("n", "c", "h", "w")', '("c", "o", 3, 2)'),
    }.get(call, ('("n", "c", "h", "w")', '("o", "c", 3, 2)'))
    params = ", ".join(f'{name}: R.Tensor({shape}, "float32")' for name, shape in zip("ab", shapes, strict=True))
    text = f"@R.function\ndef main({params}):\n    r = R.{call}\n    return r\n"
    module = legalize_ops(refmlc.read(text))
    assert "R.nn" not in module.script()
    found = refmlc.VirtualMachine(refmlc.build(module, tier=tier))["main"](x, w).numpy()
    assert np.allclose(found, SYMBOLIC[call](torch.tensor(x), torch.tensor(w)).numpy(), rtol=1e-6)


# ----------------------------------------------------------------------------------------------------------- pools

POOLS = [
    {},
    {"strides": [2]},
    {"padding": [1], "strides": [2]},
    {"strides": [2], "ceil_mode": True},
    {"strides": [3], "padding": [1], "ceil_mode": True},
    {"dilation": [2]},
]


@pytest.mark.parametrize("attrs", POOLS)
@pytest.mark.parametrize("rank", [1, 2, 3])
def test_max_pools_as_pytorch(rank, attrs):
    x, sizes = ints(1, 2, *SIZES[rank]), KERNELS[rank]
    numbers = {"stride": 1} | {n.replace("strides", "stride"): v if v is True else v[0] for n, v in attrs.items()}
    wanted = getattr(F, f"max_pool{rank}d")(torch.tensor(x), sizes, **numbers).numpy()
    assert np.array_equal(run(f"nn.max_pool{rank}d(a, pool_size={list(sizes)}{said(**attrs)})", x), wanted)


@pytest.mark.parametrize("count_include_pad", [False, True])
@pytest.mark.parametrize("attrs", POOLS[:-1])
@pytest.mark.parametrize("rank", [1, 2, 3])
def test_avg_pools_as_pytorch(rank, attrs, count_include_pad):
    x, sizes = ints(1, 2, *SIZES[rank]), KERNELS[rank]
    numbers = {"stride": 1} | {n.replace("strides", "stride"): v if v is True else v[0] for n, v in attrs.items()}
    numbers["count_include_pad"] = count_include_pad
    wanted = getattr(F, f"avg_pool{rank}d")(torch.tensor(x), sizes, **numbers).numpy()
    attrs = attrs | {"count_include_pad": count_include_pad}
    assert np.array_equal(run(f"nn.avg_pool{rank}d(a, pool_size={list(sizes)}{said(**attrs)})", x), wanted)


def test_defaults_of_count_include_pad_are_those_of_tvm():
    x = np.ones((1, 1, 3), "float32")
    assert run("nn.avg_pool1d(a, pool_size=3, padding=1)", x)[0, 0, 1] == 1
    assert run("nn.avg_pool1d(a, pool_size=3, padding=1)", x)[0, 0, 0] == np.float32(2 / 3)
    assert run("nn.avg_pool2d(a, pool_size=3, padding=1)", x[..., None] * np.ones(3, "float32"))[0, 0, 0, 0] == 1
    assert run("nn.avg_pool3d(a, pool_size=3, padding=1)", np.ones((1, 1, 3, 3, 3), "float32"))[0, 0, 0, 0, 0] < 1


def test_places_of_a_dilated_window_are_counted():
    x = f32(1, 2, 4, 8)[None, None]
    attrs = "pool_size=2, dilation=2, padding=1"
    # pairs at -1 and 1, 0 and 2, 1 and 3, 2 and 4
    assert run(f"nn.avg_pool1d(a, {attrs}, count_include_pad=False)", x)[0, 0].tolist() == [2, 2.5, 5, 4]
    assert run(f"nn.avg_pool1d(a, {attrs}, count_include_pad=True)", x)[0, 0].tolist() == [1, 2.5, 5, 2]


def test_no_window_begins_behind_the_data():
    x = f32(1, 2, 3)[None, None]
    call = "pool1d(a, pool_size=1, strides=3, ceil_mode=True"
    assert run(f"nn.max_{call})", x)[0, 0].tolist() == [1]
    assert run(f"nn.avg_{call}, count_include_pad=True)", x)[0, 0].tolist() == [1]


def test_a_window_between_what_is_added():
    x = f32(1, 2)[None, None]
    call = "pool1d(a, pool_size=1, padding=1"
    assert run(f"nn.max_{call})", x)[0, 0].tolist() == [-inf, 1, 2, -inf]
    assert run(f"nn.avg_{call}, count_include_pad=True)", x)[0, 0].tolist() == [0, 1, 2, 0]
    assert run(f"nn.avg_{call}, count_include_pad=False)", x)[0, 0].tolist() == [0, 1, 2, 0]


def test_a_window_with_nan_at_its_end_keeps_it():
    assert math.isnan(run("nn.max_pool1d(a, pool_size=2, padding=[0, 1])", f32(1, nan)[None, None])[0, 0, 1])
    assert run("nn.max_pool1d(a, pool_size=2)", f32(nan, 1)[None, None])[0, 0].tolist() == [1]
    assert run("nn.max_pool1d(a, pool_size=1)", f32(-inf)[None, None])[0, 0].tolist() == [-inf]


def test_pools_of_integers():
    x = np.array([-128, -3, 5], "int8")[None, None]
    assert run("nn.max_pool1d(a, pool_size=2, padding=1)", x)[0, 0].tolist() == [-128, -3, 5, 5]
    assert run("nn.avg_pool1d(a, pool_size=2)", np.array([-4, -3, 6], "int32")[None, None])[0, 0].tolist() == [-3, 1]


@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_adaptive_pools_as_pytorch(rank, size):
    x = ints(1, 2, *SIZES[rank])
    wanted = getattr(F, f"adaptive_avg_pool{rank}d")(torch.tensor(x), size).numpy()
    assert np.allclose(run(f"nn.adaptive_avg_pool{rank}d(a, output_size={size})", x), wanted, rtol=1e-6, atol=1e-7)


def test_adaptive_pools_that_repeat_and_that_keep():
    x = f32(1, 2, 4)[None, None]
    assert run("nn.adaptive_avg_pool1d(a, output_size=5)", x)[0, 0].tolist() == [1, 1.5, 2, 3, 4]
    assert np.array_equal(run("nn.adaptive_avg_pool1d(a)", x), x)


def test_pools_in_other_layouts():
    x = ints(1, 3, 5, 4)
    given = np.ascontiguousarray(x.transpose(0, 2, 3, 1))
    for call in ("max_pool2d(a, pool_size=2", "avg_pool2d(a, pool_size=2", "adaptive_avg_pool2d(a, output_size=2"):
        name = "layout='NHWC'"
        wanted = run(f"nn.{call})", x)
        assert np.array_equal(run(f"nn.{call}, {name})", given), wanted.transpose(0, 2, 3, 1))
        assert np.array_equal(run(f"nn.{call}, {name}, out_layout='NCHW')", given), wanted)


@pytest.mark.parametrize(
    ("code", "text", "call"),
    [
        ("RM202", "greater by 1", "nn.max_pool1d(a, pool_size=4)"),
        ("RM105", "pool_size is an integer of at least 1", "nn.avg_pool1d(a, pool_size=0)"),
        ("RM501", "blocked", "nn.max_pool1d(a, layout='NCW4c')"),
        ("RM105", "output_size is an integer", "nn.adaptive_avg_pool1d(a, output_size=0)"),
    ],
)
def test_pools_that_are_none(code, text, call):
    refused(code, text, call, ints(1, 2, 3))


def test_a_mean_over_no_places_is_refused():
    refused("RM202", "the data has none", "nn.adaptive_avg_pool1d(a, output_size=1)", ints(1, 2, 0))


# -------------------------------------------------------------------------------------------------------- padding


@pytest.mark.parametrize(
    ("mode", "numpys"), [("constant", "constant"), ("reflect", "reflect"), ("replicate", "edge"), ("circular", "wrap")]
)
def test_pad_as_numpy(mode, numpys):
    x = ints(3, 4)
    found = run(f"nn.pad(a, pad_width=[1, 2, 0, 3], pad_mode='{mode}')", x)
    assert np.array_equal(found, np.pad(x, ((1, 2), (0, 3)), mode=numpys))


def test_pad_by_nothing_and_of_nothing():
    x = ints(3, 4)
    assert np.array_equal(run("nn.pad(a, pad_width=[0, 0, 0, 0])", x), x)
    assert run("nn.pad(a, pad_width=[1, 1], pad_value=-0.0)", np.zeros(0, "float32")).tolist() == [0, 0]
    assert np.signbit(run("nn.pad(a, pad_width=[1, 1], pad_value=-0.0)", np.zeros(0, "float32"))).all()
    assert run("nn.pad(a, pad_width=[])", np.array(3, "float32")) == 3


def test_circular_padding_wraps_as_often_as_needed():
    assert run("nn.pad(a, pad_width=[3, 5], pad_mode='circular')", f32(1, 2)).tolist() == [2, 1, 2, 1, 2, 1, 2, 1, 2, 1]


@pytest.mark.parametrize(
    ("code", "text", "call", "shape"),
    [
        ("RM105", "4 numbers that are not negative", "nn.pad(a, pad_width=[1, 1])", (3, 4)),
        ("RM105", "not negative", "nn.pad(a, pad_width=[1, 1, -1, 0])", (3, 4)),
        ("RM105", 'this is "wrap"', "nn.pad(a, pad_width=[1, 1], pad_mode='wrap')", (3,)),
        ("RM202", "takes an extent of 4; this is 3", "nn.pad(a, pad_width=[3, 1], pad_mode='reflect')", (3,)),
        ("RM202", "takes an extent of 1; this is 0", "nn.pad(a, pad_width=[0, 1], pad_mode='replicate')", (0,)),
    ],
)
def test_paddings_that_are_none(code, text, call, shape):
    refused(code, text, call, ints(*shape))


def test_a_pad_value_of_another_dtype_is_refused():
    x = np.zeros(2, "int8")
    assert run("nn.pad(a, pad_width=[1, 0], pad_value=-128.0)", x).tolist() == [-128, 0, 0]
    refused("RM105", "this is 0.5", "nn.pad(a, pad_width=[1, 0], pad_value=0.5)", x)
    refused("RM105", "this is 128", "nn.pad(a, pad_width=[1, 0], pad_value=128.0)", x)


@pytest.mark.parametrize("shape", [(4, 2, 3), (2, 8, 2, 3), (1, 9, 1, 1), (0, 4, 2, 2)])
def test_pixel_shuffle_as_pytorch(shape):
    x, factor = np.arange(math.prod(shape), dtype="float32").reshape(shape), 3 if 9 in shape else 2
    wanted = F.pixel_shuffle(torch.tensor(x), factor).numpy()
    assert np.array_equal(run(f"nn.pixel_shuffle(a, upscale_factor={factor})", x), wanted)


def test_pixel_shuffles_that_are_none():
    refused("RM202", "a multiple of 4 channels, not 3", "nn.pixel_shuffle(a, upscale_factor=2)", ints(3, 2, 2))
    refused("RM105", "at least 3 dimensions", "nn.pixel_shuffle(a, upscale_factor=2)", ints(4, 2))
