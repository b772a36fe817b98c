"""Boxes that cover each other: what is kept of them, by each of the attributes.

TVM's lowering for all classes cuts the result to the rows that count, whatever the type of the call says; cases whose
name ends in `/rows` take those rows.
"""

import numpy as np
from operator_case import Case
from tvm import relax
from tvm.relax import op as R


def boxes(seed: int, images: int, count: int, dtype: str = "float32") -> np.ndarray:
    """Rows of class, score, left, top, right, bottom, close to each other; every fifth with the score before."""
    chance = np.random.default_rng(seed)
    made = np.zeros((images, count, 6))
    made[..., 0] = chance.integers(-1, 2, (images, count))
    made[..., 1] = chance.uniform(-0.2, 1, (images, count))
    made[:, 5::5, 1] = made[:, 4:-1:5, 1]
    made[..., 2:4] = chance.uniform(0, 3, (images, count, 2))
    made[..., 4:6] = made[..., 2:4] + chance.uniform(-0.5, 3, (images, count, 2))
    return made.astype(dtype)


ONE_SET = {
    "plain": {},
    "low": {"iou_threshold": 0.1},
    "none": {"iou_threshold": 0.0},
    "force": {"iou_threshold": 0.3, "force_suppress": True},
    "unlabelled": {"iou_threshold": 0.3, "id_index": -1},
    "most": {"iou_threshold": 0.3, "max_output_size": 3, "top_k": 7},
    "rows": {"iou_threshold": 0.3, "return_indices": False},
    "bottom": {"iou_threshold": 0.2, "return_indices": False, "invalid_to_bottom": True},
    "soft": {"iou_threshold": 0.5, "soft_nms_sigma": 0.4, "score_threshold": 0.2},
    "soft/most": {"iou_threshold": 0.9, "soft_nms_sigma": 0.7, "max_output_size": 4, "force_suppress": True},
    "soft/rows": {"iou_threshold": 0.6, "soft_nms_sigma": 0.3, "return_indices": False, "top_k": 9},
    "soft/bottom": {
        "iou_threshold": 1.1,
        "soft_nms_sigma": 0.3,
        "score_threshold": -0.1,
        "return_indices": False,
        "invalid_to_bottom": True,
    },
}


def suppression_cases():
    """One set of boxes."""
    valid = np.array([14, 9], "int32")
    numbers = np.stack([np.arange(14), np.arange(14)[::-1] + 20]).astype("int32")
    for name, attrs in ONE_SET.items():
        for dtype in ("float32", "float64") if name == "plain" else ("float32",):
            yield Case(
                f"vision.non_max_suppression/{name}/{dtype}",
                lambda a, b, c, attrs=attrs: R.vision.non_max_suppression(a, b, c, **attrs),
                (boxes(len(name), 2, 14, dtype), valid, numbers),
            )
    empty = (np.zeros((2, 0, 6), "float32"), np.zeros(2, "int32"), np.zeros((2, 0), "int32"))
    yield Case("vision.non_max_suppression/empty", R.vision.non_max_suppression, empty)


def limits(most: int, overlap: float, score: float) -> list[np.ndarray]:
    """The limits of a call as tensors."""
    return [np.array(most, "int64"), np.array(overlap, "float32"), np.array(score, "float32")]


def class_cases():
    """Boxes of several classes."""
    places = np.ascontiguousarray(boxes(3, 2, 7)[..., 2:])
    scores = np.random.default_rng(4).uniform(0.01, 1, (2, 3, 7)).astype("float32")
    scores[:, :, 5] = scores[:, :, 4]
    call = R.vision.all_class_non_max_suppression
    for name, given in {"plain": (9, 0.5, 0.0), "low": (7, 0.1, 0.3), "never": (7, 0.0, 0.0)}.items():
        values = (places, scores, *limits(*given))
        yield Case(f"vision.all_class_non_max_suppression/{name}", call, values)
        yield Case(f"vision.all_class_non_max_suppression/{name}/tensorflow", lambda *x: call(*x, "tensorflow"), values)
        yield Case(f"vision.all_class_non_max_suppression/{name}/rows", lambda *x: counted(call(*x)), values)
    for most in (0, 1, 2):
        fixed = [relax.const(value, str(value.dtype)) for value in limits(most, 0.4, 0.2)]
        yield Case(
            f"vision.all_class_non_max_suppression/{most}/rows",
            lambda a, b, f=fixed: counted(call(a, b, *f)),
            (places, scores),
        )
    yield Case(
        "vision.all_class_non_max_suppression/given",
        lambda *x: call(*x, "tensorflow"),
        (places, scores, *limits(1, 0.4, 0.2)),
    )
    yield Case(
        "vision.all_class_non_max_suppression/negative",
        lambda *x: call(*x, "tensorflow"),
        (places, scores * 3 - 2, *limits(9, 0.2, -1.5)),
    )


def counted(result):
    """The rows that count, and how many there are."""
    rows, count = result[0], result[1]
    ends = R.concat([count, R.full((1,), relax.const(3, "int64"), "int64")], 0)
    zeros, ones = R.zeros((2,), "int64"), R.ones((2,), "int64")
    return relax.Tuple([R.dynamic_strided_slice(rows, zeros, ends, ones), count])


BOXES = (suppression_cases, class_cases)
