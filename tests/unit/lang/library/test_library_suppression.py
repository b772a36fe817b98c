"""Boxes that cover each other: what is kept by hand, by a formula in NumPy, and by ONNX's reference."""

import numpy as np
import pytest
from needs import imported
from test_library_elements import f32
from test_library_images import refused
from test_library_network import run

import refmlc
from refmlc.lang.dtypes import FLOAT32, INT64
from refmlc.lang.ir import tir
from refmlc.lang.ir.types import TensorType
from refmlc.lang.library import OPERATORS, type_of

ONE, THREE, FOUR = (tir.IntImm(INT64, number) for number in (1, 3, 4))

# class, score, left, top, right, bottom
FIRST, WITHIN, APART, OTHER = [0, 0.9, 0, 0, 4, 4], [0, 0.5, 0, 0, 2, 4], [0, 0.7, 5, 0, 9, 4], [1, 0.8, 0, 0, 4, 4]
BOXES = f32(WITHIN, FIRST, OTHER, APART)[None]  # WITHIN shares a half with FIRST
COUNT, NUMBERS = np.array([4], "int32"), np.array([[10, 11, 12, 13]], "int32")
GONE = [-1] * 6


def kept(attrs="", boxes=BOXES, count=COUNT, numbers=NUMBERS):
    call = f"vision.non_max_suppression(a, b, c{', ' if attrs else ''}{attrs})"
    return run(call, boxes, count, numbers)


def test_a_box_that_a_better_one_of_its_class_covers_is_gone():
    numbers, count = kept()
    assert (numbers.tolist(), count.tolist()) == ([[11, 12, 13, -1]], [[3]])
    assert kept("iou_threshold=0.51")[0].tolist() == [[11, 12, 13, 10]]
    assert kept("force_suppress=True")[0].tolist() == kept("id_index=-1")[0].tolist() == [[11, 13, -1, -1]]


def test_limits_of_candidates_and_of_what_is_kept():
    assert kept("max_output_size=1")[0].tolist() == [[11, -1, -1, -1]]
    assert kept("top_k=2, force_suppress=True")[0].tolist() == [[11, -1, -1, -1]]
    assert kept(count=np.array([2], "int32"))[0].tolist() == [[11, -1, -1, -1]]
    assert kept(count=np.array([0], "int32"))[1].tolist() == [[0]]


def test_rows_keep_their_places_unless_they_go_to_the_top():
    rows = kept("return_indices=False, force_suppress=True")
    assert np.array_equal(rows, f32(FIRST, GONE, APART, GONE)[None])
    rows = kept("return_indices=False, force_suppress=True, invalid_to_bottom=True")
    assert np.array_equal(rows, f32(FIRST, APART, GONE, GONE)[None])


def test_scores_fall_with_the_overlap():
    rows, numbers, count = kept("iou_threshold=0.8, soft_nms_sigma=0.25, score_threshold=0.1")
    fallen = np.float32(0.5) * np.exp(np.float32(-0.5 / 0.25 * 0.5 * 0.5))
    assert np.allclose(rows[0, 3], [0, fallen, 0, 0, 2, 4], rtol=1e-6)
    assert (numbers.tolist(), count.tolist()) == ([[11, 12, 13, 10]], [[4]])
    assert kept("iou_threshold=0.8, soft_nms_sigma=0.25, score_threshold=0.4")[1].tolist() == [[11, 12, 13, -1]]
    rows, numbers, _ = kept("iou_threshold=0.5, soft_nms_sigma=0.25")
    assert numbers.tolist() == [[11, 12, 13, -1]]
    assert rows[0, 3].tolist() == GONE


def test_a_score_that_falls_comes_later():
    boxes = f32(FIRST, [0, 0.6, 0, 0, 2, 4], [0, 0.5, 5, 0, 9, 4])[None]  # 0.6 becomes 0.36
    attrs = "iou_threshold=0.8, soft_nms_sigma=0.25, max_output_size=2"
    numbers = kept(attrs, boxes, np.array([3], "int32"), np.array([[0, 1, 2]], "int32"))[1]
    assert numbers.tolist() == [[0, 2, -1]]


