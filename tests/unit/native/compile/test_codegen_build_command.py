"""`refmlc cache`: looking and clearing."""

import json

import pytest
from click.testing import CliRunner
from seven import SEVEN, left_in

from refmlc.cli import main
from refmlc.native.compile import Cache, build
from refmlc.native.options import ISAS


@pytest.fixture
def filled(tmp_path, monkeypatch):
    monkeypatch.setenv("REFMLC_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("REFMLC_CACHE_SIZE", "3M")
    cache = Cache(tmp_path / "cache")
    build(SEVEN, ISAS["none"], cache=cache)
    return cache


def invoke(*arguments):
    return CliRunner().invoke(main, ["cache", *arguments])


def test_looking_says_where_how_many_and_how_large(filled):
    said = invoke()
    assert said.exit_code == 0
    assert f"{filled.folder}: 1 library" in said.output
    assert "of at most 3 MiB" in said.output


def test_looking_for_machines(filled):
    (entry,) = filled.entries()
    assert json.loads(invoke("--json").output) == {
        "directory": str(filled.folder),
        "entries": 1,
        "bytes": entry.size,
        "limit": 3 << 20,
        "removed": 0,
    }


def test_clearing_removes_all(filled):
    said = invoke("clear")
    assert (said.exit_code, "removed 1 library" in said.output) == (0, True)
    assert left_in(filled.folder) == []
    assert json.loads(invoke("clear", "--json").output)["removed"] == 0


def test_a_directory_that_is_not_used_is_said(filled):
    filled.folder.chmod(0o777)
    said = invoke("--json")
    assert said.exit_code == 2
    assert json.loads(said.output)["error"]["code"] == "RM109"
    assert "others can write" in json.loads(said.output)["error"]["message"]
