"""Programs as people write them, executed here and with real TVM: the same text, the same results.

Every output in `programs/chapter_people.md` was printed by TVM 0.27 (`refmlc course --python`), not by refmlc.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from refmlc.tools.course import run_document
from refmlc.tools.course.comparison import NEITHER, NOT_THERE, run_both
from refmlc.tools.course.outputs import EQUAL, EXPLAINED
from refmlc.tools.course.run import RAN

PEOPLE = Path(__file__).parent.parent / "programs" / "chapter_people.md"
TVM = os.environ.get("REFMLC_TVM_PYTHON", "")
SEEDS = os.environ.get("REFMLC_SEEDS", "")
DOCUMENTS = sorted(Path(SEEDS).glob("*.txt")) if SEEDS else []


def test_what_tvm_printed_is_printed_here():
    report = run_document(PEOPLE)
    assert [(block.line, block.why) for block in report.blocks if block.status != RAN] == []
    found = [(one.verdict, one.reason) for block in report.blocks for one in block.outputs]
    assert len(found) == 15
    # Buffers of functions of the library have names of their own.
    assert set(found) <= {(EQUAL, ""), (EQUAL, "names")}


@pytest.mark.needs("tvm")
def test_here_and_with_tvm():
    pairs = run_both(PEOPLE, TVM)
    assert len(pairs) == 16
    assert [(one.line, one.reason) for one in pairs if one.verdict != EQUAL] == []


@pytest.mark.needs("tvm", "seeds")
@pytest.mark.soak
@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.stem[:3])
def test_chapters_of_the_course_where_tvm_has_their_api(document):
    pairs = run_both(document, TVM)
    assert {one.verdict for one in pairs} <= {EQUAL, EXPLAINED, NOT_THERE, NEITHER}
    assert all(one.reason for one in pairs if one.verdict == NOT_THERE)


def test_a_python_without_tvm_is_one_message(tmp_path):
    (tmp_path / "chapter.md").write_text("```python\nx = 1\n```\n")
    command = [sys.executable, "-m", "refmlc", "course", str(tmp_path / "chapter.md"), "--compare", sys.executable]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "has no TVM to compare with" in done.stderr


@pytest.mark.needs("tvm")
def test_the_command_tells_each_block(tmp_path):
    text = "import tvm\nprint('refmlc' in tvm.__version__)"
    (tmp_path / "chapter.md").write_text(f"```python\nx = 1\n```\n\n```python\n{text}\n```\n\n```python\ntvm.nd\n```\n")
    command = [sys.executable, "-m", "refmlc", "course", "chapter.md", "--compare", TVM, "--json"]
    root = str(Path(__file__).parents[2])
    done = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, check=False, env={**os.environ, "PYTHONPATH": root}
    )
    blocks = json.loads(done.stdout)["blocks"]
    assert done.returncode == 1
    assert [one["verdict"] for one in blocks] == ["equal", "differs", "not there"]
    assert blocks[1]["reason"] == "`False` there, `True` here"
