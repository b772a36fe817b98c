"""Metadata: bodies that TVM printed, bodies made by hand, and broken ones."""

import base64
import json
import struct

import numpy as np
import pytest

from refmlc.diag import RefmlcError
from refmlc.lang.dtypes import SCALARS, dtype
from refmlc.lang.ir import relax
from refmlc.lang.script import blob
from refmlc.lang.script.reader.metadata import read_metadata, shown_metadata
from refmlc.lang.script.reader.text import read

# Printed by TVM 0.17: float32 ones (3, 3); float32 0 1 2 3 as (2, 2); an int64 0 of shape (1,).
ONES = (
    "P6G0lvBAXt0AAAAAAAAAAAEAAAAAAAAAAgAAAAIgAQADAAAAAAAAAAMAAAAAAAAAJAAAAAAAAAAAAIA/"
    "AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8="
)
RAMP = "P6G0lvBAXt0AAAAAAAAAAAEAAAAAAAAAAgAAAAIgAQACAAAAAAAAAAIAAAAAAAAAEAAAAAAAAAAAAAAAAACAPwAAAEAAAEBA"
ZERO = "P6G0lvBAXt0AAAAAAAAAAAEAAAAAAAAAAQAAAABAAQABAAAAAAAAAAgAAAAAAAAAAAAAAAAAAAA="


def body(*arrays: str) -> str:
    """A body as TVM 0.17 printed them, less what only types say."""
    nodes = [
        {"type_key": ""},
        {"type_key": "Map", "keys": ["relax.expr.Constant"], "data": [2]},
        {"type_key": "Array", "data": [3 + i for i in range(len(arrays))]},
        *({"type_key": "relax.expr.Constant", "attrs": {"data": str(i), "span": "0"}} for i in range(len(arrays))),
    ]
    return json.dumps({"root": 1, "nodes": nodes, "b64ndarrays": list(arrays), "attrs": {"tvm_version": "0.17.dev0"}})


def current(array: str, kind: str = "ir.GenericConst", name: str = "value") -> str:
    nodes = [
        {"type": "ffi.String", "data": "ir.GenericConst"},
        {"type": "ffi.Tensor", "data": array},
        {"type": kind, "data": {name: 1}},
        {"type": "ffi.Array", "data": [2]},
        {"type": "ffi.Map", "data": [0, 3]},
    ]
    return json.dumps({"root_index": 4, "nodes": nodes})


def test_bodies_of_tvm_017():
    entries = read_metadata(body(ONES, RAMP, ZERO), None)["relax.expr.Constant"]
    assert [entry.dtype.element for entry in entries] == ["float32", "float32", "int64"]
    assert np.array_equal(entries[0].data, np.ones((3, 3), np.float32))
    assert np.array_equal(entries[1].data, np.array([[0, 1], [2, 3]], np.float32))
    assert np.array_equal(entries[2].data, np.zeros(1, np.int64))
    assert not entries[0].data.flags.writeable


@pytest.mark.parametrize("name", ["data", "value"])
def test_bodies_of_the_current_form(name):
    (entry,) = read_metadata(current(RAMP, name=name), None)["ir.GenericConst"]
    assert np.array_equal(entry.data, np.array([[0, 1], [2, 3]], np.float32))


def test_what_is_no_constant_is_none():
    graph = json.loads(body(ONES))
    graph["nodes"][3]["type_key"] = "tir.IndexMap"
    assert read_metadata(json.dumps(graph), None) == {"relax.expr.Constant": (None,)}
    assert read_metadata(current(ONES, "tir.IndexMap"), None) == {"ir.GenericConst": (None,)}


@pytest.mark.parametrize("name", [name for name, row in SCALARS.items() if blob.stores(row)])
def test_arrays_survive_encoding(name):
    row = dtype(name)
    stored = blob.storage_dtype(row)
    for shape in ((), (0,), (3,), (2, 0, 2), (2, 3)):
        array = np.ones(shape).astype(stored)
        again, element = blob.decode(blob.encode(array, row), None)
        assert element == row
        assert again.shape == shape
        assert again.tobytes() == array.tobytes()


def test_encoding_is_tvms():
    assert blob.encode(np.ones((3, 3), np.float32), dtype("float32")) == ONES


def test_bool_before_021_was_one_bit():
    data = struct.pack("<QQiiiBBHqq", blob.MAGIC, 0, 1, 0, 1, 1, 1, 1, 2, 2) + b"\x01\x00"
    array, element = blob.decode(base64.b64encode(data).decode(), None)
    assert (element.element, array.tolist()) == ("bool", [True, False])


def test_shown_metadata_reads_back():
    constant = relax.Constant(np.arange(6, dtype=np.int8).reshape(2, 3), dtype("int8"))
    (again,) = read_metadata(shown_metadata({"relax.expr.Constant": (constant,)}), None)["relax.expr.Constant"]
    assert np.array_equal(again.data, constant.data)


def changed(**fields):
    return json.dumps({**json.loads(body(ONES)), **fields})


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "RM113"),
        ("{", "RM113"),
        ("[1]", "RM113"),
        ("{}", "RM113"),
        ("[" * 100000, "RM113"),
        ('{"root": ' + "9" * 5000 + "}", "RM113"),
        (changed(root=77), "RM113"),
        (changed(root="x"), "RM113"),
        (changed(root=-1), "RM113"),
        (changed(nodes=3), "RM113"),
        (changed(nodes=[3, 4]), "RM113"),
        (changed(b64ndarrays=[]), "RM113"),
        (changed(b64ndarrays=[3]), "RM113"),
        (changed(b64ndarrays=["%%%"]), "RM113"),
        (changed(b64ndarrays=["é"]), "RM113"),
        (changed(b64ndarrays=["AAAA"]), "RM113"),
        (changed(b64ndarrays=["AAAA" * 30]), "RM113"),
        (changed(b64ndarrays=[ONES[:60]]), "RM113"),
        (changed(b64ndarrays=[ONES[:-8]]), "RM113"),
        (json.dumps({"root_index": 0, "nodes": [{"data": 3}]}), "RM113"),
    ],
)
def test_broken_bodies(text, code):
    with pytest.raises(RefmlcError) as caught:
        read_metadata(text, None)
    assert caught.value.code.id == code


