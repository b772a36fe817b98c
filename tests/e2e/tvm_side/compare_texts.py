"""What real TVM says of texts: whether it reads both texts of a module, and whether they mean the same to it.

Run inside TVM's environment: `python compare_texts.py DIRECTORY`. For every `NAME.shown` of the directory, a text by
refmlc, `NAME.py` is TVM's own text of the module, or a person's. Writes `verdicts.json`: a verdict and its reason by
name. Where TVM does not read `NAME.py`, and does read the other, what it prints of that becomes `NAME.back`.

| verdict     | meaning                                                              |
|-------------|----------------------------------------------------------------------|
| `equal`     | TVM reads both, and its structural equality holds                    |
| `printed`   | the same, but it does not hold; TVM prints refmlc's as its own text   |
| `misread`   | the same, and TVM prints what it reads in its own text as another     |
| `written`   | the same, but an integer that is a condition has become `c != 0`     |
| `differs`   | TVM reads both, and it does not; the reason is the first difference  |
| `refused`   | TVM does not read refmlc's text; the reason is what it says          |
| `unreadable` | TVM reads refmlc's text and not the other                           |
| `neither`   | TVM reads neither; the reason is what it says of refmlc's            |

Two verdicts are about the text that TVM printed: its reader takes some of what its printer writes for something else
(`A = B` of two buffers of one element in a loop loses the store). Such a reading is no evidence against refmlc's.

Constants are compared as values of their dtype: TVM keeps the digits that it read, refmlc the value that they mean.
"""

import json
import os
import re
import sys
from pathlib import Path

import ml_dtypes
import numpy as np
import tvm
import tvm_ffi
from tvm.script import from_source

FLOAT = re.compile(r"T\.(float16|float32|bfloat16|float8_e8m0fnu)\((-?[0-9][0-9.e+-]*)\)")
CONDITION = re.compile(r"( *(?:if|elif|while) )(.*):")
PRINTED = "# from tvm.script import "
TYPES = {
    "float16": np.float16,
    "float32": np.float32,
    "bfloat16": ml_dtypes.bfloat16,
    "float8_e8m0fnu": ml_dtypes.float8_e8m0fnu,
}


def rounded(text: str) -> str:
    """`text` with each constant of the dtypes in `TYPES` replaced by the value that it means."""
    return FLOAT.sub(lambda m: f"T.{m[1]}({written(float(TYPES[m[1]](m[2])))})", text)


def written(value: float) -> str:
    """A value as the argument of its dtype."""
    return repr(value) if value == value else '"nan"'  # noqa: PLR0124 - only NaN differs from itself


def reason(problem: BaseException) -> str:
    """The line that says what is wrong."""
    lines = [line.strip() for line in str(problem).splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("error:")]
    return f"{type(problem).__name__}: {(errors or lines or [''])[0]}"[:300]


def module_of(text: str) -> tvm.IRModule:
    """The module of a text; a function alone becomes the only one of its module."""
    found = from_source(rounded(text), check_well_formed=False)
    if isinstance(found, tvm.IRModule):
        return found
    name = found.attrs["global_symbol"] if found.attrs and "global_symbol" in found.attrs else "main"
    return tvm.IRModule({name: found})


def verdict(own: str, shown: str, back: Path) -> tuple[str, str]:
    """The verdict on two texts."""
    try:
        expected = module_of(own)
    except Exception as problem:
        expected, why = None, reason(problem)
    try:
        got = module_of(shown)
    except Exception as problem:
        return ("neither" if expected is None else "refused"), reason(problem)
    if expected is None:
        printed(got, back)
        return "unreadable", why
    if tvm_ffi.structural_equal(expected, got, map_free_vars=True):
        return "equal", ""
    if own.startswith(PRINTED):
        again = printed_again(got, own, back)
        if again == rounded(own):
            return "printed", ""
        if written_out(rounded(own), again):
            return "written", "an integer as a condition is written out as `c != 0`"
        if printed_again(expected, own, back) != rounded(own):
            return "misread", "TVM reads its own text as something else"
    return "differs", str(tvm_ffi.get_first_structural_mismatch(expected, got, map_free_vars=True))[:600]


def written_out(own: str, other: str) -> bool:
    """Whether two texts differ in integers as conditions alone: `if c:` in the first, `if c != 0:` in the second."""
    lines, others = own.splitlines(), other.splitlines()
    return len(lines) == len(others) and all(
        line == another
        or ((test := CONDITION.fullmatch(line)) is not None and another in (test[1] + form for form in forms(test[2])))
        for line, another in zip(lines, others, strict=True)
    )


def forms(condition: str) -> list[str]:
    """What TVM may print of a condition that is compared with 0."""
    zeros = ("0", *(f"T.{kind}{bits}(0)" for kind in ("int", "uint") for bits in (8, 16, 32, 64)))
    return [f"{text} != {zero}:" for text in (condition, f"({condition})") for zero in zeros]


def printed_again(module: tvm.IRModule, own: str, path: Path) -> str:
    """What TVM prints of a module, of its function alone where `own` is a function's text."""
    printed(module if "\nclass " in own else next(iter(module.functions.values())), path)
    text = path.read_text("utf-8") if path.exists() else ""
    path.unlink(missing_ok=True)
    return rounded(text)


def printed(module: tvm.IRModule | tvm.ir.BaseFunc, path: Path) -> None:
    """Write the text of a module, in a process of its own: of some constants TVM's printer ends with a fault."""
    if pid := os.fork():
        os.waitpid(pid, 0)
        return
    try:
        path.write_text(module.script(show_meta=True), "utf-8")
    finally:
        os._exit(0)


def main() -> None:
    """Judge the directory."""
    directory = Path(sys.argv[1])
    verdicts = {
        path.stem: verdict(
            path.with_suffix(".py").read_text("utf-8"), path.read_text("utf-8"), path.with_suffix(".back")
        )
        for path in sorted(directory.glob("*.shown"))
    }
    (directory / "verdicts.json").write_text(json.dumps(verdicts, indent=1))


if __name__ == "__main__":
    main()
