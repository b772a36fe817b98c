"""Offsets, factors, strides and layouts of buffers, mutable scalars, iteration variables: read and shown as by TVM.

`REGION`, `PARAMETERS` and `CELL` are as TVM 0.27 prints them.
"""

import pytest

from refmlc.diag import IllFormed, Malformed, RefmlcError
from refmlc.lang.dtypes import INT32, INT64
from refmlc.lang.ir import tir
from refmlc.lang.ir.equal import structural_equal
from refmlc.lang.ir.tree import module_of, tree_of
from refmlc.lang.ir.visit import walk
from refmlc.lang.script import read, show
from refmlc.lang.wellformed.reader_checks import checked

REGION = """
@T.prim_func(s_tir=True)
def f(A: T.Buffer((4,), "int32")):
    for i in range(4):
        with T.sblock("b"):
            v = T.axis.spatial(4, i)
            B = T.match_buffer(A[v], (), "int32", offset_factor=1)
            B[()] = B.elem_offset
"""
PARAMETERS = """
@T.prim_func(s_tir=True)
def f(A: T.Buffer((2, 3), "int8", strides=("s", 1), offset_factor=2), B: T.Buffer((2, 2), "int8", strides=("s", 1))):
    T.evaluate(A.strides[0] + A.elem_offset + B.strides[0])
"""
LAYOUTS = """
@T.prim_func
def f(A: T.Buffer((4,), "int32", layout=None)):
    B = T.decl_buffer((4,), "int32", data=A.data, layout=None)
    C = T.decl_buffer((2, 2), "int32", data=A.data)
    B[0] = C[0, 0]
"""
CELL = """
@T.prim_func(s_tir=True)
def f(A: T.Buffer((4,), "int32")):
    x: T.int32
    x = 3
    A[0] = x + 1
"""
PRAGMA = """
@T.prim_func
def f(A: T.Buffer((4,), "int32")):
    i = T.int32()
    with T.attr(T.iter_var(i, None, "DataPar", ""), "pragma_import_c", 1):
        A[0] = 1
"""
SHAPED = """
@T.prim_func(s_tir=True)
def f(A: T.Buffer((2, "n"), "int32"), b: T.handle):
    n = T.int32()
    B = T.match_buffer(b, (2, 3), "int32", strides=(n, 1))
    B[0, 0] = n
"""


def buffers(text):
    return {node.name: node for node in walk(read(text, "m.py")) if isinstance(node, tir.Buffer)}


def body(text):
    """What is shown of the function's text, its header left out, indented as it was."""
    return "\n".join(line[4:] for line in show(read(text, "m.py")).partition("class Module:\n")[2].splitlines()).strip()


@pytest.mark.parametrize("text", [REGION, PARAMETERS, CELL], ids=["region", "parameters", "cell"])
def test_shown_as_written(text):
    assert body(text).replace('    # with T.sblock("root"):\n', "") == text.strip()


@pytest.mark.parametrize("text", [REGION, PARAMETERS, LAYOUTS, CELL, PRAGMA, SHAPED])
def test_read_again_and_kept_by_the_tree(text):
    module = read(text, "m.py")
    assert structural_equal(read(show(module), "again.py"), module)
    assert structural_equal(module_of(tree_of(module)), module)


@pytest.mark.parametrize("dialect", ["2022", "2023"])
@pytest.mark.parametrize("text", [REGION, PARAMETERS])
def test_older_dialects_have_them_too(text, dialect):
    module = read(text, "m.py")
    assert structural_equal(read(show(module, dialect=dialect), "again.py"), module)


def test_a_factor_alone_makes_an_offset():
    offset = buffers(REGION)["B"].elem_offset
    assert isinstance(offset, tir.Var)
    assert offset.dtype == INT32
    wide = buffers("@T.prim_func\ndef f(A: T.Buffer((T.int64(4),), offset_factor=2)):\n    T.evaluate(0)")["A"]
    assert wide.elem_offset.dtype == INT64
    assert (
        buffers("@T.prim_func\ndef f(A: T.Buffer((4,), offset_factor=0)):\n    T.evaluate(0)")["A"].elem_offset is None
    )


def test_zero_of_another_dtype_is_kept():
    params = "A: T.Buffer((4,), elem_offset=T.int64(0)), B: T.Buffer((4,), elem_offset=0)"
    text = f"@T.prim_func\ndef f({params}):\n    T.evaluate(0)"
    assert buffers(text)["A"].elem_offset.dtype == INT64
    assert buffers(text)["B"].elem_offset is None
    assert "A: T.Buffer((4,), elem_offset=T.int64(0))" in show(read(text, "m.py")).replace('"float32", ', "").replace(
        ', "float32"', ""
    )


def test_a_stride_that_is_a_string_is_a_variable_of_its_own():
    found = buffers(PARAMETERS)
    assert found["A"].strides[0] is not found["B"].strides[0]
    with pytest.raises(Malformed, match="RM104"):
        read(PARAMETERS.replace("B.strides[0]", "s"), "m.py")
    with pytest.raises(Malformed, match="RM105"):
        read(PARAMETERS.replace('("s", 1)', '("s * 2", 1)'), "m.py")


def test_an_offset_that_nothing_binds_is_no_program():
    text = LAYOUTS.replace("data=A.data)", "data=A.data, offset_factor=1)")
    with pytest.raises(IllFormed, match="RM203"):
        checked(read(text, "m.py"))


def test_layouts():
    found = buffers(LAYOUTS)
    assert [found[name].layout.value for name in "ABC"] == ["none", "none", "default"]
    text = show(read(LAYOUTS, "m.py"))
    assert 'A: T.Buffer((4,), "int32", layout=None)' in text
    assert 'C = T.decl_buffer((2, 2), "int32", data=A.data)' in text  # `A.view(2, 2)` has none, as A has
    schedulable = buffers(LAYOUTS.replace("@T.prim_func", "@T.prim_func(s_tir=True)"))
    assert [schedulable[name].layout.value for name in "ABC"] == ["default"] * 3
    assert buffers(CELL)["x"].layout.value == "row_major"
    assert buffers(CELL.replace("(s_tir=True)", ""))["x"].layout.value == "default"


@pytest.mark.parametrize(("option", "code"), [("layout='HW'", "RM105"), ("buffer_type='auto'", "RM504")])
def test_what_is_not_understood_is_refused_by_name(option, code):
    with pytest.raises(RefmlcError, match=code):
        read(f"@T.prim_func\ndef f(A: T.Buffer((4, 4), 'int32', {option})):\n    T.evaluate(0)", "m.py")


def test_the_kind_of_an_iteration_variable_is_kept():
    assert 'T.iter_var(i, None, "DataPar", "")' in show(read(PRAGMA, "m.py"))
    with pytest.raises(Malformed, match="RM105"):
        read(PRAGMA.replace("DataPar", "Sideways"), "m.py")
