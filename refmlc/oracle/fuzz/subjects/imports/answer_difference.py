"""How the results of a model on two paths differ, in a word and in a line.

Floats are compared within the error of their dtype: what is less exact is no finding of importers.
"""

import numpy as np

from refmlc.oracle.fuzz.subjects.imports.importer_process import Answers

TOLERANCE = {"float16": 2e-2, "float32": 1e-3, "float64": 1e-5}


def how_wrong(expected: Answers, found: Answers) -> str:
    """How results differ: a refusal, another count, dtype, shape, another pattern of NaN and infinities, or values."""
    if isinstance(found, str):
        return found.partition(":")[0]
    if isinstance(expected, str):
        return ""
    if len(found) != len(expected):
        return "count"
    return next(filter(None, map(_differs, expected, found)), "")


def _differs(expected: np.ndarray, found: np.ndarray) -> str:
    if expected.dtype != found.dtype:
        return "dtype"
    if expected.shape != found.shape:
        return "shape"
    if expected.dtype.kind != "f":
        return "" if np.array_equal(expected, found) else "value"
    if not _same_classes(expected, found):
        return "nan"
    bound = TOLERANCE.get(str(expected.dtype), TOLERANCE["float16"])
    return "" if np.allclose(expected, found, rtol=bound, atol=bound / 10, equal_nan=True) else "value"


def _same_classes(expected: np.ndarray, found: np.ndarray) -> bool:
    """Whether NaN and the infinities stand in the same places."""
    nan_alike = np.array_equal(np.isnan(expected), np.isnan(found))
    infinite = np.isinf(expected) | np.isinf(found)
    return nan_alike and np.array_equal(expected[infinite], found[infinite])


def described(expected: Answers, found: Answers) -> str:
    """Both answers in a line."""
    return f"{shown(found)}, meant {shown(expected)}"


def shown(answers: Answers) -> str:
    """Answers in a line."""
    if isinstance(answers, str):
        return " ".join(answers.split())[:200]
    shown = [f"{array.dtype}{list(array.shape)} {array.ravel()[:6].tolist()}" for array in answers]
    return "; ".join(shown)
