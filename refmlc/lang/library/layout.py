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
            given = f"this has {tensor.ndim}"
            raise fail(BAD_ARGUMENTS, f'{what} has the {len(self.text)} dimensions of "{self.text}"; {given}')
        return self.split(tensor.shape)


def layout_of(text: str, letters: str, what: str) -> Layout:
    """The layout of that text. Fails: RM105 another text, RM501 a blocked layout."""
    found = str(text)
    if any(one.isdigit() or one.islower() for one in found):
        raise fail(UNSUPPORTED_OP, f'{what} "{found}" is blocked: such layouts are not supported')
    if sorted(found) != sorted(letters):
        raise fail(BAD_ARGUMENTS, f'{what} is "{found}"; it has each of the letters {letters} once')
    return Layout(found, letters)


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
        found = []
        for place, (extent, size) in enumerate(zip(space, kernel, strict=True)):
            stride, first = self.stride[place], extent + self.before[place]
            room = first + self.after[place] - (size - 1) * self.dilation[place] - 1
            have = known(room)
            if have is not None and have < 0:
                raise fail(SHAPE_MISMATCH, f"the window of `{what}` is greater by {-have} than the padded data")
            if ceil:
                reach = self.after[place] - int(size - 1) * self.dilation[place] + stride - 1
                room = room + (stride - 1) if reach <= 0 else first - 1
            found.append(room // stride + 1)
        return found

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
    given = (value,) if isinstance(value, int) else tuple(value)
    found = given * count if len(given) == 1 else given
    if len(found) != count:
        raise fail(BAD_ARGUMENTS, f"{what} is 1 number, or {count}; {len(given)} are given")
    return _checked(found, what, least)


def paddings(value: PerAxis, count: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """What is added before and after, by dimension: 1 number, one for each, or all before, then all after."""
    given = (value,) if isinstance(value, int) else tuple(value)
    found = given * (2 * count) if len(given) == 1 else given * 2 if len(given) == count else given
    if len(found) != 2 * count:
        allowed = ", ".join(str(one) for one in sorted({1, count})) + f" or {2 * count}"
        raise fail(BAD_ARGUMENTS, f"padding is {allowed} numbers; {len(given)} are given")
    _checked(found, "padding", 0)
    return found[:count], found[count:]


def _checked(found: tuple[int, ...], what: str, least: int) -> tuple[int, ...]:
    for one in found:
        if not isinstance(one, int) or isinstance(one, bool) or one < least:
            raise fail(BAD_ARGUMENTS, f"{what} is an integer of at least {least}; this is {one!r}")
    return found
