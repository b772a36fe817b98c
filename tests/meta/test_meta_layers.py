"""Rooms import downwards only, by any kind of import; documents list them in that order; importing refmlc is light."""

import ast
import re
import statistics
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
from importlinter.cli import lint_imports

import refmlc

ROOT = Path(__file__).parents[2]
IMPORT_MILLISECONDS = 150
ROOMS = {path.parent.name for path in (ROOT / "refmlc").glob("*/__init__.py")}
MOST_ROOMS, MOST_ARROWS = 17, 90
PLACE = re.compile(r"refmlc(?:\.\w+)+(?::\w+)?")
BOTTOM = "lazy"

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


def listed_rooms():
    """The rooms of the first contract in setup.cfg, from the top; those of one line stand side by side."""
    contract = (ROOT / "setup.cfg").read_text(encoding="utf-8").split("layers =", 1)[1].split("exhaustive", 1)[0]
    lines = [line for line in contract.splitlines() if line.strip()]
    return {name: -floor for floor, line in enumerate(lines) for name in re.findall(r"refmlc\.(\w+)", line)}


def test_every_room_has_its_floor():
    assert set(listed_rooms()) == ROOMS | {BOTTOM}


def modules(word=""):
    """The modules of the package whose text has the word."""
    for path in sorted((ROOT / "refmlc").rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        text = path.read_text(encoding="utf-8")
        if not {"models", "data", "stand_ins"} & set(parts) and word in text:
            yield ".".join(parts), ast.parse(text)


def edges_of(tree):
    """What a module imports: at the top, in functions, for types only, and by `refmlc.lazy`, with places as strings."""
    for node in ast.walk(tree):
        match node:
            case ast.ImportFrom(module=str() as module, names=names, level=0):
                yield from (f"{module}.{each.name}" for each in names)
            case ast.Import(names=names):
                yield from (each.name for each in names)
            case ast.Constant(value=str() as text) if PLACE.fullmatch(text):
                yield text.partition(":")[0]
            case ast.ImportFrom(level=level):
                raise AssertionError(f"a relative import of level {level} is not read here")


@cache
def arrows():
    """The pairs of rooms of which the first imports from the second, each with one example."""
    between = {}
    for module, tree in modules():
        for imported in edges_of(tree):
            rooms = tuple(name.split(".")[1] if name.count(".") else "" for name in (module, imported))
            if imported.startswith("refmlc.") and set(rooms) <= ROOMS and rooms[0] != rooms[1]:
                between.setdefault(rooms, (module, imported))
    return between


def test_no_arrow_points_upwards_by_any_kind_of_import():
    floor, between = listed_rooms(), arrows()
    assert ("tvm", "frontends") in between  # by `refmlc.lazy` only, so strings are read
    assert {pair: why for pair, why in between.items() if floor[pair[0]] <= floor[pair[1]]} == {}


def test_the_house_can_be_taken_in_at_a_glance(record_property):
    record_property("arrows", len(arrows()))
    assert len(ROOMS) <= MOST_ROOMS
    assert len(arrows()) <= MOST_ARROWS


def imported_by_name(tree):
    """Calls of `import_module` with a place in refmlc, written out or put together."""
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)) if name.endswith("import_module"):
                yield from [node.lineno] if "refmlc" in ast.unparse(node.args[0]) else []


def test_modules_of_refmlc_are_imported_by_name_in_one_file_only():
    certain = ast.parse('import_module("refmlc.vm")\nimportlib.import_module(f"refmlc.{name}")')
    assert list(imported_by_name(certain)) == [1, 2]
    assert {name: lines for name, tree in modules("import_module") if (lines := list(imported_by_name(tree)))} == {}


def architecture_order():
    """The rooms in the table of the architecture page, from the bottom."""
    text = (ROOT / "docs" / "explanation" / "architecture.md").read_text(encoding="utf-8")
    return {name: place for place, name in enumerate(re.findall(r"^\| `(\w+)/`", text, re.MULTILINE))}


def docstring_order():
    """The rooms in the docstring of `refmlc`, from the bottom."""
    layers = refmlc.__doc__.split("The rooms", 1)[1].split("\n\n", 1)[0]
    return {name: place for place, name in enumerate(re.findall(r"`(\w+)`", layers))}


@pytest.mark.parametrize("listed", [architecture_order, docstring_order])
def test_a_room_stands_after_those_it_imports_from(listed):
    order = listed()
    assert set(order) == ROOMS
    assert {pair for pair in arrows() if order[pair[1]] > order[pair[0]]} == set()


def test_import_takes_less_than_150_ms_of_processor_time():
    python(MEASURE)
    assert statistics.median(float(python(MEASURE)) for _ in range(5)) < IMPORT_MILLISECONDS


def test_import_pulls_in_nothing_heavy():
    assert python(LOADED).strip() == "[]"


def attached_names(package):
    """The names that `attach` gives the package, as written in its text."""
    calls = (node for node in ast.walk(ast.parse(package.read_text(encoding="utf-8"))) if isinstance(node, ast.Call))
    homes = [call.args[1] for call in calls if isinstance(call.func, ast.Name) and call.func.id == "attach"]
    values = [value for home in homes if isinstance(home, ast.Dict) for value in home.values]
    return {name.value for value in values for name in ast.walk(value) if isinstance(name, ast.Constant)}


def modules_beside(package):
    return {path.stem for path in package.parent.glob("*.py")} | {
        path.parent.name for path in package.parent.glob("*/__init__.py")
    }


@pytest.mark.parametrize("package", sorted((ROOT / "refmlc").rglob("__init__.py")), ids=lambda path: path.parent.name)
def test_no_name_that_is_loaded_on_first_use_is_that_of_a_module(package):
    # importing the module would put it in the place of the name
    assert attached_names(package) & modules_beside(package) == set()


def test_attached_names_are_seen():
    assert "legalize_ops" in attached_names(ROOT / "refmlc/rewrite/transform/__init__.py")
    assert "legalize" in modules_beside(ROOT / "refmlc/rewrite/transform/__init__.py")
