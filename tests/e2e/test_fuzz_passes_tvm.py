"""Campaigns of passes against real TVM: orders run, faults on record are met and shrunk for the same cause."""

import os

import pytest
from campaigns import finding_errors

from refmlc.oracle.fuzz.kept_processes import end_kept
from refmlc.oracle.fuzz.settings import CampaignSettings
from refmlc.oracle.fuzz.subjects.passes import pass_runs, pass_table, programs
from refmlc.oracle.fuzz.subjects.passes.pass_orders import aimed, is_legal

PYTHON = os.environ.get("REFMLC_TVM_PYTHON", "")
SETTINGS = CampaignSettings(kinds=(pass_runs.KIND,), implementations=(f"tvm:{PYTHON}",), program_seconds=60.0)
pytestmark = pytest.mark.needs("tvm")
KNOWN = {
    "buffer-into-loop": ("s_tir.PlanAndUpdateBufferAllocationLocation", "carried_other"),
    "in-place-tuple-in-tuple": ("relax.DataflowUseInplaceCalls", "aliases_nested"),
    "specialised-twice": ("relax.SpecializePrimFuncBasedOnCallSite", "specialised"),
    "inlined-symbols": ("relax.InlinePrivateFunctions", "private_functions"),
}


@pytest.fixture(scope="module")
def tvm():
    yield pass_runs.compiler(PYTHON, SETTINGS.program_seconds)
    end_kept()


def steps_to(name):
    """What must stand before a pass, and the pass with its first options."""
    family, row = next((each, row) for each in pass_table.FAMILIES for row in each.passes if row.name == name)
    before = [f"{each}()" for rung in family.ladder[: row.low] for each in rung]
    return family, row, (*before, f"{name}({row.options[0]})")


@pytest.mark.parametrize("row_id", KNOWN)
def test_a_fault_on_record_is_met_and_is_that_row_s(tvm, row_id):
    name, program = KNOWN[row_id]
    _, _, steps = steps_to(name)
    table, head = (
        (programs.RELAX, programs.MODULE) if name.startswith("relax") else (programs.TENSORIR, programs.FUNCTION)
    )
    text = head + table[program].lstrip("\n")
    _, finding = pass_runs.finding_of(pass_runs.trace_of(tvm, text, steps), steps)
    assert finding.guilty == name
    record = pass_runs.record_of(SETTINGS, 0, "tvm", tvm, finding)
    assert row_id in record.message


def test_a_finding_is_shrunk_and_keeps_its_cause(tvm):
    name, program = KNOWN["specialised-twice"]
    _, _, needed = steps_to(name)
    steps = ("relax.CanonicalizeBindings()", *needed[:-1], "relax.EliminateCommonSubexpr()", needed[-1])
    assert is_legal(steps)
    text = programs.MODULE + programs.RELAX[program].lstrip("\n")
    _, finding = pass_runs.finding_of(pass_runs.trace_of(tvm, text, steps), steps)
    record = pass_runs.record_of(SETTINGS, 0, "tvm", tvm, finding)
    shrunk = pass_runs.shrink_order(SETTINGS, record, 90.0)
    assert "problem" not in shrunk
    assert finding_errors(record, shrunk) == []
    assert shrunk["case"]["steps"] == list(needed)
    assert shrunk["lines"][1] <= shrunk["lines"][0]
    assert pass_runs.cause_of(tvm, shrunk["case"]["text"], needed) == finding.cause


@pytest.mark.parametrize("name", ["tirx.UnrollLoop", "tirx.LowerIntrin", "relax.TopologicalSort", "relax.FoldConstant"])
def test_tvm_takes_what_the_table_spells(tvm, name):
    family, row, steps = steps_to(name)
    for option in row.options:
        spelled = (*steps[:-1], *(f"{each}()" for each in row.after), f"{name}({option})")
        trace = pass_runs.trace_of(tvm, aimed(family, row, 0), spelled)
        assert not trace.stopped
        assert pass_runs.finding_of(trace, spelled)[1] is None


def test_a_batch_of_orders_counts_stages_and_names_passes():
    result = pass_runs.run_orders(SETTINGS, 0, [1, 34, 40])
    (counts,), (digests,) = result.verdicts.values(), result.bases.values()
    assert counts["same"] > 0
    assert 1 <= len({*digests}) <= 3
    assert set(result.coverage["passes"]) <= {
        *pass_table.NAMES,
        *(each for f in pass_table.FAMILIES for r in f.ladder for each in r),
    }
