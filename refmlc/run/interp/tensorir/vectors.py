"""Vectors: values of several lanes are tuples; every operation goes lane by lane, from lane 0 on."""

from collections.abc import Callable
from typing import cast

from refmlc.diag.catalogue import INT_OVERFLOW, UNSUPPORTED_CONSTRUCT
from refmlc.lang.dtypes import DType
from refmlc.lang.dtypes.rounding import wrap
from refmlc.lang.ir import tir
from refmlc.run.interp.tensorir.elements import check_rank, check_stored, explain, offset_of
from refmlc.run.interp.tensorir.frame import Eval, Frame, LanesEval, Run
from refmlc.run.interp.tensorir.scope import Scope
from refmlc.run.interp.tensorir.views import View


def has_lanes(node: "Access") -> bool:
    """True if an access has several lanes, or a predicate, which has lanes."""
    if node.predicate is not None or (isinstance(node, tir.BufferStore) and node.value.dtype.is_vector):
        return True
    return tir.loaded_dtype(node.buffer, node.indices).is_vector


def both(scope: Scope, node: tir.And) -> LanesEval:
    """Conjunction of vectors: both operands are evaluated."""
    a, b = scope.lanes(node.a), scope.lanes(node.b)

    def conjunction(frame: Frame) -> tuple[float, ...]:
        return tuple([x and y for x, y in zip(a(frame), b(frame), strict=True)])

    return conjunction


def either(scope: Scope, node: tir.Or) -> LanesEval:
    """Disjunction of vectors: both operands are evaluated."""
    a, b = scope.lanes(node.a), scope.lanes(node.b)

    def disjunction(frame: Frame) -> tuple[float, ...]:
        return tuple([x or y for x, y in zip(a(frame), b(frame), strict=True)])

    return disjunction


def select(scope: Scope, node: tir.Select) -> LanesEval:
    """Lane by lane, the value that the condition selects; all operands are evaluated."""
    condition, true_value, false_value = map(scope.lanes, (node.condition, node.true_value, node.false_value))

    def choose(frame: Frame) -> tuple[float, ...]:
        lanes = zip(condition(frame), true_value(frame), false_value(frame), strict=True)
        return tuple([yes if chosen else no for chosen, yes, no in lanes])

    return choose


def ramp(scope: Scope, node: tir.Ramp) -> LanesEval:
    """base, base + stride, … Decision: a lane outside of the dtype is an overflow, as the sum would be."""
    base, stride, lanes = scope.number(node.base), scope.number(node.stride), scope.int(node.lanes)
    dtype = node.dtype.scalar
    overflow = scope.failing(INT_OVERFLOW, node.span)
    wraps = INT_OVERFLOW.id in scope.machine.allow or dtype.bits < 32

    def lanes_of(frame: Frame) -> tuple[float, ...]:
        start, step = base(frame), stride(frame)
        values = tuple([start + lane * step for lane in range(lanes(frame))])
        if dtype.is_integer:
            for value in (values[0], values[-1]):
                if not dtype.minimum <= value <= dtype.maximum:
                    if wraps:
                        return tuple([wrap(dtype, int(lane)) for lane in values])
                    raise overflow(frame, f"lane {value} of the ramp is not in {dtype}")
        return values

    return lanes_of


def broadcast(scope: Scope, node: tir.Broadcast) -> LanesEval:
    """The value in every lane."""
    value, lanes = scope.number(node.value), scope.int(node.lanes)

    def repeat(frame: Frame) -> tuple[float, ...]:
        return (value(frame),) * lanes(frame)

    return repeat


def shuffle(scope: Scope, node: tir.Shuffle) -> Eval:
    """Lanes of the concatenated operands; one index gives a scalar."""
    parts = tuple((scope.expr(vector), vector.dtype.is_vector) for vector in node.vectors)
    indices = tuple(scope.int(index) for index in node.indices)
    scalar = not node.dtype.is_vector

    def pick(frame: Frame) -> object:
        lanes: list[object] = []
        for part, is_vector in parts:
            value = part(frame)
            lanes.extend(cast("tuple[float, ...]", value) if is_vector else (value,))
        chosen = tuple([lanes[index(frame)] for index in indices])
        return chosen[0] if scalar else chosen

    return pick


# ------------------------------------------------------------------------------------ loads and stores

Access = tir.BufferLoad | tir.BufferStore
Positions = Callable[[Frame], list[tuple[int, ...]]]


