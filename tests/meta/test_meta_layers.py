"""Layers import downwards only, the documents list them in that order, and importing refmlc is light."""

import re
import statistics
import subprocess
import sys
from pathlib import Path

import grimp
import pytest
from importlinter.cli import lint_imports

import refmlc

ROOT = Path(__file__).parents[2]
IMPORT_MILLISECONDS = 150
PACKAGES = {path.parent.name for path in (ROOT / "refmlc").glob("*/__init__.py")}

MEASURE = """
import time
start = time.process_time()
import refmlc
print((time.process_time() - start) * 1000)
"""
LOADED = """
import sys
import refmlc
heavy = {"hypothesis", "pytest", "tvm", "torch", "rich", "click", "PIL", "sklearn", "safetensors", "pygments", "cffi"}
print(sorted(heavy & set(sys.modules)))
"""


def python(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT).stdout


def test_the_layer_contract_holds(monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    assert lint_imports(config_filename="setup.cfg", no_cache=True) == 0, capsys.readouterr().out


def test_every_package_has_its_layer():
    listed = (ROOT / "setup.cfg").read_text().split("layers =", 1)[1].split("exhaustive", 1)[0]
    assert set(re.findall(r"refmlc\.(\w+)", listed)) == PACKAGES


@pytest.fixture(scope="module")
def imports():
    """Which package imports from which other."""
    graph = grimp.build_graph("refmlc")
    pairs = ((one, other) for one in graph.modules for other in graph.find_modules_directly_imported_by(one))
    named = {(one.split(".")[1], other.split(".")[1]) for one, other in pairs if one.count(".") and other.count(".")}
    return {(one, other) for one, other in named if one != other and {one, other} <= PACKAGES}


def readme_order():
    """The packages in the table of README.md; those of one row have one place."""
    rows = re.findall(r"^\| (`refmlc/.*?) \|", (ROOT / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    return {name: place for place, row in enumerate(rows) for name in re.findall(r"`refmlc/(\w+)`", row)}


def docstring_order():
    """The packages in the docstring of `refmlc`."""
    layers = refmlc.__doc__.split("The layers", 1)[1].split("\n\n", 1)[0]
    return {name: place for place, name in enumerate(re.findall(r"`(\w+)`", layers))}


@pytest.mark.parametrize("listed", [readme_order, docstring_order])
def test_what_a_layer_imports_from_stands_before_it(listed, imports):
    order = listed()
    assert set(order) == PACKAGES
    assert {(one, other) for one, other in imports if order[other] > order[one]} == set()


def test_import_takes_less_than_150_ms_of_processor_time():
    python(MEASURE)
    assert statistics.median(float(python(MEASURE)) for _ in range(5)) < IMPORT_MILLISECONDS


def test_import_pulls_in_nothing_heavy():
    assert python(LOADED).strip() == "[]"
