"""Images in other sizes and at the places of grids against PyTorch; edge values worked by hand."""

import math

import numpy as np
import pytest
from needs import imported
from test_library_elements import f32
from test_library_images import refused
from test_library_network import normal, run

torch = imported("torch")
F = torch.nn.functional
inf, nan = math.inf, math.nan


def resized(x, size, mode, align_corners=None):
    return F.interpolate(torch.tensor(x), size, mode=mode, align_corners=align_corners).numpy()


PYTORCHS = [
    (
        "nearest",
        None,
        "method='nearest_neighbor', coordinate_transformation_mode='asymmetric', rounding_method='floor'",
    ),
    ("bilinear", False, "method='linear'"),
    ("bilinear", True, "method='linear', coordinate_transformation_mode='align_corners'"),
    ("bicubic", False, "method='cubic'"),
    ("bicubic", True, "method='cubic', coordinate_transformation_mode='align_corners'"),
]


@pytest.mark.parametrize(("mode", "align", "attrs"), PYTORCHS)
@pytest.mark.parametrize("size", [(5, 7), (2, 1), (4, 3)])
def test_resize_as_pytorch(mode, align, attrs, size):
    x = normal(1, 2, 4, 3)
    found = run(f"image.resize2d(a, R.shape({list(size)}), {attrs})", x)
    assert np.allclose(found, resized(x, size, mode, align), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("align", [False, True])
def test_resize_in_three_dimensions(align):
    x, mode = normal(1, 1, 3, 2, 4), "align_corners" if align else "half_pixel"
    call = f"image.resize3d(a, R.shape([2, 3, 5]), coordinate_transformation_mode='{mode}')"
    assert np.allclose(run(call, x), resized(x, (2, 3, 5), "trilinear", align), rtol=1e-4, atol=1e-5)


def test_the_same_size_changes_nothing_and_layouts_go_by_their_letters():
    x = normal(1, 2, 3, 4)
    assert np.array_equal(run("image.resize2d(a, R.shape([3, 4]))", x), x)
    turned = np.ascontiguousarray(x.transpose(0, 2, 3, 1))
    found = run("image.resize2d(a, R.shape([5, 2]), layout='NHWC')", turned)
    assert np.array_equal(found, run("image.resize2d(a, R.shape([5, 2]))", x).transpose(0, 2, 3, 1))
    assert np.array_equal(run("image.resize2d(a, R.shape([3]))", x), run("image.resize2d(a, R.shape([3, 3]))", x))


ROUNDINGS = {
    "round_prefer_floor": [0, 0, 1, 1],
    "round_prefer_ceil": [0, 1, 1, 1],
    "ceil": [0, 1, 1, 1],
    "floor": [0, 0, 1, 1],
}


@pytest.mark.parametrize("rounding", ROUNDINGS)
def test_which_element_is_the_nearest(rounding):
    # the places of 4 in 2 are 0, 0.5, 1, 1.5
    attrs = f"method='nearest_neighbor', coordinate_transformation_mode='asymmetric', rounding_method='{rounding}'"
    found = run(f"image.resize2d(a, R.shape([1, 4]), {attrs})", f32(0, 1)[None, None, None])
    assert found.ravel().tolist() == ROUNDINGS[rounding]


def test_the_nearest_element_is_kept_and_others_are_float32():
    x = np.array([2**31 - 1, 5], "int32")[None, None, None]
    call = "image.resize2d(a, R.shape([1, 4]), method='nearest_neighbor'"
    assert run(f"{call})", x).ravel().tolist() == [2**31 - 1, 2**31 - 1, 5, 5]
    assert run(f"{call}, out_dtype='float64')", x).dtype == np.float64
    assert run("image.resize2d(a, R.shape([1, 1]))", np.array([1, 4], "int8")[None, None, None]).ravel().tolist() == [2]


def test_crops_and_what_is_outside():
    x = f32(10, 20, 30)[None, None, None]
    mode = "coordinate_transformation_mode='tf_crop_and_resize'"
    call = f"image.resize2d(a, R.shape([1, 3]), {mode}, extrapolation_value=-1.0"
    assert run(f"{call}, roi=[0.0, 0.5, 0.0, 1.5])", x).ravel().tolist() == [20, 30, -1]
    assert run(f"image.resize2d(a, R.shape([1, 1]), {mode}, roi=[0.0, 0.0, 0.0, 0.5])", x).ravel().tolist() == [15]


def test_a_cube_is_cropped_in_the_order_of_its_dimensions():
    x = np.arange(8, dtype="float32").reshape(1, 1, 2, 2, 2)
    attrs = "coordinate_transformation_mode='tf_crop_and_resize', roi=[1.0, 0.0, 0.0, 1.0, 0.0, 1.0]"
    found = run(f"image.resize3d(a, R.shape([2, 2, 2]), {attrs})", x)
    assert found.ravel().tolist() == [4, 5, 4, 5, 4, 5, 4, 5]


def test_sizes_that_are_none():
    x = normal(1, 1, 2, 2)
    refused("RM105", 'this is "area"', "image.resize2d(a, R.shape([3, 3]), method='area')", x)
    refused(
        "RM105",
        'coordinate_transformation_mode "x"',
        "image.resize2d(a, R.shape([3, 3]), coordinate_transformation_mode='x')",
        x,
    )
    refused("RM105", "a size of 2 numbers", "image.resize2d(a, R.shape([3, 3, 3]))", x)
    refused("RM202", "without elements", "image.resize2d(a, R.shape([3, 3]))", np.zeros((1, 1, 0, 2), "float32"))
    refused("RM501", "blocked", "image.resize2d(a, R.shape([3, 3]), layout='NCHW4c')", x)


# -------------------------------------------------------------------------------------------------------- grids


def grid_of(*shape):
    return np.random.default_rng(3).uniform(-1.7, 1.7, shape).astype("float32")


@pytest.mark.parametrize("align", [False, True])
@pytest.mark.parametrize("mode", ["zeros", "border", "reflection"])
@pytest.mark.parametrize("method", ["bilinear", "nearest", "bicubic"])
def test_grid_sample_as_pytorch(method, mode, align):
    x, grid = normal(1, 2, 4, 3), grid_of(1, 2, 2, 2)
    wanted = F.grid_sample(torch.tensor(x), torch.tensor(grid).permute(0, 2, 3, 1), method, mode, align).numpy()
    attrs = f"method='{method}', padding_mode='{mode}', align_corners={align}"
    assert np.allclose(run(f"image.grid_sample(a, b, {attrs})", x, grid), wanted, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("mode", ["zeros", "border", "reflection"])
@pytest.mark.parametrize("method", ["bilinear", "nearest"])
def test_grids_in_three_dimensions(method, mode):
    x, grid = normal(1, 1, 3, 2, 4), grid_of(1, 3, 2, 2, 2)
    wanted = F.grid_sample(torch.tensor(x), torch.tensor(grid).permute(0, 2, 3, 4, 1), method, mode, False).numpy()
    attrs = f"method='{method}', padding_mode='{mode}', layout='NCDHW'"
    assert np.allclose(run(f"image.grid_sample(a, b, {attrs})", x, grid), wanted, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("method", ["bilinear", "nearest", "bicubic"])
@pytest.mark.parametrize("far", [nan, -inf, 1e30])
def test_places_that_are_none(method, far):
    x, grid = f32([1, 2], [3, 4])[None, None], np.full((1, 2, 1, 1), far, "float32")
    for mode in ("zeros", "reflection"):
        found = run(f"image.grid_sample(a, b, method='{method}', padding_mode='{mode}')", x, grid)[0, 0, 0, 0]
        assert found == 0 if mode == "zeros" else 1 <= found <= 4


def test_an_image_of_one_element_reflects_to_it():
    x, grid = np.full((1, 1, 1, 1), 7, "float32"), grid_of(1, 2, 2, 2)
    for align in (False, True):
        found = run(f"image.grid_sample(a, b, padding_mode='reflection', align_corners={align})", x, grid)
        assert np.allclose(found, 7)


@pytest.mark.parametrize("size", [(3, 4), (2, 3, 2)])
@pytest.mark.parametrize("align", [False, True])
def test_affine_grid_as_pytorch(size, align):
    rank = len(size)
    theta = normal(2, rank, rank + 1)
    wanted = F.affine_grid(torch.tensor(theta), [2, 1, *size], align).numpy()
    found = run(f"image.affine_grid(a, R.shape({list(size)}), align_corners={align})", theta)
    assert np.allclose(np.moveaxis(found, 1, -1), wanted, rtol=1e-5, atol=1e-6)


def test_grids_that_are_none():
    x, grid = normal(1, 1, 2, 2), grid_of(1, 2, 2, 2)
    refused("RM105", 'no method "area"', "image.grid_sample(a, b, method='area')", x, grid)
    refused("RM501", 'this is "NHWC"', "image.grid_sample(a, b, layout='NHWC')", x, grid)
    refused("RM201", "a grid of float32", "image.grid_sample(a, b)", x, grid.astype("float16"))
    refused("RM202", "the dimensions of space", "image.grid_sample(a, b)", x, grid_of(1, 3, 2, 2))
    refused("RM105", "known numbers of at least 2", "image.affine_grid(a, R.shape([1, 4]))", normal(1, 2, 3))
    refused("RM202", "dimension 2 of the maps", "image.affine_grid(a, R.shape([2, 4]))", normal(1, 2, 4))