def test_equal_scores_zeros_and_nan():
    same = f32([0, 0.5, 0, 0, 1, 1], [0, 0.5, 0, 0, 1, 1], [0, 0, 5, 5, 6, 6], [0, np.nan, 7, 7, 8, 8])[None]
    assert kept(boxes=same)[0].tolist() == [[10, -1, -1, -1]]
    points = f32([0, 0.5, 1, 1, 1, 1], [0, 0.4, 1, 1, 1, 1], [0, 0.3, 3, 3, 2, 2], [0, 0.2, 2, 2, 3, 3])[None]
    assert kept(boxes=points)[0].tolist() == [[10, 11, 12, -1]]  # points share nothing; corners in any order


def test_images_that_have_no_boxes():
    empty = np.zeros((2, 0, 6), "float32"), np.zeros(2, "int32"), np.zeros((2, 0), "int32")
    numbers, count = run("vision.non_max_suppression(a, b, c)", *empty)
    assert numbers.shape == (2, 0)
    assert count.tolist() == [[0], [0]]
    more = np.array([9], "int32")
    assert kept(count=more)[0].tolist() == [[11, 12, 13, -1]]
    assert kept("soft_nms_sigma=0.25", count=more)[1].tolist() == [[11, 12, 13, -1]]


def test_boxes_that_are_no_candidates():
    call = "vision.non_max_suppression(a, b, c{})"
    refused("RM201", "takes floats", call.format(""), BOXES.astype("int32"), COUNT, NUMBERS)
    refused("RM201", "takes int32 as `valid_count`", call.format(""), BOXES, COUNT.astype("int64"), NUMBERS)
    refused("RM202", "the boxes of", call.format(""), BOXES, COUNT, NUMBERS[:, :3].copy())
    refused("RM105", "score_index is 6", call.format(", score_index=6"), BOXES, COUNT, NUMBERS)
    refused("RM105", "coord_start is 3", call.format(", coord_start=3"), BOXES, COUNT, NUMBERS)
    refused("RM105", "id_index is -2", call.format(", id_index=-2"), BOXES, COUNT, NUMBERS)


# -------------------------------------------------------------------------------------------------- all classes


def drawn(seed):
    chance = np.random.default_rng(seed)
    boxes = chance.uniform(0, 2, (2, 8, 4)).astype("float32")
    return boxes, chance.normal(size=(2, 3, 8)).astype("float32")


def classes(boxes, scores, most, overlap, score, attrs=""):
    limits = np.array(most, "int64"), np.array(overlap, "float32"), np.array(score, "float32")
    return run(f"vision.all_class_non_max_suppression(a, b, c, d, e{attrs})", boxes, scores, *limits)


@pytest.mark.parametrize(("most", "overlap", "score"), [(8, 0.3, 0.0), (2, 0.1, -9.0), (8, 0.5, 0.4), (0, 0.5, 0.0)])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_rows_as_the_reference_of_onnx_has_them(seed, most, overlap, score):
    onnx = imported("onnx")
    evaluator = imported("onnx", "onnx.reference").ReferenceEvaluator
    boxes, scores = drawn(seed)
    make, float32 = onnx.helper, onnx.TensorProto.FLOAT
    names = ["boxes", "scores", "most", "overlap", "score"]
    kinds = [float32, float32, onnx.TensorProto.INT64, float32, float32]
    node = make.make_node("NonMaxSuppression", names, ["rows"])
    inputs = [make.make_tensor_value_info(name, kind, None) for name, kind in zip(names, kinds, strict=True)]
    output = make.make_tensor_value_info("rows", onnx.TensorProto.INT64, None)
    model = make.make_model(make.make_graph([node], "g", inputs, [output]))
    given = [boxes, scores, np.array([most]), f32(overlap), f32(score)]
    wanted = evaluator(model).run(None, dict(zip(names, given, strict=True)))[0]
    rows, total = classes(boxes, scores, most, overlap, score)
    assert total.tolist() == [len(wanted)]
    assert np.array_equal(rows[: len(wanted)], wanted)
    assert rows.shape == (48, 3)
    assert not rows[len(wanted) :].any()


