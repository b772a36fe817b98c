"""The frozen suite itself, asked of the interpreter and of compiled code: each case is as it is frozen.

Every case is asked in the soak profile; else the files of an area in steps of `STEP`.
"""

import os
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from mutations import Mutant

from refmlc.oracle.evidence.case_file import read_cases
from refmlc.oracle.implementations.interp import Interp
from refmlc.oracle.implementations.native import Native
from refmlc.oracle.suite.runner import run_suite
from refmlc.oracle.suite.suite import load_suite

ROOT = Path(__file__).parents[4] / "conformance"
STEP = 1 if os.environ.get("REFMLC_PROFILE") == "soak" else 12
AREAS = sorted(folder.name for folder in (ROOT / "cases").iterdir() if folder.is_dir())


@cache
def suite():
    """The frozen suite."""
    return load_suite(ROOT)


def part(area):
    """The cases of an area that are asked."""
    files = sorted((ROOT / "cases" / area).glob("*.toml"))[::STEP]
    names = {case.id for file in files for case in read_cases(file.read_text(encoding="utf-8"), file.name)}
    return replace(suite(), cases=tuple(case for case in suite().cases if case.id in names))


def differences(report):
    """What is not as it is frozen, and why; that nothing could be compared is no difference: all was unsupported."""
    problems = report.problems if report.compared else ()
    return [*problems, *((result.id, result.verdict, result.why) for result in report.unexpected)]


def raised(answer, _given, _fresh, _called):
    """The answer with one more in every element of the last argument."""
    answer.args[-1].array[...] += 1
    return answer


def test_another_value_is_a_difference():
    """The first cases of whole programs, with the last argument of each call one more than it is."""
    some = replace(suite(), cases=part("te").cases[:3])
    assert differences(run_suite(some, Interp())) == []
    wrong = differences(run_suite(some, Mutant(answer=raised)))
    assert {each[0] for each in wrong} == {case.id for case in some.cases}


@pytest.mark.parametrize("area", AREAS)
def test_the_interpreter_is_as_frozen(area):
    report = run_suite(part(area), Interp())
    assert differences(report) == []
    assert report.compared


@pytest.mark.needs("compiler")
@pytest.mark.parametrize("area", AREAS)
def test_compiled_code_is_as_frozen(area):
    assert differences(run_suite(part(area), Native("guarded"))) == []
