"""The suite as JSON: every case is written, what is rejected has no tree, schemas lie beside it."""

import json

import pytest
from click.testing import CliRunner

from refmlc.cli import main
from refmlc.lang.ir.equal import structural_equal
from refmlc.lang.ir.tree import module_of
from refmlc.oracle.evidence.case_file import CaseCall, CaseFile
from refmlc.oracle.suite.export import case_json, write_suite
from refmlc.oracle.suite.suite import Suite

TEXT = '@T.prim_func\ndef f(A: T.Buffer((1,), "float32")):\n    A[0] = T.float32(1)\n'
ARGS = ({"dtype": "float32", "shape": [1], "values": ["0x0p+0"]},)
ASSERT = {"kind": "return", "parts": [{"rule": "exact", "dtype": "float32", "shape": [1], "values": ["0x1p+0"]}]}


def case(name, text=TEXT, assertion=None):
    return CaseFile(
        name, ("TIR-205",), ("tensorir",), "0.27", "by hand", "", text, "f", (CaseCall(ARGS, assertion or ASSERT),)
    )


@pytest.fixture
def suite():
    rejected = case("reject.text.one", "def f(:\n", {"kind": "reject", "code": "RM102", "place": "1:7"})
    return Suite("9.9", (case("tir.store.one"), rejected))


def test_every_case_is_a_file_and_in_the_index(suite, tmp_path):
    assert write_suite(suite, tmp_path) == 2
    index = json.loads((tmp_path / "index.json").read_text(encoding="utf-8"))
    assert index["suite"] == "9.9"
    assert index["cases"] == {
        "tir.store.one": "tir/tir.store.one.json",
        "reject.text.one": "reject/reject.text.one.json",
    }
    assert sorted(path.name for path in (tmp_path / "schema").iterdir()) == [
        "case-file.json",
        "case.json",
        "protocol.json",
    ]
    for path in index["cases"].values():
        assert (tmp_path / path).is_file()


def test_a_case_says_what_its_file_says(suite):
    found = json.loads(json.dumps(case_json(suite.cases[0], "9.9")))
    assert found["text"] == TEXT
    assert found["calls"] == [{"args": list(ARGS), "assert": ASSERT}]
    assert (found["id"], found["func"], found["clauses"]) == ("tir.store.one", "f", ["TIR-205"])
    assert structural_equal(module_of(found["module"]), suite.cases[0].module)


def test_what_is_rejected_has_no_tree(suite):
    assert case_json(suite.cases[1], "9.9")["module"] is None


def test_the_command_says_what_it_wrote(tmp_path, monkeypatch, suite):
    monkeypatch.setattr("refmlc.cli.conform_export.load_suite", lambda _folder: suite)
    done = CliRunner().invoke(main, ["conform", "export", "-o", str(tmp_path / "out")])
    assert done.exit_code == 0
    assert "2 cases of version 9.9" in done.output
    assert (tmp_path / "out" / "tir" / "tir.store.one.json").is_file()
