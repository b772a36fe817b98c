"""Operators of ONNX that move elements: shapes, axes, parts. Sizes that are known stay known (`known`)."""

from collections.abc import Mapping, Sequence
from itertools import accumulate, pairwise

import numpy as np

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_INPUT, UNSUPPORTED_OP
from refmlc.frontends.arrays import constant
from refmlc.frontends.aten import RULES as ATEN
from refmlc.frontends.emitter import Operand, Size, product
from refmlc.frontends.onnx.constant_values import SymbolicArray, known, of_sizes, scalar
from refmlc.frontends.onnx.elementwise import OnnxRule
from refmlc.frontends.onnx.limits import check_extents, check_size
from refmlc.frontends.onnx.node import Node
from refmlc.lang.ir import relax


def axis_of(axis: int, rank: int, what: str) -> int:
    """An axis, from the end where it is negative. Fails: RM111 where there is none."""
    if not -rank <= axis < rank:
        raise fail(BAD_INPUT, f"axis {axis} of `{what}` is outside of a rank of {rank}")
    return axis % rank


def shape(node: Node) -> Operand:
    """The extents from `start` to before `end`, as a tensor."""
    value = node.input(0)
    sizes: tuple[Size, ...] = value.items.shape if isinstance(value, SymbolicArray) else node.e.shape(node.tensor(0))
    start, end = node.whole("start", 0), node.whole("end", len(sizes))
    rank = len(sizes)
    start, end = (min(max(item + rank if item < 0 else item, 0), rank) for item in (start, end))
    return of_sizes(list(sizes[start : max(start, end)]))


def size(node: Node) -> Operand:
    """The number of elements."""
    return scalar(product(node.e.shape(node.tensor(0))))


def reshape(node: Node) -> Operand:
    """The elements in another shape: -1 is the remaining extent, 0 keeps the extent unless `allowzero`."""
    allow_zero, target, value = node.whole("allowzero", 0), node.numbers(1), node.input(0)
    if isinstance(value, SymbolicArray):
        return SymbolicArray(value.items.reshape([int(str(item)) for item in target]), value.dtype)
    x = node.tensor(0)
    own = node.e.shape(x)
    if not allow_zero:
        if any(is_number(item, 0) and at >= len(own) for at, item in enumerate(target)):
            raise fail(BAD_INPUT, "`Reshape` takes an extent of an axis that the input does not have")
        target = tuple(own[at] if is_number(item, 0) else item for at, item in enumerate(target))
    elif any(is_number(item, 0) for item in target):
        return _nothing(node, own, target, node.e.dtype(x))
    return node.e.reshape(x, target)


def _nothing(node: Node, own: Sequence[Size], target: Sequence[Size], dtype: str) -> relax.Expr:
    """A tensor without elements in another shape without. Fails: RM111 where there are elements."""
    if any(is_number(item, -1) for item in target) or not any(is_number(item, 0) for item in own):
        raise fail(BAD_INPUT, f"`Reshape` of {list(own)} into {list(target)}, which has no elements")
    return node.e.call("full", node.e.sizes(target), node.e.scalar(0, dtype), dtype=dtype)


def is_number(size_: Size, number: int) -> bool:
    """Whether a size is known to be `number`."""
    return isinstance(size_, int) and size_ == number


def flatten(node: Node) -> Operand:
    """Two axes: what is before `axis`, and the rest."""
    x = node.tensor(0)
    sizes, axis = node.e.shape(x), node.whole("axis", 1)
    axis = axis + len(sizes) if axis < 0 else axis
    return node.e.reshape(x, [product(sizes[:axis]), product(sizes[axis:])])


def transpose(node: Node) -> Operand:
    """The axes in another order; reversed by default."""
    x, order = node.tensor(0), node.ints("perm")
    axes = tuple(range(node.e.rank(x)))[::-1] if order is None else order
    return node.e.call("permute_dims", x, axes=axes) if axes else x


def _axes(node: Node, place: int) -> tuple[int, ...] | None:
    """Axes from an input, or from an attribute in older versions; None by default."""
    if node.has("axes"):
        return node.ints("axes")
    return None if node.input(place) is None else node.integers(place)


