"""The frozen suite: it is as it was released; whatever is not is refused by name. Generators by their definition."""

import hashlib
import json
import re
import shutil
import tomllib
from collections import Counter
from pathlib import Path

import pytest
from click.testing import CliRunner
from hand_made import hand_folder

from refmlc.cli.conform import conform
from refmlc.diag import RefmlcError
from refmlc.oracle.evidence import holds
from refmlc.oracle.evidence.literals import tensor_of
from refmlc.oracle.implementations.interp import Interp
from refmlc.oracle.reference import references
from refmlc.oracle.suite.coverage import coverage, shown_by
from refmlc.oracle.suite.score import is_scored
from refmlc.oracle.suite.suite import below_floors, freeze, load_suite, released

ROOT = Path(__file__).parents[4] / "conformance"


@pytest.fixture(scope="module")
def suite():
    return load_suite()


@pytest.fixture
def folder(tmp_path):
    hand_folder(tmp_path)
    freeze(tmp_path, release=True)
    return tmp_path


def message(folder):
    with pytest.raises(RefmlcError) as caught:
        load_suite(folder)
    assert caught.value.code.id == "RM109"
    return caught.value.diagnostic.message


def test_the_manifest_is_what_sha256sum_reads():
    rows = [line.split("  ") for line in (ROOT / "frozen" / "MANIFEST").read_text(encoding="utf-8").splitlines()]
    files = {str(path.relative_to(ROOT)): path.read_bytes() for path in (ROOT / "cases").rglob("*.toml")}
    assert {path: digest for digest, path in rows} == {k: hashlib.sha256(v).hexdigest() for k, v in files.items()}


def test_files_are_small_and_text():
    for path in (ROOT / "cases").rglob("*.toml"):
        assert path.read_bytes().decode().count("\n") <= 200, path


def test_what_was_released_is_there_still(suite):
    ids = {case.id for case in suite.cases}
    assert len(ids) >= 2500
    assert released(ROOT) <= ids | set(suite.withdrawn)
    listed = ROOT / "frozen" / f"cases-{suite.version}.txt"
    assert not listed.exists() or set(listed.read_text(encoding="utf-8").split()) == ids | set(suite.withdrawn)
    assert below_floors(ROOT, suite) == []


def test_floors_are_not_below_what_was_promised():
    floors = tomllib.loads((ROOT / "frozen" / "floors.toml").read_text(encoding="utf-8"))
    assert floors["total"] >= 2500
    assert sum(floors["areas"].values()) == floors["total"]


def test_every_clause_is_shown_or_has_a_reason(suite):
    found = coverage(suite)
    assert (found.missing, found.unknown, found.idle, found.share) == ((), (), (), 1.0)


def test_every_case_says_who_computed_it(suite):
    known = {"exact arithmetic", "mpmath", "numpy", "torch", "hand"}
    told = Counter(case.provenance for case in suite.cases)
    assert {each for each in told if not each.startswith(("agreed: ", "hand; "))} <= known


def test_every_code_of_undefinedness_traps_and_rejections_has_a_case(suite):
    codes = {str(call.assertion.get("code", "")) for case in suite.cases for call in case.calls}
    undefined, traps, ill_formed = [*range(304, 324), 327, 328], (401, 402, 404, 405, 406), range(201, 214)
    not_of_a_text = {"RM203"}  # the reader says RM104 of such names
    assert {f"RM{n}" for n in (*undefined, *traps, *ill_formed)} - codes == not_of_a_text


def test_cases_that_only_name_a_code_show_its_clause(suite):
    case = next(case for case in suite.cases if case.id == "undefined.bounds.load-low")
    assert "TIR-006" in shown_by(case)


def test_what_only_detectors_find_is_found_by_them(suite):
    cases = [case for case in suite.cases if "detectors" in case.features]
    assert len(cases) >= 9
    for case in cases:
        found = references(case, Interp(), sanitize=True)
        assert [holds(case, number, each.answer) for number, each in enumerate(found)] == [""] * len(case.calls)
        undefined = [number for number, call in enumerate(case.calls) if call.assertion["kind"] == "undefined"]
        assert not any(is_scored(case, number, promises=True) for number in undefined)


def refused(folder, **how):
    with pytest.raises(RefmlcError) as caught:
        freeze(folder, **how)
    assert caught.value.code.id == "RM112"
    return caught.value.diagnostic.message


