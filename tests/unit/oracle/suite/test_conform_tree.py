"""Modules as JSON: what is written reads back as the same module, for cases of the suite and generated programs.

Every case is looked at in the soak profile; else each eighth file of an area.
"""

import json
import os
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import refmlc
from refmlc.diag import RefmlcError
from refmlc.lang.ir import relax, tir
from refmlc.lang.ir.equal import first_difference
from refmlc.lang.ir.tree import KINDS, kept_fields, module_of, tree_of
from refmlc.lang.ir.visit import walk
from refmlc.lang.script import show
from refmlc.lang.wellformed.reader_checks import read
from refmlc.oracle.evidence.case_file import read_cases
from refmlc.strategies import ir_modules, prim_funcs

CASES = Path(__file__).parents[4] / "conformance" / "cases"
STEP = 1 if os.environ.get("REFMLC_PROFILE") == "soak" else 8
AREAS = sorted(folder.name for folder in CASES.iterdir() if folder.is_dir())


@cache
def texts(area):
    """The texts of modules in the cases of an area, each once."""
    files = sorted((CASES / area).glob("*.toml"))[::STEP]
    return sorted({case.text for file in files for case in read_cases(file.read_text(encoding="utf-8"), file.name)})


def again(module):
    """The module after a way through the text of JSON."""
    return module_of(json.loads(json.dumps(tree_of(module))))


@pytest.mark.parametrize("area", AREAS)
def test_text_to_json_to_text_is_the_same_module(area):
    count = 0
    for text in texts(area):
        try:
            module = read(text, "case.py", check=False)
        except RefmlcError:
            continue  # a text that is to be rejected
        back = again(module)
        assert first_difference(module, back) is None, text
        shown = read(show(back, show_meta=True), "shown.py", check=False)
        assert first_difference(module, shown) is None, text
        count += 1
    assert count or area == "reject"


@settings(max_examples=30)
@given(st.one_of(prim_funcs(None), ir_modules()))
def test_generated_modules_come_back(case):
    assert first_difference(case.module, again(case.module)) is None


TEXT = """
@T.prim_func
def f(A: T.Buffer((2,), "float32")):
    x: T.let = T.float32("nan")
    A[0] = x + T.float32(-0.0) + T.Cast("float32", T.int64(9007199254740993))
"""


def test_a_variable_is_written_once_and_referred_to():
    tree = tree_of(refmlc.read(TEXT))
    written = json.dumps(tree)
    assert written.count('"is": "tir.Buffer"') == 1
    assert '{"ref": ' in written
    func = tree["functions"]["map"][0][1]
    assert func["is"] == "tir.PrimFunc"
    assert func["buffer_map"]["map"][0][1]["shape"] == [
        {"is": "tir.IntImm", "dtype": {"dtype": "int32"}, "value": 2},
    ]


def test_numbers_keep_their_bits():
    written = json.dumps(tree_of(refmlc.read(TEXT)))
    assert '{"float": "nan"}' in written
    assert '{"float": "-0x0.0p+0"}' in written
    assert '{"int": "9007199254740993"}' in written


def test_constants_are_their_bytes():
    data = np.array([1.5, -2.0], "float32")
    text = 'from tvm.script import relax as R\n@R.function\ndef main(x: R.Tensor((2,), "float32")):\n    return x\n'
    module = refmlc.read(text)
    func = module.functions["main"]
    constant = relax.Constant(data, refmlc.lang.dtypes.FLOAT32)
    changed = refmlc.IRModule({"main": relax.Function(func.params, relax.SeqExpr((), constant), None)})
    tree = tree_of(changed)
    found = tree["functions"]["map"][0][1]["body"]["body"]["data"]
    assert found == {"array": {"dtype": "float32", "shape": [2], "base64": "AADAPwAAAMA="}}
    back = again(changed).functions["main"].body.body.data
    assert back.tolist() == [1.5, -2.0]
    assert not back.flags.writeable


def test_every_kind_of_node_has_a_name():
    nodes = {type(node) for node in walk(refmlc.read(TEXT))}
    assert nodes <= set(KINDS.values())
    assert KINDS["tir.For"] is tir.For
    assert "span" not in kept_fields(tir.For)


@pytest.mark.parametrize(
    "change",
    [
        lambda tree: {**tree, "is": "tir.Nothing"},
        lambda tree: {**tree, "colour": 1},
        lambda tree: {key: value for key, value in tree.items() if key != "attrs"},
        lambda tree: {**tree, "functions": {"ref": 99}},
        lambda tree: {**tree, "functions": {"map": [1]}},
        lambda tree: {**tree, "name": {"dtype": "float33"}},
        lambda tree: {**tree, "name": {"array": {}}},
        lambda tree: [tree],
        lambda _tree: None,
    ],
)
def test_what_is_no_tree_is_told(change):
    with pytest.raises(refmlc.Malformed) as raised:
        module_of(change(tree_of(refmlc.read(TEXT))))
    assert raised.value.code.id == "RM109"
