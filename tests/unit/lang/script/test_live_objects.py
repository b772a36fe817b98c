# ruff: noqa: F821, N803, N805, RET504 - TVMScript stands in it
"""Live classes and functions: their source is read, names around them count, nothing of them is executed."""

import inspect
from pathlib import Path
from typing import TypeVar

import numpy as np
import pytest

from refmlc.diag import RefmlcError
from refmlc.lang.dtypes import FLOAT32, INT64, dtype as row
from refmlc.lang.ir import relax, tir
from refmlc.lang.ir.module import IRModule
from refmlc.lang.ir.types import TensorType
from refmlc.lang.script.front import I, R, T, ir_module
from refmlc.lang.script.live import read_live

WIDTH = 128
SHAPE = (1, WIDTH)
ELEMENT = "float32"
WEIGHT = np.arange(6, dtype=np.float32).reshape(2, 3)
n = TypeVar("n")
k = T.int64()


@I.ir_module
class Network:
    @T.prim_func
    def relu(X: T.Buffer[(1, 128), "float32"], Y: T.Buffer(SHAPE, ELEMENT)):
        for i, j in T.grid(1, WIDTH):
            with T.block("Y"):
                vi, vj = T.axis.remap("SS", [i, j])
                Y[vi, vj] = T.max(X[vi, vj], T.float32(0))

    @R.function(pure=False)
    def main(x: R.Tensor((n, k, 4), "float32")):
        cls = Network
        y = R.call_tir(cls.relu, (x,), out_sinfo=R.Tensor(SHAPE, ELEMENT))
        z = R.add(y, R.const(WEIGHT))
        return z


