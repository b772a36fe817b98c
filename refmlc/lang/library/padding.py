"""Elements added around a tensor, and channels that become pixels.

| operator           | outside of the tensor there is                                      |
|--------------------|---------------------------------------------------------------------|
| `nn.pad` constant  | `pad_value`                                                         |
| `reflect`          | the element as far inside of the edge, the edge itself not repeated |
| `replicate`        | the element at the edge                                             |
| `circular`         | the tensor again, as often as it is needed                          |
| `nn.pixel_shuffle` | (channels are the pixels of a square of `upscale_factor`)           |
"""

from collections.abc import Sequence

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_ARGUMENTS, SHAPE_MISMATCH
from refmlc.lang import te
from refmlc.lang.library.definition import Operator, computed
from refmlc.lang.library.shapes import UNSURE, known
from refmlc.lang.te import Tensor, Value

MODES = ("constant", "reflect", "replicate", "circular")


def padded(x: Tensor, before: Sequence[int], after: Sequence[int], value: Value, name: str = "PadInput") -> Tensor:
    """The tensor with `value` around it; itself where nothing is added."""
    if not any((*before, *after)):
        return x
    shape = [extent + low + high for extent, low, high in zip(x.shape, before, after, strict=True)]

    def element(*i: Value) -> Value:
        inside = []
        for at, extent, low, high in zip(i, x.shape, before, after, strict=True):
            if low:
                inside.append(at >= low)
            if low or high:
                inside.append(at < extent + low)
        return te.if_then_else(te.all(*inside), x(*(at - low for at, low in zip(i, before, strict=True))), value)

    return computed(shape, element, name)


def _constant(number: float, dtype: str) -> Value:
    """`pad_value` in the dtype of the tensor. Fails: RM105 where the dtype has no such number."""
    row = te.const(0, dtype).expr.dtype
    if not row.is_float and (number != int(number) or not int(row.minimum) <= number <= int(row.maximum)):
        raise fail(BAD_ARGUMENTS, f"`nn.pad` of {dtype} takes a pad_value of this dtype; this is {number}")
    return te.const(float(number) if row.is_float else int(number), dtype)


def _inside(mode: str, place: Value, extent: Value) -> Value:
    """Where an element comes from whose place, counted from the tensor, may be outside of it."""
    if mode == "replicate":
        return te.maximum(te.minimum(place, extent - 1), 0)
    if mode == "circular":
        return place % extent
    last = extent - 1
    return last - te.abs(last - te.abs(place))


def _must_reach(mode: str, extent: Value, low: int, high: int) -> None:
    """Fails: RM202 where the tensor has not what is put around it."""
    have = known(extent)
    needed = 1 + max(low, high) if mode == "reflect" else 1
    if have is not None and (low or high) and have < needed:
        raise fail(SHAPE_MISMATCH, f'`nn.pad` "{mode}" by {max(low, high)} takes an extent of {needed}; this is {have}')


def pad(
    data: Tensor, *, pad_width: Sequence[int], pad_mode: str | None = "constant", pad_value: float | None = 0.0
) -> Tensor:
    """The tensor with elements added before and after it along each dimension.

    Shapes: `pad_width` has two numbers for each dimension, before and after. Fails: RM105 a mode, widths that are not
    as many, or negative; RM202 what is too small for its mode.
    """
    widths, mode = tuple(pad_width), pad_mode or "constant"
    if mode not in MODES:
        raise fail(BAD_ARGUMENTS, f'`nn.pad` has the modes {", ".join(MODES)}; this is "{mode}"')
    if len(widths) != 2 * data.ndim or any(width < 0 for width in widths):
        requirement = f"{2 * data.ndim} numbers that are not negative"
        raise fail(BAD_ARGUMENTS, f"`nn.pad` of {data.ndim} dimensions takes {requirement}; this is {list(widths)}")
    before, after = widths[::2], widths[1::2]
    if mode == "constant":
        value = _constant(0.0 if pad_value is None else pad_value, data.dtype)
        result = padded(data, before, after, value)
        return result if result is not data else computed(data.shape, data, "PadInput")
    for extent, low, high in zip(data.shape, before, after, strict=True):
        _must_reach(mode, extent, low, high)
    shape = [extent + low + high for extent, low, high in zip(data.shape, before, after, strict=True)]

    def element(*i: Value) -> Value:
        around = zip(i, data.shape, before, after, strict=True)
        return data(*(_inside(mode, at - low, n) if low or high else at for at, n, low, high in around))

    return computed(shape, element, f"{mode.capitalize()}PadInput")


def pixel_shuffle(data: Tensor, *, upscale_factor: int) -> Tensor:
    """Channels become pixels: each square of `upscale_factor` pixels comes from as many channels of one pixel.

    Shapes: (…, C * r * r, H, W) gives (…, C, H * r, W * r). Fails: RM105, RM202 channels that r * r does not divide.
    """
    r = upscale_factor
    if data.ndim < 3 or not isinstance(r, int) or r < 1:
        raise fail(BAD_ARGUMENTS, "`nn.pixel_shuffle` takes at least 3 dimensions, and a factor of at least 1")
    channels = known(data.shape[-3])
    if channels is not None and channels % (r * r):
        raise fail(SHAPE_MISMATCH, f"`nn.pixel_shuffle` by {r} takes a multiple of {r * r} channels, not {channels}")
    shape = [*data.shape[:-3], data.shape[-3] // (r * r), data.shape[-2] * r, data.shape[-1] * r]

    def element(*i: Value) -> Value:
        c, h, w = i[-3:]
        channel = c * (r * r) + h % r * r + w % r
        certain = channels is not None or r == 1  # else the run decides whether there are channels left over
        return data(*i[:-3], channel if certain else channel * UNSURE, h // r, w // r)

    return computed(shape, element, "PixelShuffle")


PADDING = (
    Operator("nn.pad", pad, "LIB-030", ("nn.pad",)),
    Operator("nn.pixel_shuffle", pixel_shuffle, "LIB-031", ("nn.pixel_shuffle",)),
)
