"""JSON of TVM that is not as TVM writes it: RM109 with the node, RM504 for what has no word; no Python exception."""

import gzip
import json
from pathlib import Path

import pytest

from refmlc.diag import Malformed, Unsupported
from refmlc.frontends.tvm_json import from_json
from refmlc.lang.script import show

SAVED = json.loads(gzip.decompress((Path(__file__).parents[2] / "programs" / "tvm_saved.json.gz").read_bytes()))


def graph(kind):
    """A graph that has a node of this kind, and the first such node."""
    for row in SAVED.values():
        found = json.loads(row["json"])
        for node in found["nodes"]:
            if node.get("type") == kind:
                return found, node
    raise AssertionError(kind)


def refused(found, error=Malformed):
    with pytest.raises(error) as caught:
        from_json(json.dumps(found))
    return caught.value.diagnostic


@pytest.mark.parametrize(
    ("kind", "field"),
    [
        ("relax.expr.Function", "is_pure"),
        ("relax.expr.Function", "params"),
        ("ir.Call", "args"),
        ("ir.PrimType", "dtype"),
        ("tirx.For", "kind"),
        ("tirx.BufferType", "shape"),
        ("s_tir.SBlock", "iter_vars"),
    ],
)
def test_a_field_that_is_missing_is_named_with_its_node(kind, field):
    found, node = graph(kind)
    del node["data"][field]
    told = refused(found)
    assert told.code.id == "RM109"
    assert "of the JSON graph" in told.message


@pytest.mark.parametrize("name", ["i0", "relax.add", "int8x0", "floats"])
def test_a_dtype_that_none_has_is_refused(name):
    found, node = graph("ir.PrimType")
    node["data"]["dtype"] = name
    assert "a dtype is needed" in refused(found).message


def test_a_list_that_is_too_short_is_refused():
    found, node = graph("s_tir.SBlockRealize")
    values = found["nodes"][node["data"]["iter_values"]]
    values["data"] = values["data"][:-1]
    assert "a binding for each of" in refused(found).message


@pytest.mark.parametrize("kind", [-1, 9])
def test_a_kind_of_loop_that_none_has_is_unsupported(kind):
    found, node = graph("tirx.For")
    node["data"]["kind"] = kind
    assert f"of kind {kind}" in refused(found, Unsupported).message


@pytest.mark.parametrize("value", [2**63, 2**70, -(2**70)])
def test_a_constant_out_of_the_range_of_its_dtype_is_refused(value):
    found, node = graph("ir.IntImm")
    found["nodes"][node["data"]["value"]]["data"] = value
    assert "a value of int" in refused(found).message


def test_an_operator_is_no_value():
    found, node = graph("relax.expr.VarBinding")
    operator = next(at for at, one in enumerate(found["nodes"]) if one.get("type") == "ir.Op")
    node["data"]["value"] = operator
    assert "that is not called" in refused(found, Unsupported).message


def test_what_python_raises_is_told_with_the_node():
    found, node = graph("ir.FloatImm")
    node["data"]["value"] = "no number"
    told = refused(found).message
    assert (
        "(`ir.FloatImm`) of the JSON graph does not have its format (ValueError: could not convert string to float"
        in told
    )


def test_a_function_whose_name_is_no_name_has_no_text():
    found, node = graph("ir.GlobalVar")
    node["data"]["name_hint"] = len(found["nodes"])
    found["nodes"].append({"type": "ffi.String", "data": "f():\n    pass\n    def g"})
    with pytest.raises(Unsupported, match="has no text"):
        show(from_json(json.dumps(found)))


@pytest.mark.parametrize("name", ["", "relax.", "a b", "add(x)\n", "relax..add"])
def test_an_operator_whose_name_is_no_name_is_refused(name):
    found, _ = graph("relax.expr.VarBinding")
    for node in found["nodes"]:
        if node.get("type") == "ir.Op" and str(node["data"]).startswith("relax."):
            node["data"] = name
    assert "the name of an operator" in refused(found).message
