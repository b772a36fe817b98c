"""Real TVM reads what refmlc shows: its own modules, read and shown by refmlc, are equal to them for it.

See `compare_texts.py` for the verdicts.
"""

import json
import os
import subprocess
from collections import defaultdict
from pathlib import Path

import pytest
import sample_table

from refmlc.diag import RefmlcError
from refmlc.lang.script import read, show

PYTHON = os.environ.get("REFMLC_TVM_PYTHON", "")
COMPARE = Path(__file__).parent / "tvm_side" / "compare_texts.py"

pytestmark = pytest.mark.needs("tvm")


@pytest.fixture(scope="module")
def verdicts(tmp_path_factory):
    """What TVM says of each module of a small sample: lists of lines by verdict."""
    directory = tmp_path_factory.mktemp("texts")
    sample_table.make_sample(PYTHON, directory, quick=True)
    index = json.loads((directory / "index.json").read_text())
    found = defaultdict(list)
    for entry in index:
        own = directory / f"{entry['stem']}.py"
        try:
            shown = show(read(own.read_text("utf-8"), own.name), show_meta=True)
        except RefmlcError as failure:
            found["not shown"].append(f"{entry['group']}/{entry['name']}: {failure.diagnostic.message}")
        else:
            own.with_suffix(".shown").write_text(shown, "utf-8")
    done = subprocess.run(
        [PYTHON, str(COMPARE), str(directory)], capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stderr[-2000:]
    names = {entry["stem"]: f"{entry['group']}/{entry['name']}" for entry in index}
    for stem, (verdict, reason) in json.loads((directory / "verdicts.json").read_text()).items():
        found[verdict].append(f"{names[stem]}: {reason}")
    return found


def test_the_sample_is_wide(verdicts):
    assert sum(map(len, verdicts.values())) >= 150
    assert len(verdicts["equal"]) >= 120


def test_all_are_equal_to_tvm(verdicts):
    wrong = [line for verdict in ("not shown", "refused", "differs") for line in verdicts[verdict]]
    assert not wrong, "\n".join(wrong)


def test_tvm_does_not_read_its_own_text_for_one_known_reason_only(verdicts):
    """`T.if_then_else` of handles, as its lowering of packed arguments prints it, is refused by TVM's own parser."""
    assert all("prim._OpIfThenElse" in line for line in verdicts["neither"]), verdicts["neither"]
    assert not verdicts["unreadable"]
