"""Blocks that failed and are no programs: what they depend on is left to the reader, or they quote. Others stay."""

from importlib.util import find_spec

import pytest

from refmlc.tools.course import documents_in, run_document

HEAD = """```{.python .input}
a = 1
b = a + 1
from tvm.script import tir as T
```

"""


def last(tmp_path, *blocks, marked=False):
    """The report of the last of some blocks after a first one that is marked."""
    fence = "```{.python .input}" if marked else "```python"
    text = HEAD + "\n".join(f"{fence}\n{block}\n```\n" for block in blocks)
    path = tmp_path / "chapter.md"
    path.write_text(text)
    return run_document(path, seconds=60.0).blocks[-1]


@pytest.mark.parametrize(
    ("blocks", "why"),
    [
        (("exercise = 1\n...", "exercise + 1"), "uses `exercise`, which the excerpt at line 8 leaves out"),
        (("a = 'text'\n...", "assert a == 'text'"), "uses `a`, which the excerpt at line 8 leaves out"),
        (("f = 1\n...", "g = f", "g + 1"), "uses `g`, which the excerpt at line 13 leaves out"),
        (("del a", "b = a + 1"), "repeats lines of the block at line 2"),
        (("def f():\n    a.no_such_name", "a.no_such_name"), "repeats lines of the block at line 8"),
        (("x + y",), "names `x`, which no block defines"),
        (("with T.block('Y'):\n    vi = T.axis.spatial(128, 1)",), "the body of a function"),
    ],
)
def test_pieces_are_excerpts_with_a_reason(tmp_path, blocks, why):
    report = last(tmp_path, *blocks)
    assert (report.status, report.why[: len(why)]) == ("excerpt", why)


@pytest.mark.parametrize(
    "blocks",
    [
        ("assert a == 2",),
        ("exercise = 1\n...", "exercise = 3\nassert exercise == 4"),
        ("inner = 1\n...", "def f():\n    inner = 2\n    return undefined(inner)\nassert 1 == 2"),
        ("a = 5\n...", "a = 6", "assert a == 7"),
        ("from math import *", "missing_in_math + 1"),
        ("def f():\n    return missing", "f()"),
        ("import numpy as np\nnp.no_such_name", "np.no_such_name"),
    ],
)
def test_failures_of_programs_stay_failures(tmp_path, blocks):
    assert last(tmp_path, *blocks).status == "failed"


def test_a_block_that_is_marked_is_a_program(tmp_path):
    assert last(tmp_path, "x + y", marked=True).status == "failed"


def test_the_documents_of_a_folder_are_those_with_code(tmp_path):
    (tmp_path / "b.md").write_text(HEAD)
    (tmp_path / "a.md").write_text("# No code\n")
    (tmp_path / "c.py").write_text("a = 1\n")
    (tmp_path / "chapter").mkdir()
    (tmp_path / "chapter" / "index.md").write_text(HEAD)
    assert [path.relative_to(tmp_path).as_posix() for path in documents_in(tmp_path)] == ["b.md", "chapter/index.md"]


def test_a_program_that_is_not_installed_is_needed(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    report = last(tmp_path, "from tvm.contrib import clang\ncode = clang.create_llvm('int f();')", "code", marked=True)
    assert (report.status, report.why[: len("needs clang")]) == ("needs", "needs clang")


@pytest.mark.needs("torch")
def test_a_stand_in_says_what_it_is(tmp_path):
    code = """from torchvision import transforms
import numpy as np
to_tensor = transforms.Compose([transforms.ToTensor(), lambda image: image * 2])
assert to_tensor(np.array([[0, 255]], 'uint8')).tolist() == [[[0.0, 2.0]]]
assert transforms.Compose([])(7) == 7"""
    report = last(tmp_path, code, marked=True)
    notes = () if find_spec("torchvision") else ("`torchvision` is a small stand-in of the package",)
    assert (report.status, report.notes) == ("ran", notes), report.why
