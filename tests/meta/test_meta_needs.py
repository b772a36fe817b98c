"""What tests need of a machine is asked in one way, and what is skipped is told in one line for each reason."""

import ast
import re
from pathlib import Path
from types import SimpleNamespace
from zlib import crc32

import pytest
from needs import NEEDS, missing

TESTS = Path(__file__).parents[1]
APART = {"tvm_side"}  # what runs where TVM is
FILES = [path for path in sorted(TESTS.rglob("*.py")) if path.name != "needs.py" and not APART & set(path.parts)]
# What a test may ask of the system without `needs`: nothing that a command brings.
SYSTEM = re.compile(
    "mounted|root|/dev/full|processor|this machine has no|registers|what is loaded|readline"
    "|this TVM's|the Python with apache-tvm"
)


def calls(path, *names):
    """The source of each call of one of the functions."""
    text, last = path.read_text(encoding="utf-8"), {name.rpartition(".")[2] for name in names}
    if not any(name in text for name in last):
        return []
    nodes = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)]
    near = [node for node in nodes if isinstance(node.func, ast.Attribute) and node.func.attr in last]
    return [ast.unparse(node) for node in near if ast.unparse(node.func) in names]


def test_a_need_is_asked_in_one_way():
    others = [
        (path.name, call)
        for path in FILES
        for call in calls(path, "pytest.importorskip", "pytest.skip", "pytest.mark.skipif")
        if not SYSTEM.search(call) and path != Path(__file__)
    ]
    assert others == []


def test_every_need_is_known_and_each_is_asked():
    words = {name for path in FILES for name in re.findall(r"""["'](\w+)["']""", path.read_text("utf-8"))}
    markers = [call for path in FILES for call in calls(path, "pytest.mark.needs")]
    assert {name for call in markers for name in re.findall(r"'(\w+)'", call)} <= set(NEEDS)
    assert set(NEEDS) <= words


def test_a_need_that_is_missing_is_a_reason_with_a_command(monkeypatch):
    monkeypatch.setenv("PATH", "")
    missing.cache_clear()
    assert missing("clang") == "needs clang: apt-get install clang"
    missing.cache_clear()


@pytest.fixture
def conftest(request):
    """The module of hooks of all tests."""
    path = str(TESTS / "conftest.py")
    return next(one for one in request.config.pluginmanager.get_plugins() if getattr(one, "__file__", "") == path)


class Reporter:
    """Keeps the lines."""

    def __init__(self, **stats):
        self.stats, self.lines = stats, []

    def section(self, title):
        self.lines.append(title)

    def write_line(self, text):
        self.lines.append(text)


class TestReport(SimpleNamespace):
    """As pytest calls that of a test."""

    __test__ = False


class CollectReport(SimpleNamespace):
    """As pytest calls that of a file."""


def test_the_end_of_a_run_has_a_line_for_each_reason(conftest):
    torch, clang = (("f.py", 1, f"Skipped: {NEEDS[name].reason}") for name in ("torch", "clang"))
    skipped = [TestReport(nodeid=f"f.py::{name}", longrepr=clang) for name in "ab"]
    # A file that each of two workers has left out is one file.
    skipped += [CollectReport(nodeid="g.py", longrepr=torch), CollectReport(nodeid="g.py", longrepr=torch)]
    reporter = Reporter(skipped=skipped)
    conftest.pytest_terminal_summary(reporter)
    assert reporter.lines == [
        "skipped",
        "1 file: needs PyTorch: pip install torch==2.13.0",
        "2 tests: needs clang: apt-get install clang",
    ]
    nothing = Reporter()
    conftest.pytest_terminal_summary(nothing)
    assert nothing.lines == []


@pytest.mark.parametrize("every", [1, 8])
def test_a_sample_is_one_test_in_so_many(conftest, every):
    names = [f"test_{number}" for number in range(4000)]
    items = [SimpleNamespace(nodeid=name, path=TESTS, get_closest_marker=lambda _name: None) for name in names]
    left = []
    config = SimpleNamespace(
        getoption={"sample": every, "besides": ""}.get,
        hook=SimpleNamespace(pytest_deselected=lambda items: left.extend(items)),  # noqa: PLW0108 - by its name
    )
    kept = list(items)
    conftest.pytest_collection_modifyitems(config, kept)
    assert {item.nodeid for item in kept} == {one.nodeid for one in items if crc32(one.nodeid.encode()) % every == 0}
    assert len(kept) + len(left) == 4000
    assert abs(len(kept) - 4000 / every) < 100


def test_a_machine_with_more_runs_what_a_bare_one_has_left(conftest, monkeypatch, tmp_path):
    monkeypatch.setenv("REFMLC_RAN", str(tmp_path))
    names = ["f.py::test_a[1]", "f.py::test_a[\n\ud800]", "f.py::test_b"]
    passed = [TestReport(nodeid=name) for name in names[:2]]
    skipped = [TestReport(nodeid=names[2], longrepr=("f.py", 1, "Skipped: clang"))]
    conftest.pytest_terminal_summary(Reporter(passed=passed, skipped=skipped))
    assert (tmp_path / "skipped").read_text() == "f.py\n"
    options = {"sample": 1, "besides": str(tmp_path / "passed")}
    left = []
    config = SimpleNamespace(
        getoption=options.get,
        hook=SimpleNamespace(pytest_deselected=lambda items: left.append(items)),  # noqa: PLW0108 - by its name
    )
    new = "f.py::test_c"
    kept = [SimpleNamespace(nodeid=name, path=TESTS, get_closest_marker=lambda _name: None) for name in (*names, new)]
    conftest.pytest_collection_modifyitems(config, kept)
    assert [item.nodeid for item in kept] == [names[2], new]
    assert len(left) == 1
