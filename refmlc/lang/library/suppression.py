"""Non-maximum suppression: the boxes not covered by better ones.

| attribute           | the boxes                                                                     |
|---------------------|-------------------------------------------------------------------------------|
| `top_k`             | the number of candidates                                                      |
| `max_output_size`   | the number of boxes that are kept                                             |
| `iou_threshold`     | boxes with at least this overlap with a better one are removed                |
| `soft_nms_sigma`    | scores fall with the overlap; boxes with low scores are removed               |
| `invalid_to_bottom` | those that are kept come first, without `return_indices`                      |

Candidates are in descending order of their scores, stable for equal scores (`sort`'s order).
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_ARGUMENTS, TYPE_MISMATCH
from refmlc.lang import te
from refmlc.lang.ir import tir
from refmlc.lang.library.definition import Operator, Result, computed
from refmlc.lang.library.overlap import Corner, overlap
from refmlc.lang.library.reduction import least
from refmlc.lang.library.shapes import known, must_agree, require_float, require_rank
from refmlc.lang.library.sorting import ordered
from refmlc.lang.library.statements import at, local, loop, steps, store, when, within, written
from refmlc.lang.te import Tensor, Value

ONE = te.const(1, "int64")


def _int64(value: Value) -> Value:
    return te.cast(value, "int64")


@dataclass(frozen=True)
class SuppressionSettings:
    """What `non_max_suppression` is to do, its attributes by their names."""

    most: int
    threshold: float
    force: bool
    coordinates: int
    score: int
    label: int
    sigma: float
    minimum: float


@dataclass(frozen=True)
class Rows:
    """The rows of one image while boxes are chosen: `boxes` and `numbers` are written, -1 where there is none."""

    data: tir.Buffer
    places: tir.Buffer
    boxes: tir.Buffer
    numbers: tir.Buffer
    image: Value
    keep: Value
    settings: SuppressionSettings
    kept: tir.Buffer = field(default_factory=lambda: local("kept"))
    flag: tir.Buffer = field(default_factory=lambda: local("flag"))

    @property
    def dtype(self) -> str:
        """The dtype of the boxes."""
        return str(self.data.dtype)

    def row(self, j: Value) -> Corner:
        """The numbers of row j of what is written."""
        return lambda k: at(self.boxes, self.image, j, k)

    def candidate(self, j: Value) -> Corner:
        """The numbers of the box that is the j-th by its score."""
        return lambda k: at(self.data, self.image, self.place(j), k)

    def place(self, j: Value) -> Value:
        """Where the j-th box by its score is in the data."""
        return at(self.places, self.image, j)

    def meet(self, first: Corner, second: Corner) -> Value:
        """The overlap of two rows."""
        start = self.settings.coordinates
        return overlap(lambda k: first(start + k), lambda k: second(start + k), self.dtype)

    def rivals(self, first: Corner, second: Corner) -> Value:
        """Whether one of two rows can suppress the other."""
        label = self.settings.label
        if self.settings.force or label < 0:
            return te.const(1, "bool")
        return first(label) == second(label)

    def number(self, j: Value) -> Value:
        """The number in row j, or -1."""
        return at(self.numbers, self.image, j)

    def put(self, j: Value, *, candidate: bool) -> tir.Stmt:
        """Row j becomes the j-th box by its score, or -1."""
        none = te.const(-1, self.dtype)

        def element(k: Value) -> tir.Stmt:
            return store(self.boxes, self.candidate(j)(k) if candidate else none, self.image, j, k)

        number = store(self.numbers, self.place(j) if candidate else -1, self.image, j)
        return steps(loop(Value(self.data.shape[2]), element, "k"), number)

    def room(self) -> Value:
        """Whether one more box may be kept."""
        most = self.settings.most
        return te.const(1, "bool") if most <= 0 else at(self.kept, 0) < most


def _hard(rows: Rows) -> tir.Stmt:
    """Each candidate with a score above 0 is kept, unless one that is kept covers it."""
    zero, threshold = te.const(0.0, rows.dtype), te.const(rows.settings.threshold, rows.dtype)

    def against(j: Value, t: Value) -> tir.Stmt:
        first, second = rows.row(t), rows.candidate(j)
        covers = te.all(rows.number(t) >= 0, rows.rivals(first, second), rows.meet(first, second) >= threshold)
        return when(covers, store(rows.flag, 0, 0))

    def choose(j: Value) -> tir.Stmt:
        counts = te.all(j < rows.keep, rows.candidate(j)(rows.settings.score) > zero, rows.room())
        keep = steps(rows.put(j, candidate=True), store(rows.kept, at(rows.kept, 0) + 1, 0))
        return steps(
            store(rows.flag, 0, 0),
            when(counts, steps(store(rows.flag, 1, 0), loop(j, lambda t: against(j, t), "t"))),
            when(at(rows.flag, 0) == 1, keep, rows.put(j, candidate=False)),
        )

    return steps(store(rows.kept, 0, 0), loop(Value(rows.data.shape[1]), choose, "j"))


def _soft(rows: Rows) -> tir.Stmt:
    """Repeatedly keep the best remaining box and lower the scores of the boxes that it overlaps."""
    best, score = local("best"), local("best_score", 1, rows.dtype)
    minimum, count, kept = te.const(rows.settings.minimum, rows.dtype), Value(rows.data.shape[1]), at(rows.kept, 0)

    def fill(j: Value) -> tir.Stmt:
        return when(j < rows.keep, rows.put(j, candidate=True), rows.put(j, candidate=False))

    def better(j: Value) -> tir.Stmt:
        own = rows.row(j)(rows.settings.score)
        is_better = te.all(j >= kept, rows.number(j) >= 0, own > at(score, 0))
        return when(is_better, steps(store(best, j, 0), store(score, own, 0)))

    def turn(_: Value) -> tir.Stmt:
        look = steps(store(best, -1, 0), store(score, minimum, 0), loop(rows.keep, better, "j"))
        take = steps(
            _exchanged(rows, at(best, 0), kept),
            loop(rows.keep, lambda j: _fallen(rows, j, minimum), "j"),
            store(rows.kept, kept + 1, 0),
        )
        return when(rows.room(), steps(look, when(at(best, 0) >= 0, take)))

    rest = loop(count, lambda j: when(j >= kept, rows.put(j, candidate=False)), "j")
    turns = loop(rows.keep, turn, "turn")
    return within([best, score], loop(count, fill, "j"), store(rows.kept, 0, 0), turns, rest)


def _exchanged(rows: Rows, a: Value, b: Value) -> tir.Stmt:
    """Two rows in each other's place."""
    number, value = local("number"), local("value", 1, rows.dtype)

    def element(k: Value) -> tir.Stmt:
        return steps(
            store(value, at(rows.boxes, rows.image, b, k), 0),
            store(rows.boxes, at(rows.boxes, rows.image, a, k), rows.image, b, k),
            store(rows.boxes, at(value, 0), rows.image, a, k),
        )

    return within(
        [number, value],
        store(number, rows.number(b), 0),
        store(rows.numbers, rows.number(a), rows.image, b),
        store(rows.numbers, at(number, 0), rows.image, a),
        loop(Value(rows.data.shape[2]), element, "k"),
    )


