"""Arrays as data of JSON, which has no NaN and no infinities: these are texts."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np


def array_data(array: np.ndarray) -> list[object]:
    """The dtype, the shape and the elements of an array."""
    elements = array.ravel().tolist()
    finite = [str(each) if isinstance(each, float) and not math.isfinite(each) else each for each in elements]
    return [str(array.dtype), list(array.shape), finite]


def array_of(data: Sequence[Any]) -> np.ndarray:
    """The array from data. Raises ValueError for what is none."""
    dtype, shape, elements = data
    return np.array(elements, dtype).reshape(shape)
