"""Discrete Fourier transforms of ONNX, by sums as they are defined: a product with a matrix of cosines and sines.

| operator | gives                                                                                        |
|----------|----------------------------------------------------------------------------------------------|
| `DFT`    | the transform along an axis; `inverse`; `onesided`: of real signals, the half that says all  |
| `STFT`   | the transforms of windows over a signal                                                      |

The last axis holds the real part, and the imaginary part where there is one. A signal is cut, or zeros are added, to
the length of the transform. Order: the elements of the signal in their order, real parts before imaginary ones.

Decision: the cosines and sines are those of float64, rounded once to the dtype of the sums, which for float16 and
bfloat16 is float32.
"""

from collections.abc import Mapping

import numpy as np

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_INPUT, UNSUPPORTED_OP
from refmlc.frontends.arrays import constant
from refmlc.frontends.emitter import Emitter, Operand
from refmlc.frontends.onnx.elementwise import OnnxRule, is_half
from refmlc.frontends.onnx.limits import check_size
from refmlc.frontends.onnx.node import Node
from refmlc.frontends.onnx.shape_rules import axis_of, constant_of
from refmlc.lang.ir import relax

AXIS_IS_INPUT = 20
"""The version from which `axis` of `DFT` is an input."""


def dft(node: Node) -> Operand:
    """See the docstring of the module. Fails: RM501, RM111."""
    e, x = node.e, node.tensor(0)
    rank = e.rank(x)
    if node.opset >= AXIS_IS_INPUT:
        named = node.number(2)
        axis = -2 if named is None else int(named)
    else:
        axis = node.whole("axis", 1)
    if rank < 2 or axis_of(axis, rank, node.op) == rank - 1:
        raise fail(BAD_INPUT, f"`{node.op}` along axis {axis} of {rank}: the last one holds the parts of the numbers")
    inverse, half = bool(node.whole("inverse", 0)), bool(node.whole("onesided", 0))
    extent = e.shape(x)[axis_of(axis, rank, node.op)]
    if not isinstance(extent, int):
        raise fail(UNSUPPORTED_OP, f"`{node.op}` along a symbolic extent is not supported")
    length = node.number(1)
    count = (2 * (extent - 1) if inverse and half else extent) if length is None else int(length)
    return _transformed(node, x, axis_of(axis, rank, node.op), count, inverse=inverse, half=half)


def stft(node: Node) -> Operand:
    """See the docstring of the module. Fails: RM501, RM111."""
    e, x, step, window = node.e, node.tensor(0), node.number(1), node.optional(2)
    if e.rank(x) == 2:
        x = e.reshape(x, [*e.shape(x), 1])
    extent = e.shape(x)[1] if e.rank(x) == 3 else None
    field = e.shape(window) if window is not None else ()
    named = node.number(3)
    length = named if named is not None else field[0] if field else extent
    if not isinstance(extent, int) or not isinstance(length, int):
        raise fail(UNSUPPORTED_OP, f"`{node.op}` of a symbolic extent, or a signal of other dimensions than 3")
    if window is not None and field != (length,):
        raise fail(BAD_INPUT, f"the window of `{node.op}` has the shape {field}, the frames have {length} elements")
    if not isinstance(step, int) or step < 1 or not 1 <= length <= extent:
        raise fail(BAD_INPUT, f"`{node.op}` of {extent} elements in frames of {length}, a step of {step}")
    frames = 1 + (extent - length) // step
    check_size(node.op, frames, length)
    places = np.arange(frames)[:, None] * step + np.arange(length)[None, :]
    parts = e.call("take", x, constant_of(places), axis=1)
    if window is not None:
        parts = e.call("multiply", parts, e.reshape(window, [1, 1, length, 1]))
    return _transformed(node, parts, 2, length, inverse=False, half=bool(node.whole("onesided", 1)))


def _transformed(node: Node, x: relax.Expr, axis: int, count: int, *, inverse: bool, half: bool) -> relax.Expr:
    """The transform of `count` places along an axis."""
    e, rank, parts, own = node.e, node.e.rank(x), node.e.shape(x)[-1], node.e.dtype(x)
    if not own.startswith(("float", "bfloat")):
        raise fail(BAD_INPUT, f"`{node.op}` of {own}: floats are needed")
    x = e.astype(x, "float32") if is_half(own) else x
    extent = e.shape(x)[axis]
    if parts not in (1, 2) or not isinstance(extent, int) or count < 1:
        raise fail(BAD_INPUT, f"`{node.op}` of length {count} over numbers of {parts} parts")
    if half and not inverse and parts != 1:
        raise fail(BAD_INPUT, f"`{node.op}` of one side takes a real signal; this is complex")
    needed = count // 2 + 1 if half and inverse else count
    field = min(extent, needed)
    results = count // 2 + 1 if half and not inverse else count
    check_size(node.op, field, results)
    order = (rank - 1, *(at for at in range(rank - 1) if at != axis), axis)
    shifted = e.call("permute_dims", e.call("strided_slice", x, [axis], [0], [field], [1]), axes=order)
    cosines, sines = _weights(field, results, count, inverse=inverse, half=half)
    dtype = e.dtype(x)
    real = _part(e, shifted, 0)
    a, b = _product(e, real, cosines, dtype), _product(e, real, sines, dtype)
    if parts == 2:
        other = _part(e, shifted, 1)
        a = e.call("subtract", a, _product(e, other, sines, dtype))
        b = e.call("add", b, _product(e, other, cosines, dtype))
    result = e.call("stack", [a] if half and inverse else [a, b], axis=0)
    inverse_order = tuple(int(at) for at in np.argsort(order))
    return e.astype(e.call("permute_dims", result, axes=inverse_order), own)


def _weights(field: int, results: int, count: int, *, inverse: bool, half: bool) -> tuple[np.ndarray, np.ndarray]:
    """What each element of the signal counts in each result: cosines, and sines with the sign of the direction."""
    turns = np.outer(np.arange(field), np.arange(results)) % count  # whole turns fall out exactly
    angles = 2 * np.pi * turns / count
    cosines, sines = np.cos(angles), np.sin(angles) if inverse else -np.sin(angles)
    if not inverse:
        return cosines, sines
    weights = np.full(field, 1.0 / count)
    if half:  # each element but the ends stands for its mirror image too
        mirrored = [at for at in range(1, field) if 2 * at != count]
        weights[mirrored] *= 2
    return cosines * weights[:, None], sines * weights[:, None]


def _part(e: Emitter, x: relax.Expr, place: int) -> relax.Expr:
    return e.call("squeeze", e.call("strided_slice", x, [0], [place], [place + 1], [1]), axis=0)


def _product(e: Emitter, x: relax.Expr, weights: np.ndarray, dtype: str) -> relax.Expr:
    return e.call("matmul", x, e.astype(constant(weights), dtype))


SIGNALS: Mapping[str, OnnxRule] = {"DFT": dft, "STFT": stft}
