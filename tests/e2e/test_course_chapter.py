"""A chapter of today's TVM, with the outputs that TVM 0.27 printed: the same code here and there gives the same."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from refmlc.tools.course import run_document
from refmlc.tools.course.outputs import EQUAL
from refmlc.tools.course.run import RAN

CHAPTER = Path(__file__).parent.parent / "programs" / "chapter_027.md"
AROUND = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
TVM = os.environ.get("REFMLC_TVM_PYTHON", "")


def outputs(report):
    return [(one.verdict, one.reason) for block in report.blocks for one in block.outputs]


def test_what_tvm_printed_is_printed_here():
    report = run_document(CHAPTER)
    assert {block.status for block in report.blocks} == {RAN}
    assert outputs(report) == [(EQUAL, "")] * 5


@pytest.mark.needs("tvm")
def test_the_same_code_with_real_tvm():
    report = run_document(CHAPTER, python=TVM)
    assert report.blocks[0].notes == ("`tvm` is real TVM",)
    assert outputs(report) == [(EQUAL, "")] * 5


FAILING = """# A chapter

```{.python .input}
import tvm
1 + 1
```

```{.output}
3
```

```{.python .input}
tvm.micro
```
"""


def test_the_command(tmp_path):
    (tmp_path / "chapter.md").write_text(FAILING)
    command = [sys.executable, "-m", "refmlc", "course", "chapter.md", "--json"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, env=AROUND)
    found = json.loads(done.stdout)
    assert done.returncode == 1
    assert [block["status"] for block in found["blocks"]] == ["ran", "failed"]
    assert found["blocks"][0]["outputs"] == [
        {"line": 9, "verdict": "differs", "reason": "`3` in the chapter, `2` here"},
    ]
    assert "`tvm.micro` is not covered" in found["blocks"][1]["why"]
    assert "(line 13)" in found["blocks"][1]["why"]


def test_a_limit_of_time(tmp_path):
    (tmp_path / "chapter.md").write_text("```python\nx = 1\n```\n\n```python\nwhile True: pass\n```\n")
    report = run_document(tmp_path / "chapter.md", seconds=12.0)
    assert [block.status for block in report.blocks] == ["ran", "failed"]
    assert report.blocks[1].why == "the limit of 12 s is over"


def test_a_folder_is_one_table(tmp_path):
    (tmp_path / "a.md").write_text(FAILING)
    (tmp_path / "b.md").write_text("```python\nx = 1\n```\n")
    command = [sys.executable, "-m", "refmlc", "course", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=AROUND)
    rows = [[cell.strip() for cell in line.strip("| ").split("|")] for line in done.stdout.splitlines() if "|" in line]
    assert done.returncode == 1
    assert rows[0] == ["document", "ran", "excerpt", "needs", "failed", "equal", "explained", "differs"]
    assert [row for row in rows if row[0] in ("a.md", "b.md", "all")] == [
        ["a.md", "1", "0", "0", "1", "0", "0", "1"],
        ["b.md", "1", "0", "0", "0", "0", "0", "0"],
        ["all", "2", "0", "0", "1", "0", "0", "1"],
    ]
    assert "a.md, block 2, line 13: AttributeError" in done.stdout
    as_json = subprocess.run([*command, "--json"], capture_output=True, text=True, check=False, env=AROUND)
    found = json.loads(as_json.stdout)
    assert (found["ok"], found["totals"]["ran"], [one["document"] for one in found["documents"]]) == (
        False, 2, ["a.md", "b.md"],
    )  # fmt: skip
