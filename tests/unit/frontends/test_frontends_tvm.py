"""Modules of real TVM: its JSON, its text, its objects.

`programs/tvm_saved.json.gz` was written by real TVM 0.27 (`e2e/tvm_side/save_json.py`): texts, each with the JSON of
the module that TVM read from it. They are a choice of the sample and of operators in which every kind of node and every
operator of both occurs; `constant` was built by program.
"""

import gzip
import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from refmlc.cli import main
from refmlc.diag import RefmlcError
from refmlc.frontends import from_tvm
from refmlc.frontends.tvm_json import from_json
from refmlc.lang.ir import IRModule
from refmlc.lang.ir.equal import first_difference
from refmlc.lang.script import read

SAVED = json.loads(gzip.decompress((Path(__file__).parents[2] / "programs" / "tvm_saved.json.gz").read_bytes()))
ONE = SAVED["s0000"]


@pytest.mark.parametrize("name", SAVED)
def test_the_json_is_the_text(name):
    assert first_difference(read(SAVED[name]["text"]), from_json(SAVED[name]["json"])) is None


def test_there_are_enough_of_them():
    kinds = {node["type"] for one in SAVED.values() for node in json.loads(one["json"])["nodes"]}
    assert len(SAVED) >= 100
    assert {"tirx.While", "tirx.AttrStmt", "relax.expr.If", "prim.Ramp", "ffi.Tensor", "target.Target"} <= kinds


class Foreign:
    """An object as TVM's are: it gives its text, and that it is asked for metadata is seen."""

    def __init__(self, text):
        self.text = text
        self.asked = []

    def script(self, *, name="", show_meta=False):
        self.asked.append(show_meta)
        return self.text


def test_objects_texts_and_json_are_taken():
    wanted = read(ONE["text"])
    foreign = Foreign(ONE["text"])
    for one in (foreign, ONE["text"], ONE["json"], wanted):
        assert first_difference(wanted, from_tvm(one)) is None
    assert foreign.asked == [True]
    assert list(from_tvm(wanted["main"]).functions) == ["main"]


@pytest.mark.parametrize("given", [3, None, object()])
def test_other_objects_are_one_message(given):
    with pytest.raises(RefmlcError, match=r"RM112\]: a module of TVM is an object with `script`"):
        from_tvm(given)


def changed(kind, data):
    """The JSON of a module whose first node of a kind is another."""
    graph = json.loads(ONE["json"])
    place = next(i for i, node in enumerate(graph["nodes"]) if node["type"] == kind)
    graph["nodes"][place] = data
    return json.dumps(graph)


def circle():
    """A statement that is in itself."""
    graph = json.loads(ONE["json"])
    place = next(i for i, node in enumerate(graph["nodes"]) if node["type"] == "tirx.For")
    graph["nodes"][place]["data"]["body"] = place
    return json.dumps(graph)


@pytest.mark.parametrize(
    ("text", "code", "part"),
    [
        ("{", "RM109", "not JSON"),
        ("{}", "RM109", "not a graph"),
        ("[" * 100_000, "RM109", "not JSON"),
        ('{"root_index": 3, "nodes": []}', "RM109", "has no node 3"),
        (
            '{"root_index": 0, "nodes": [{"type": "ir.IRModule", "data": {}}]}',
            "RM109",
            "a number `functions` is needed",
        ),
        ('{"root_index": 0, "nodes": [7]}', "RM109", "has no type"),
        (changed("ir.TensorLoad", {"type": "ir.TupleGetItem", "data": {"tuple_value": 1, "index": 0}}), "RM", ""),
        (circle(), "RM109", "has a cycle"),
        (changed("tirx.For", {"type": "tirx.Novelty", "data": {}}), "RM504", "`tirx.Novelty`"),
        (changed("ir.TensorLoad", {"type": "prim.Novelty", "data": {"ty": 0}}), "RM", ""),
        (changed("ir.Op", {"type": "ir.Op", "data": "tirx.no_such_operator"}), "RM504", "`tirx.no_such_operator`"),
    ],
)
def test_what_is_no_module_is_one_message(text, code, part):
    with pytest.raises(RefmlcError) as raised:
        from_json(text)
    assert raised.value.code.id.startswith(code)
    assert part in raised.value.diagnostic.message


@pytest.mark.parametrize("cut", range(60))
def test_a_graph_with_one_wrong_reference_ends_in_a_message_or_a_module(cut):
    graph = json.loads(ONE["json"])
    place = cut * len(graph["nodes"]) // 60
    data = graph["nodes"][place].get("data")
    if isinstance(data, dict):
        for key in data:
            data[key] = len(graph["nodes"]) - 1 - place
    elif isinstance(data, list):
        data.append(place)
    else:
        graph["nodes"][place]["data"] = {"x": 1}
    try:
        found = from_json(json.dumps(graph))
    except RefmlcError as reason:
        assert reason.code.id[:3] in ("RM1", "RM2", "RM5")  # noqa: PT017 - a module that is read is as good
    else:
        assert isinstance(found, IRModule)


def test_the_command(tmp_path):
    (tmp_path / "model.json").write_text(ONE["json"])
    done = CliRunner().invoke(main, ["import", str(tmp_path / "model.json"), "-o", str(tmp_path / "model.py")])
    assert done.exit_code == 0, done.output
    assert first_difference(read(ONE["text"]), read((tmp_path / "model.py").read_text())) is None
    (tmp_path / "bad.json").write_text("{")
    assert CliRunner().invoke(main, ["import", str(tmp_path / "bad.json")]).exit_code == 2
