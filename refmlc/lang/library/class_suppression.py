"""Non-maximum suppression for several classes: for each class, the boxes not covered by better ones.

| `output_format` | a row of the result                  | rows                                       |
|-----------------|--------------------------------------|--------------------------------------------|
| `"onnx"`        | image, class, box                    | of all images, one class after the other   |
| `"tensorflow"`  | class, box; the score apart          | of each image, one class after the other   |

Rows behind those that are counted hold 0.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_ARGUMENTS, TYPE_MISMATCH
from refmlc.lang import te
from refmlc.lang.ir import tir
from refmlc.lang.library.definition import Operator
from refmlc.lang.library.overlap import Corner, overlap
from refmlc.lang.library.shapes import known, must_agree, require_float, require_rank
from refmlc.lang.library.sorting import ordered
from refmlc.lang.library.statements import at, local, loop, loops, steps, store, when, within, written
from refmlc.lang.te import Tensor, Value

ONE, THREE, FOUR = (te.const(number, "int64") for number in (1, 3, 4))


@dataclass(frozen=True)
class KeptBoxes:
    """Where boxes that are kept go: how many there are of an image, box number t of them, and one more of a class."""

    count: Callable[[Value], Value]
    box: Callable[[Value, Value], Value]
    add: Callable[[Value, Value, Value], tir.Stmt]


def _one(tensor: Tensor, name: str, what: str) -> None:
    """Fails: RM105 where a tensor has not one element."""
    if tensor.ndim > 1 or any(known(extent) not in (1, None) for extent in tensor.shape):
        raise fail(BAD_ARGUMENTS, f"`{name}` takes one number as `{what}`; this has the shape {list(tensor.shape)}")


def _check_classes(boxes: Tensor, scores: Tensor, limits: Sequence[tuple[str, Tensor]]) -> None:
    """Fails: RM105, RM201, RM202 where these are no boxes with scores, or no limits for them."""
    name = "vision.all_class_non_max_suppression"
    for tensor in (boxes, scores):
        require_float(tensor, name)
        require_rank(tensor, 3, name)
    must_agree(boxes.shape[0], scores.shape[0], f"the images of `{name}`")
    must_agree(boxes.shape[1], scores.shape[2], f"the boxes of `{name}`")
    must_agree(boxes.shape[2], FOUR, f"the numbers of a box of `{name}`")
    for (what, tensor), beside in zip(limits, (None, boxes, scores), strict=True):
        _one(tensor, name, what)
        if beside is None and not tensor.buffer.dtype.is_integer:
            raise fail(TYPE_MISMATCH, f"`{name}` takes an integer as `{what}`; this is {tensor.dtype}")
        if beside is not None and not tensor.buffer.dtype.is_float:
            raise fail(TYPE_MISMATCH, f"`{name}` takes a float as `{what}`; this is {tensor.dtype}")


def _element(buffer: tir.Buffer) -> Value:
    return at(buffer, *[0] * len(buffer.shape))


def _chosen(ins: Sequence[tir.Buffer], chosen: KeptBoxes, b: Value, c: Value) -> tir.Stmt:
    """The boxes of class c of image b that are kept."""
    boxes, scores, places, most, threshold, minimum = ins
    start, flag = local("start"), local("flag")
    dtype = str(boxes.dtype)

    def corner(box: Value) -> Corner:
        return lambda k: at(boxes, b, box, k)

    limit = te.cast(_element(threshold), dtype)
    least_score = te.cast(_element(minimum), str(scores.dtype))

    def against(candidate: Value, t: Value) -> tir.Stmt:
        shared = overlap(corner(chosen.box(b, at(start, 0) + t)), corner(candidate), dtype)
        return when(shared >= limit, store(flag, 0, 0))

    def choose(j: Value) -> tir.Stmt:
        candidate, have = at(places, b, c, j), chosen.count(b) - at(start, 0)
        counts = te.all(at(scores, b, c, candidate) > least_score, have < te.cast(_element(most), "int64"))
        return steps(
            store(flag, 0, 0),
            when(counts, steps(store(flag, 1, 0), loop(have, lambda t: against(candidate, t), "t"))),
            when(at(flag, 0) == 1, chosen.add(b, c, candidate)),
        )

    whole = loop(Value(scores.shape[2]), choose, "j")
    zero = te.const(0.0, dtype)
    return within([start, flag], store(start, chosen.count(b), 0), when(limit > zero, whole))


def all_class_non_max_suppression(
    boxes: Tensor,
    scores: Tensor,
    max_output_boxes_per_class: Tensor,
    iou_threshold: Tensor,
    score_threshold: Tensor,
    *,
    output_format: str = "onnx",
) -> tuple[Tensor, ...]:
    """For each class of each image the boxes that no better box of the class covers, up to a number for each class.

    Shapes: (b, n, 4) and (b, c, n) give (b * c * n, 3) rows of image, class and box, zeros after the last, and (1,):
    how many there are. "tensorflow": (b, c * n, 2) rows of class and box, (b, c * n) scores, (b,). Dtypes: int64,
    scores in float32. Fails: RM105, RM201, RM202.
    """
    limits = {
        "max_output_boxes_per_class": max_output_boxes_per_class,
        "iou_threshold": iou_threshold,
        "score_threshold": score_threshold,
    }
    _check_classes(boxes, scores, list(limits.items()))
    if output_format not in ("onnx", "tensorflow"):
        name = "vision.all_class_non_max_suppression"
        raise fail(BAD_ARGUMENTS, f'`{name}` has the formats "onnx" and "tensorflow"; this is {output_format!r}')
    batch, classes, count = scores.shape
    places, rows = ordered(scores, 2, descending=True), classes * count
    inputs = [boxes, scores, places, *limits.values()]
    if output_format == "onnx":
        outputs = [((batch * rows, THREE), "int64"), ((ONE,), "int64")]
        results = written(outputs, inputs, _onnx, "all_class_nms")
    else:
        outputs = [((batch, rows, te.const(2, "int64")), "int64"), ((batch, rows), "float32"), ((batch,), "int64")]
        results = written(outputs, inputs, _tensorflow, "all_class_nms")
    return results


def _cleared(outs: Sequence[tir.Buffer]) -> list[tir.Stmt]:
    """Zeros everywhere."""

    def clear(buffer: tir.Buffer) -> tir.Stmt:
        zero = te.cast(te.const(0, "int64"), str(buffer.dtype))
        return loops([Value(extent) for extent in buffer.shape], lambda i: store(buffer, zero, *i))

    return [clear(output) for output in outs]


def _each_class(ins: Sequence[tir.Buffer], boxes: KeptBoxes) -> tir.Stmt:
    batch, classes = (Value(extent) for extent in ins[1].shape[:2])
    return loop(batch, lambda b: loop(classes, lambda c: _chosen(ins, boxes, b, c), "c"), "b")


def _onnx(ins: list[tir.Buffer], outs: list[tir.Buffer]) -> tir.Stmt:
    rows, total = outs
    count = at(total, 0)

    def add(b: Value, c: Value, box: Value) -> tir.Stmt:
        parts = [store(rows, value, count, place) for place, value in enumerate((b, c, box))]
        return steps(*parts, store(total, count + 1, 0))

    boxes = KeptBoxes(lambda _b: count, lambda _b, t: at(rows, t, 2), add)
    return steps(*_cleared(outs), _each_class(ins, boxes))


def _tensorflow(ins: list[tir.Buffer], outs: list[tir.Buffer]) -> tir.Stmt:
    rows, values, total = outs

    def add(b: Value, c: Value, box: Value) -> tir.Stmt:
        count = at(total, b)
        return steps(
            store(rows, c, b, count, 0),
            store(rows, box, b, count, 1),
            store(values, at(ins[1], b, c, box), b, count),
            store(total, count + 1, b),
        )

    boxes = KeptBoxes(lambda b: at(total, b), lambda b, t: at(rows, b, t, 1), add)
    return steps(*_cleared(outs), _each_class(ins, boxes))


CLASS_SUPPRESSION = (Operator("vision.all_class_non_max_suppression", all_class_non_max_suppression, "LIB-075"),)