def test_rows_of_each_image_with_their_scores():
    boxes, scores = drawn(3)
    rows, total = classes(boxes, scores, 3, 0.2, 0.1)
    own, values, counts = classes(boxes, scores, 3, 0.2, 0.1, ", output_format='tensorflow'")
    assert counts.sum() == total[0]
    for image in range(2):
        wanted = rows[: total[0]][rows[: total[0], 0] == image]
        assert np.array_equal(own[image, : counts[image]], wanted[:, 1:])
        assert np.array_equal(values[image, : counts[image]], scores[image, wanted[:, 1], wanted[:, 2]])
        assert not own[image, counts[image] :].any()
        assert not values[image, counts[image] :].any()
    assert counts.dtype == own.dtype == np.int64


def test_limits_that_leave_nothing_and_scores_that_are_negative():
    boxes = f32([0, 0, 1, 1], [0, 0, 1, 1], [2, 2, 3, 3])[None]
    assert classes(boxes, f32([[0.5, 0.4, 0.3]]), 9, 0.0, 0.0)[1].tolist() == [0]
    rows, total = classes(boxes, f32([[-1.5, -1.0, -2.0]]), 9, 0.5, -9.0)
    assert (total.tolist(), rows[:2].tolist()) == ([2], [[0, 0, 1], [0, 0, 2]])
    assert classes(boxes, f32([[np.nan, 0.4, 0.3]]), 9, 0.5, 0.0)[0][:2, 2].tolist() == [1, 2]


def test_classes_that_have_no_candidates():
    boxes, scores = drawn(0)
    limits = np.array(1, "int64"), np.array(0.5, "float32"), np.array(0, "float32")
    call = "vision.all_class_non_max_suppression(a, b, c, d, e{})"
    refused("RM202", "the numbers of a box", call.format(""), boxes[..., :3].copy(), scores, *limits)
    refused("RM202", "the boxes of", call.format(""), boxes[:, :3].copy(), scores, *limits)
    refused("RM201", "an integer as", call.format(""), boxes, scores, limits[1], *limits[1:])
    refused("RM201", "a float as", call.format(""), boxes, scores, limits[0], limits[0], limits[2])
    refused("RM105", "one number as", call.format(""), boxes, scores, np.zeros(2, "int64"), *limits[1:])
    refused("RM105", "the formats", call.format(", output_format='coco'"), boxes, scores, *limits)


SYMBOLIC = """@R.function
def main(
    a: R.Tensor(("b", "n", 6), "float32"), c: R.Tensor(("b",), "int32"), d: R.Tensor(("b", "n"), "int32")
) -> R.Tuple(R.Tensor(("b", "n"), "int32"), R.Tensor(("b", 1), "int32")):
    r = R.vision.non_max_suppression(a, c, d, force_suppress=True)
    return r
"""


@pytest.mark.parametrize("tier", ["interp", "native"])
def test_one_function_serves_all_numbers_of_boxes(tier):
    machine = refmlc.VirtualMachine(refmlc.build(refmlc.read(SYMBOLIC), tier=tier))
    numbers, count = machine["main"](BOXES, COUNT, NUMBERS)
    assert (numbers.numpy().tolist(), count.numpy().tolist()) == ([[11, 13, -1, -1]], [[2]])
    assert machine["main"](BOXES[:, :2].copy(), COUNT // 2, NUMBERS[:, :2].copy())[0].numpy().tolist() == [[11, -1]]


def test_the_type_on_symbolic_shapes():
    n, limits = tir.Var("n", INT64), [TensorType((), INT64), TensorType((), FLOAT32), TensorType((), FLOAT32)]
    boxes, scores = TensorType((ONE, n, FOUR), FLOAT32), TensorType((ONE, THREE, n), FLOAT32)
    call = OPERATORS["vision.all_class_non_max_suppression"]
    rows, values, counts = type_of(call, [boxes, scores, *limits], {"output_format": "tensorflow"}).fields
    assert (rows.shape[0].value, rows.shape[2].value, counts.shape[0].value) == (1, 2, 1)
    assert "n" in repr(values.shape[1])
    assert (str(rows.dtype), str(values.dtype), str(counts.dtype)) == ("int64", "float32", "int64")
