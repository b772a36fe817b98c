"""`tvm.contrib.clang`: C++ as the text of LLVM's language, by the clang that is installed.

Nothing of that text is executed here: a schedule may only carry it in an annotation, which means nothing.
"""

from errno import ENOENT
from pathlib import Path
from shutil import which

from refmlc.diag import fail
from refmlc.diag.catalogue import UNSUPPORTED_CONSTRUCT
from refmlc.system.command import run
from refmlc.tvm.missing_names import refusal
from refmlc.tvm.support.folders import tempdir

__all__ = ["create_llvm", "find_clang"]
SECONDS = 60.0


def find_clang(required: bool = True) -> list[str]:
    """The compilers that are there. Fails: RM504 where there is none and one is required."""
    paths = [path for path in (which("clang"), which("clang++")) if path is not None]
    if required and not paths:
        missing = FileNotFoundError(ENOENT, "not installed", "clang")
        raise fail(UNSUPPORTED_CONSTRUCT, "`tvm.contrib.clang` needs clang, which is not installed") from missing
    return paths


def create_llvm(inputs: "str | list[str]", output: str | None = None, options: object = None, cc: object = None) -> str:
    """The text that clang makes of C++. Fails: RM504 where there is no clang, or it does not compile."""
    if options or cc:
        raise fail(UNSUPPORTED_CONSTRUCT, "`create_llvm` takes no options and no compiler here")
    compiler = find_clang()[0]
    folder = tempdir()
    target = Path(output or folder.relpath("output.ll"))
    parts = []
    for number, text in enumerate([inputs] if isinstance(inputs, str) else inputs):
        path = Path(folder.relpath(f"input{number}.cc"))
        path.write_text(text, encoding="utf-8")
        parts.append(str(path))
    ended = run([compiler, "-O3", "-S", "-emit-llvm", "-o", str(target), *parts], SECONDS)
    if ended.status != 0:
        raise fail(UNSUPPORTED_CONSTRUCT, f"clang does not compile it: {ended.printed.strip().splitlines()[:1]}")
    return target.read_text(encoding="utf-8")


__getattr__ = refusal(__name__, __all__)
