"""Strategies of dtypes, numbers, shapes and tensors, for Hypothesis.

| strategy  | leans towards                                                                | shrinks towards |
|-----------|------------------------------------------------------------------------------|-----------------|
| `dtypes`  | float32 and int32                                                            | float32         |
| `scalars` | limits, ±0, ±infinity, NaN, subnormals, neighbours of 1 and of powers of two | 0               |
| `shapes`  | extents of 1 and 2; 0 is one                                                 | ()              |
| `tensors` | small ones whose elements are all drawn; larger ones follow from a seed      | zeros           |
"""

from collections.abc import Collection
from math import isnan, prod

import numpy as np
from hypothesis import strategies as st

from refmlc.lang.dtypes import FLOAT32, INT32, DType
from refmlc.lang.dtypes.bits import encoder, from_bits
from refmlc.lang.dtypes.rounding import rounder
from refmlc.lang.dtypes.storage import storage_dtype
from refmlc.run.memory.tensor import Tensor
from refmlc.strategies.arguments import Array
from refmlc.strategies.contents import special_values
from refmlc.strategies.draws import Draw
from refmlc.strategies.ranges import KINDS, limits
from refmlc.strategies.values import PLAIN

EXTENTS = (1, 2, 3, 0, 4, 5)
DRAWN = 24  # elements of a tensor that are drawn one by one
FIRST = (FLOAT32, INT32)


def dtypes(kinds: Collection[str] = ("float", "int", "uint", "bool")) -> st.SearchStrategy[DType]:
    """A scalar dtype of the kinds `float`, `int`, `uint`, `bool`; the usual ones first."""
    usual = [row for row in PLAIN if row.kind in kinds]
    return st.sampled_from([*usual, *(row for row in KINDS if row.kind in kinds and row not in usual)])


def scalars(dtype: DType) -> st.SearchStrategy[int | float]:
    """A value of `dtype`: a bool as 0 or 1, an integer, a float that the dtype has."""
    low, high = limits(dtype)
    if dtype.kind == "bool":
        return st.integers(0, 1)
    if dtype.is_integer:
        near = st.integers(max(low, -3), min(high, 8))
        ends = st.sampled_from(sorted({high, low, high - 1, low + 1, high // 2, high // 2 + 1}, key=abs))
        return near | ends | st.integers(low, high)
    round_ = rounder(dtype)
    simple_values = (round_(number) for number in (0.0, 1.0, 2.0, -1.0, 0.5, 3.0, -2.5, 10.0))
    simple = st.sampled_from([number for number in simple_values if not isnan(number) or dtype.format.has_nan])
    special = st.sampled_from([round_(number) for number in special_values(dtype)])
    codes = st.integers(0, (1 << dtype.bits) - 1).map(lambda code: float(from_bits(dtype, code)))
    return simple | special | codes


def shapes(
    min_rank: int = 0, max_rank: int = 3, *, extents: Collection[int] = EXTENTS
) -> st.SearchStrategy[tuple[int, ...]]:
    """Extents, each one of `extents`, the simplest first."""
    return st.lists(st.sampled_from(list(extents)), min_size=min_rank, max_size=max_rank).map(tuple)


@st.composite
def tensors(
    draw: Draw,
    dtype: DType | st.SearchStrategy[DType] = FLOAT32,
    shape: tuple[int, ...] | st.SearchStrategy[tuple[int, ...]] = (),
    elements: st.SearchStrategy[int | float] | None = None,
) -> Tensor:
    """A tensor, all of it initialised, whose elements are of `elements`, without that of `scalars(dtype)`.

    Elements of larger tensors are not drawn one by one, unless `elements` is given: they follow from a seed.
    """
    kind = dtype if isinstance(dtype, DType) else draw(dtype)
    extents = shape if isinstance(shape, tuple) else draw(shape)
    count = prod(extents)
    if count > DRAWN and elements is None:
        low, high = limits(kind)
        way = draw(st.sampled_from(("small", "edges", "any")))
        return Array(kind, extents, way, draw(st.integers(0, 999)), low, high).tensor()
    element = scalars(kind) if elements is None else elements
    return tensor_of(kind, extents, draw(st.lists(element, min_size=count, max_size=count)))


def tensor_of(dtype: DType, shape: tuple[int, ...], values: list[int | float]) -> Tensor:
    """The tensor with these values in row-major order; each is a value of `dtype`."""
    stored = storage_dtype(dtype)
    if dtype.is_float:
        encode = encoder(dtype)
        codes = [encode(float(value)) for value in values]
        array = np.array(codes, f"u{stored.itemsize}").view(stored)
    else:
        array = np.array([int(value) for value in values], object).astype(stored)
    return Tensor.from_numpy(array.reshape(shape), dtype)
