"""The soak of schedule steps goes on where it was: nothing is done twice, nothing that a kill cut off is counted."""

import json
from argparse import Namespace

import pytest
import schedule_soak

pytestmark = pytest.mark.needs("compiler")


@pytest.fixture
def soak(monkeypatch, tmp_path):
    """Runs of two steps in small units, with one journal: the counts of each step, and the lines of the journal."""
    monkeypatch.setattr(schedule_soak, "UNIT", 3)
    journal = tmp_path / "journal.jsonl"

    def ran(count):
        rows = {step: schedule_soak.Row(step) for step in ("split", "annotate")}
        schedule_soak.campaign(rows, Namespace(count=count, tvm="", jobs=1), journal)
        assert not any(row.faults for row in rows.values())
        return {step: row.counts["legal"] for step, row in rows.items()}, journal.read_text("utf-8").splitlines()

    ran.journal = journal
    return ran


def test_it_goes_on_from_its_journal(soak):
    first, lines = soak(3)
    assert first == {"split": 3, "annotate": 3}
    more, after = soak(5)
    assert more == {"split": 6, "annotate": 6}
    assert after[: len(lines)] == lines
    assert sorted((one["step"], one["first"]) for one in map(json.loads, after)) == [
        *(("annotate", first) for first in (0, 3)),
        *(("split", first) for first in (0, 3)),
    ]
    assert soak(0) == (more, after)


def test_a_line_that_was_cut_off_is_done_again(soak):
    whole, lines = soak(3)
    soak.journal.write_text("\n".join([lines[0], lines[1][:40]]), "utf-8")
    again, after = soak(3)
    assert again == whole
    assert sorted(after) == sorted(lines)
