"""What operators give back of the gradient of their result, and marks for the pass that asks for it.

| operator                                  | the element                                                  |
|-------------------------------------------|--------------------------------------------------------------|
| `no_grad`, `start_checkpoint`, `end_…`    | that of the argument                                         |
| `nll_loss_backward`                       | minus the weight times the gradient at the target, else 0    |
| `max_pool2d_backward`                     | the sum of the gradients of the windows whose greatest it is |
| `avg_pool2d_backward`                     | the sum of gradient / places of the windows that it is in    |
| `take_backward`                           | the sum of the gradients of the places that it was taken to  |

Order: sums start from 0, in the dtype of the data; windows from the last to the first, taken places in their order.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_ARGUMENTS, SHAPE_MISMATCH, TYPE_MISMATCH
from refmlc.lang import te
from refmlc.lang.library.definition import Operator, computed
from refmlc.lang.library.elementwise import mapped
from refmlc.lang.library.layout import Layout, PerAxis, Windows, layout_of, numbers, windows
from refmlc.lang.library.losses import check_targets, class_axis, counted_weights
from refmlc.lang.library.pooling import inside, places_there
from refmlc.lang.library.reduction import ARGMAX, over_extents, reduced
from refmlc.lang.library.shapes import axis_of, must_agree
from refmlc.lang.te import Axis, Tensor, Value


def same(input: Tensor) -> Tensor:  # noqa: A002 - the name is TVM's
    """The argument."""
    return mapped(input, lambda value: value, "same")


def nll_loss_backward(
    output_grad: Tensor,
    predictions: Tensor,
    targets: Tensor,
    weights: Tensor | None = None,
    *,
    reduction: str = "mean",
    ignore_index: int = -100,
) -> Tensor:
    """The gradient of `nn.nll_loss` by the predictions. Fails: RM105, RM201, RM202."""
    name = "grad.nll_loss_backward"
    check_targets(name, predictions, targets, weights, reduction)
    expected_shape = targets.shape if reduction == "none" else ()
    _must_be(name, output_grad, predictions.dtype, expected_shape)
    axis, dtype = class_axis(predictions), predictions.dtype
    counted = counted_weights(targets, weights, ignore_index, dtype)
    whole = reduced(counted, None, te.sum, name="weights_red") if reduction == "mean" else None

    def element(*i: Value) -> Value:
        at = (*i[:axis], *i[axis + 1 :])
        gradient = output_grad(*(at if reduction == "none" else ()))
        gradient = gradient if whole is None else te.div(gradient, whole())
        value = counted(*at) * te.const(-1, dtype) * gradient
        return te.if_then_else(i[axis] == targets(*at), value, te.const(0, dtype))

    return computed(predictions.shape, element, "pred_grad")


def _must_be(name: str, gradient: Tensor, dtype: str, shape: Sequence[Value]) -> None:
    """Fails: RM201, RM202 where the gradient is not that of the result."""
    if gradient.dtype != dtype:
        raise fail(TYPE_MISMATCH, f"`{name}` takes a gradient of {dtype}, not {gradient.dtype}")
    if gradient.ndim != len(shape):
        raise fail(SHAPE_MISMATCH, f"`{name}` takes a gradient of {len(shape)} dimensions, not {gradient.ndim}")
    for place, (have, want) in enumerate(zip(gradient.shape, shape, strict=True)):
        must_agree(have, want, f"dimension {place} of the gradient, and of the result")


@dataclass(frozen=True)
class Pool:
    """Windows over images, and the gradient of their results."""

    data: Tensor
    gradient: Tensor
    window: Windows
    sizes: tuple[int, ...]
    source: Layout
    target: Layout
    counts: tuple[Value, ...]
    clipped: bool

    @property
    def space(self) -> list[Value]:
        """The extents of space."""
        return self.source.split(self.data.shape)[2:]

    @property
    def axes(self) -> list[Axis]:
        """Variables for the places of a window."""
        return over_extents([te.const(size, "int64") for size in self.sizes], ["rh", "rw"])[0]

    def windows_of(self, spots: Sequence[Value], inner: Sequence[Value]) -> tuple[list[Value], Value]:
        """The window whose place `inner` each of `spots` is, and the condition that there is one."""
        at, meets = [], []
        for place, (spot, r) in enumerate(zip(spots, inner, strict=True)):
            begin = spot + self.window.before[place] - r * self.window.dilation[place]
            stride = self.window.stride[place]
            at.append(begin // stride)
            meets += [begin % stride == 0] if stride > 1 else []
            meets += [at[-1] >= 0, at[-1] < self.counts[place]]
        return at, te.all(*meets)


def _pool(
    name: str,
    output_grad: Tensor,
    data: Tensor,
    pool_size: PerAxis,
    window: Windows,
    layouts: tuple[str, str],
    *,
    ceil_mode: bool,
) -> Pool:
    source, target = (layout_of(item, "NCHW", f"`{name}`: layout") for item in layouts)
    sizes = numbers(pool_size, 2, "pool_size", 1)
    images, channels, *space = source.extents(data, f"the data of `{name}`")
    counts = window.counts(space, [te.const(item, "int64") for item in sizes], name, ceil=ceil_mode)
    _must_be(name, output_grad, data.dtype, target.joined(images, channels, *counts))
    return Pool(data, output_grad, window, sizes, source, target, tuple(counts), ceil_mode)


def _to_greatest(pool: Pool) -> Tensor:
    """The gradient of each window at its greatest element, the first of equal ones."""
    inner = pool.axes
    images, channels, *_ = pool.source.split(pool.data.shape)

    def place_of(r: Sequence[Value]) -> Value:
        return r[0] * pool.sizes[1] + r[1]

    def best(*i: Value) -> object:
        image, channel, *at = i
        spots = [spot - low for spot, low in zip(pool.window.spots(at, inner), pool.window.before, strict=True)]
        there = inside(pool.window, spots, pool.space, ceil=pool.clipped)
        return ARGMAX(
            (place_of(inner), pool.data(*pool.source.joined(image, channel, *spots))), axis=inner, where=there
        )

    both = te.compute((images, channels, *pool.counts), best, name="greatest")
    greatest = both[0] if isinstance(both, tuple) else both
    again = pool.axes

    def element(*i: Value) -> object:
        image, channel, *spots = pool.source.split(i)
        at, there = pool.windows_of(spots, again)
        value = pool.gradient(*pool.target.joined(image, channel, *at))
        is_greatest = greatest(image, channel, *at) == place_of(again)
        term = te.if_then_else(is_greatest, value, te.const(0, pool.data.dtype))
        return te.sum(term, axis=again, where=there)

    return computed(pool.data.shape, element, "T_pool_grad")


def _to_all(pool: Pool, *, added: bool) -> Tensor:
    """The gradient of each window, divided among its places."""
    inner = pool.axes

    def element(*i: Value) -> object:
        image, channel, *spots = pool.source.split(i)
        at, there = pool.windows_of(spots, inner)
        count = places_there(pool.window, at, pool.sizes, pool.space, added=added)
        value = pool.gradient(*pool.target.joined(image, channel, *at))
        return te.sum(te.div(value, te.cast(count, pool.data.dtype)), axis=inner, where=there)

    return computed(pool.data.shape, element, "T_pool_grad")


def _pool_backward(*, greatest: bool) -> Callable[..., Tensor]:
    """`grad.max_pool2d_backward` or `grad.avg_pool2d_backward`."""
    name = f"grad.{'max' if greatest else 'avg'}_pool2d_backward"

    def backward(  # noqa: PLR0913 - the attributes are TVM's
        output_grad: Tensor,
        data: Tensor,
        *,
        pool_size: PerAxis = (1, 1),
        strides: PerAxis = (1, 1),
        padding: PerAxis = (0, 0, 0, 0),
        dilation: PerAxis = (1, 1),
        ceil_mode: bool = False,
        count_include_pad: bool = False,
        layout: str = "NCHW",
        out_layout: str | None = None,
    ) -> Tensor:
        """The gradient of the pool by the data, from that of its result. Fails: RM105, RM201, RM202, RM501."""
        window, layouts = windows(2, strides, padding, dilation), (layout, out_layout or layout)
        pool = _pool(name, output_grad, data, pool_size, window, layouts, ceil_mode=bool(ceil_mode))
        return _to_greatest(pool) if greatest else _to_all(pool, added=bool(count_include_pad))

    return backward


def take_backward(
    output_grad: Tensor, x: Tensor, indices: Tensor, *, axis: int | None = None, mode: str = ""
) -> Tensor:
    """The gradient of `take` by the tensor: at each place the sum of the gradients of what was taken from it.

    Shapes: a vector of indices; without an axis the tensor is a vector. Fails: RM105, RM201, RM202.
    """
    del mode  # what `take` does with places that are none: they have no gradient in any mode
    name = "grad.take_backward"
    if indices.ndim != 1 or not indices.buffer.dtype.is_integer:
        raise fail(BAD_ARGUMENTS, f"`{name}` takes a vector of integers as indices")
    if axis is None and x.ndim != 1:
        raise fail(BAD_ARGUMENTS, f"`{name}` without an axis takes a vector; the tensor has {x.ndim} dimensions")
    along = 0 if axis is None else axis_of(axis, x.ndim)
    _must_be(name, output_grad, x.dtype, [*x.shape[:along], indices.shape[0], *x.shape[along + 1 :]])
    (k,), there = over_extents(indices.shape, ["k"])

    def element(*i: Value) -> object:
        gradient = te.if_then_else(
            te.cast(indices(k), "int64") == te.cast(i[along], "int64"),
            output_grad(*i[:along], k, *i[along + 1 :]),
            te.const(0, x.dtype),
        )
        return te.sum(gradient, axis=[k], where=there)

    return computed(x.shape, element, "take_backward")


GRADIENTS = (
    *(Operator(f"grad.{name}", same, "LIB-050") for name in ("no_grad", "start_checkpoint", "end_checkpoint")),
    Operator("grad.nll_loss_backward", nll_loss_backward, "LIB-051"),
    Operator("grad.max_pool2d_backward", _pool_backward(greatest=True), "LIB-052"),
    Operator("grad.avg_pool2d_backward", _pool_backward(greatest=False), "LIB-052"),
    Operator("grad.take_backward", take_backward, "LIB-053"),
)
