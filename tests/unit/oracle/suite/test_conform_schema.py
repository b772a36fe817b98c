"""JSON Schemas: they are as the declarations say, what is written fits them, and what does not fit is refused."""

import copy
import json
import os
import tomllib
from pathlib import Path

import jsonschema
import pytest

from refmlc.oracle.evidence.case_file import read_cases
from refmlc.oracle.suite import schema
from refmlc.oracle.suite.export import case_json
from refmlc.oracle.suite.schema import FILES, load_schema
from refmlc.oracle.suite.schema.schema_files import schema_texts

CASES = Path(__file__).parents[4] / "conformance" / "cases"
EACH = 1 if os.environ.get("REFMLC_PROFILE") == "soak" else 60
CHOSEN = sorted(CASES.glob("*/*.toml"))[::EACH]


def validator(name):
    return jsonschema.Draft202012Validator(load_schema(name))


@pytest.mark.parametrize("name", FILES)
def test_the_files_are_what_the_declarations_say(name):
    path = Path(schema.__file__).parent / name
    if os.environ.get("REFMLC_UPDATE_GOLDEN"):
        path.write_text(schema_texts()[name], encoding="utf-8")
    assert path.read_text(encoding="utf-8") == schema_texts()[name]
    jsonschema.Draft202012Validator.check_schema(load_schema(name))


@pytest.mark.parametrize("path", CHOSEN, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_files_and_exported_cases_fit(path):
    text = path.read_text(encoding="utf-8")
    validator("case-file.json").validate(tomllib.loads(text))
    case = read_cases(text, path.name)[0]
    validator("case.json").validate(json.loads(json.dumps(case_json(case, "1"))))


FILE = """
[[case]]
id = "scalar.add.float32"
clauses = ["NUM-101"]
features = ["tensorir"]
dialect = "0.27"
provenance = "by hand"
func = "f"
module = '''
@T.prim_func
def f(A: T.Buffer((1,), "float32")):
    A[0] = A[0] + T.float32(1)
'''
[[case.calls]]
args = [{ dtype = "float32", shape = [1], values = ["0x1p+0"] }]
[case.calls.assert]
kind = "return"
parts = [{ label = "`A`", rule = "exact", dtype = "float32", shape = [1], values = ["0x1p+1"] }]
"""
WRONG = [
    ("id", "Scalar"),
    ("clauses", "NUM-101"),
    ("dialect", "0.99"),
    ("calls", []),
    ("colour", 1),
    ("calls", [{"args": [{"dtype": "float32"}]}]),
    ("calls", [{"args": [], "assert": {"kind": "return"}}]),
    ("calls", [{"args": [], "assert": {"kind": "trap", "code": "RM1"}}]),
    ("calls", [{"args": [], "assert": {"kind": "return", "parts": [{"rule": "ulp", "values": []}]}}]),
    ("calls", [{"args": [], "assert": {"kind": "return", "parts": [{"rule": "hash", "sha256": "ab"}]}}]),
    ("calls", [{"args": [{"dtype": "float32", "shape": [1], "values": ["1.5"]}]}]),
]


@pytest.mark.parametrize(("key", "value"), WRONG)
def test_what_is_no_case_does_not_fit(key, value):
    data = tomllib.loads(FILE)
    validator("case-file.json").validate(data)
    exported = json.loads(json.dumps(case_json(read_cases(FILE)[0], "1")))
    validator("case.json").validate(exported)
    for whole, one, name in ((data, data["case"][0], "case-file.json"), (exported, exported, "case.json")):
        one[key] = value
        assert not validator(name).is_valid(whole)


def test_a_tree_of_another_shape_does_not_fit():
    right = json.loads(json.dumps(case_json(read_cases(FILE)[0], "1")))
    func = ("functions", "map", 0, 1)
    changes = [
        ((*func, "is"), "tir.Function"),
        ((*func, "body"), None),
        ((*func, "ret_dtype"), "int32"),
        ((*func, "params"), {}),
        ((*func, "private"), 1),
        ((*func, "params", 0, "id"), -1),
        (("name",), 3),
    ]
    for path, value in changes:
        wrong = copy.deepcopy(right)
        node = wrong["module"]
        for step in path[:-1]:
            node = node[step]
        node[path[-1]] = value
        assert not validator("case.json").is_valid(wrong), path


LINES = [
    {"do": "hello", "version": 1, "folder": "/tmp", "seconds": 1.5, "prepare_seconds": 2, "bytes": 9},  # noqa: S108
    {"do": "run", "func": "f", "args": [{"kind": "tensor", "dtype": "int8", "shape": [1], "file": "a0"}]},
    {
        "do": "batch",
        "requests": [{"do": "prepare", "module": "", "id": 0}, {"do": "run", "func": "f", "args": [], "id": 1}],
    },
    {"do": "passes", "module": "", "passes": None, "file": "stages.jsonl", "seconds": 120},
    {"do": "passes", "module": "", "passes": ["mine.Fold"], "file": "stages.jsonl", "seconds": 0.5},
    {"do": "close"},
    {"name": "mine", "passes": True},
    {"name": "mine", "verdicts": True, "batch": 48},
    {"id": 0, "ok": True},
    {"ok": True},
    {"value": {"kind": "null"}, "args": [{"kind": "float", "value": "nan"}, {"kind": "tuple", "value": []}]},
    {"stop": "undefined", "message": "no", "code": "RM304", "place": "3:1"},
]
NOT_LINES = [
    {"do": "dance"},
    {"do": "run", "func": "f"},
    {"do": "batch", "requests": []},
    {"do": "batch", "requests": [{"do": "prepare", "module": ""}]},
    {"do": "batch", "requests": [{"do": "batch", "requests": [], "id": 0}]},
    {"do": "passes", "module": "", "passes": "mine.Fold", "file": "stages.jsonl", "seconds": 1},
    {"do": "passes", "module": "", "passes": None, "seconds": 1},
    {"name": "mine", "batch": "many"},
    {"ok": False},
    {"stop": "bored"},
    {"value": {"kind": "int", "value": 1.5}, "args": []},
    {"value": {"kind": "tensor", "dtype": "int8", "shape": [-1], "file": "a0"}, "args": []},
    {"value": {"kind": "tensor", "dtype": "int8", "shape": [1], "file": "../a0"}, "args": []},
]


def test_lines_of_implementations():
    assert all(validator("protocol.json").is_valid(line) for line in LINES)
    assert not any(validator("protocol.json").is_valid(line) for line in NOT_LINES)