def _fallen(rows: Rows, j: Value, minimum: Value) -> tir.Stmt:
    """Row j where the last row that was kept covers it, or meets it."""
    settings, dtype = rows.settings, rows.dtype
    meets, best, own = local("meets", 1, dtype), rows.row(at(rows.kept, 0)), rows.row(j)
    shared, threshold = at(meets, 0), te.const(settings.threshold, dtype)
    factor = te.cast(te.const(-0.5 / settings.sigma, "float32"), dtype)
    left = te.all(j > at(rows.kept, 0), rows.number(j) >= 0, own(settings.score) > minimum, rows.rivals(best, own))
    removal = store(rows.numbers, -1, rows.image, j)
    falls = steps(
        store(rows.boxes, own(settings.score) * te.exp(factor * shared * shared), rows.image, j, settings.score),
        when(own(settings.score) <= minimum, removal),
    )
    meet = steps(
        store(meets, rows.meet(best, own), 0), when(shared >= threshold, removal), when(shared < threshold, falls)
    )
    return within([meets], when(left, meet))


def _check_boxes(data: Tensor, valid_count: Tensor, indices: Tensor, settings: SuppressionSettings) -> None:
    """Fails: RM105, RM201, RM202 where these are no boxes, or have not these numbers."""
    name = "vision.non_max_suppression"
    require_float(data, name)
    for tensor, rank in ((data, 3), (valid_count, 1), (indices, 2)):
        require_rank(tensor, rank, name)
    for tensor in (valid_count, indices):
        if tensor.dtype != "int32":
            raise fail(TYPE_MISMATCH, f"`{name}` takes int32 as `{tensor.name}`; this is {tensor.dtype}")
        must_agree(data.shape[0], tensor.shape[0], f"the images of `{name}`")
    must_agree(data.shape[1], indices.shape[1], f"the boxes of `{name}`")
    length = known(data.shape[2])
    for what, first, last, lowest in (
        ("score_index", settings.score, settings.score, 0),
        ("coord_start", settings.coordinates, settings.coordinates + 3, 0),
        ("id_index", settings.label, settings.label, -1),
    ):
        if first < lowest or (length is not None and last >= length):
            raise fail(BAD_ARGUMENTS, f"`{name}`: {what} is {first}, and a box has {length or 'some'} numbers")


