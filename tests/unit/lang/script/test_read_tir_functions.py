"""Functions of TensorIR: parameters, shape variables, attributes, what is refused."""

import pytest
from readings import function, shown, spec

from refmlc.diag import RefmlcError
from refmlc.lang.ir import tir
from refmlc.lang.script import read

OLD = "@T.prim_func"
AB = "A: T.Buffer((8, 8), 'float32'), B: T.Buffer((8,), 'float32'), n: T.int32, h: T.handle"


def test_parameters():
    func = function(
        "C = T.match_buffer(c, (n, 4), 'int8', strides=('s', 1), elem_offset=m, scope='shared', align=128, "
        "offset_factor=8, axis_separators=[1])\nT.evaluate(C.strides[0])",
        "A: T.Buffer((4,)), c: T.handle, n: T.int32, m: T.int64, p: T.handle('float32', 'shared'), q: T.Ptr[T.int8], b: T.bool",  # noqa: E501 - one text
    )
    assert [shown(param) for param in func.params] == [
        *("A_handle:handle", "c:handle", "n:int32", "m:int64", "p:handle", "q:handle", "b:bool")
    ]
    assert [spec(buffer) for buffer in func.buffer_map.values()] == [
        "A:float32(4:int32)",
        "C:int8(n:int32, 4:int32) strides=['s:int32', '1:int32'] offset=m:int64 shared align=128 factor=8 axes=(1,)",
    ]
    assert list(func.buffer_map) == [func.params[0], func.params[1]]
    assert func.params[4].pointer.scope == "shared"
    assert str(func.params[5].pointer.element) == "int8"


def test_shape_variables():
    func = function("n = T.int64()\nT.evaluate(n)", "A: T.Buffer(('n', 'n + 1')), B: T.Buffer((n,)), m: T.int32")
    first, second = func.buffer_map.values()
    assert shown(second.shape[0]) == "n:int64"
    assert first.shape[0] is second.shape[0] is func.body.value
    assert shown(first.shape[1]) == "add:int64(n:int64, 1:int64)"


def test_shape_variable_without_declaration_is_int32():
    func = function("T.evaluate(n)", "A: T.Buffer(('n',), 'float32')")
    assert shown(func.body) == "eval n:int32"


def test_shape_variable_that_is_a_later_parameter():
    func = function("T.evaluate(n)", "A: T.Buffer(('n',), 'float32'), n: T.int64")
    assert next(iter(func.buffer_map.values())).shape[0] is func.params[1]


def test_shape_variable_declared_after_use():
    func = function("A = T.match_buffer(a, (n,))\nn = T.int64()\nT.evaluate(n)", "a: T.handle")
    assert next(iter(func.buffer_map.values())).shape[0] is func.body.value
    assert shown(func.body) == "eval n:int64"


def test_type_var():
    module = read(
        "from typing import TypeVar\nn = TypeVar('n')\n@I.ir_module\nclass M:\n"
        "    @T.prim_func(s_tir=True)\n    def f(A: T.Buffer((n,))):\n        T.evaluate(n)\n"
        "    @T.prim_func(s_tir=True)\n    def g(A: T.Buffer((n,))):\n        T.evaluate(n)\n"
    )
    f, g = module["f"], module["g"]
    assert shown(f.body) == "eval n:int64"
    assert f.body.value is next(iter(f.buffer_map.values())).shape[0]
    assert f.body.value is not g.body.value


def test_options_and_attributes():
    func = function(
        "T.func_attr({'global_symbol': 'f', 'tir.noalias': True, 'target': T.target('llvm', host='llvm')})\n"
        "T.func_attr({'r': T.comm_reducer(lambda x, y: x + y, [T.float32(0)]), 'd': T.int8, 'n': None})\nT.evaluate(0)",
        "",
        "@T.prim_func(s_tir=True, check_well_formed=False)",
    )
    assert set(func.attrs) == {"tirx.noalias", "target", "r", "d", "n"}
    assert func.attrs["target"].config == {"kind": "llvm", "host": "llvm"}
    reducer = func.attrs["r"]
    assert shown(reducer.result[0]) == "add:float32(x:float32, y:float32)"
    assert (func.private, func.s_tir, func.check_well_formed) == (False, True, False)
    func = function("T.func_attr({'global_symbol': 'g'})\nT.evaluate(0)", "", "@T.prim_func(private=True)")
    assert func.attrs == {"global_symbol": "g"}
    assert (func.private, func.s_tir) == (True, False)


def test_old_functions_are_schedulable():
    assert function("with T.block('b'):\n    T.evaluate(0)", "", OLD).s_tir


def test_result_type():
    text = "@T.prim_func\ndef f(n: T.int32) -> T.int32:\n    return n\n@T.prim_func\ndef g() -> None:\n    T.evaluate(f(1))\n"  # noqa: E501 - one text
    module = read(text)
    assert str(module["f"].ret_dtype) == "int32"
    assert module["g"].ret_dtype is None
    assert shown(module["g"].body) == "eval call f:int32(1:int32)"


