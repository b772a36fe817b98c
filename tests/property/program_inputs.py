"""Arguments of generated programs: what is drawn is small (a way and a seed), the values follow from it.

| way       | integers of `low` … `high`          | floats                                                      |
|-----------|-------------------------------------|-------------------------------------------------------------|
| `steps`   | low, low + 1, … (around 0)          | 0, 1, 2, …                                                  |
| `small`   | random, near 0                      | random multiples of 1/4                                     |
| `any`     | random                              | random codes                                                |
| `edges`   | the ends, and near 0                | ±0, ±inf, NaN, subnormals, the greatest, 1 and neighbours   |

| form       | the tensor                                                        |
|------------|-------------------------------------------------------------------|
| `compact`  | as it is                                                          |
| `fresh`    | nothing in it is initialised                                      |
| `partial`  | every second element is initialised                               |
| `strided`  | rows with a gap after each                                        |
| `locked`   | memory that may not be written                                    |
| `offset`   | two elements stand before it in its storage                       |
"""

import math
from dataclasses import dataclass

import numpy as np

from refmlc.dtypes import DType
from refmlc.dtypes.bits import encoder
from refmlc.dtypes.rounding import rounder
from refmlc.dtypes.storage import storage_dtype
from refmlc.runtime.tensor import Tensor

WAYS = ("steps", "small", "any", "edges")
EDGES = (0.0, -0.0, math.inf, -math.inf, math.nan, 1.0, -1.0, 5e-324, 1e-45, 6e-8, 1e-40, 65504.0, 3.4e38, 1e308, 0.5)


@dataclass(frozen=True)
class Array:
    """A tensor to be made; `strides` in elements, where the form is `strided`."""

    dtype: DType
    shape: tuple[int, ...]
    way: str = "steps"
    seed: int = 0
    low: int = 0
    high: int = 0
    form: str = "compact"

    def __str__(self) -> str:
        values = "" if self.form == "fresh" else f", {self.values().tolist()}"
        return f"{self.dtype}{list(self.shape)} {self.form}{values}"

    def values(self):
        """The values as an array of NumPy's dtype for them."""
        count = math.prod(self.shape)
        random = np.random.default_rng(self.seed)
        stored = storage_dtype(self.dtype)
        if self.dtype.kind == "bool":
            return random.integers(0, 2, count).astype(bool).reshape(self.shape)
        if self.dtype.is_integer:
            return np.array(self._integers(random, count), dtype=object).astype(stored).reshape(self.shape)
        return self._floats(random, count, stored).reshape(self.shape)

    def _integers(self, random, count):
        low, high = self.low, self.high
        near = [min(max(number, low), high) for number in (0, 1, -1, 2, 3, -2, 7)]
        match self.way:
            case "steps":
                return [low + (number + max(0, -low)) % (high - low + 1) for number in range(count)]
            case "small":
                return [near[number] for number in random.integers(0, len(near), count)]
            case "any":
                bits = [int.from_bytes(random.bytes(8), "little") for _ in range(count)]
                return [low + number % (high - low + 1) for number in bits]
            case _:
                ends = [low, high, max(low, high - 1), min(high, low + 1), *near]
                return [ends[number] for number in random.integers(0, len(ends), count)]

    def _floats(self, random, count, stored):
        rounded, encode = rounder(self.dtype), encoder(self.dtype)
        match self.way:
            case "steps":
                numbers = [float(number % 17) for number in range(count)]
            case "small":
                numbers = [number / 4 for number in random.integers(-12, 13, count).tolist()]
            case "any":
                size = stored.itemsize
                codes = np.frombuffer(random.bytes(count * size), f"u{size}").copy()
                codes &= (1 << self.dtype.bits) - 1
                return codes.view(stored)
            case _:
                top = self.dtype.format
                ends = (*EDGES, top.maximum, -top.maximum, top.smallest, -top.smallest, 1 + 2 * top.smallest)
                numbers = [ends[number] for number in random.integers(0, len(ends), count)]
        found = [rounded(number) for number in numbers]
        if not self.dtype.format.has_nan:
            found = [1.0 if math.isnan(number) else number for number in found]
        codes = [encode(number) for number in found]
        return np.array(codes, f"u{stored.itemsize}").view(stored)

    def tensor(self):
        """A fresh tensor with the values."""
        if self.form in ("fresh", "partial"):
            return self._young()
        values = self.values()
        if self.form == "strided":
            gap = np.zeros((*values.shape[:-1], values.shape[-1] + 3), values.dtype)
            gap[..., : values.shape[-1]] = values
            values = gap[..., : values.shape[-1]]
        if self.form == "locked":
            values.setflags(write=False)
        if self.form == "offset":
            whole = Tensor.from_numpy(np.concatenate([np.zeros(2, values.dtype), values.reshape(-1)]), self.dtype)
            return Tensor(whole.storage, self.dtype, self.shape, None, 2 * whole.itemsize)
        return Tensor.from_numpy(values, self.dtype)

    def _young(self):
        found = Tensor.empty(self.shape, self.dtype)
        if self.form == "partial":
            found.numpy()[...] = self.values()
            for number in range(0, found.size, 2):
                found.storage.initialise(number * found.itemsize, found.itemsize)
        return found


@dataclass(frozen=True)
class Number:
    """An argument that is a number."""

    dtype: DType
    value: int | float

    def __str__(self) -> str:
        return f"{self.dtype} {self.value!r}"


@dataclass(frozen=True)
class Same:
    """The tensor that argument `number` is, once more."""

    number: int

    def __str__(self) -> str:
        return f"argument {self.number} again"


def arguments(recipe):
    """Fresh arguments for one call."""
    found = []
    for one in recipe:
        match one:
            case Array():
                found.append(one.tensor())
            case Number():
                found.append(one.value)
            case Same(number):
                found.append(found[number])
    return found