@T.prim_func(private=True)
def doubled(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
    for i in range(4):
        with T.block("B"):
            v = T.axis.spatial(4, i)
            B[v] = A[v] * T.float32(2)


@R.function
def alone(x: R.Tensor((2, 3), "float32")):
    y = R.add(x, R.const(WEIGHT))
    return y


def bindings(function):
    return [binding for block in function.body.blocks for binding in block.bindings]


def test_a_class_is_a_module():
    assert isinstance(Network, IRModule)
    assert Network.name == "Network"
    assert list(Network.functions) == ["relu", "main"]
    assert not Network["main"].pure
    assert isinstance(Network["relu"], tir.PrimFunc)


def test_the_numbers_around_it_count():
    call, add = (binding.value for binding in bindings(Network["main"]))
    assert [dim.value for dim in call.ty_args[0].shape] == [1, 128]
    assert call.ty_args[0].dtype == FLOAT32
    assert np.array_equal(add.args[1].data, WEIGHT)
    extents = [node.extent.value for node in _loops(Network["relu"].body)]
    assert extents == [1, 128]


def _loops(stmt):
    while isinstance(stmt, tir.For):
        yield stmt
        stmt = stmt.body


def test_type_variables_are_shape_variables():
    shape = Network["main"].params[0].ty.shape
    assert [shape[0].name, shape[1].name] == ["n", "k"]
    assert shape[0].dtype == shape[1].dtype == INT64


def test_functions_outside_of_a_class_are_nodes():
    assert isinstance(doubled, tir.PrimFunc)
    assert doubled.private
    assert isinstance(alone, relax.Function)
    assert np.array_equal(bindings(alone)[0].value.args[1].data, WEIGHT)


def test_places_are_those_of_the_file():
    lines = Path(__file__).read_text(encoding="utf-8").split("\n")
    span = bindings(Network["main"])[1].span
    first = next(i for i, line in enumerate(lines) if "z = R.add(y, R.const(WEIGHT))" in line) + 1
    assert (span.source.name, span.line, span.column) == (__file__, first, 8)


def test_names_of_enclosing_functions():
    size = 7
    kind = np.float32
    other = np.dtype("int8")
    third = row("float16")
    pair = [size, {"a": 1}]
    table = {"a": (1, 2)}
    ty = TensorType(None, FLOAT32, 2)
    scalar = np.int32(5)

    @ir_module
    class Inner:
        @R.function
        def main(x: R.Tensor((2,), "float32")):
            a = R.zeros((size, scalar), kind)
            b = R.op(a, p=pair, t=table, d=other, e=third)
            c: ty = R.op(b)
            return c

    a, b, c = bindings(Inner["main"])
    assert [dim.value for dim in a.value.args[0].values] == [7, 5]
    assert a.value.attrs == {"dtype": FLOAT32}
    assert b.value.attrs == {"p": (7, {"a": 1}), "t": {"a": (1, 2)}, "d": row("int8"), "e": row("float16")}
    assert c.var.ty is ty


def test_functions_around_join_the_module():
    external = relax.ExternFunc("env.relu")

    @I.ir_module
    class Joined:
        @R.function
        def main(x: R.Tensor((4,), "float32")):
            y = R.call_tir(doubled, (x,), out_sinfo=R.Tensor((4,), "float32"))
            z = external(y)
            return z

    assert list(Joined.functions) == ["main", "doubled", "external"]
    assert Joined["doubled"] is doubled
    call = bindings(Joined["main"])[0].value
    assert isinstance(call.args[0], tir.GlobalVar)
    assert call.args[0].name == "doubled"


def test_what_numpy_reads_as_an_array_is_one():
    class Reading:
        def __array__(self, dtype=None, copy=None):
            return np.ones(2, np.float32)

    weight = Reading()

    @R.function
    def f(x: R.Tensor((2,), "float32")):
        y = R.add(x, R.const(weight))
        return y

    assert bindings(f)[0].value.args[1].data.tolist() == [1.0, 1.0]


def test_arrays_of_numpys_default_dtypes_are_narrowed():
    whole, real, small = np.arange(2), np.array([0.1, 2.0]), np.array([1, 2], np.int8)

    @R.function
    def f(x: R.Tensor((2,), "float32")):
        a = R.op(R.const(whole), R.const(real), R.const(small), R.const(real, "float16"), whole)
        return a

    constants = bindings(f)[0].value.args
    assert [str(one.dtype) for one in constants] == ["int32", "float32", "int8", "float16", "int32"]
    assert constants[1].data.tolist() == [float(np.float32(0.1)), 2.0]
    assert constants[3].data.tolist() == [float(np.float16(0.1)), 2.0]


def test_a_constant_does_not_follow_its_array():
    mine = np.zeros(2, np.float32)

    @R.function
    def f(x: R.Tensor((2,), "float32")):
        a = R.add(x, R.const(mine))
        return a

    mine[:] = 1
    assert bindings(f)[0].value.args[1].data.tolist() == [0.0, 0.0]


def test_other_objects_have_no_meaning():
    thing = object()
    holder = [thing]
    table = {"a": thing}
    words = np.array(["a"])
    for text in ("thing", "holder", "table", "inspect", "late"):
        with pytest.raises(RefmlcError, match="RM104"):
            _refused(text, thing, holder, table)
    with pytest.raises(RefmlcError, match="RM106"):

        @R.function
        def f(x: R.Tensor((2,), "float32")):
            a = R.op(R.const(words))
            return a


def _refused(text, thing, holder, table):
    match text:
        case "thing":

            @R.function
            def f(x: R.Any):
                a = R.op(thing)
                return a

        case "holder":

            @R.function
            def f(x: R.Any):
                a = R.op(holder)
                return a

        case "table":

            @R.function
            def f(x: R.Any):
                a = R.op(table)
                return a

        case "inspect":

            @R.function
            def f(x: R.Any):
                a = R.op(inspect)
                return a

        case _:

            @R.function
            def f(x: R.Any):
                a = R.op(late)
                return a

            late = 3
            return late
    return f


def test_an_undecorated_class_is_refused():
    class Plain:
        @R.function
        def main(x: R.Any):
            return x

    with pytest.raises(RefmlcError, match="RM103"):
        read_live(Plain)


def test_a_class_without_functions_is_found_by_its_line():
    @I.ir_module
    class Empty:
        """Nothing."""

    assert dict(Empty.functions) == {}


def test_names_may_be_defined_twice_in_a_file():
    @I.ir_module
    class Twice:
        @R.function
        def first(x: R.Any):
            return x

    one = Twice

    @I.ir_module
    class Twice:
        @R.function
        def second(x: R.Any):
            return x

    assert (list(one.functions), list(Twice.functions)) == (["first"], ["second"])


def test_code_without_a_source():
    space = {"R": R, "I": I}
    for text in ("@R.function\ndef f(x: R.Any):\n    return x\n", "@I.ir_module\nclass M:\n    pass\n"):
        with pytest.raises(RefmlcError, match="RM109") as caught:
            exec(compile(text, "<nowhere>", "exec"), space)  # noqa: S102 - what people do
        assert caught.value.diagnostic.helps


def test_a_source_that_changed(tmp_path, monkeypatch):
    file = tmp_path / "changing_module.py"
    text = "from refmlc.lang.script.front import R\ndef f(x: R.Any):\n    return x\n"
    code = compile(text, str(file), "exec")
    file.write_text("x = 1\n", encoding="utf-8")
    space: dict = {}
    exec(code, space)  # noqa: S102 - a file that is edited while it is loaded
    with pytest.raises(RefmlcError, match="RM109"):
        read_live(space["f"])


@pytest.mark.parametrize(
    "use",
    [
        lambda: I.ir_module(3),
        lambda: T.prim_func(3),
        lambda: R.function(int),
        lambda: ir_module(int, int),
        lambda: read_live(3),
    ],
)
def test_what_cannot_be_decorated(use):
    with pytest.raises(RefmlcError, match="RM112"):
        use()


def test_names_of_the_language_are_inert():
    anything = T.Buffer((n, 4), "float32")[0].data + 3 * T.float32(1) - (-T.int64()) ** 2 // T.x % 3
    assert repr(anything) == "…"
    assert repr(T.axis.remap) == "T.axis.remap"
    assert T.Buffer[(1,), "float32"].path == ""
    assert (T.int64() < 3).path == ""
    with pytest.raises(TypeError):
        list(T.Buffer)
    with pytest.raises(AttributeError):
        T.__wrapped__  # noqa: B018 - inspect asks for such names
