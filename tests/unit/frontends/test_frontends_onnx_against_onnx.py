"""Single nodes of ONNX on random inputs, against ONNX's reference evaluator, NumPy and PyTorch."""

import numpy as np
import pytest
from needs import imported

from refmlc.diag import RefmlcError

onnx = imported("onnx")

from onnx import TensorProto, helper  # noqa: E402 - ONNX may be missing
from onnx.reference import ReferenceEvaluator  # noqa: E402

import refmlc.frontends.onnx_backend as backend  # noqa: E402

DOMAIN = "ai.onnx.preview.training"


def ours(node, *inputs, version=None):
    options = {} if version is None else {"opset_version": version}
    return backend.run_node(node, list(inputs), tier="interp", **options)


def theirs(node, *inputs, version=None):
    """What ONNX's evaluator computes."""
    names = [name for name in node.input if name]
    model = helper.make_model(
        helper.make_graph(
            [node],
            "node",
            [helper.make_value_info(name, onnx.TypeProto()) for name in names],
            [helper.make_value_info(name, onnx.TypeProto()) for name in node.output],
        ),
        opset_imports=[helper.make_opsetid(node.domain, version or onnx.defs.onnx_opset_version())],
    )
    with np.errstate(all="ignore"):
        return ReferenceEvaluator(model).run(None, dict(zip(names, inputs, strict=True)))


