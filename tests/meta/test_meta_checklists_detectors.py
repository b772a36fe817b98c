"""docs/how-to/add-a-detector.md: every detector has all its parts; what is missing is named."""

import inspect
import tomllib
from importlib import import_module
from pathlib import Path

import pytest

from refmlc.diag.catalogue import RACE, STALE_START, Code
from refmlc.diag.codes import undefined
from refmlc.lang.spec import clauses
from refmlc.observe.sanitize.detector import Detector
from refmlc.observe.sanitize.executions import ExecutionDetector
from refmlc.observe.sanitize.kinds import DETECTORS
from refmlc.observe.sanitize.thread_clocks import ThreadClocks

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "how-to" / "add-a-detector.md"
FOLDER = ROOT / "refmlc" / "observe" / "sanitize"
GOLDEN = {
    tomllib.loads(path.read_text(encoding="utf-8"))["code"]
    for path in (ROOT / "tests" / "golden" / "sanitize").glob("*.toml")
}


def defined():
    """Every detector that a file of the folder defines."""
    modules = [import_module(f"refmlc.observe.sanitize.{path.stem}") for path in sorted(FOLDER.glob("*.py"))]
    return [
        kind
        for module in modules
        for kind in vars(module).values()
        if inspect.isclass(kind) and issubclass(kind, Detector)
        if kind not in (Detector, ExecutionDetector, ThreadClocks)
        if kind.__module__ == module.__name__
    ]


def missing(kind):
    """The parts of the checklist that a detector lacks."""
    parts = [] if kind in DETECTORS else ["a row of DETECTORS in refmlc/observe/sanitize/kinds.py"]
    code = getattr(kind, "code", None)
    if code not in vars(undefined).values():
        return [*parts, "a Code in refmlc/diag/codes/undefined.py"]
    text = inspect.getmodule(kind).__doc__
    if not text.startswith(code.id) and code.id not in text.splitlines()[0]:
        parts.append(f"{code.id} in the first line of its file")
    if not code.example:
        parts.append(f"an example of {code.id}")
    if kind.is_lint != code.explanation.startswith("A lint:"):
        parts.append(f"`A lint:` where {code.id} is explained and `is_lint`, or neither")
    rows = clauses()[code.clause].undefined if code.clause in clauses() else None
    if rows is None:
        parts.append(f"the clause {code.clause or '(none is named)'} in conformance/spec")
    elif not kind.is_lint and not any(row.startswith(code.id) for row in rows):
        parts.append(f"{code.id} in a row `undefined` of {code.clause}")
    if code.id not in GOLDEN:
        parts.append(f"a case of {code.id} in tests/golden/sanitize")
    return parts


@pytest.mark.parametrize("kind", defined(), ids=lambda kind: kind.__name__)
def test_a_detector_has_every_part(kind):
    assert missing(kind) == []


def test_all_detectors_are_looked_at():
    assert set(defined()) == set(DETECTORS)


NEW = Code("RM399", "a rule is broken", "TIR-999", "A rule.")


@pytest.mark.parametrize(
    ("code", "lint", "named"),
    [
        (None, False, ["kinds.py", "undefined.py"]),
        (NEW, False, ["kinds.py", "undefined.py"]),
        (RACE, True, ["kinds.py", "RM321 in the first line", "`A lint:`"]),
        (STALE_START, False, ["kinds.py", "RM326 in the first line", "`A lint:`", "RM326 in a row `undefined`"]),
    ],
)
def test_what_a_new_detector_lacks_is_named(code, lint, named):
    kind = type("NewDetector", (Detector,), {"code": code, "is_lint": lint, "__module__": __name__})
    assert [word for word, part in zip(named, missing(kind), strict=True) if word not in part] == []


def test_a_code_without_example_clause_and_case_is_named(monkeypatch):
    monkeypatch.setattr(undefined, "NEW", NEW, raising=False)
    kind = type("NewDetector", (Detector,), {"code": NEW, "__module__": __name__})
    named = ["kinds.py", "first line", "an example of RM399", "the clause TIR-999", "a case of RM399"]
    assert [word for word, part in zip(named, missing(kind), strict=True) if word not in part] == []


def test_the_page_names_every_place():
    text = PAGE.read_text(encoding="utf-8")
    places = (
        "conformance/spec/",
        "refmlc/diag/codes/undefined.py",
        "kinds.py",
        "detector.py",
        "tests/golden/sanitize/",
    )
    assert [place for place in places if place not in text] == []
