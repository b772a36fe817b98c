"""The rules of the house that a file keeps or breaks by itself."""

import ast
import re
import statistics
from fnmatch import fnmatch
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
MODELS = ROOT / "refmlc" / "tools" / "demo" / "models"
FILES = sorted(path for path in (ROOT / "refmlc").rglob("*.py") if MODELS not in path.parents)
FORBIDDEN_NAMES = {"utils", "util", "helpers", "helper", "common", "core", "base", "misc"}
LONG_FUNCTIONS = 40


def tree(path):
    return ast.parse(path.read_text(encoding="utf-8"))


def name(path):
    return str(path.relative_to(ROOT))


def test_files_have_at_most_500_lines():
    assert [name(path) for path in FILES if len(path.read_text(encoding="utf-8").splitlines()) > 500] == []


def test_median_file_has_at_most_150_lines(record_property):
    sizes = [len(path.read_text(encoding="utf-8").splitlines()) for path in FILES if path.name != "__init__.py"]
    record_property("median lines", statistics.median(sizes))
    assert statistics.median(sizes) <= 150


def test_no_file_is_named_for_nothing():
    assert [name(path) for path in FILES if path.stem in FORBIDDEN_NAMES or path.parent.name in FORBIDDEN_NAMES] == []


def test_files_open_with_a_docstring():
    assert faults()["no docstring"] == []


PACKAGES = [path for path in FILES if path.name == "__init__.py"]
LISTS_ITS_FILES = re.compile(r"^\| (?:file|module|part) +\|", re.MULTILINE)


def unlisted(path):
    """The files and folders of a package that the table of files in its docstring leaves out."""
    text = ast.get_docstring(tree(path)) or ""
    if not LISTS_ITS_FILES.search(text):
        return []
    inside = [other for other in path.parent.glob("*.py") if not other.name.startswith("_")]
    inside += [other.parent for other in path.parent.glob("*/__init__.py")]
    named = re.findall(r"`([\w*]+)(?:/|\.py)?`", text)
    return [name(other) for other in inside if not any(fnmatch(other.stem, one) for one in named)]


def test_a_package_that_lists_its_files_lists_all():
    assert [missing for path in PACKAGES for missing in unlisted(path)] == []


def is_dispatch(function):
    """A function that is one `match` (or a class of cases for one), after at most a few lines before it."""
    statements = [part for part in function.body if not is_docstring(part)]
    matches = [part for part in statements if isinstance(part, ast.Match)]
    if len(matches) != 1:
        return False
    lines = matches[0].end_lineno - matches[0].lineno + 1
    return function.end_lineno - function.lineno + 1 - lines <= LONG_FUNCTIONS // 2


def is_docstring(part):
    return isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant) and isinstance(part.value.value, str)


def is_table(function):
    """A function that does nothing but return rows."""
    statements = [part for part in function.body if not is_docstring(part)]
    return len(statements) == 1 and isinstance(statements[0], ast.Return)


def lines_of(function):
    """Lines without the docstring."""
    first = function.body[0]
    documented = first.end_lineno - first.lineno + 1 if is_docstring(first) else 0
    return function.end_lineno - function.lineno + 1 - documented


def is_outer(function):
    return any(isinstance(part, ast.FunctionDef) and part is not function for part in ast.walk(function))


def long_functions(path, nodes):
    long = [node for node in nodes if isinstance(node, ast.FunctionDef) and lines_of(node) > LONG_FUNCTIONS]
    return [
        f"{name(path)}:{node.name}: {lines_of(node)}"
        for node in long
        if not is_outer(node) and not is_dispatch(node) and not is_table(node)
    ]


def test_functions_have_at_most_40_lines_or_are_one_match_or_one_table():
    assert faults()["long function"] == []


EXECUTES = {
    "refmlc/tvm/session.py": {"eval"},  # cells of a chapter or notebook that its owner asked to run
    "refmlc/oracle/implementations/loops/compiler.py": {
        "exec",
        "compile",
    },  # source of names of ours, in a space without builtins
    "refmlc/cli/console.py": {"eval"},  # a constant: how CPython forgets an interrupt
}


def forbidden_calls(path, nodes):
    forbidden = {"eval", "exec", "compile", "__import__", "breakpoint"}
    forbidden -= EXECUTES.get(name(path), set())
    if "cli" not in path.parts:
        forbidden.add("print")
    return [
        f"{name(path)}:{node.lineno}: {node.func.id}"
        for node in nodes
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in forbidden
    ]


def test_text_is_never_executed_and_nothing_is_printed():
    assert faults()["forbidden call"] == []


def blind_handlers(path, nodes):
    """Handlers of everything that do not raise it again."""
    return [
        f"{name(path)}:{node.lineno}"
        for node in nodes
        if isinstance(node, ast.ExceptHandler)
        and (node.type is None or (isinstance(node.type, ast.Name) and node.type.id == "BaseException"))
        and not (isinstance(node.body[-1], ast.Raise) and node.body[-1].exc is None)
    ]


def test_no_handler_catches_everything_and_goes_on():
    assert faults()["blind handler"] == []


@cache
def faults():
    """What breaks a rule, by rule: each file is parsed once for all of them."""
    found = {"no docstring": [], "long function": [], "forbidden call": [], "blind handler": []}
    for path in FILES:
        parsed = tree(path)
        nodes = list(ast.walk(parsed))
        found["no docstring"] += [] if ast.get_docstring(parsed) else [name(path)]
        found["long function"] += long_functions(path, nodes)
        found["forbidden call"] += forbidden_calls(path, nodes)
        found["blind handler"] += blind_handlers(path, nodes)
    return found


def test_tests_have_unique_file_names():
    names = [path.name for path in (ROOT / "tests").rglob("test_*.py")]
    assert sorted(names) == sorted(set(names))


SILENCED = re.compile(r"# noqa(?:: [A-Z]+[0-9]+(?:, [A-Z]+[0-9]+)*)?$", re.MULTILINE)


def test_a_rule_that_is_switched_off_says_why():
    assert [name(path) for path in FILES if SILENCED.search(path.read_text(encoding="utf-8"))] == []
