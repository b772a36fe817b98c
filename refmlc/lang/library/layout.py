"""Layouts of images, kernels and results by their letters; windows that move over them.

| letter        | dimension                              |
|---------------|----------------------------------------|
| `N`, `C`      | the image, its channel                 |
| `O`, `I`      | of a kernel: channel out, channel in   |
| `D`, `H`, `W` | depth, height, width                   |

A layout has each letter of its kind once, in any order. Blocked layouts (`NCHW4c`) are unsupported.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_ARGUMENTS, SHAPE_MISMATCH, UNSUPPORTED_OP
from refmlc.lang.library.shapes import known
from refmlc.lang.te import Tensor, Value

SPATIAL = {1: "W", 2: "HW", 3: "DHW"}

PerAxis = int | Sequence[int]
T = TypeVar("T")


@dataclass(frozen=True)
class Layout:
    """`text` has `letters` in its own order. Values go by letters: `split`, `joined`."""

    text: str
    letters: str

    def split(self, values: Sequence[T]) -> list[T]:
        """Values that stand in the order of the text, in the order of the letters."""
        return [values[self.text.index(letter)] for letter in self.letters]

    def joined(self, *values: T) -> list[T]:
        """Values in the order of the letters, in that of the text."""
        return [values[self.letters.index(letter)] for letter in self.text]

    def extents(self, tensor: Tensor, what: str) -> list[Value]:
        """The extents of a tensor by letter. Fails: RM105 where it has another number of dimensions."""
        if tensor.ndim != len(self.text):
            dimensions = f"this has {tensor.ndim}"
            raise fail(BAD_ARGUMENTS, f'{what} has the {len(self.text)} dimensions of "{self.text}"; {dimensions}')
        return self.split(tensor.shape)


def layout_of(text: str, letters: str, what: str) -> Layout:
    """The layout of that text. Fails: RM105 another text, RM501 a blocked layout."""
    layout = str(text)
    if any(letter.isdigit() or letter.islower() for letter in layout):
        raise fail(UNSUPPORTED_OP, f'{what} "{layout}" is blocked: such layouts are not supported')
    if sorted(layout) != sorted(letters):
        raise fail(BAD_ARGUMENTS, f'{what} is "{layout}"; it has each of the letters {letters} once')
    return Layout(layout, letters)


@dataclass(frozen=True)
class Windows:
    """Windows in each dimension of space: how far apart, how far their places are apart, what is added around."""

    stride: tuple[int, ...]
    dilation: tuple[int, ...]
    before: tuple[int, ...]
    after: tuple[int, ...]

    def counts(self, space: Sequence[Value], kernel: Sequence[Value], what: str, *, ceil: bool = False) -> list[Value]:
        """How many windows there are. `ceil`: one more where they leave something over, if it begins before the end.

        Fails: RM202 where the window is greater than what it moves over.
        """
        window_counts = []
        for place, (extent, size) in enumerate(zip(space, kernel, strict=True)):
            stride, first = self.stride[place], extent + self.before[place]
            room = first + self.after[place] - (size - 1) * self.dilation[place] - 1
            have = known(room)
            if have is not None and have < 0:
                raise fail(SHAPE_MISMATCH, f"the window of `{what}` is greater by {-have} than the padded data")
            if ceil:
                reach = self.after[place] - int(size - 1) * self.dilation[place] + stride - 1
                room = room + (stride - 1) if reach <= 0 else first - 1
            window_counts.append(room // stride + 1)
        return window_counts

    def spots(self, at: Sequence[Value], inner: Sequence[Value]) -> list[Value]:
        """Where place `inner` of window `at` is, counted from what is added before."""
        around = zip(at, self.stride, inner, self.dilation, strict=True)
        return [y * stride + r * dilation for y, stride, r, dilation in around]


def windows(rank: int, strides: PerAxis, padding: PerAxis, dilation: PerAxis) -> Windows:
    """The windows of these attributes. Fails: RM105."""
    before, after = paddings(padding, rank)
    return Windows(numbers(strides, rank, "strides", 1), numbers(dilation, rank, "dilation", 1), before, after)


def numbers(value: PerAxis, count: int, what: str, least: int) -> tuple[int, ...]:
    """A number for each of `count` dimensions; one alone counts for all. Fails: RM105."""
    values = (value,) if isinstance(value, int) else tuple(value)
    expanded = values * count if len(values) == 1 else values
    if len(expanded) != count:
        raise fail(BAD_ARGUMENTS, f"{what} is 1 number, or {count}; {len(values)} are given")
    return _checked(expanded, what, least)


def paddings(value: PerAxis, count: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """What is added before and after, by dimension: 1 number, one for each, or all before, then all after."""
    values = (value,) if isinstance(value, int) else tuple(value)
    expanded = values * (2 * count) if len(values) == 1 else values * 2 if len(values) == count else values
    if len(expanded) != 2 * count:
        allowed = ", ".join(str(number) for number in sorted({1, count})) + f" or {2 * count}"
        raise fail(BAD_ARGUMENTS, f"padding is {allowed} numbers; {len(values)} are given")
    _checked(expanded, "padding", 0)
    return expanded[:count], expanded[count:]


def _checked(values: tuple[int, ...], what: str, least: int) -> tuple[int, ...]:
    for number in values:
        if not isinstance(number, int) or isinstance(number, bool) or number < least:
            raise fail(BAD_ARGUMENTS, f"{what} is an integer of at least {least}; this is {number!r}")
    return values
