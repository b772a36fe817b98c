"""Attributes of every kind: what is read has a text, and that text is read as the same."""

import json

import pytest

from refmlc.diag import Malformed
from refmlc.lang.ir import relax, tir
from refmlc.lang.ir.equal import structural_equal
from refmlc.lang.ir.types import AnyType, TensorType, TupleType
from refmlc.lang.script import read, show

TENSORIR = "def f(x: T.int32, A: T.Buffer((4,), 'int32')):\n"
PLACES = {
    "function": "@T.prim_func\n" + TENSORIR + "    T.func_attr({{'k': {0}}})\n    A[0] = x\n",
    "graph": (
        "@R.function\ndef f(x: R.Tensor((2,), 'float32'), A: R.Shape([2])):\n"
        "    R.func_attr({{'k': {0}}})\n    return x\n"
    ),
    "block": (
        f"@T.prim_func(s_tir=True)\n{TENSORIR}    with T.sblock('b'):\n"
        "        T.sblock_attr({{'k': {0}}})\n        A[0] = x\n"
    ),
    "loop": f"@T.prim_func\n{TENSORIR}    for i in T.serial(4, annotations={{{{'k': {{0}}}}}}):\n        A[i] = x\n",
    "module": (
        "@I.ir_module\nclass M:\n    I.module_attrs({{'k': {0}}})\n"
        "    @T.prim_func\n    def f(x: T.int32):\n        T.evaluate(x)\n"
    ),
}
ALONE = (
    *('R.Tensor((2,), "float32")', "R.Tensor", "R.Tuple(R.Tensor((2,), 'float32'), R.Any)", "R.Any", "R.Object"),
    *('R.Prim("int64")', "R.Callable((R.Any,), R.Any)", 'R.const(1.0, "float32")', "R.add(R.const(1.0), R.const(2.0))"),
    *('R.str("a")', 'T.StringImm("a")', "R.shape([1, 2])", "R.Shape([2, 3])", 'R.dtype("int8")', "R.prim_value(3)"),
    *('R.ExternFunc("a")', "R.tuple()", "T.Range(0, 4)", '[R.Tensor, metadata["x"][3]]'),
    *('metadata["ffi.String"][0]', 'metadata["ir.StringImm"][1]', 'metadata["ffi.Module"][0]', "None", "True", "1.5"),
    *("(1, (2,))", '{"a": {"b": R.Any}}', "T.float32(1)", "T.float32", "1e400", '"a\\n\\x1b\\""'),
)
OF_THE_FUNCTION = ("x", "A", "(x, A)")


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("value", ALONE)
def test_what_is_read_is_shown_and_read_again(place, value):
    module = read(PLACES[place].format(value))
    assert structural_equal(read(show(module)), module)


@pytest.mark.parametrize("place", ["function", "graph", "block", "loop"])
@pytest.mark.parametrize("value", OF_THE_FUNCTION)
def test_parameters_are_attributes(place, value):
    module = read(PLACES[place].format(value))
    assert structural_equal(read(show(module)), module)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(
    "value", ["T.exp", "R.add", "cls", "range", "A[0:2]", "R.match_cast(x, R.Tensor)", "{1: 2}", "nothing"]
)
def test_what_has_no_text_is_refused(place, value):
    with pytest.raises(Malformed, match=r"RM10[345]"):
        read(PLACES[place].format(value))


def test_attributes_are_what_they_name():
    attrs = [read(PLACES["function"].format(value))["f"].attrs["k"] for value in ("R.Tensor((2,))", "R.Tuple", "R.Any")]
    assert [type(attr) for attr in attrs] == [TensorType, TupleType, AnyType]
    (prim, text) = (read(PLACES["graph"].format(v))["f"].attrs["k"] for v in ("R.prim_value(3)", "metadata['a'][2]"))
    assert isinstance(prim, tir.IntImm)
    assert isinstance(text, relax.MetadataRef)
    assert (text.key, text.index) == ("a", 2)


def body(*entries, key):
    """A metadata body with entries of one key, in the form of 0.27."""
    nodes = [
        {"type": "None"},
        *({"type": kind, "data": data} for kind, data in entries),
        {"type": "ffi.String", "data": key},
    ]
    nodes.append({"type": "ffi.Array", "data": list(range(1, len(entries) + 1))})
    nodes.append({"type": "ffi.Map", "data": [len(nodes) - 2, len(nodes) - 1]})
    text = json.dumps({"root_index": len(nodes) - 1, "nodes": nodes}).replace("\\", "\\\\")
    return f"metadata = tvm.ir.load_json('''{text}''')\n"


def attribute(text, value):
    return read(text + PLACES["module"].format(value)).attrs["k"]


def test_a_string_of_the_metadata_is_the_string():
    text = body(("ffi.String", "two\nlines"), key="ffi.String")
    assert attribute(text, 'metadata["ffi.String"][0]') == "two\nlines"
    with pytest.raises(Malformed, match="RM113"):
        attribute(text, 'metadata["ffi.String"][1]')


@pytest.mark.parametrize("key", ["ffi.Module", "ffi.Tensor"])
def test_an_object_of_the_metadata_that_refmlc_does_not_keep_stays_a_reference(key):
    module = read(body((key, "AAAA"), key=key) + PLACES["module"].format(f'[metadata["{key}"][0]]'))
    (found,) = module.attrs["k"]
    assert isinstance(found, relax.MetadataRef)
    for show_meta in (True, False):
        assert structural_equal(read(show(module, show_meta=show_meta)), module)


def test_constants_do_not_take_the_numbers_of_references():
    graph = (
        "@R.function\ndef f(x: R.Tensor((2,), 'float32')):\n    y = R.add(x, metadata['ir.GenericConst'][1])\n"
        "    z = R.add(y, R.const([1.0, 2.0], 'float32'))\n    return z\n"
    )
    module = read(graph)
    assert 'R.add(y, metadata["ir.GenericConst"][2])' in show(module)
    assert structural_equal(read(show(module, show_meta=True)), module)