def test_a_changed_file_is_named(folder):
    path = next((folder / "cases").rglob("*.toml"))
    before = (folder / "frozen" / "MANIFEST").read_text()
    path.write_text(path.read_text() + "# more\n")
    assert str(path.relative_to(folder)) in message(folder)
    assert (
        refused(folder) == f"`{path.relative_to(folder)}` was released and has changed; put a new case into a new file"
    )
    assert (folder / "frozen" / "MANIFEST").read_text() == before


def test_a_case_that_was_released_does_not_go(folder):
    next((folder / "cases").rglob("*.toml")).unlink()
    assert "was released and is missing" in refused(folder)


def test_what_is_not_released_may_change_and_a_release_is_one(folder):
    old = next((folder / "cases").rglob("*.toml"))
    new, count = old.with_name("new.toml"), len(load_suite(folder).cases)
    case = re.sub(r'^id = "(.+)"$', r'id = "\1-new"', old.read_text(), flags=re.MULTILINE)
    more = case.count("-new")
    for text in (case, case + "# more\n"):
        new.write_text(text)
        assert freeze(folder) == len(load_suite(folder).cases) == count + more
    assert "is released with other cases" in refused(folder, release=True)
    (folder / "VERSION").write_text("9.10\n")
    freeze(folder, release=True)
    new.write_text(case)
    assert "was released and has changed" in refused(folder)


def test_a_missing_file_is_named(folder):
    path = next((folder / "cases").rglob("*.toml"))
    path.unlink()
    assert "is missing" in message(folder)


def test_a_file_that_nobody_froze_is_named(folder):
    path = next((folder / "cases").rglob("*.toml"))
    shutil.copy(path, path.with_name("other.toml"))
    assert "other.toml" in message(folder)


def test_no_case_is_an_error(folder):
    shutil.rmtree(folder / "cases")
    (folder / "frozen" / "MANIFEST").write_text("")
    assert message(folder) == "the suite has no case"


def test_withdrawn_cases_are_not_asked(folder):
    name = load_suite(folder).cases[0].id
    row = f'[[withdrawn]]\nid = "{name}"\nversion = "1.1"\nreason = "wrong"\n'
    (folder / "frozen" / "withdrawn.toml").write_text(row)
    found = load_suite(folder)
    assert name not in {case.id for case in found.cases}
    assert found.withdrawn == {name: "wrong"}
    freeze(folder)
    assert below_floors(folder, load_suite(folder)) == []


def test_the_command_counts_and_names_what_is_missing(folder):
    told = CliRunner().invoke(conform, ["coverage", "--suite", str(folder)])
    assert told.exit_code == 1
    assert "no case" in told.output
    listed = json.loads(CliRunner().invoke(conform, ["coverage", "--suite", str(folder), "--json"]).output)
    shown = {name for name, count in listed["clauses"].items() if count}
    assert shown
    assert not shown & set(listed["missing"])


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ({"generator": "cycle", "start": 3, "step": 5, "modulus": 7}, [3, 1, 6, 4]),
        ({"generator": "cycle", "start": 0, "step": -1, "modulus": 4, "scale": "0x1p-1"}, [0, 1.5, 1, 0.5]),
        ({"generator": "fill", "value": "-0x1.8p+1"}, [-3, -3, -3, -3]),
        ({"generator": "codes", "start": 0x3C00, "step": 0x400}, [1, 2, 4, 8]),
    ],
)
def test_generators_by_hand(data, expected):
    assert tensor_of({"dtype": "float16", "shape": [4], **data}).numpy().tolist() == expected


@pytest.mark.parametrize(
    "data",
    [
        {"generator": "nothing"},
        {"generator": "grid", "seed": 1, "low": 5, "high": 4},
        {"generator": "grid", "seed": 1, "low": 3000, "high": 4001},  # no value of float16
        {"generator": "cycle", "start": 0, "step": 1, "modulus": 0},
        {"generator": "fill", "value": "many"},
        {"generator": "grid", "seed": 1, "low": 0, "high": 4, "scale": "much"},
    ],
)
def test_generators_that_are_refused(data):
    with pytest.raises(RefmlcError) as caught:
        tensor_of({"dtype": "float16", "shape": [9], **data})
    assert caught.value.code.id == "RM109"
