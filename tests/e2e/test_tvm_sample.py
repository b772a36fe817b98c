"""The sample of modules printed by real TVM: read, shown, run, compared. See `sample_table.py`."""

import os

import pytest
import sample_table

PYTHON = os.environ.get("REFMLC_TVM_PYTHON", "")

pytestmark = pytest.mark.needs("tvm")


@pytest.fixture(scope="module")
def outcomes(tvm_sample):
    return sample_table.run_sample(tvm_sample)


def test_the_sample_is_wide(outcomes):
    assert len(outcomes) >= 700
    assert {outcome.group for outcome in outcomes} == {"operator", "te", "schedule", "lowered", "gpu", "model"}


def test_at_least_98_of_100_are_read_and_shown_back_equal(outcomes):
    missing = [f"{o.group}/{o.name}: {o.reason}" for o in outcomes if not o.shown]
    assert len(missing) <= 0.02 * len(outcomes), missing


def test_what_runs_agrees_to_the_bit_or_is_explained(outcomes):
    ran = [outcome for outcome in outcomes if outcome.ran.startswith("equal")]
    assert len(ran) >= 600
    assert not sample_table.unexplained(outcomes)


def test_every_explanation_is_needed(outcomes):
    names = {f"{o.group}/{o.name}" for o in outcomes if o.ran in ("differs", "error")}
    assert set(sample_table.explained()) <= names
