"""Layers import downwards only, and importing refmlc is light."""

import statistics
import subprocess
import sys
from pathlib import Path

from importlinter.cli import lint_imports

ROOT = Path(__file__).parents[2]
IMPORT_MILLISECONDS = 150
LAYERS = ("dtypes", "ir", "ops", "script", "check", "spec", "runtime", "interp", "vm", "demo", "cli")

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
    listed = (ROOT / "setup.cfg").read_text().split("layers =", 1)[1]
    packages = {path.parent.name for path in (ROOT / "refmlc").glob("*/__init__.py")}
    assert {name for name in packages if f"refmlc.{name}" not in listed} == set()


def test_import_takes_less_than_150_ms_of_processor_time():
    python(MEASURE)
    assert statistics.median(float(python(MEASURE)) for _ in range(5)) < IMPORT_MILLISECONDS


def test_import_pulls_in_nothing_heavy():
    assert python(LOADED).strip() == "[]"