def agree(node, *inputs, rtol=1e-5, version=None):
    results, wanted = ours(node, *inputs, version=version), theirs(node, *inputs, version=version)
    assert len(results) == len(wanted)
    for a, b in zip(results, wanted, strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_allclose(a, b, rtol=rtol, atol=rtol)


def node(op, count, outputs=1, **attributes):
    names = [f"x{place}" for place in range(count)]
    return helper.make_node(op, names, [f"y{place}" for place in range(outputs)], **attributes)


def dice(*parts):
    return np.random.default_rng([sum(map(ord, part)) if isinstance(part, str) else part for part in parts])


def floats(random, *shape):
    return random.normal(size=shape).astype(np.float32)


# ------------------------------------------------------------------------------------------------- elements


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64", "uint8", "uint64"])
@pytest.mark.parametrize("direction", ["LEFT", "RIGHT"])
def test_bits_are_shifted(dtype, direction) -> None:
    random, info = dice(dtype), np.iinfo(dtype)
    x = random.integers(info.min, info.max, (50,), dtype, endpoint=True)
    counts = random.integers(max(info.min, -3), info.bits + 3, (50,)).astype(dtype)
    agree(node("BitShift", 2, direction=direction), x, counts)


@pytest.mark.parametrize(
    "pair", [("float32", "int32"), ("int8", "uint8"), ("float16", "uint16"), ("uint64", "float64")]
)
def test_bits_are_read_as_another_dtype(pair) -> None:
    own, wanted = map(np.dtype, pair)
    x = dice(*pair).integers(0, 256, (6, own.itemsize), np.uint8).view(own)
    result = ours(node("BitCast", 1, to=helper.np_dtype_to_tensor_dtype(wanted)), x)[0]
    assert result.dtype == wanted
    assert result.tobytes() == x.tobytes()


def test_powers_of_64_bits() -> None:
    bases = np.array([0, 0, 1, -1, -1, -1, 2, -2, 3, 10, -7, 5, 5, -1, 1, 2**31], np.int64)
    exponents = np.array([0, 5, -3, -3, 64, 2**40 + 1, 62, 63, 39, 18, 3, -1, 0, -2, 2**60, 1], np.int64)
    wanted = [1, 0, 1, -1, 1, -1, 2**62, -(2**63), 3**39, 10**18, -343, 0, 1, 1, 1, 2**31]
    assert ours(node("Pow", 2), bases, exponents)[0].tolist() == wanted
    with pytest.raises(RefmlcError) as undefined:
        ours(node("Pow", 2), np.array([3], np.int64), np.array([41], np.int64))
    assert undefined.value.code.id == "RM306"


@pytest.mark.parametrize("mode", ["up", "nearest", "down"])
@pytest.mark.parametrize("saturate", [0, 1])
def test_powers_of_two(mode, saturate) -> None:
    """`float8_e8m0`, by logarithms: the power next above, next below, or the nearer one, ties up."""
    random = dice(mode, saturate)
    exact = [2.0**place for place in (-149, -130, -127, -126, -1, 0, 1, 126, 127)]
    x = np.array([*exact, 1.5 * 2.0**-127, 1.6 * 2.0**-127, *np.exp2(random.uniform(-126, 126, 200))], np.float32)
    x = np.concatenate([x, np.array([1.5, 3.0, 2.9999998, 1.9 * 2.0**127, np.inf, np.nan, 0.0], np.float32)])

    def power(value):
        if np.isnan(value) or (not saturate and not 2.0**-127 <= value <= 2.0**127):
            return np.nan
        held = min(max(float(value), 2.0**-127), 2.0**127)
        low = 2.0 ** np.floor(np.log2(held))
        high = low if low == held else 2 * low
        return {"up": high, "down": low, "nearest": high if held >= 1.5 * low else low}[mode]

    cast = node("Cast", 1, to=TensorProto.FLOAT8E8M0, round_mode=mode, saturate=saturate)
    found = ours(cast, x)[0].astype(np.float64)
    np.testing.assert_array_equal(found, [power(value) for value in x])


@pytest.mark.parametrize("to", [TensorProto.INT4, TensorProto.UINT4, TensorProto.INT2, TensorProto.UINT2])
def test_small_integers_keep_the_low_bits(to) -> None:
    x = np.array([-9.7, -1.5, -0.5, 0.5, 1.5, 2.5, 3.99, 7.0, 8.2, 15.9, 100.0], np.float32)
    agree(node("Cast", 1, to=to), x)
    kind = helper.tensor_dtype_to_np_dtype(to)
    wanted = np.trunc(x).astype(np.int64).astype(kind)
    assert (ours(node("Cast", 1, to=to), x)[0] == wanted).all()


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
@pytest.mark.parametrize("seed", range(4))
def test_a_range_of_floats(dtype, seed) -> None:
    random = dice(dtype, seed)
    start, step = random.uniform(-3, 3), random.choice([-1, 1]) * random.uniform(0.1, 2)
    limit = start + step * random.uniform(-1, 9)
    numbers = [np.array(one, dtype) for one in (start, limit, step)]
    agree(node("Range", 3), *numbers, rtol=1e-2 if dtype == "float16" else 1e-5)


# ------------------------------------------------------------------------------------------------ selection


@pytest.mark.parametrize("axis", [None, 0, 1, -1])
@pytest.mark.parametrize("known", [True, False])
def test_elements_are_compressed(axis, known) -> None:
    random = dice(7 if axis is None else axis + 2, known)
    x = floats(random, 4, 5)
    condition = random.integers(0, 2, (3,)).astype(bool)
    options = {} if axis is None else {"axis": axis}
    if known:
        agree(node("Compress", 2, **options), x, condition)
        return
    inputs = [helper.make_tensor_value_info("x0", 1, [4, 5]), helper.make_tensor_value_info("c", 1, [3])]
    nodes = [helper.make_node("Cast", ["c"], ["x1"], to=TensorProto.BOOL), node("Compress", 2, **options)]
    nodes.append(helper.make_node("Exp", ["y0"], ["z"]))
    graph = helper.make_graph(nodes, "graph", inputs, [helper.make_value_info("z", onnx.TypeProto())])
    found = backend.run_model(helper.make_model(graph, ir_version=10), [x, condition.astype(np.float32)])[0]
    np.testing.assert_allclose(found, np.exp(np.compress(condition, x, axis)), rtol=1e-6)


@pytest.mark.parametrize("options", [{}, {"sorted": 0}, {"axis": 0}, {"axis": -1}, {"axis": 1, "sorted": 0}])
@pytest.mark.parametrize("dtype", ["float32", "int64", "uint8"])
def test_unique_elements(options, dtype) -> None:
    """By what the four results mean: each slice is that of its number, first where it says, as often as it says."""
    x = dice(dtype).integers(0, 2, (3, 4, 2)).astype(dtype)
    y, first, which, counts = ours(node("Unique", 1, 4, **options), x)
    axis = options.get("axis")
    rows = x.reshape(-1, 1) if axis is None else np.moveaxis(x, axis, 0).reshape(x.shape[axis], -1)
    unique = y.reshape(-1, 1) if axis is None else np.moveaxis(y, axis, 0).reshape(y.shape[axis], -1)
    np.testing.assert_array_equal(unique[which], rows)
    np.testing.assert_array_equal(rows[first], unique)
    assert [which.tolist().index(number) for number in range(len(first))] == first.tolist()
    assert np.bincount(which).tolist() == counts.tolist()
    keys = [tuple(row) for row in unique.tolist()]
    assert len(set(keys)) == len(keys)
    assert (keys == sorted(keys)) if options.get("sorted", 1) else (first.tolist() == sorted(first.tolist()))


def test_nonzero_elements() -> None:
    x = dice(1).integers(-1, 2, (3, 4, 2)).astype(np.int32)
    np.testing.assert_array_equal(ours(node("NonZero", 1), x)[0], np.array(np.nonzero(x)))


@pytest.mark.parametrize(("number", "places"), [(0, 0), (3, 1)])
def test_a_place_in_a_scalar_has_no_rows(number, places) -> None:
    x = np.array(number, np.int32)
    assert ours(node("NonZero", 1), x)[0].shape == (0, places)
    agree(node("NonZero", 1), x)


@pytest.mark.parametrize("mode", ["linear", "circular"])
@pytest.mark.parametrize("axis", [1, -2])
def test_a_cache_is_updated(mode, axis) -> None:
    random = dice(mode, axis + 2)
    cache, shape = floats(random, 2, 5, 4, 3), [2, 5, 4, 3]
    shape[axis] = 2
    first = random.integers(0, 4 if mode == "circular" else 3, (2,))
    agree(node("TensorScatter", 3, mode=mode, axis=axis), cache, floats(random, *shape), first)


# ------------------------------------------------------------------------------------------------- integers


@pytest.mark.parametrize("dtypes", [("int8", "int8"), ("uint8", "int8"), ("uint8", "uint8")])
@pytest.mark.parametrize("each", [False, True])
def test_products_of_integers(dtypes, each) -> None:
    random = dice(*dtypes, each)
    a, b = (
        random.integers(np.iinfo(one).min, 128, shape).astype(one)
        for one, shape in zip(dtypes, ((3, 4), (4, 5)), strict=True)
    )
    zeros = [
        random.integers(0, 9, (size,) if each else ()).astype(one) for one, size in zip(dtypes, (3, 5), strict=True)
    ]
    wanted = (a.astype(int) - (zeros[0][:, None] if each else zeros[0])) @ (b.astype(int) - zeros[1])
    found = ours(node("MatMulInteger", 4), a, b, *zeros)[0]
    assert found.dtype == np.int32
    np.testing.assert_array_equal(found, wanted)
    scales = [np.array(random.uniform(0.01, 0.1, one.shape), np.float32) for one in zeros]
    y_scale, y_zero = np.float32(random.uniform(1, 3)), np.array(random.integers(0, 9), dtypes[0])
    result = ours(node("QLinearMatMul", 8), a, scales[0], zeros[0], b, scales[1], zeros[1], y_scale, y_zero)[0]
    ratio = (scales[0][:, None] if each else scales[0]) * scales[1] / y_scale
    info = np.iinfo(dtypes[0])
    due = np.clip(np.rint(wanted * ratio.astype(np.float64)) + y_zero.astype(int), info.min, info.max)
    assert result.dtype == y_zero.dtype
    np.testing.assert_array_equal(result, due)


@pytest.mark.parametrize("seed", range(3))
def test_convolutions_of_integers(seed) -> None:
    random = dice(seed)
    x, w = (
        random.integers(0, 256, (1, 4, 6, 5)).astype(np.uint8),
        random.integers(0, 256, (6, 2, 3, 2)).astype(np.uint8),
    )
    options = {"group": 2, "pads": [1, 0, 2, 1], "strides": [2, 1]}
    zeros = [np.uint8(3), np.uint8(7)]
    product = ours(node("ConvInteger", 4, **options), x, w, *zeros)[0]
    torch = imported("torch")
    shifted = torch.nn.functional.pad(torch.tensor(x.astype(float) - 3), (0, 1, 1, 2))
    wanted = torch.nn.functional.conv2d(shifted, torch.tensor(w.astype(float) - 7), stride=(2, 1), groups=2).numpy()
    np.testing.assert_array_equal(product, wanted)
    scale = random.uniform(0.01, 0.1, (6,)).astype(np.float32)
    bias, wide = random.integers(-99, 99, (6,)).astype(np.int32), np.float32(0.5)
    found = ours(node("QLinearConv", 9, **options), x, wide, zeros[0], w, scale, zeros[1], wide, np.uint8(9), bias)[0]
    due = np.rint((wanted + bias[:, None, None]) * scale.astype(np.float64)[:, None, None]) + 9
    np.testing.assert_array_equal(found, np.clip(due, 0, 255))


# -------------------------------------------------------------------------------------------------- signals


@pytest.mark.parametrize("length", [None, 5, 8, 11])
@pytest.mark.parametrize("axis", [1, -2])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_fourier_transforms(length, axis, dtype) -> None:
    random = dice(dtype, axis + 2, length or 0)
    x = random.normal(size=(2, 8, 7)).astype(dtype)
    z = x + 1j * random.normal(size=x.shape)
    place = {1: 1, -2: 2}[axis]  # the last axis of the tensor holds the parts
    given = [] if length is None else [np.array(length, np.int64)]
    names = ["x", "n" if given else "", "axis"]
    parts = np.stack([z.real, z.imag], -1).astype(dtype)

    def transform(signal, **options):
        written = helper.make_node("DFT", names, ["y"], **options)
        return ours(written, signal, *given, np.array(axis, np.int64))[0]

    def near(found, wanted):
        whole = found[..., 0] + 1j * found[..., 1] if found.shape[-1] == 2 else found[..., 0]
        assert found.dtype == dtype
        np.testing.assert_allclose(whole, wanted, rtol=1e-5, atol=2e-5)

    near(transform(parts), np.fft.fft(z, length, place))
    near(transform(x[..., None]), np.fft.fft(x, length, place))
    near(transform(x[..., None], onesided=1), np.fft.rfft(x, length, place))
    near(transform(parts, inverse=1), np.fft.ifft(z, length, place))
    near(transform(parts, inverse=1, onesided=1), np.fft.irfft(z, length, place))


@pytest.mark.parametrize("windowed", [False, True])
def test_transforms_of_frames(windowed) -> None:
    random = dice(windowed)
    x, window = floats(random, 2, 20, 1), floats(random, 6)
    names = ["x", "step", "window" if windowed else "", "length"]
    given = [x, np.array(3, np.int64), *([window] if windowed else []), np.array(6, np.int64)]
    found = ours(helper.make_node("STFT", names, ["y"]), *given)[0]
    frames = np.stack([x[:, at : at + 6, 0] for at in range(0, 15, 3)], 1) * (window if windowed else 1)
    np.testing.assert_allclose(found[..., 0] + 1j * found[..., 1], np.fft.rfft(frames), rtol=1e-5, atol=1e-5)


# --------------------------------------------------------------------------------------------------- images


@pytest.mark.parametrize("mode", ["linear", "nearest", "cubic"])
@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
@pytest.mark.parametrize("align", [0, 1])
def test_samples_of_a_grid(mode, padding, align) -> None:
    torch, random = imported("torch"), dice(mode, padding, align)
    x, grid = floats(random, 2, 3, 5, 4), random.uniform(-1.6, 1.6, (2, 3, 6, 2)).astype(np.float32)
    found = ours(node("GridSample", 2, mode=mode, padding_mode=padding, align_corners=align), x, grid)[0]
    names = {"linear": "bilinear", "cubic": "bicubic"}
    wanted = torch.nn.functional.grid_sample(
        torch.tensor(x), torch.tensor(grid), names.get(mode, mode), padding, align_corners=bool(align)
    )
    np.testing.assert_allclose(found, wanted.numpy(), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("seed", range(4))
def test_deformed_convolutions(seed) -> None:
    """Against a sum over places, each read between four elements, as ONNX's text defines it."""
    random = dice(seed)
    group, parts, stride, pad = [(1, 1, 1, 0), (2, 1, 1, 1), (1, 2, 2, 1), (2, 2, 1, 0)][seed]
    x, w = floats(random, 2, 4, 5, 6), floats(random, 4, 4 // group, 2, 3)
    rows, columns = (5 + 2 * pad - 2) // stride + 1, (6 + 2 * pad - 3) // stride + 1
    offset = random.uniform(-2, 2, (2, 2 * parts * 6, rows, columns)).astype(np.float32)
    mask = random.uniform(0, 1, (2, parts * 6, rows, columns)).astype(np.float32)
    bias = floats(random, 4)
    written = node("DeformConv", 5, group=group, offset_group=parts, strides=[stride] * 2, pads=[pad] * 4)
    found = ours(written, x, w, offset, bias, mask)[0]

    def element(n, c, y, z):
        low, left, total = int(np.floor(y)), int(np.floor(z)), 0.0
        for row in (low, low + 1):
            for column in (left, left + 1):
                if 0 <= row < 5 and 0 <= column < 6:
                    total += x[n, c, row, column] * (1 - abs(y - row)) * (1 - abs(z - column))
        return total

    wanted = np.zeros((2, 4, rows, columns))
    for n, o, i, j in np.ndindex(wanted.shape):
        wanted[n, o, i, j] = bias[o]
        for c in range(4 // group):
            channel = o // (4 // group) * (4 // group) + c
            part = channel // (4 // parts)
            for k, (r, s) in enumerate(np.ndindex(2, 3)):
                dy, dx = offset[n, (part * 6 + k) * 2 : (part * 6 + k) * 2 + 2, i, j]
                share = mask[n, part * 6 + k, i, j] * w[o, c, r, s]
                wanted[n, o, i, j] += share * element(n, channel, i * stride - pad + r + dy, j * stride - pad + s + dx)
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("space", ["half_pixel", "output_half_pixel"])
@pytest.mark.parametrize("samples", [0, 2])
def test_regions_are_aligned(space, samples) -> None:
    random = dice(space, samples)
    x, corners = floats(random, 2, 3, 8, 9), random.uniform(0, 10, (4, 2))
    rois = np.concatenate([corners, corners + random.uniform(0, 9, (4, 2))], 1).astype(np.float32)
    options = {"output_height": 3, "output_width": 2, "sampling_ratio": samples, "spatial_scale": 0.75}
    written = node("RoiAlign", 3, coordinate_transformation_mode=space, **options)
    agree(written, x, rois, np.array([0, 1, 1, 0]), rtol=1e-4)


def test_boxes_are_not_moved_before_version_16() -> None:
    """So ONNX's converter writes them in version 16; its evaluator moves them (`evaluator_faults`)."""
    x, box = np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4), np.array([[0, 1, 2, 3]], np.float32)
    before, after = node("RoiAlign", 3), node("RoiAlign", 3, coordinate_transformation_mode="output_half_pixel")
    found, expected = ours(before, x, box, np.zeros(1, int), version=10), theirs(after, x, box, np.zeros(1, int))
    np.testing.assert_array_equal(found, expected)
    assert theirs(before, x, box, np.zeros(1, int), version=10)[0] != expected[0]
    assert ours(before, x, box, np.zeros(1, int), version=16)[0] != expected[0]


def test_a_sample_outside_of_the_image_is_zero() -> None:
    """ONNX's evaluator adds 0 times the first element instead, so that its NaN is everywhere (`evaluator_faults`)."""
    x, box = np.array([[[[np.nan, 2.5, 1.0]]]], np.float32), np.array([[0.5, 1.0, 2.5, 2.0]], np.float32)
    written = node("RoiAlign", 3, coordinate_transformation_mode="output_half_pixel")
    assert ours(written, x, box, np.zeros(1, int))[0].ravel().tolist() == [0.0]
    assert np.isnan(theirs(written, x, box, np.zeros(1, int))[0]).all()
    x[..., 0] = 4.0
    agree(written, x, box, np.zeros(1, int))


def test_the_norm_of_order_1_adds_absolute_values() -> None:
    """ONNX's evaluator adds the elements with their signs (`evaluator_faults`): 1 in place of 2."""
    written = node("LpNormalization", 1, p=1)
    x = np.array([-0.5, 1.5], np.float32)
    assert ours(written, x)[0].tolist() == [-0.25, 0.75]
    assert theirs(written, x)[0].tolist() == [-0.5, 1.5]


@pytest.mark.parametrize("align", [0, 1])
@pytest.mark.parametrize("size", [(1, 2, 2, 3), (2, 1, 3, 5), (1, 1, 2, 3, 4), (2, 3, 4, 2, 2)])
def test_maps_make_grids(size, align) -> None:
    rank = len(size) - 2
    theta = floats(dice(align), size[0], rank, rank + 1)
    agree(node("AffineGrid", 2, align_corners=align), theta, np.array(size), rtol=1e-4)
    torch, theta = imported("torch"), theta.astype(np.float64)
    found = ours(node("AffineGrid", 2, align_corners=align), theta, np.array(size))[0]
    wanted = torch.nn.functional.affine_grid(torch.from_numpy(theta), size, align_corners=bool(align))
    np.testing.assert_allclose(found, wanted.numpy(), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    ("align", "size", "code"),
    [
        (1, [2, 1, 1, 4], "RM501"),  # four implementations have four results
        (0, [2, 1, 0, 4], "RM111"),
        (0, [2, 4], "RM111"),
        (0, [3, 1, 2, 4], "RM111"),
        (0, [2, 1, 1 << 40, 4], "RM501"),
    ],
)
def test_maps_to_such_sizes_are_refused(align, size, code) -> None:
    with pytest.raises(RefmlcError) as failure:
        ours(node("AffineGrid", 2, align_corners=align), np.zeros((2, 2, 3), np.float32), np.array(size))
    assert failure.value.diagnostic.code.id == code
    assert "AffineGrid" in failure.value.diagnostic.message


@pytest.mark.parametrize("centre", [0, 1])
@pytest.mark.parametrize("seed", range(3))
def test_boxes_are_suppressed(centre, seed) -> None:
    random = dice(seed, centre)
    boxes, scores = (
        random.uniform(0, 1, (2, 12, 4)).astype(np.float32),
        random.uniform(0, 1, (2, 3, 12)).astype(np.float32),
    )
    limits = [np.array([4], np.int64), np.array([0.3], np.float32), np.array([0.2], np.float32)]
    agree(node("NonMaxSuppression", 5, center_point_box=centre), boxes, scores, *limits)


@pytest.mark.parametrize("seed", range(4))
def test_blocks_become_an_image(seed) -> None:
    torch, random = imported("torch"), dice(seed)
    pad, stride, dilation = [(0, 1, 1), (1, 2, 1), (0, 1, 2), (2, 2, 2)][seed]
    image, block = (7, 6), (2, 3)
    counts = [(a + 2 * pad - dilation * (b - 1) - 1) // stride + 1 for a, b in zip(image, block, strict=True)]
    x = floats(random, 2, 3 * 6, counts[0] * counts[1])
    options = {"pads": [pad] * 4, "strides": [stride] * 2, "dilations": [dilation] * 2}
    found = ours(node("Col2Im", 3, **options), x, np.array(image), np.array(block))[0]
    wanted = torch.nn.functional.fold(torch.tensor(x), image, block, dilation, pad, stride)
    np.testing.assert_allclose(found, wanted.numpy(), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("seed", range(4))
def test_places_of_the_greatest(seed) -> None:
    torch, random = imported("torch"), dice(seed)
    options = [
        {},
        {"strides": [2, 1]},
        {"dilations": [2, 2], "pads": [1, 1, 1, 1]},
        {"strides": [2, 2], "pads": [1, 1, 1, 1]},
    ]
    x, given = random.permutation(2 * 3 * 7 * 8).reshape(2, 3, 7, 8).astype(np.float32), options[seed]
    values, places = ours(node("MaxPool", 1, 2, kernel_shape=[3, 2], **given), x)
    pads = tuple(given.get("pads", (0, 0))[:2])
    wanted, where = torch.nn.functional.max_pool2d(
        torch.tensor(x),
        (3, 2),
        tuple(given.get("strides", (1, 1))),
        pads,
        tuple(given.get("dilations", (1, 1))),
        return_indices=True,
    )
    np.testing.assert_array_equal(values, wanted.numpy())
    np.testing.assert_array_equal(places, where.numpy() + (np.arange(6) * 56).reshape(2, 3, 1, 1))
    np.testing.assert_array_equal(x.ravel()[places], values)
    turned = ours(node("MaxPool", 1, 2, kernel_shape=[3, 2], storage_order=1, **given), x)[1]
    np.testing.assert_array_equal(x.transpose(0, 1, 3, 2).ravel()[turned], values)
    if seed == 1:
        agree(node("MaxUnpool", 2, kernel_shape=[3, 2], strides=[2, 1]), values, places)


@pytest.mark.parametrize("mode", ["TF", "IDF", "TFIDF"])
@pytest.mark.parametrize("batch", [False, True])
def test_ngrams_are_counted(mode, batch) -> None:
    random = dice(mode, batch)
    x = random.integers(0, 4, (3, 9) if batch else (9,))
    pool = [*(0, 1, 2), *(0, 1, 1, 2, 3, 3), *(1, 2, 3, 0, 0, 1)]
    for shortest, longest, skips in ((1, 1, 2), (1, 2, 1), (2, 3, 2), (3, 3, 0)):
        written = node(
            *("TfIdfVectorizer", 1),
            mode=mode,
            min_gram_length=shortest,
            max_gram_length=longest,
            max_skip_count=skips,
            pool_int64s=pool,
            ngram_counts=[0, 3, 9],
            ngram_indexes=list(range(8)),
            weights=[0.5 * at for at in range(8)],
        )
        agree(written, x)


def test_a_slope_of_before_version_7_is_one_of_channels() -> None:
    x, slope = floats(dice(2), 2, 3, 3, 3), floats(dice(1), 3)
    found = ours(node("PRelu", 2), x, slope, version=6)[0]
    np.testing.assert_allclose(found, np.where(x < 0, slope[:, None, None] * x, x), rtol=1e-6)
    np.testing.assert_allclose(ours(node("PRelu", 2), x, slope, version=7)[0], np.where(x < 0, slope * x, x), rtol=1e-6)


# ------------------------------------------------------------------------------------------------- training


def test_a_batch_is_normalised_in_training() -> None:
    torch, random = imported("torch"), dice(3)
    x, scale, bias, mean = floats(random, 4, 3, 5), floats(random, 3), floats(random, 3), floats(random, 3)
    variance = np.abs(floats(random, 3)) + 1
    y, new_mean, new_variance = ours(
        node("BatchNormalization", 5, 3, training_mode=1, momentum=0.75), x, scale, bias, mean, variance
    )
    wanted = torch.nn.functional.batch_norm(
        torch.tensor(x), None, None, torch.tensor(scale), torch.tensor(bias), training=True
    )
    np.testing.assert_allclose(y, wanted.numpy(), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(new_mean, 0.75 * mean + 0.25 * x.mean((0, 2)), rtol=1e-5)
    np.testing.assert_allclose(new_variance, 0.75 * variance + 0.25 * x.var((0, 2)), rtol=1e-5)


@pytest.mark.parametrize("op", ["Adagrad", "Adam", "Momentum"])
@pytest.mark.parametrize("step", [0, 3])
def test_steps_of_optimizers(op, step) -> None:
    random, states = dice(op, step), 2 if op == "Adam" else 1
    columns = [[np.abs(floats(random, *shape)) for shape in ((3,), (2, 2))] for _ in range(states + 2)]
    options = {"mode": "nesterov", "alpha": 0.9, "beta": 0.5} if op == "Momentum" else {"epsilon": 1e-3}
    names = [f"x{place}" for place in range(2 + 2 * (states + 2))]
    outputs = [f"y{place}" for place in range(2 * (states + 1))]
    written = helper.make_node(op, names, outputs, domain=DOMAIN, norm_coefficient=0.1, **options)
    given = [np.float32(0.1), np.int64(step), *(one for column in columns for one in column)]
    agree(written, *map(np.asarray, given), version=1)


# --------------------------------------------------------------------------------------------- contradictions


@pytest.mark.parametrize(
    ("written", "inputs", "code"),
    [
        (node("BitCast", 1, to=TensorProto.INT16), [np.zeros(2, np.float32)], "RM111"),
        (node("BitCast", 1, to=999), [np.zeros(2, np.float32)], "RM501"),
        (node("BitShift", 2, direction="UP"), [np.zeros(2, np.uint8)] * 2, "RM111"),
        (node("Compress", 2), [np.zeros(2, np.float32), np.zeros((1, 2), bool)], "RM111"),
        (node("Compress", 2, axis=3), [np.zeros(2, np.float32), np.zeros(2, bool)], "RM111"),
        (node("TensorScatter", 2, axis=0), [np.zeros((2, 3), np.float32)] * 2, "RM111"),
        (node("TensorScatter", 2), [np.zeros((2, 3, 4), np.float32), np.zeros((2, 5, 4), np.float32)], "RM111"),
        (node("Range", 3), [np.float32(0), np.float32(9), np.float32(0)], "RM111"),
        (node("TopK", 2, 2), [np.zeros(2, np.float32), np.array([0])], "RM111"),
        (node("Range", 3), [np.float32(0), np.float32("nan"), np.float32(1)], "RM111"),
        (node("DFT", 2, inverse=1), [np.zeros((1, 4, 3), np.float32), np.array(4)], "RM111"),
        (node("DFT", 2), [np.zeros((1, 4, 1), np.float32), np.array(-4)], "RM111"),
        (node("DFT", 2), [np.zeros((1, 4, 1), np.float32), np.array(1 << 40)], "RM501"),
        (node("STFT", 2), [np.zeros((1, 4, 1), np.float32), np.array(0)], "RM111"),
        (node("Col2Im", 3), [np.zeros((1, 4, 4), np.float32), np.array([1 << 40, 9]), np.array([2, 2])], "RM111"),
        (
            node("MaxUnpool", 3, kernel_shape=[2]),
            [np.zeros((1, 1, 2), np.float32), np.zeros((1, 1, 2), int), np.array([1, 1, 1 << 40])],
            "RM501",
        ),
        (
            node("RoiAlign", 3, output_height=1 << 40),
            [np.zeros((1, 1, 2, 2), np.float32), np.zeros((1, 4), np.float32), np.zeros(1, int)],
            "RM501",
        ),
        (
            node("RoiAlign", 3, spatial_scale=float("nan")),
            [np.zeros((1, 1, 2, 2), np.float32), np.zeros((1, 4), np.float32), np.zeros(1, int)],
            "RM111",
        ),
        (
            node("DeformConv", 3, group=0),
            [
                np.zeros((1, 1, 2, 2), np.float32),
                np.zeros((1, 1, 1, 1), np.float32),
                np.zeros((1, 2, 2, 2), np.float32),
            ],
            "RM111",
        ),
        (
            node("GridSample", 2, mode="spline"),
            [np.zeros((1, 1, 2, 2), np.float32), np.zeros((1, 1, 1, 2), np.float32)],
            "RM501",
        ),
        (node("Tile", 2), [np.zeros((0, 1), np.float32), np.array([1, 1 << 62])], "RM501"),
        (node("Tile", 2), [np.zeros((2, 1), np.float32), np.array([1, -1])], "RM111"),
        (node("Expand", 2), [np.zeros((0, 1), np.float32), np.array([1, 1 << 62])], "RM501"),
        (node("ConstantOfShape", 1), [np.array([0, 1 << 62])], "RM501"),
        (node("ConstantOfShape", 1), [np.array([-1])], "RM111"),
        (node("QLinearMatMul", 7), [np.zeros((2, 2), np.int8)] * 7, "RM111"),
        (node("MatMulInteger", 4), [np.zeros((2, 2), np.int8)] * 3 + [np.zeros(2, np.uint8)], "RM111"),
    ],
)
def test_contradictions_are_refused(written, inputs, code) -> None:
    with pytest.raises(RefmlcError) as refused:
        ours(written, *map(np.asarray, inputs))
    assert refused.value.code.id == code


# -------------------------------------------------------------------------------------------------------- NaN

KEEPING_NAN = {
    "Relu": (1, {}),
    "Sign": (1, {}),
    "Clip": (3, {}),
    "Max": (2, {}),
    "Min": (3, {}),
    "ReduceMax": (1, {"keepdims": 0}),
    "ReduceMin": (1, {"keepdims": 1}),
    "ArgMax": (1, {"axis": 1}),
    "ArgMin": (1, {"axis": 0, "keepdims": 0}),
    "Hardmax": (1, {"axis": 1}),
    "GlobalMaxPool": (1, {}),
}


@pytest.mark.parametrize("place", range(4))
@pytest.mark.parametrize("op", KEEPING_NAN)
def test_nan_is_not_lost(op, place) -> None:
    """Relax's operators drop a NaN or not, by the order of the operands; ONNX's evaluator and ONNX Runtime keep it."""
    count, attributes = KEEPING_NAN[op]
    shape = (1, 1, 2, 2) if op == "GlobalMaxPool" else (2, 2)
    inputs = [np.array([[2, 5], [3, 4]], np.float32).reshape(shape), np.float32(-1), np.float32(3)][:count]
    inputs[0].reshape(-1)[place] = np.nan
    inputs = [np.array(item, np.float32) for item in inputs]
    assert op in ("ArgMax", "ArgMin", "Hardmax") or any(
        np.isnan(part).any() for part in theirs(node(op, count, **attributes), *inputs)
    )
    agree(node(op, count, **attributes), *inputs)


@pytest.mark.parametrize("place", range(4))
def test_the_greatest_of_a_window_with_nan_is_nan(place) -> None:
    """Here the evaluator and ONNX Runtime differ; NaN is what PyTorch has, and what the operators above keep."""
    x = np.arange(4, dtype=np.float32).reshape(1, 1, 4)
    x[..., place] = np.nan
    (result,) = ours(node("MaxPool", 1, kernel_shape=[2], strides=[2]), x)
    np.testing.assert_array_equal(np.isnan(result), np.isnan(x).reshape(1, 1, 2, 2).any(-1))


@pytest.mark.parametrize("op", ["ReduceMax", "ReduceMin"])
def test_an_extreme_of_no_elements_is_not_nan(op) -> None:
    agree(node(op, 2, keepdims=1), np.zeros((2, 0, 3), np.float32), np.array([1], np.int64))
