"""Boxes on images: results worked by hand, and formulas in NumPy."""

import math

import numpy as np
import pytest
from test_library_elements import f32
from test_library_images import refused
from test_library_network import normal, run

inf = math.inf
PLANE = np.arange(24, dtype="float32").reshape(1, 1, 4, 6)  # 6 y + x


def align(box, attrs):
    return run(f"vision.roi_align(a, b, pooled_size={attrs})", PLANE, f32([0, *box]))[0, 0]


def test_samples_of_a_plane_are_its_values():
    # parts of 2 × 1, samples at 0.5 and 1.5: y + 0.5 and x + 0.5 on average
    assert align([1, 0, 3, 2], "[2, 1], spatial_scale=1.0").tolist() == [[6 * 0.5 + 2], [6 * 1.5 + 2]]
    assert align([2, 0, 6, 4], "[2, 1], spatial_scale=0.5, sample_ratio=1").tolist() == [[6 * 0.5 + 2], [6 * 1.5 + 2]]
    assert align([1, 0, 3, 2], "1, spatial_scale=1.0, sample_ratio=2, mode='max'").tolist() == [[6 * 1.5 + 2.5]]


def test_boxes_are_at_least_1_long_unless_they_are_aligned():
    assert align([1, 1, 1, 1], "1, spatial_scale=1.0").tolist() == [[6 * 1.5 + 1.5]]
    assert align([1, 1, 1, 1], "1, spatial_scale=1.0, aligned=True").tolist() == [[0]]
    assert align([1, 1, 1, 1], "1, spatial_scale=1.0, aligned=True, sample_ratio=1").tolist() == [[7]]
    assert align([2, 2, 1, 1], "1, spatial_scale=1.0, aligned=True, mode='max'").tolist() == [[-inf]]


def test_samples_outside_are_at_the_edge_and_far_outside_0():
    assert align([-1.5, 0, -0.5, 1], "1, spatial_scale=1.0, sample_ratio=1").tolist() == [[6 * 0.5]]
    assert align([-3, 0, -2, 1], "1, spatial_scale=1.0, sample_ratio=1").tolist() == [[0]]
    assert align([5, 3, 6, 4], "1, spatial_scale=1.0, sample_ratio=1").tolist() == [[23]]


def test_boxes_of_several_images_in_another_layout():
    x = normal(2, 3, 5, 4)
    rois = f32([1, 0, 0, 3, 3], [0, 1, 1, 2, 4])
    wanted = run("vision.roi_align(a, b, pooled_size=2, spatial_scale=1.0)", x, rois)
    turned = np.ascontiguousarray(x.transpose(0, 2, 3, 1))
    found = run("vision.roi_align(a, b, pooled_size=2, spatial_scale=1.0, layout='NHWC')", turned, rois)
    assert np.array_equal(found, wanted.transpose(0, 2, 3, 1))


def test_the_greatest_element_of_parts():
    found = run("vision.roi_pool(a, b, pooled_size=[2, 2], spatial_scale=1.0)", PLANE, f32([0, 1, 0, 3, 3]))
    assert found[0, 0].tolist() == [[8, 9], [20, 21]]
    half = run("vision.roi_pool(a, b, pooled_size=1, spatial_scale=0.5)", PLANE, f32([0, 1, 1, 3, 3]))
    assert half[0, 0].tolist() == [[6 * 2 + 2]]
    outside = run("vision.roi_pool(a, b, pooled_size=[1, 2], spatial_scale=1.0)", PLANE, f32([0, 5, 0, 8, 0]))
    assert outside[0, 0].tolist() == [[5, 0]]


def test_boxes_that_are_none():
    call = "pooled_size=1, spatial_scale=1.0"
    for name in ("roi_align", "roi_pool"):
        refused("RM202", "the numbers of a box", f"vision.{name}(a, b, {call})", PLANE, f32([0, 1, 1, 1]))
        refused("RM201", "takes boxes of float32", f"vision.{name}(a, b, {call})", PLANE, np.zeros((1, 5), "float16"))
        refused("RM501", "blocked", f"vision.{name}(a, b, {call}, layout='NCHW4c')", PLANE, f32([0, 1, 1, 1, 1]))
    refused("RM105", 'this is "sum"', f"vision.roi_align(a, b, {call}, mode='sum')", PLANE, f32([0, 1, 1, 1, 1]))
    empty = run(f"vision.roi_align(a, b, {call})", PLANE, np.zeros((0, 5), "float32"))
    assert empty.shape == (0, 1, 1, 1)


@pytest.mark.parametrize("clip", [False, True])
def test_boxes_from_anchors(clip):
    scores, moved = np.abs(normal(2, 3, 2)), normal(2, 8, seed=1)
    anchor = f32([0.1, 0.2, 0.5, 0.8], [0, 0, 1, 1])[None]
    attrs = f"clip={clip}, threshold=0.5, variances=[0.1, 0.2, 0.3, 0.4], keep_background=False, apply_softmax=False"
    boxes, kept = run(f"vision.multibox_transform_loc(a, b, c, {attrs})", scores, moved, anchor)
    x, y, w, h = np.moveaxis(moved.reshape(2, 2, 4), -1, 0)
    left, top, right, bottom = np.moveaxis(anchor, -1, 0)
    middle = x * 0.1 * (right - left) + (left + right) / 2, y * 0.2 * (bottom - top) + (top + bottom) / 2
    reach = np.exp(w * 0.3) * (right - left) / 2, np.exp(h * 0.4) * (bottom - top) / 2
    wanted = np.stack([middle[1] - reach[1], middle[0] - reach[0], middle[1] + reach[1], middle[0] + reach[0]], -1)
    assert np.allclose(boxes, np.clip(wanted, 0, 1) if clip else wanted, rtol=1e-5, atol=1e-6)
    wanted = np.where(scores >= 0.5, scores, 0)
    wanted[:, 0] = 0
    assert np.array_equal(kept, wanted)


def test_scores_after_softmax():
    scores = f32([0, 1], [0, 3])[None]
    call = "vision.multibox_transform_loc(a, b, c, threshold=0.5)"
    _, kept = run(call, scores, np.zeros((1, 8), "float32"), np.zeros((1, 2, 4), "float32"))
    assert kept[0, 0].tolist() == [0.5, 0]
    assert kept[0, 1, 0] == 0.5
    assert abs(kept[0, 1, 1] - 1 / (1 + math.exp(-2))) < 1e-6


def test_which_boxes_count():
    x = f32([0, 0.9, 1], [1, 0.1, 2], [-1, 0.8, 3], [2, 0.7, 4])[None]
    count, boxes, places = run("vision.get_valid_counts(a, score_threshold=0.5)", x)
    assert (count.tolist(), places.tolist()) == ([2], [[0, 3, -1, -1]])
    assert np.array_equal(boxes[0], np.concatenate([x[0, [0, 3]], np.full((2, 3), -1, "float32")]))
    count, _, places = run("vision.get_valid_counts(a, score_threshold=0.5, id_index=-1)", x)
    assert (count.tolist(), places.tolist()) == ([3], [[0, 2, 3, -1]])
    assert count.dtype == places.dtype == np.int32
    assert run("vision.get_valid_counts(a)", np.zeros((2, 0, 3), "float32"))[0].tolist() == [0, 0]
    refused("RM105", "has no number 3", "vision.get_valid_counts(a, score_index=3)", x)
