"""The slice of hand-worked cases, as a suite and as a folder; what runs of it are compared by."""

from pathlib import Path

from refmlc.oracle.evidence.case_file import read_cases
from refmlc.oracle.suite.suite import Suite, freeze

SLICE = Path(__file__).parent / "slice"


def hand_suite():
    """All cases of the slice, as `hand_folder` has their files."""
    cases = [
        case
        for path in sorted(SLICE.glob("*.toml"))
        for case in read_cases(path.read_text(), f"cases/hand/{path.name}")
    ]
    return Suite("slice", tuple(cases), {})


def hand_folder(folder):
    """The slice in a folder laid out as `conformance` is."""
    (folder / "cases" / "hand").mkdir(parents=True)
    (folder / "frozen").mkdir()
    (folder / "VERSION").write_text("slice\n")
    (folder / "frozen" / "withdrawn.toml").write_text("")
    for path in SLICE.glob("*.toml"):
        (folder / "cases" / "hand" / path.name).write_text(path.read_text())
    freeze(folder)
    return folder


def verdicts(report):
    """By case, in words."""
    return {result.id: "not scored" if result.verdict is None else result.verdict.value for result in report.results}