def squeeze(node: Node) -> Operand:
    """Without the axes of one element that are named, or without all such."""
    axes, value = _axes(node, 1), node.input(0)
    if isinstance(value, SymbolicArray):
        return SymbolicArray(value.items.reshape(()) if value.items.ndim else value.items, value.dtype)
    x = node.tensor(0)
    if axes is None:
        axes = tuple(at for at, extent in enumerate(node.e.shape(x)) if is_number(extent, 1))
        if any(not isinstance(extent, int) for extent in node.e.shape(x)):
            raise fail(UNSUPPORTED_OP, "`Squeeze` without axes of a tensor with symbolic extents is not supported")
    return node.e.call("squeeze", x, axis=axes) if axes else x


def unsqueeze(node: Node) -> Operand:
    """With axes of one element, at the places that they have afterwards."""
    axes, value = _axes(node, 1), node.input(0)
    if isinstance(value, SymbolicArray) and value.items.ndim == 0:
        return SymbolicArray(value.items.reshape(1), value.dtype)
    x = node.tensor(0)
    rank = node.e.rank(x) + len(axes or ())
    places = sorted(axis_of(axis, rank, "Unsqueeze") for axis in axes or ())
    return node.e.call("expand_dims", x, axis=tuple(places)) if places else x


def concat(node: Node) -> Operand:
    """Tensors, or sizes, one after the other."""
    axis, inputs = node.whole("axis", 0), [node.input(place) for place in range(len(node))]
    parts = [known(item) for item in inputs]
    if any(isinstance(item, SymbolicArray) for item in inputs) and all(
        part is not None and part.ndim == 1 for part in parts
    ):
        return SymbolicArray(np.concatenate([part for part in parts if part is not None]))
    tensors = node.tensors()
    if len(tensors) == 1:
        return tensors[0]
    return node.e.call("concat", relax.Tuple(tuple(tensors)), axis=axis_of(axis, node.e.rank(tensors[0]), "Concat"))


def slice_(node: Node) -> Operand:
    """Parts along axes, backwards where the step is negative; bounds beyond the extent end there."""
    starts, ends = node.integers(1), node.integers(2)
    axes = tuple(range(len(starts))) if node.input(3) is None else node.integers(3)
    steps = (1,) * len(starts) if node.input(4) is None else node.integers(4)
    if not len(starts) == len(ends) == len(axes) == len(steps):
        raise fail(BAD_INPUT, "starts, ends, axes and steps of `Slice` do not have the same length")
    value = node.input(0)
    if isinstance(value, SymbolicArray):
        return SymbolicArray(value.items[starts[0] : ends[0] : steps[0]], value.dtype)
    x = node.tensor(0)
    rank = node.e.rank(x)
    for axis, start, end, step in zip(axes, starts, ends, steps, strict=True):
        x = _part(node, x, axis_of(axis, rank, "Slice"), start, end, step)
    return x


def _part(node: Node, x: relax.Expr, axis: int, start: int, end: int, step: int) -> relax.Expr:
    extent = node.e.shape(x)[axis]
    if step == 0:
        raise fail(BAD_INPUT, "a step of `Slice` is 0")
    if isinstance(extent, int):
        used = range(*slice(start, end, step).indices(extent))
        if len(used) == 0:
            start, end, step = 0, 0, 1
        elif step > 0:
            start, end = used.start, used.stop
        else:
            x = node.e.call("flip", x, axis=axis)
            start, end, step = extent - 1 - used.start, extent - 1 - used.stop, -step
    elif step < 0 or start < 0:
        raise fail(UNSUPPORTED_OP, "`Slice` from the end of a symbolic extent is not supported")
    else:
        result = ATEN["slice"](node.e, x, axis, start, end, step)
        assert isinstance(result, relax.Expr)  # noqa: S101 - a slice of a tensor is one
        return result
    return node.e.call("strided_slice", x, [axis], [start], [end], [step])


