"""Where ONNX defines an operator: on what it leaves open nobody is accused, so such a node is no graph.

A rule is of the operator's documented domain, in the version of the node; ONNX's checker asks for none of them.

| rules         | say                                                                            |
|---------------|--------------------------------------------------------------------------------|
| `axis_leaves` | which axes the text of a version accepts: from the back only where it says so   |
| `OPEN`        | arguments and attributes on which ONNX's text asks for something else, or for nothing |
| `UNWITNESSED` | ONNX defines a result, and its evaluator computes another one                   |
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np

Numbers = Sequence[int]
FROM_THE_BACK = re.compile(r"negative value|\[-r", re.IGNORECASE)
EXCLUSIVE = ("Flatten",)  # its axis is a place between two axes
IGNORED = ("QuantizeLinear", "DequantizeLinear")  # of a scale that is a scalar
WRAPS = {"reflect": -1, "edge": None, "wrap": 0}
WIDEST = 64  # bits of an integer
UNDEFINED_REDUCTION = "empty set of values yields undefined"


class NoResult(ValueError):
    """Nobody can be held to the result of a node."""


@dataclass(frozen=True)
class NodeCall:
    """A node with its values. `attributes`: with defaults; `texts`: what ONNX says of each; `doc`: of the operator."""

    op: str
    version: int
    attributes: Mapping[str, object]
    texts: Mapping[str, str]
    doc: str
    inputs: Sequence[np.ndarray | None]
    outputs: Sequence[np.ndarray | None]

    def input(self, place: int) -> np.ndarray | None:
        """An input, where there is one."""
        return self.inputs[place] if place < len(self.inputs) else None

    @property
    def first(self) -> np.ndarray:
        """The first input."""
        array = self.input(0)
        return np.zeros(()) if array is None else array

    @property
    def second(self) -> np.ndarray:
        """The second input."""
        array = self.input(1)
        return np.zeros(()) if array is None else array

    @property
    def result(self) -> np.ndarray:
        """The first output."""
        array = self.outputs[0] if self.outputs else None
        return np.zeros(()) if array is None else array

    def number(self, name: str, default: int = 0) -> int:
        """An attribute that is a number."""
        return int(cast("int", self.attributes.get(name, default)))

    def numbers(self, name: str, default: Numbers) -> Numbers:
        """An attribute that is a list of numbers."""
        return tuple(cast("Numbers", self.attributes.get(name, default)))

    def word(self, name: str, default: str = "") -> str:
        """An attribute that is a word."""
        value = self.attributes.get(name, default)
        return value.decode() if isinstance(value, bytes) else str(value)


def left_open(call: NodeCall) -> str:
    """Why nobody can be held to the result of a node; empty: ONNX defines it, and its evaluator computes it."""
    why = axis_leaves(call)
    for rules in (OPEN, UNWITNESSED):
        for names, reason, holds in rules:
            if not why and call.op in names and holds(call):
                why = reason
    return why


def axis_leaves(call: NodeCall) -> str:
    """Why an attribute that names axes is outside of what the text of this version accepts; empty: it is not."""
    if call.op in IGNORED:
        return ""
    for name in ("axis", "axes"):
        said = call.attributes.get(name)
        axes = (said,) if isinstance(said, int) else cast("Numbers", said or ())
        rank = call.first.ndim
        if call.op == "OneHot":
            rank += 1
        if call.op == "Unsqueeze":
            rank += len(axes)
        text = call.texts.get(name, "")
        low = -rank if FROM_THE_BACK.search(text) else -1 if "-1 mean" in text else 0
        high = rank if call.op in EXCLUSIVE else rank - 1
        if any(not max(low, -rank) <= axis <= high for axis in axes):
            return f"{name} is outside of {low} … {high}"
    return ""


def _divides_by_zero(call: NodeCall) -> bool:
    return call.first.dtype.kind in "iu" and bool((call.second == 0).any())


def _float_remainder(call: NodeCall) -> bool:
    return call.first.dtype.kind == "f" and not call.number("fmod")


def _power_overflows(call: NodeCall) -> bool:
    if call.first.dtype.kind not in "iu":
        return False
    bases, exponents = np.broadcast_arrays(call.first, call.second)
    limits = np.iinfo(call.first.dtype)
    pairs = zip(bases.ravel().tolist(), exponents.ravel().tolist(), strict=True)
    return any(exponent < 0 or _is_outside(base, exponent, limits) for base, exponent in pairs)


def _is_outside(base: int, exponent: int, limits: np.iinfo) -> bool:
    """Whether a power is out of range; one that is beyond all dtypes is not computed."""
    return abs(base) > 1 and (exponent > WIDEST or not limits.min <= base**exponent <= limits.max)


def _shifts_out(call: NodeCall) -> bool:
    return bool((call.second >= 8 * call.first.dtype.itemsize).any())


def outside(array: np.ndarray, dtype: np.dtype) -> bool:
    """Whether ONNX calls the cast of an element to an integer dtype undefined: of a float that is out of range."""
    if array.dtype.kind != "f" or dtype.kind not in "iu":
        return False
    limits, numbers = np.iinfo(dtype), np.trunc(array.astype("float64"))
    return not bool(((numbers >= float(limits.min)) & (numbers < float(limits.max) + 1.0)).all())


def _casts_outside(call: NodeCall) -> bool:
    return outside(call.first, call.result.dtype)


def _no_scale(call: NodeCall) -> bool:
    """Whether the range that is quantized is not finite, or has one number, 0, so that 0 is divided by 0."""
    return not (np.isfinite(call.first).all() and call.first.any())


def _holds_nan(call: NodeCall) -> bool:
    return call.first.dtype.kind == "f" and bool(np.isnan(call.first).any())


def _reduces_bool(call: NodeCall) -> bool:
    return call.first.dtype.kind == "b" and call.word("reduction", "none") != "none"


def _no_such_reduction(call: NodeCall) -> bool:
    return call.version < 18 and call.word("reduction", "none") in ("max", "min")


def _elements_twice(call: NodeCall) -> bool:
    """Whether two updates of ScatterElements have one place."""
    if call.word("reduction", "none") != "none" or not call.second.size:
        return False
    axis = call.number("axis") % max(call.first.ndim, 1)
    places = np.sort(call.second % call.first.shape[axis], axis)
    return bool((np.diff(places, axis=axis) == 0).any())


def _slices_twice(call: NodeCall) -> bool:
    """Whether two updates of ScatterND have one place."""
    if call.word("reduction", "none") != "none" or not call.second.size:
        return False
    rows = call.second.reshape(-1, call.second.shape[-1]) % np.array(call.first.shape[: call.second.shape[-1]])
    return len(np.unique(rows, axis=0)) < len(rows)


def _no_blocks(call: NodeCall) -> bool:
    size = call.number("blocksize", 1)
    _, channels, *extents = call.first.shape
    split = [(channels, size * size)] if call.op == "DepthToSpace" else [(extent, size) for extent in extents]
    return any(bool(extent % by) for extent, by in split)


def _top_k_open(call: NodeCall) -> bool:
    k = call.number("k") if call.version < 10 else int(call.second.ravel()[0])
    return k <= 0 or _holds_nan(call) or (k > 1 and not call.number("sorted", 1))


def _bounds_crossed(call: NodeCall) -> bool:
    low, high = call.input(1), call.input(2)
    if call.version < 11:
        return float(cast("float", call.attributes.get("min", 0))) > float(cast("float", call.attributes.get("max", 0)))
    return call.version < 13 and low is not None and high is not None and bool(low > high)


def _pads_too_far(call: NodeCall) -> bool:
    """Whether elements are repeated that are not there, or more often than once."""
    mode = call.word("mode", "constant")
    if mode not in WRAPS:
        return False
    pads = call.numbers("pads", ()) if call.version < 11 else tuple(call.second.tolist())
    least, rank = WRAPS[mode], call.first.ndim
    extents = [call.first.shape[at % rank] for at in range(len(pads))]
    return any(
        pad > 0 and (not extent or (least is not None and pad > extent + least))
        for pad, extent in zip(pads, extents, strict=True)
    )


def _negative(call: NodeCall) -> bool:
    indices = call.first if call.op == "OneHot" else call.second
    return call.version < 11 and bool((indices < 0).any())


def _reduces_nothing(call: NodeCall) -> bool:
    """Whether a reduction over no elements has an element that the text of the version calls undefined."""
    return not call.first.size and call.result.size > 0 and UNDEFINED_REDUCTION in call.doc


def _window_in_padding(call: NodeCall) -> bool:
    """Whether a window holds no element of the data: of a maximum, or of a mean that does not count padding."""
    if call.op == "AveragePool" and call.number("count_include_pad"):
        return False
    return any(not any(0 <= at < extent for at in window) for extent, window in _windows(call))


def _windows(call: NodeCall) -> Iterator[tuple[int, Numbers]]:
    """The places of each window, axis by axis, with the extent of the axis."""
    kernel = call.numbers("kernel_shape", ())
    count = len(kernel)
    strides, dilations = call.numbers("strides", (1,) * count), call.numbers("dilations", (1,) * count)
    pads, auto = call.numbers("pads", (0,) * (2 * count)), call.word("auto_pad", "NOTSET")
    for axis, (size, stride, dilation) in enumerate(zip(kernel, strides, dilations, strict=True)):
        extent, results = call.first.shape[2 + axis], call.result.shape[2 + axis]
        total = max((results - 1) * stride + (size - 1) * dilation + 1 - extent, 0) if auto.startswith("SAME") else 0
        before = pads[axis] if auto == "NOTSET" else (total + (auto == "SAME_LOWER")) // 2
        for number in range(results):
            start = number * stride - before
            yield extent, range(start, start + size * dilation, dilation)


def _fewer_batches(call: NodeCall) -> bool:
    batches, channels, *_ = call.first.shape
    return bool(batches != channels)


Rule = tuple[tuple[str, ...], str, Callable[[NodeCall], bool]]
REDUCTIONS = ("Sum", "Mean", "Max", "Min", "Prod", "L1", "L2", "LogSum", "LogSumExp", "SumSquare")
OPEN: Sequence[Rule] = (
    (("Div", "Mod"), "an integer is divided by 0", _divides_by_zero),
    (("Mod",), "of floats `fmod` must be 1", _float_remainder),
    (("Pow",), "a power of integers is out of range", _power_overflows),
    (("BitShift",), "all bits are shifted out", _shifts_out),
    (("Cast", "CastLike"), "a float out of range is cast to an integer", _casts_outside),
    (("DynamicQuantizeLinear",), "there is no scale", _no_scale),
    (("Sign", "Unique"), "nothing is said of NaN", _holds_nan),
    (("TopK",), "k is positive; equal to none are NaN, and the order is open where it is not sorted", _top_k_open),
    (("ScatterElements", "ScatterND"), "no operation of a reduction takes bool", _reduces_bool),
    (("ScatterElements", "ScatterND"), "before version 18 no reduction is max or min", _no_such_reduction),
    (("ScatterElements",), "two updates of one place, in no order", _elements_twice),
    (("ScatterND",), "two updates of one place, in no order", _slices_twice),
    (("DepthToSpace", "SpaceToDepth"), "the extents make no whole blocks", _no_blocks),
    (("Clip",), "before version 13 nothing is said of a minimum above the maximum", _bounds_crossed),
    (("Pad",), "elements are repeated that are not there", _pads_too_far),
    (("Gather", "OneHot"), "before version 11 no index is negative", _negative),
    (tuple(f"Reduce{name}" for name in REDUCTIONS), "ONNX calls it undefined over no elements", _reduces_nothing),
    (("MaxPool", "AveragePool"), "a window lies in the padding", _window_in_padding),
)
UNWITNESSED: Sequence[Rule] = (
    (("MaxPool", "AveragePool", "LpPool"), "the evaluator takes NaN for padding", _holds_nan),
    (("LRN",), "the evaluator goes through as many channels as there are batches", _fewer_batches),
)