def positions(scope: Scope, node: Access) -> Positions:
    """The indices of each accessed element: one, or one per lane of the last index."""
    check_rank(node)
    if any(index.dtype.is_vector for index in node.indices[:-1]):
        failure = scope.unsupported(UNSUPPORTED_CONSTRUCT, "only the last index may have lanes", node.span)
        return cast("Positions", failure)
    if not node.indices or not node.indices[-1].dtype.is_vector:
        indices = tuple(scope.int(index) for index in node.indices)
        return lambda frame: [tuple([index(frame) for index in indices])]
    outer = tuple(scope.int(index) for index in node.indices[:-1])
    last = cast("Callable[[Frame], tuple[int, ...]]", scope.lanes(node.indices[-1]))

    def each_lane(frame: Frame) -> list[tuple[int, ...]]:
        before = tuple([index(frame) for index in outer])
        return [(*before, lane) for lane in last(frame)]

    return each_lane


def mask(scope: Scope, node: Access) -> LanesEval | None:
    """The predicate as lanes; None if there is none."""
    if node.predicate is None:
        return None
    if node.predicate.dtype.is_vector:
        return scope.lanes(node.predicate)
    value = scope.number(node.predicate)
    return lambda frame: (value(frame),)


def load(scope: Scope, node: tir.BufferLoad) -> Eval:
    """The elements at vector indices, or a vector element, or both. A lane whose predicate is false is 0.

    Decision: such a lane is not read, and needs no element there (TVM leaves its value undefined).
    """
    view_slot = scope.buffer(node.buffer, node.span).view
    positions_of, mask_of, wrong = positions(scope, node), mask(scope, node), explain(scope, node)
    width, scalar = node.buffer.dtype.lanes, not node.dtype.is_vector
    zero = zero_of(node.dtype)
    report = scope.machine.hooks.load if scope.machine.hooks.watches("load") else None
    reading = scope.machine.hooks.read_element if scope.machine.hooks.watches("read_element") else None

    def element(frame: Frame, view: View, position: tuple[int, ...]) -> list[float]:
        offset = offset_of(view, position, wrong, frame)
        if reading is not None:
            reading(node, view, offset, frame)
        first = offset * width
        lanes = range(first, first + width)
        try:
            if all(view.shadow[lane] for lane in lanes):
                return [view.cells[lane] for lane in lanes]
        except IndexError:
            pass
        raise wrong(frame, position)

    def load_lanes(frame: Frame) -> object:
        view = frame[view_slot]
        positions = positions_of(frame)
        active = (True,) * len(positions) if mask_of is None else mask_of(frame)
        values: list[float] = []
        for position, is_active in zip(positions, active, strict=True):
            element_lanes = element(frame, view, position) if is_active else [zero] * width
            if is_active and report is not None:
                report(node, position, element_lanes[0] if width == 1 else tuple(element_lanes), frame)
            values.extend(element_lanes)
        return values[0] if scalar else tuple(values)

    return load_lanes


def store(scope: Scope, node: tir.BufferStore) -> Run:
    """Write lane k of the value at lane k of the indices; a lane whose predicate is false is not written."""
    check_stored(node)
    view_slot = scope.buffer(node.buffer, node.span).view
    value, is_vector = scope.expr(node.value), node.value.dtype.is_vector
    positions_of, mask_of, wrong = positions(scope, node), mask(scope, node), explain(scope, node)
    width = node.buffer.dtype.lanes
    report = scope.machine.hooks.store if scope.machine.hooks.watches("store") else None
    writing = scope.machine.hooks.write_element if scope.machine.hooks.watches("write_element") else None

    def store_lanes(frame: Frame) -> None:
        written = value(frame)
        lanes = cast("tuple[float, ...]", written if is_vector else (written,))
        view = frame[view_slot]
        positions = positions_of(frame)
        active = (True,) * len(positions) if mask_of is None else mask_of(frame)
        for number, (position, is_active) in enumerate(zip(positions, active, strict=True)):
            if not is_active:
                continue
            offset = offset_of(view, position, wrong, frame)
            if writing is not None:
                writing(node, view, offset, frame)
            first = offset * width
            part = lanes[number * width : (number + 1) * width]
            if report is not None:
                report(node, position, part[0] if width == 1 else part, frame)
            try:
                for lane, lane_value in enumerate(part, first):
                    view.cells[lane] = lane_value
                    view.shadow[lane] = 1
            except (IndexError, TypeError):
                raise wrong(frame, position) from None

    return store_lanes


def zero_of(dtype: DType) -> float:
    """The zero of a dtype as a Python value."""
    if dtype.kind == "bool":
        return False
    return 0.0 if dtype.is_float else 0