def split(node: Node) -> Operand:
    """Parts along an axis: of the given sizes, or equally many, the last one smaller."""
    x = node.tensor(0)
    axis = axis_of(node.whole("axis", 0), node.e.rank(x), "Split")
    count = node.whole("num_outputs", len(node.outputs))
    extent = node.e.shape(x)[axis]
    sizes = list(node.integers(1)) if node.input(1) is not None else list(node.ints("split") or ())
    if not sizes:
        if not isinstance(extent, int):
            raise fail(UNSUPPORTED_OP, "`Split` of a symbolic extent into equal parts is not supported")
        if count < 1 or count != len(node.outputs):
            raise fail(BAD_INPUT, f"`Split` into {count} parts, the node has {len(node.outputs)} outputs")
        each = -(-extent // count)
        sizes = [min(each, max(0, extent - at * each)) for at in range(count)]
    return tuple(pieces(node, x, axis, sizes))


def pieces(node: Node, x: relax.Expr, axis: int, sizes: Sequence[int]) -> list[relax.Expr]:
    """Parts of the given sizes along an axis. Fails: RM111 where they are not the whole."""
    extent = node.e.shape(x)[axis]
    if any(size < 0 for size in sizes) or (isinstance(extent, int) and sum(sizes) != extent):
        raise fail(BAD_INPUT, f"`{node.op}` of {extent} elements into parts of {list(sizes[:8])}")
    places = accumulate(sizes, initial=0)
    return [node.e.call("strided_slice", x, [axis], [first], [last], [1]) for first, last in pairwise(places)]


def expand(node: Node) -> Operand:
    """The tensor broadcast with a shape, in both directions."""
    x, target = node.tensor(0), list(node.numbers(1))
    own = list(node.e.shape(x))
    rank = max(len(own), len(target))
    own, target = [*(1,) * (rank - len(own)), *own], [*(1,) * (rank - len(target)), *target]
    sizes = [mine if is_number(theirs, 1) else theirs for mine, theirs in zip(own, target, strict=True)]
    check_extents("Expand", sizes)
    return node.e.call("broadcast_to", x, node.e.sizes(sizes))


def tile(node: Node) -> Operand:
    """The tensor repeated along each axis."""
    x, repeats = node.tensor(0), node.integers(1)
    sizes = node.e.shape(x)
    if len(repeats) != len(sizes) or any(repeat < 0 for repeat in repeats):
        raise fail(BAD_INPUT, f"`Tile` of {len(sizes)} dimensions by {list(repeats[:8])}")
    check_extents("Tile", [*(size for size in sizes if isinstance(size, int)), *repeats])
    return node.e.call("tile", x, repeats=repeats)


def pad(node: Node) -> Operand:
    """Elements added (or taken away, where a count is negative) at both ends of axes."""
    mode, x = node.text("mode", "constant"), node.tensor(0)
    rank, counts = node.e.rank(x), node.integers(1)
    axes = tuple(range(rank)) if node.input(3) is None else node.integers(3)
    if len(counts) != 2 * len(axes) or len({axis_of(axis, rank, "Pad") for axis in axes}) != len(axes):
        raise fail(BAD_INPUT, f"`Pad` has {len(counts)} counts for {len(axes)} axes, each of which occurs once")
    begin, end = [0] * rank, [0] * rank
    for place, axis in enumerate(axes):
        begin[axis_of(axis, rank, "Pad")] = counts[place]
        end[axis_of(axis, rank, "Pad")] = counts[place + len(axes)]
    if mode not in ("constant", "edge", "reflect", "wrap"):
        raise fail(UNSUPPORTED_OP, f"the mode `{mode}` of `Pad` is not supported")
    if mode == "constant":
        return _constant_pad(node, x, begin, end)
    for axis in range(rank):
        extent = node.e.shape(x)[axis]
        if not isinstance(extent, int):
            raise fail(UNSUPPORTED_OP, f"`Pad` of mode `{mode}` of a symbolic extent is not supported")
        if begin[axis] or end[axis]:
            check_size("Pad", extent + max(begin[axis], 0) + max(end[axis], 0))
            if not extent:
                raise fail(BAD_INPUT, f"`Pad` of mode `{mode}` of an empty axis")
            places = np.pad(np.arange(extent), (max(begin[axis], 0), max(end[axis], 0)), mode=mode)  # type: ignore[call-overload]
            places = places[max(-begin[axis], 0) : len(places) - max(-end[axis], 0)]
            x = node.e.call("take", x, node.e.expr(constant_of(places)), axis=axis)
    return x


def constant_of(numbers: np.ndarray) -> relax.Constant:
    """Integers as a constant of int64."""
    return constant(np.asarray(numbers, np.int64))


def _constant_pad(node: Node, x: relax.Expr, begin: list[int], end: list[int]) -> relax.Expr:
    e = node.e
    value = node.optional(2)
    for axis, (low, high) in enumerate(zip(begin, end, strict=True)):
        if low < 0 or high < 0:
            extent = e.shape(x)[axis]
            if not isinstance(extent, int):
                raise fail(UNSUPPORTED_OP, "`Pad` with negative counts of a symbolic extent is not supported")
            x = e.call("strided_slice", x, [axis], [max(0, -low)], [extent - max(0, -high)], [1])
    for axis, (low, high) in enumerate(zip(begin, end, strict=True)):
        parts = [_filled(node, x, axis, low, value), x, _filled(node, x, axis, high, value)]
        remaining = [part for part in parts if part is not None]
        x = remaining[0] if len(remaining) == 1 else e.call("concat", relax.Tuple(tuple(remaining)), axis=axis)
    return x


def _filled(node: Node, x: relax.Expr, axis: int, count: int, value: relax.Expr | None) -> relax.Expr | None:
    if count <= 0:
        return None
    e, sizes = node.e, list(node.e.shape(x))
    sizes[axis] = count
    dtype = e.dtype(x)
    number = e.scalar(0, dtype) if value is None else value
    number = e.reshape(number, []) if e.rank(number) else number
    return e.call("full", e.sizes(sizes), number, dtype=dtype)


def four(node: Node, x: relax.Expr) -> tuple[Size, Size, Size, Size]:
    """The extents of images. Fails: RM111 where there are not four."""
    shape = node.e.shape(x)
    if len(shape) != 4:
        raise fail(BAD_INPUT, f"`{node.op}` takes images of 4 dimensions; this has {len(shape)}")
    n, c, h, w = shape
    return n, c, h, w


def depth_to_space(node: Node) -> Operand:
    """Blocks of channels laid out as squares of pixels."""
    e, x, block = node.e, node.tensor(0), node.whole("blocksize", 0)
    mode = node.text("mode", "DCR")
    n, c, h, w = four(node, x)
    if block < 1 or mode not in ("DCR", "CRD") or not isinstance(c, int):
        raise fail(UNSUPPORTED_OP, f"`DepthToSpace` of blocks of {block} in mode `{mode}` is not supported")
    if c % (block * block):
        raise fail(BAD_INPUT, f"`DepthToSpace` of {c} channels in blocks of {block}")
    depth = c // (block * block)
    first = [n, block, block, depth, h, w] if mode == "DCR" else [n, depth, block, block, h, w]
    order = (0, 3, 4, 1, 5, 2) if mode == "DCR" else (0, 1, 4, 2, 5, 3)
    shifted = e.call("permute_dims", e.reshape(x, first), axes=order)
    return e.reshape(shifted, [n, depth, product([h, block]), product([w, block])])


def space_to_depth(node: Node) -> Operand:
    """Squares of pixels laid out as blocks of channels."""
    e, x, block, mode = node.e, node.tensor(0), node.whole("blocksize", 0), node.text("mode", "DCR")
    n, c, h, w = four(node, x)
    if block < 1 or not all(isinstance(item, int) for item in (c, h, w)):
        raise fail(UNSUPPORTED_OP, "`SpaceToDepth` of symbolic extents is not supported")
    assert isinstance(h, int)  # noqa: S101 - as above
    assert isinstance(w, int)  # noqa: S101 - as above
    if h % block or w % block or mode not in ("DCR", "CRD"):
        raise fail(BAD_INPUT, f"`SpaceToDepth` of {h} x {w} into blocks of {block} in mode `{mode}`")
    apart = e.reshape(x, [n, c, h // block, block, w // block, block])
    shifted = e.call("permute_dims", apart, axes=(0, 3, 5, 1, 2, 4) if mode == "DCR" else (0, 1, 3, 5, 2, 4))
    return e.reshape(shifted, [n, product([c, block, block]), h // block, w // block])


def reverse_sequence(node: Node) -> Operand:
    """Reverse the first `sequence_lens` elements of each sequence."""
    time, batch = node.whole("time_axis", 0), node.whole("batch_axis", 1)
    return node.e.call("reverse_sequence", node.tensor(0), node.tensor(1), seq_axis=time, batch_axis=batch)


def triangle(node: Node) -> Operand:
    """The upper or the lower triangle, from the k-th diagonal on."""
    upper = node.whole("upper", 1)
    k = 0 if node.input(1) is None else node.one(1)
    return node.e.call("triu" if upper else "tril", node.tensor(0), k)


SHAPING: Mapping[str, OnnxRule] = {
    "Shape": shape,
    "Size": size,
    "Reshape": reshape,
    "Flatten": flatten,
    "Transpose": transpose,
    "Squeeze": squeeze,
    "Unsqueeze": unsqueeze,
    "Concat": concat,
    "Slice": slice_,
    "Split": split,
    "Expand": expand,
    "Tile": tile,
    "Pad": pad,
    "DepthToSpace": depth_to_space,
    "SpaceToDepth": space_to_depth,
    "ReverseSequence": reverse_sequence,
    "Trilu": triangle,
}
