"""Builds of real TVM: a fault of its lowering shows in each build, and programs without one agree in all."""

import os
import tomllib
from pathlib import Path

import pytest

from refmlc.lang.wellformed.reader_checks import read
from refmlc.oracle.fuzz.settings import CampaignSettings
from refmlc.oracle.fuzz.subjects import blamed_pipeline, builds
from refmlc.oracle.implementations.lookup import implementation
from refmlc.strategies.case import Case
from refmlc.strategies.inputs import rolled_inputs

PYTHON = os.environ.get("REFMLC_TVM_PYTHON", "")
SETTINGS = CampaignSettings(kinds=(builds.KIND,), implementations=(f"tvm:{PYTHON}",), program_seconds=120.0)
ROWS = Path(__file__).parents[2] / "conformance" / "known" / "tvm-0.27.toml"
OPTIONS = ("opt=0", "opt=3", "target=c")
pytestmark = pytest.mark.needs("tvm")


@pytest.fixture(scope="module")
def ways():
    limits = builds.limits_of(SETTINGS)
    made = tuple((build, implementation(f"tvm:{PYTHON},{build}", limits)) for build in OPTIONS)
    yield made
    for _, way in made:
        way.close()


def test_a_fault_of_the_lowering_is_one_cause_of_all_builds(ways):
    rows = tomllib.loads(ROWS.read_text(encoding="utf-8"))["deviation"]
    module = read(next(row["module"] for row in rows if row["id"] == "buffer-into-loop"), "row.py")
    case = Case(module, "main", (rolled_inputs(module, "main", 1),))
    examination, taken = builds.examined(case, ways, builds.limits_of(SETTINGS))
    (wrong,) = builds.wrong_builds(examination, ways, len(taken))
    assert wrong.builds == OPTIONS
    assert wrong.which == ("all",)
    record = builds.record_of(SETTINGS, 0, PYTHON, case, wrong, [])
    assert record.path == f"tvm:{PYTHON},opt=0"
    assert "every build is wrong alike" in record.message
    with blamed_pipeline.passes_of(PYTHON, wrong.builds[0], 120.0) as passes:
        blame = blamed_pipeline.blamed(passes, wrong.finding)
    assert blame.name == "s_tir.PlanAndUpdateBufferAllocationLocation"
    assert blame.line == f"pass by pass: `{blame.name}` changes what `main` computes"


def test_a_batch_counts_the_verdicts_on_each_build(ways, monkeypatch):
    monkeypatch.setattr(builds, "implementations", lambda _python, _limits, _batch: ways)
    result = builds.run_builds(SETTINGS, 0, range(3))
    assert set(result.verdicts) == {way.name for _, way in ways}
    assert all(counts["equal"] for counts in result.verdicts.values())
    assert all(1 <= len({*digests}) <= 3 for digests in result.bases.values())
    assert set(result.bases) == set(result.verdicts)
    assert not result.findings