def test_index_map_and_targets():
    func = function(
        "T.func_attr({'m': T.index_map(lambda i, j: (j, i // 2), inverse_index_map=lambda a, b: (b * 2, a)),\n"
        "  't': T.target({'kind': 'cuda', 'keys': ['gpu'], 'host': {'kind': 'llvm'}})})\nT.evaluate(0)",
        "",
    )
    found = func.attrs["m"]
    assert [shown(item) for item in found.final] == ["j:int32", "floordiv:int32(i:int32, 2:int32)"]
    assert [shown(item) for item in found.inverse.final] == ["mul:int32(b:int32, 2:int32)", "a:int32"]
    assert func.attrs["t"].config["keys"] == ("gpu",)


@pytest.mark.parametrize(
    "attrs",
    [
        *("T.index_map(3)", "T.index_map(lambda *a: a)", "T.comm_reducer(3, [])", "T.target(3)"),
        "T.comm_reducer(lambda x: x, [T.float32(0)])",
    ],
)
def test_refused_attributes(attrs):
    with pytest.raises(RefmlcError, match="RM105"):
        function(f"T.func_attr({{'a': {attrs}}})", "")


def test_preflattened_buffer():
    func = function(
        "A = T.match_buffer(a, [16], dtype='int8')\nT.preflattened_buffer(A, [4, 4], dtype='int8', data=A.data)\nA[3] = 1",  # noqa: E501 - one text
        "a: T.handle",
        OLD,
    )
    assert spec(func.buffer_map[func.params[0]]) == "A:int8(4:int32, 4:int32)"
    assert shown(func.body) == "decl A:int8(16:int32) of A.data ; A[3:int32] = 1:int8"


@pytest.mark.parametrize(
    ("annotation", "expected"),
    [
        ("T.Buffer[(1, 128), 'float32']", "A:float32(1:int32, 128:int32)"),
        ("T.Buffer[128, 'int8']", "A:int8(128:int32)"),
        ("T.Buffer[128]", "A:float32(128:int32)"),
        ("T.Buffer[(1, 2)]", "A:float32(1:int32, 2:int32)"),
        ("T.Buffer[(4,), T.int8]", "A:int8(4:int32)"),
        (
            "T.Buffer[(4,), 'int8', None, (2,), 3, 'shared', 128, 4]",
            "A:int8(4:int32) strides=['2:int32'] offset=3:int32 shared align=128 factor=4",
        ),
        ("T.Buffer(4, 'int8')", "A:int8(4:int32)"),
        ("T.Buffer(('3 * 4',))", "A:float32(12:int32)"),
        ("T.Buffer((4,), elem_offset=0)", "A:float32(4:int32)"),
        ("T.Buffer((4,), elem_offset='o')", "A:float32(4:int32) offset=o:int32"),
        ("T.Buffer((T.int64(4),))", "A:float32(4:int64)"),
    ],
)
def test_buffer_types(annotation, expected):
    func = function("T.evaluate(0)", f"A: {annotation}")
    assert spec(next(iter(func.buffer_map.values()))) == expected


@pytest.mark.parametrize(
    ("params", "code"),
    [
        ("A", "RM103"),
        ("*A", "RM103"),
        ("A: T.int32 = 3", "RM103"),
        ("A: T.int32, B: T.let", "RM105"),
        ("A: T.float32[4]", "RM105"),
        ("A: 3", "RM105"),
        ("A: T.Buffer(('n; m',))", "RM105"),
        ("A: T.Buffer(('n = 3',))", "RM105"),
        ("A: T.Buffer(('(',))", "RM101"),
        ("A: T.Buffer(('f(3)',))", "RM103"),
        ("A: T.Buffer[(4,), 'int8', 0, 0, 0, 0, 0, 0, 0]", "RM105"),
        ("A: T.Buffer()", "RM105"),
        ("A: T.int32x0", "RM105"),
    ],
)
def test_refused_parameters(params, code):
    with pytest.raises(RefmlcError) as caught:
        function("T.evaluate(0)", params)
    assert caught.value.code.id == code


def test_refused_options():
    for decorator in ("@T.prim_func(foo=True)", "@T.prim_func(private=3)"):
        with pytest.raises(RefmlcError, match="RM105"):
            function("T.evaluate(0)", "", decorator)


def test_long_chains_are_not_deep():
    chain = "if n == 0:\n    T.evaluate(0)\n" + "".join(
        f"elif n == {number}:\n    T.evaluate(0)\n" for number in range(1, 400)
    )
    node = function(chain).body
    depth = 0
    while isinstance(node, tir.IfThenElse):
        node, depth = node.else_case, depth + 1
    assert depth == 400
    total = function("T.evaluate(" + " + ".join(["n"] * 1500) + ")").body.value
    depth = 0
    while isinstance(total, tir.Apply):
        total, depth = total.args[0], depth + 1
    assert depth == 1499