def test_a_map_with_too_few_values():
    graph = json.loads(body(ONES))
    graph["nodes"][1]["data"] = []
    with pytest.raises(RefmlcError, match="RM113"):
        read_metadata(json.dumps(graph), None)


@pytest.mark.parametrize("shape", [(-1,), (1 << 62, 1 << 62)])
def test_impossible_shapes(shape):
    data = struct.pack(f"<QQiiiBBH{len(shape)}qq", blob.MAGIC, 0, 1, 0, len(shape), 2, 32, 1, *shape, 0)
    with pytest.raises(RefmlcError, match="RM113"):
        blob.decode(base64.b64encode(data).decode(), None)


@pytest.mark.parametrize(("code", "bits", "lanes"), [(3, 64, 1), (2, 32, 4), (5, 64, 1), (0, 4, 1)])
def test_dtypes_without_a_place(code, bits, lanes):
    data = struct.pack("<QQiiiBBHq", blob.MAGIC, 0, 1, 0, 0, code, bits, lanes, 0)
    with pytest.raises(RefmlcError, match="RM503"):
        blob.decode(base64.b64encode(data).decode(), None)


def test_encoding_refuses_what_has_no_code():
    for row in (SCALARS["handle"], SCALARS["int4"], dtype("float32x4")):
        with pytest.raises(RefmlcError, match="RM503"):
            blob.encode(np.zeros(1, np.int8), row)


PROGRAM = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((3, 3), "float32")):
        y = R.add(x, metadata["relax.expr.Constant"][{index}])
        return y
"""


def constant_in(text: str):
    return read(text)["main"].body.blocks[0].bindings[0].value.args[1]


@pytest.mark.parametrize("name", ["metadata", "meta"])
def test_constants_come_from_the_body_before_the_module(name):
    text = f'{name} = tvm.ir.load_json("""{body(ONES)}""")\n' + PROGRAM.format(index=0)
    assert np.array_equal(constant_in(text).data, np.ones((3, 3), np.float32))


def test_without_a_body_a_constant_is_a_reference():
    found = constant_in(PROGRAM.format(index=4))
    assert isinstance(found, relax.MetadataRef)
    assert (found.key, found.index) == ("relax.expr.Constant", 4)


def test_references_of_2022():
    found = constant_in(PROGRAM.replace('metadata["relax.expr.Constant"]', "meta[relay.Constant]").format(index=2))
    assert (found.key, found.index) == ("relay.Constant", 2)


@pytest.mark.parametrize(
    ("entry", "code"),
    [
        ('metadata["relax.expr.Constant"][7]', "RM113"),
        ('metadata["other"][0]', "RM113"),
        ('metadata["relax.expr.Constant"][-1]', "RM103"),
        ('metadata["relax.expr.Constant"]["a"]', "RM103"),
        ("metadata[3][0]", "RM103"),
        ('metadata["relax.expr.Constant"]', "RM105"),
    ],
)
def test_entries_that_are_not_there(entry, code):
    program = PROGRAM.format(index=0).replace('metadata["relax.expr.Constant"][0]', entry)
    with pytest.raises(RefmlcError) as caught:
        read(f"metadata = tvm.ir.load_json('''{body(ONES)}''')\n{program}")
    assert caught.value.code.id == code


STRING_BODIES = (
    {
        "root_index": 5,
        "nodes": [
            {"type": "ffi.String", "data": "ir.StringImm"},
            {"type": "None"},
            {"type": "ffi.String", "data": " when calling"},
            {"type": "ir.StringImm", "data": {"span": 1, "value": 2}},
            {"type": "ffi.Array", "data": [3]},
            {"type": "ffi.Map", "data": [0, 4]},
        ],
    },
    {
        "root": 1,
        "nodes": [
            {"type_key": ""},
            {"type_key": "Map", "keys": ["ir.StringImm"], "data": [2]},
            {"type_key": "Array", "data": [3]},
            {"type_key": "tir.StringImm", "attrs": {"dtype": "handle", "value": " when calling"}},
        ],
        "b64ndarrays": [],
    },
)


@pytest.mark.parametrize("body", STRING_BODIES)
def test_strings_of_asserts(body):
    text = (
        f"metadata = tvm.ir.load_json({json.dumps(json.dumps(body))})\n@T.prim_func\ndef f(n: T.int32):\n"
        "    assert n > 0, ('ValueError', ['bad', metadata['ir.StringImm'][0]])\n"
    )
    assert read(text)["f"].body.message == ("bad", " when calling")
    held = text.split("\n", 1)[1]
    assert read(held)["f"].body.message == ("bad", 'metadata["ir.StringImm"][0]')


def test_a_string_without_text():
    body = {**STRING_BODIES[0], "nodes": [*STRING_BODIES[0]["nodes"]]}
    body["nodes"][3] = {"type": "ir.StringImm", "data": {"value": 1}}
    with pytest.raises(RefmlcError, match="RM113"):
        read_metadata(json.dumps(body), None)
