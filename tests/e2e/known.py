"""The recorded deviations of TVM: `conformance/known/tvm-0.27.toml`, read. Its README states the format."""

import tomllib
from fnmatch import fnmatchcase
from pathlib import Path

import ml_dtypes
import numpy as np

FILE = Path(__file__).parents[2] / "conformance" / "known" / "tvm-0.27.toml"
ROWS = tomllib.loads(FILE.read_text(encoding="utf-8"))["deviation"]


def array(typed: list) -> np.ndarray:
    """`[dtype, values]` of a row; with a shape after them where there are no values."""
    name, values, *shape = typed
    found = np.array(values, np.dtype(getattr(ml_dtypes, name, None) or name))
    return found.reshape(shape[0]) if shape else found


def explaining(job: str, kind: str) -> list[str]:
    """The ids of the rows of a kind whose `edges` name this job of the scalar test."""
    return [r["id"] for r in ROWS if r["kind"] == kind and any(fnmatchcase(job, p) for p in r.get("edges", ()))]
