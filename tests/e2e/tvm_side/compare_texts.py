"""What real TVM says of texts: whether it reads both texts of a module, and whether they mean the same to it.

Run inside TVM's environment: `python compare_texts.py DIRECTORY`. For every `NAME.shown` of the directory, a text by
refmlc, `NAME.py` is TVM's own text of the module. Writes `verdicts.json`: a verdict and its reason by name.

| verdict     | meaning                                                              |
|-------------|----------------------------------------------------------------------|
| `equal`     | TVM reads both, and its structural equality holds                    |
| `differs`   | TVM reads both, and it does not; the reason is the first difference  |
| `refused`   | TVM reads its own text and not refmlc's                              |
| `unreadable` | TVM does not read its own text                                      |

Constants are compared as values of their dtype: TVM keeps the digits that it read, refmlc the value that they mean.
"""

import json
import re
import sys
from pathlib import Path

import numpy as np
import tvm_ffi
from tvm.script import from_source

FLOAT = re.compile(r"T\.float(16|32)\((-?[0-9][0-9.e+-]*)\)")


def rounded(text: str) -> str:
    """`text` with each float16 and float32 constant replaced by the value that it means."""
    return FLOAT.sub(lambda m: f"T.float{m[1]}({float(np.dtype(f'float{m[1]}').type(float(m[2])))!r})", text)


def reason(problem: BaseException) -> str:
    """The first line that says something."""
    lines = [line.strip() for line in str(problem).splitlines() if line.strip()]
    return f"{type(problem).__name__}: {lines[0] if lines else ''}"[:300]


def verdict(own: str, shown: str) -> tuple[str, str]:
    """The verdict on two texts."""
    try:
        expected = from_source(rounded(own), check_well_formed=False)
    except Exception as problem:
        return "unreadable", reason(problem)
    try:
        got = from_source(rounded(shown), check_well_formed=False)
    except Exception as problem:
        return "refused", reason(problem)
    if tvm_ffi.structural_equal(expected, got, map_free_vars=True):
        return "equal", ""
    return "differs", str(tvm_ffi.get_first_structural_mismatch(expected, got, map_free_vars=True))[:600]


def main() -> None:
    """Judge the directory."""
    directory = Path(sys.argv[1])
    texts = sorted(directory.glob("*.shown"))
    verdicts = {
        path.stem: verdict(path.with_suffix(".py").read_text("utf-8"), path.read_text("utf-8")) for path in texts
    }
    (directory / "verdicts.json").write_text(json.dumps(verdicts, indent=1))


if __name__ == "__main__":
    main()
