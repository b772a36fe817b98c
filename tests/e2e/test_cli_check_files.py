"""`refmlc check` in an old code base and in CI: a baseline, only what changed, files for other tools."""

import json
import os
import shutil
import subprocess

import pytest
from click.testing import CliRunner

from refmlc.cli import main

RIGHT = """
@T.prim_func
def copy(A: T.Buffer((3,), "float32"), B: T.Buffer((3,), "float32")):
    for i in range(3):
        B[i] = A[i]
"""
WRONG = RIGHT.replace("A[i]", "A[i + 1]")
OPTIONS = ("--impl", "interp", "--calls", "2")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "k").mkdir()
    (tmp_path / "k" / "right.py").write_text(RIGHT)
    (tmp_path / "k" / "wrong.py").write_text(WRONG)
    return tmp_path


def check(*words):
    return CliRunner().invoke(main, ["check", *map(str, words), *OPTIONS])


def test_a_code_base_adopts_it_with_a_baseline(folder):
    assert check("k").exit_code == 1
    written = check("k", "--baseline", "ci.toml", "--update-baseline")
    assert written.exit_code == 0, written.output
    assert "ci.toml: 1 finding accepted, 1 without a reason" in written.stderr
    assert check("k", "--baseline", "ci.toml").exit_code == 0
    (folder / "ci.toml").write_text((folder / "ci.toml").read_text().replace('reason = ""', 'reason = "padded"'))
    told = check("k/wrong.py", "--baseline", "ci.toml")
    assert "RM304 is accepted by the baseline: padded" in told.stdout
    (folder / "k" / "right.py").write_text(WRONG)
    new = check("k", "--baseline", "ci.toml", "--json")
    assert new.exit_code == 1
    rows = {row["file"]: row for row in json.loads(new.stdout)["files"]}
    assert [finding["code"] for finding in rows["k/right.py"]["findings"]] == ["RM304"]
    assert rows["k/wrong.py"]["findings"] == []
    assert rows["k/wrong.py"]["accepted"][0]["reason"] == "padded"
    assert check("k", "--baseline", "ci.toml", "--update-baseline").exit_code == 0
    assert 'reason = "padded"' in (folder / "ci.toml").read_text()
    (folder / "k" / "wrong.py").write_text(RIGHT)
    assert "which is no finding any more" in check("k/wrong.py", "--baseline", "ci.toml").stdout
    assert check("k/wrong.py", "--baseline", "ci.toml", "--update-baseline").exit_code == 0
    assert (folder / "ci.toml").read_text().count("[[finding]]") == 1


def test_a_baseline_that_cannot_be_read_is_one_message(folder):
    assert check("k", "--baseline", "gone.toml").exit_code == 2
    (folder / "new.toml").write_text("format = 9\n")
    told = check("k", "--baseline", "new.toml")
    assert (told.exit_code, told.stdout) == (2, "")
    assert "`new.toml` is version 9 of the format of a baseline: a newer refmlc wrote it" in told.stderr
    told = check("k", "--update-baseline")
    assert (told.exit_code, "give that too" in told.stderr) == (2, True)


def test_files_for_other_tools_are_written_for_one_file_and_for_several(folder):
    words = ("--sarif", "r.sarif", "--junit", "r.xml", "--annotations", "r.txt")
    assert check("k", *words).exit_code == 1
    (run,) = json.loads((folder / "r.sarif").read_text())["runs"]
    assert [row["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for row in run["results"]] == [
        "k/wrong.py"
    ]
    assert (folder / "r.xml").read_text().count("<testcase ") == 2
    assert (folder / "r.txt").read_text().startswith("::error file=k/wrong.py,line=5,")
    assert check("k/right.py", *words).exit_code == 0
    assert json.loads((folder / "r.sarif").read_text())["runs"][0]["results"] == []
    assert (folder / "r.txt").read_text() == ""


def test_a_file_that_cannot_be_read_is_in_them_too(folder):
    (folder / "k" / "broken.py").write_text("@T.prim_func\ndef f(:\n")
    for files in (("k/broken.py",), ("k",)):
        assert check(*files, "--sarif", "r.sarif", "--junit", "r.xml").exit_code in (1, 2)
        rows = json.loads((folder / "r.sarif").read_text())["runs"][0]["results"]
        assert "RM101" in [row["ruleId"] for row in rows]
        assert 'type="RM101"' in (folder / "r.xml").read_text()


def test_a_file_that_cannot_be_written(folder):
    told = check("k", "--sarif", "gone/r.sarif")
    assert (told.exit_code, "gone/r.sarif" in told.stderr) == (2, True)


@pytest.fixture
def repository(folder, monkeypatch):
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    for words in (
        ("init", "-q", "-b", "main"), ("config", "user.email", "a@example.org"), ("config", "user.name", "A"),
        ("add", "-A"), ("commit", "-q", "-m", "x"),
    ):  # fmt: skip
        subprocess.run([shutil.which("git"), *words], cwd=folder, check=True)
    return folder


@pytest.mark.needs("git")
def test_only_what_changed_is_checked(repository):
    told = check(".", "--changed")
    assert (told.exit_code, "0 files: nothing to check" in told.stdout) == (0, True)
    (repository / "k" / "right.py").write_text(RIGHT + "\n")
    told = check("k", "--changed=HEAD", "--json")
    assert told.exit_code == 0
    assert [row["file"] for row in json.loads(told.stdout)["files"]] == ["k/right.py"]
    (repository / "k" / "-x; touch pwned.py").write_text(WRONG)
    told = check(".", "--changed", "--json")
    assert told.exit_code == 1
    assert {row["file"] for row in json.loads(told.stdout)["files"]} == {"k/right.py", "k/-x; touch pwned.py"}
    assert not list(repository.rglob("pwned*"))


@pytest.mark.needs("git")
def test_a_changed_contract_is_a_change_of_its_module(repository):
    (repository / "k" / "right.contract.toml").write_text('assume = ["A: finite"]\n')
    told = check(".", "--changed", "--json")
    assert [row["file"] for row in json.loads(told.stdout)["files"]] == ["k/right.py"], told.output


@pytest.mark.needs("git")
def test_an_unknown_revision_is_one_message(repository):
    told = check(".", "--changed=nowhere")
    assert (told.exit_code, "git knows no commit `nowhere`" in told.stderr) == (2, True)
    told = check(".", "--changed=--output=pwned")
    assert told.exit_code == 2
    assert not list(repository.rglob("pwned*"))


def test_no_file_is_a_usage_error(folder):
    told = check("--changed")
    assert (told.exit_code, "Missing argument 'FILE…'" in told.stderr) == (2, True)


@pytest.mark.timeout(60)
def test_a_pipe_among_files_to_skip_is_not_waited_for(folder):
    os.mkfifo(folder / "pipe.py")
    result = check("--skip-others", "pipe.py")
    assert result.exit_code == 2
    assert "it is a pipe, no file" in result.stderr
