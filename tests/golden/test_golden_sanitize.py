"""Each case of sanitize/*.toml has one finding of the sanitizer, whose message stands beside the program.

A case: `code`; `program`; `arguments`, one table each (`shape` and `dtype`, filled with 0, 1, 2, …), `repeat` (which
of them is given at each place; left out: each once); `packed` (a function of `PACKED` by registered name); `message`.

`REFMLC_UPDATE_GOLDEN=1 python -m pytest tests/golden` writes the messages anew; then read them.
"""

import os
import tomllib
from pathlib import Path

import numpy as np
import pytest
from test_golden_diagnostics import CASES as DIAGNOSTICS, PACKED as TAKEN, argument

from refmlc.diag import RefmlcError
from refmlc.diag.catalogue import CODES
from refmlc.lang.wellformed.reader_checks import read
from refmlc.observe.sanitize import ALL, LINTS, sanitize
from refmlc.observe.sanitize.kinds import CHECKED
from refmlc.run.memory.registry import FunctionRegistry

CASES = sorted((Path(__file__).parent / "sanitize").glob("*.toml"))
UPDATE = os.environ.get("REFMLC_UPDATE_GOLDEN") == "1"


def clears_its_input(x, y):
    y.numpy()[...] = x.numpy()
    x.numpy()[...] = 0


def writes_all_but_the_first(x, y):
    y.numpy()[1:] = x.numpy()[1:]


PACKED = {"clears its input": clears_its_input, "writes all but the first": writes_all_but_the_first}


def run(case, kinds=ALL, tier="interp"):
    given = [
        np.arange(int(np.prod(row["shape"])), dtype=row["dtype"]).reshape(row["shape"]) for row in case["arguments"]
    ]
    arguments = [given[number] for number in case.get("repeat", range(len(given)))]
    registry = FunctionRegistry()
    for name, kind in case.get("packed", {}).items():
        registry.register(name, PACKED[kind])
    return sanitize(read(case["program"], "case.py"), "main", arguments, kinds=kinds, tier=tier, registry=registry)


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_case_has_its_finding(path):
    text = path.read_text(encoding="utf-8")
    case = tomllib.loads(text)
    report = run(case)
    message = report.text()
    if UPDATE:
        path.write_text(text[: text.index("\nmessage = ")] + f"\nmessage = '''\n{message}\n'''\n", encoding="utf-8")
        return
    assert message == case["message"].rstrip("\n")
    assert {code: count for code, count in report.counts.items() if count}.keys() == {case["code"]}
    assert report.verdict == ("defined" if case["code"] in LINTS else "undefined")


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_finding_is_not_made_where_it_is_switched_off(path):
    case = tomllib.loads(path.read_text(encoding="utf-8"))
    report = run(case, ALL - {case["code"]})
    if case["code"] == "RM305":
        assert "were written" not in report.text()
        assert report.verdict == "undefined"
    else:
        assert report.verdict == "defined"
        assert case["code"] not in report.counts
        assert case["code"] not in report.text()


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_the_tier_makes_no_difference(path):
    case = tomllib.loads(path.read_text(encoding="utf-8"))
    report = run(case, tier="native")
    assert report.text() == case["message"].rstrip("\n")
    assert report.to_json() == run(case).to_json()


CHECKS = [path for path in DIAGNOSTICS if tomllib.loads(path.read_text(encoding="utf-8"))["code"].startswith("RM3")]


@pytest.mark.parametrize("path", CHECKS, ids=lambda path: path.stem)
def test_what_the_interpreter_checks_is_reported_counted_and_switched_off(path):
    case = tomllib.loads(path.read_text(encoding="utf-8"))
    code, module = case["code"], read(case["program"], "case.py")
    registry = FunctionRegistry()
    for name, kind in case.get("packed", {}).items():
        registry.register(name, TAKEN[kind])
    on, off = (
        sanitize(module, case.get("func", "main"), given, without=without, registry=registry)
        for given, without in (([argument(row) for row in case["arguments"]], left_out) for left_out in ((), (code,)))
    )
    assert on.verdict == "undefined"
    assert on.counts[code] == 1
    assert on.text().startswith(case["message"].strip().partition("\n")[0])
    assert (off.verdict, off.findings, code in off.counts) == ("unknown", (), False)


def test_every_code_of_undefined_behaviour_can_be_switched():
    assert {code for code in CODES if code.startswith("RM3")} == ALL | CHECKED
    with pytest.raises(RefmlcError, match="RM112"):
        sanitize(read(tomllib.loads(CASES[0].read_text(encoding="utf-8"))["program"]), "main", (), without=("RM999",))


def test_every_kind_has_a_case():
    assert {tomllib.loads(path.read_text(encoding="utf-8"))["code"] for path in CASES} == ALL
