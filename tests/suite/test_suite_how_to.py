"""The script of `docs/how-to/add-a-case.md` writes cases that hold, and what does not hold is not written."""

import re
from pathlib import Path

import book
import pytest
from hand import K, ask, i32, new, tir

HOW_TO = Path(__file__).parents[2] / "docs" / "how-to" / "add-a-case.md"


def script():
    [block] = re.findall(r"^   ```python\n(.*?)^   ```", HOW_TO.read_text("utf-8"), re.DOTALL | re.MULTILINE)
    return "".join(line.removeprefix("   ") for line in block.splitlines(keepends=True))


def test_the_script_writes_cases(tmp_path, monkeypatch):
    monkeypatch.setattr(book, "ROOT", tmp_path)
    exec(compile(script(), str(HOW_TO), "exec"), {})  # noqa: S102 - a document of ours
    turned, outside = (tmp_path / "cases" / area / "example.toml" for area in ("tir", "undefined"))
    assert 'id = "tir.example.turned-around"' in turned.read_text("utf-8")
    assert "values = [7, 6, 5]" in turned.read_text("utf-8")
    assert 'code = "RM304"' in outside.read_text("utf-8")


def test_what_the_interpreter_denies_is_not_written(tmp_path, monkeypatch):
    monkeypatch.setattr(book, "ROOT", tmp_path)
    text = tir('A: T.Buffer((1,), "int32"), R: T.Buffer((1,), "int32")', "R[0] = A[0] + 1")
    with pytest.raises(book.Disagreement, match=r"tir\.example\.wrong"):
        ask(book.Book("tir", "hand"), "tir.example.wrong", "TIR-112", text, ([i32(1), new([1], "int32")], [K, i32(3)]))
