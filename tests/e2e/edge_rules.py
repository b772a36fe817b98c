"""How the results of a call differ, as rows of `explained_edges.toml` say it: what differs otherwise is not explained.

| word              | every element that differs                                                            |
|-------------------|---------------------------------------------------------------------------------------|
| `nan there`       | is NaN in TVM                                                                         |
| `nan here`        | is NaN here                                                                           |
| `least for -inf`  | is -inf here, the least finite number in TVM                                          |
| `least for nan`   | is NaN here, the least finite number in TVM                                            |
| `later`           | is a greater integer in TVM                                                           |
| `rounding`        | is another by at most 2**-(digits - 4) of the greatest finite element beside it        |
| `through float32` | is in TVM what comes of it when it goes through float32                                |
| `memory`          | may be anything: TVM reads memory that nobody wrote, or leaves its own bounds           |
| `shape`           | none does: the results have other shapes                                              |
| `dtype`           | none does: the results have other dtypes                                              |

But for the last two, shapes and dtypes are the same.
"""

from collections.abc import Callable, Sequence

import ml_dtypes
import numpy as np

Rule = Callable[[np.ndarray, np.ndarray], np.ndarray]


def is_nan(array: np.ndarray) -> np.ndarray:
    """Where elements are NaN."""
    return np.isnan(array.astype("float64"))


def is_least(array: np.ndarray) -> np.ndarray:
    """Where elements are the least finite number."""
    with np.errstate(invalid="ignore"):
        return np.asarray(array == ml_dtypes.finfo(array.dtype).min)


def rounding(ours: np.ndarray, theirs: np.ndarray) -> np.ndarray:
    """Where both are finite, and as near as sums in another order are."""
    a, b = ours.astype("float64"), theirs.astype("float64")
    finite = np.isfinite(a) & np.isfinite(b)
    greatest = max(np.abs(np.where(finite, a, 0)).max(initial=0), np.abs(np.where(finite, b, 0)).max(initial=0))
    with np.errstate(invalid="ignore"):
        return finite & (np.abs(a - b) <= greatest * float(ml_dtypes.finfo(ours.dtype).eps) * 16)


def through_float32(ours: np.ndarray, theirs: np.ndarray) -> np.ndarray:
    """Where TVM has what is left after float32."""
    with np.errstate(invalid="ignore"):
        return np.asarray(ours.astype("float32").astype(ours.dtype) == theirs)


RULES: dict[str, Rule] = {
    "nan there": lambda _, theirs: is_nan(theirs),
    "nan here": lambda ours, _: is_nan(ours),
    "least for -inf": lambda ours, theirs: np.isneginf(ours.astype("float64")) & is_least(theirs),
    "least for nan": lambda ours, theirs: is_nan(ours) & is_least(theirs),
    "later": lambda ours, theirs: np.asarray(theirs > ours),
    "rounding": rounding,
    "through float32": through_float32,
    "memory": lambda ours, _: np.ones(ours.shape, bool),
}
WORDS = (*RULES, "shape", "dtype")


def equal(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Where two arrays of one dtype and shape have the same bits, NaN as one class."""
    if a.dtype.kind in "iub":
        return np.asarray(a == b)
    code = f"u{a.dtype.itemsize}"
    ours, theirs = (np.ascontiguousarray(each).reshape(-1) for each in (a, b))
    return ((ours.view(code) == theirs.view(code)) | (is_nan(ours) & is_nan(theirs))).reshape(a.shape)


def differ_so(ours: Sequence[np.ndarray], theirs: Sequence[np.ndarray], words: Sequence[str]) -> bool:
    """Whether what differs between the results does so in one of the ways."""
    return len(ours) == len(theirs) and all(one_differs_so(*pair, words) for pair in zip(ours, theirs, strict=True))


def one_differs_so(a: np.ndarray, b: np.ndarray, words: Sequence[str]) -> bool:
    """The same of one array."""
    if a.shape != b.shape and "shape" in words and a.size == b.size:
        b = b.reshape(a.shape)
    if a.dtype != b.dtype and "dtype" in words:
        b = b.astype(a.dtype)
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    right = equal(a, b)
    for word in words:
        right = right | (RULES[word](a, b) if word in RULES else False)
    return bool(right.all())