def _kept(data: Tensor, valid_count: Tensor, settings: SuppressionSettings, top_k: int) -> tuple[Tensor, ...]:
    """The rows of boxes that are kept, their places in the data, how many there are."""
    (batch, count, _), none = data.shape, least(data.dtype)
    scores = computed(
        (batch, count),
        lambda b, j: te.if_then_else(j < _int64(valid_count(b)), data(b, j, settings.score), none),
        "scores",
    )
    places = ordered(scores, 1, descending=True)

    def body(ins: list[tir.Buffer], outs: list[tir.Buffer]) -> tir.Stmt:
        def image(b: Value) -> tir.Stmt:
            valid = te.minimum(_int64(at(ins[2], b)), count)
            keep = te.minimum(valid, top_k) if top_k > 0 else valid
            rows = Rows(ins[0], ins[1], outs[0], outs[1], b, keep, settings)
            body = _soft(rows) if settings.sigma > 0 else _hard(rows)
            return within([rows.kept, rows.flag], body, store(outs[2], at(rows.kept, 0), b, 0))

        return loop(batch, image, "b")

    outputs = [(data.shape, data.dtype), ((batch, count), "int64"), ((batch, ONE), "int32")]
    return written(outputs, [data, places, valid_count], body, "non_max_suppression")


def non_max_suppression(  # noqa: PLR0913 - the attributes are TVM's
    data: Tensor,
    valid_count: Tensor,
    indices: Tensor,
    *,
    max_output_size: int = -1,
    iou_threshold: float = 0.5,
    force_suppress: bool = False,
    top_k: int = -1,
    coord_start: int = 2,
    score_index: int = 1,
    id_index: int = 0,
    return_indices: bool = True,
    invalid_to_bottom: bool = False,
    soft_nms_sigma: float = 0.0,
    score_threshold: float = 0.0,
) -> Result:
    """Of the first `valid_count` boxes of each image those that no better box of their class covers, up to a number.

    Shapes: boxes (b, n, k), counts (b,), numbers (b, n) give (b, n) numbers and (b, 1) counts; with `soft_nms_sigma`
    before them the boxes (b, n, k); without `return_indices` only the boxes. Fails: RM105, RM201, RM202.
    """
    settings = SuppressionSettings(
        max_output_size,
        float(iou_threshold),
        force_suppress,
        coord_start,
        score_index,
        id_index,
        float(soft_nms_sigma),
        float(score_threshold),
    )
    _check_boxes(data, valid_count, indices, settings)
    boxes, numbers, kept = _kept(data, valid_count, settings, top_k)
    if not return_indices:
        return _at_the_top(boxes, score_index) if invalid_to_bottom else boxes
    indices_out = _numbers(numbers, indices)
    return (boxes, indices_out, kept) if settings.sigma > 0 else (indices_out, kept)


def _packed(count: Value, good: Callable[[Value], Value], put: Callable[[Value, Value | None], tir.Stmt]) -> tir.Stmt:
    """`put(place, j)` for each j that is good, at places 0, 1, …; `put(place, None)` for the places that are left."""
    place = local("place")

    def take(j: Value) -> tir.Stmt:
        return steps(put(at(place, 0), j), store(place, at(place, 0) + 1, 0))

    return within(
        [place],
        store(place, 0, 0),
        loop(count, lambda j: when(good(j), take(j)), "j"),
        loop(count, lambda j: when(j >= at(place, 0), put(j, None)), "j"),
    )


def _numbers(numbers: Tensor, indices: Tensor) -> Tensor:
    """What `indices` has at the numbers that are not negative, one after the other, then -1."""
    batch, count = numbers.shape

    def body(ins: list[tir.Buffer], outs: list[tir.Buffer]) -> tir.Stmt:
        def image(b: Value) -> tir.Stmt:
            def put(place: Value, j: Value | None) -> tir.Stmt:
                return store(outs[0], -1 if j is None else at(ins[1], b, at(ins[0], b, j)), b, place)

            return _packed(count, lambda j: at(ins[0], b, j) >= 0, put)

        return loop(batch, image, "b")

    return written([(numbers.shape, "int32")], [numbers, indices], body, "box_indices")[0]


def _at_the_top(boxes: Tensor, score_index: int) -> Tensor:
    """The boxes with scores that are not negative one after the other, then rows of -1."""
    batch, count, length = boxes.shape
    none, zero = te.const(-1, boxes.dtype), te.const(0, boxes.dtype)

    def body(ins: list[tir.Buffer], outs: list[tir.Buffer]) -> tir.Stmt:
        def image(b: Value) -> tir.Stmt:
            def put(place: Value, j: Value | None) -> tir.Stmt:
                return loop(
                    length, lambda k: store(outs[0], none if j is None else at(ins[0], b, j, k), b, place, k), "k"
                )

            return _packed(count, lambda j: at(ins[0], b, j, score_index) >= zero, put)

        return loop(batch, image, "b")

    return written([(boxes.shape, boxes.dtype)], [boxes], body, "rearranged")[0]


SUPPRESSION = (Operator("vision.non_max_suppression", non_max_suppression, "LIB-074"),)
