"""Modules built by program: the course's module, names, types at each step, sharing, misuse."""

import numpy as np
import pytest

import refmlc
from refmlc.diag import RefmlcError
from refmlc.lang import te
from refmlc.lang.builder import BlockBuilder
from refmlc.lang.dtypes import FLOAT32, INT64
from refmlc.lang.ir import relax, tir
from refmlc.lang.ir.equal import first_difference
from refmlc.lang.ir.types import TensorType, TupleType
from refmlc.lang.wellformed.reader_checks import checked

N, M = tir.Var("n", INT64), tir.Var("m", INT64)

COURSE = """
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def te_matmul(A: T.Buffer((T.int64(8), T.int64(4)), "float32"), B: T.Buffer((T.int64(4), T.int64(6)), "float32"),
                  matmul: T.Buffer((T.int64(8), T.int64(6)), "float32")):
        T.func_attr({"tirx.noalias": True})
        for i, j, k in T.grid(T.int64(8), T.int64(6), T.int64(4)):
            with T.sblock("matmul"):
                v_i, v_j, v_k = T.axis.remap("SSR", [i, j, k])
                T.reads(A[v_i, v_k], B[v_k, v_j])
                T.writes(matmul[v_i, v_j])
                with T.init():
                    matmul[v_i, v_j] = T.float32(0.0)
                matmul[v_i, v_j] = matmul[v_i, v_j] + A[v_i, v_k] * B[v_k, v_j]

    @T.prim_func(private=True, s_tir=True)
    def te_relu(lv: T.Buffer((T.int64(8), T.int64(6)), "float32"), relu: T.Buffer((T.int64(8), T.int64(6)), "float32")):
        T.func_attr({"tirx.noalias": True})
        for i0, i1 in T.grid(T.int64(8), T.int64(6)):
            with T.sblock("relu"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(lv[v_i0, v_i1])
                T.writes(relu[v_i0, v_i1])
                relu[v_i0, v_i1] = T.max(lv[v_i0, v_i1], T.float32(0.0))

    @R.function
    def main(A: R.Tensor((8, 4), "float32"), B: R.Tensor((4, 6), "float32")) -> R.Tensor((8, 6), "float32"):
        cls = Module
        with R.dataflow():
            lv = R.call_tir(cls.te_matmul, (A, B), out_ty=R.Tensor((8, 6), "float32"))
            lv1 = R.call_tir(cls.te_relu, (lv,), out_ty=R.Tensor((8, 6), "float32"))
            gv: R.Tensor((8, 6), "float32") = lv1
            R.output(gv)
        return gv
"""


def variable(name, *shape, dtype=FLOAT32):
    return relax.Var(name, TensorType(tuple(tir.IntImm(INT64, d) if isinstance(d, int) else d for d in shape), dtype))


def te_matmul(a, b):
    k = te.reduce_axis((0, a.shape[1]), "k")
    return te.compute((a.shape[0], b.shape[1]), lambda i, j: te.sum(a[i, k] * b[k, j], axis=k), name="matmul")


def te_relu(a):
    return te.compute(a.shape, lambda *i: te.max(a(*i), 0), name="relu")


def exp(x):
    return relax.Call(relax.Op("exp"), (x,))


def add(x, y):
    return relax.Call(relax.Op("add"), (x, y))


def course(*, early):
    a, b = variable("A", 8, 4), variable("B", 4, 6)
    builder = BlockBuilder()
    with builder.function("main", params=[a, b] if early else None):
        with builder.dataflow():
            c = builder.emit_te(te_matmul, a, b)
            d = builder.emit_te(te_relu, c)
            out = builder.emit_output(d)
        builder.emit_func_output(out, params=None if early else [a, b])
    return builder.get()


@pytest.mark.parametrize("early", [True, False])
def test_the_module_is_the_courses(early):
    module = course(early=early)
    assert first_difference(module, refmlc.read(COURSE)) is None
    checked(module)
    x, y = np.arange(32, dtype="float32").reshape(8, 4) - 16, np.ones((4, 6), "float32")
    out = refmlc.VirtualMachine(refmlc.build(module))["main"](x, y)
    assert (out.numpy() == np.maximum(x @ y, 0)).all()


def test_nested_calls_are_bound_one_by_one_with_their_types():
    x, builder = variable("x", N, 4), BlockBuilder()
    with builder.function("main", [x]):
        with builder.dataflow():
            y = builder.emit(add(x, exp(exp(x))))
            assert y.dataflow
            assert y.name == "lv2"
            assert y.ty.shape[0] is N
            z = builder.emit_output((y, x))
        last = builder.emit(relax.TupleGetItem(z, 0), name_hint="last")
        builder.emit_func_output([last, builder.emit(exp(last))])
    module = checked(builder.get())
    text = module.script()
    assert [line.strip().split(":")[0] for line in text.splitlines() if " = R." in line] == ["lv", "lv1", "lv2", "gv1"]
    assert isinstance(module["main"].ret_ty, TupleType)
    assert isinstance(builder.lookup_binding(y), relax.Call)
    assert builder.lookup_binding(x) is None


def test_equal_functions_are_shared_and_others_are_numbered():
    x, y, builder = variable("x", 8), variable("y", 9), BlockBuilder()
    with builder.function("main", [x, y]):
        for one in (x, x, y):
            out = builder.emit_te(te_relu, one)
        builder.emit_func_output(out)
    assert list(builder.get().functions) == ["te_relu", "te_relu1", "main"]


def test_a_cast_binds_sizes_that_later_functions_use():
    x, builder = relax.Var("x", TensorType(None, FLOAT32, 1)), BlockBuilder()
    with builder.function("main", [x]):
        y = builder.match_cast(x, TensorType((M,), FLOAT32))
        twice = builder.emit_te(
            lambda a: te.compute((a.shape[0] * 2,), lambda i: a[i // 2] + te.cast(a.shape[0], "float32"), name="twice"),
            y, primfunc_name_hint="twice",
        )  # fmt: skip
        builder.emit_func_output(twice)
    machine = refmlc.VirtualMachine(refmlc.build(checked(builder.get())))
    assert machine["main"](np.array([1, 5], "float32")).numpy().tolist() == [3, 3, 7, 7]


def emitting(action):
    x, builder = variable("x", 8), BlockBuilder()
    with builder.function("main", [x]):
        action(builder, x)
        builder.emit_func_output(x)
    return builder


def nested_dataflow(builder, _x):
    with builder.dataflow(), builder.dataflow():
        pass


@pytest.mark.parametrize(
    ("misuse", "code", "text"),
    [
        (lambda: BlockBuilder().emit(exp(variable("x", 8))), "RM112", "outside a function"),
        (lambda: emitting(lambda b, x: b.emit_output(x)), "RM112", "outside a dataflow block"),
        (lambda: emitting(nested_dataflow), "RM112", "inside a dataflow block"),
        (lambda: emitting(lambda b, x: b.emit_func_output(x, [x])), "RM112", "given twice"),
        (lambda: emitting(lambda b, x: b.emit_func_output(x)), "RM112", "after the output"),
        (lambda: emitting(lambda b, _x: b.get()), "RM112", "is not finished"),
        (lambda: emitting(lambda b, x: b.emit(add(x, variable("y", 9)))), "RM202", "8 is not 9"),
        (lambda: emitting(lambda b, _x: b.emit(3)), "RM112", "this is int"),
        (lambda: emitting(lambda b, x: b.emit_te(lambda _a: 3, x)), "RM105", "gives int"),
        (lambda: emitting(lambda b, _x: b.emit_te(te_relu, relax.Var("u", None))), "RM201", "of `u` is not known"),
    ],
)  # fmt: skip
def test_misuse_is_told(misuse, code, text):
    with pytest.raises(RefmlcError) as found:
        misuse()
    assert found.value.code.id == code
    assert text in found.value.diagnostic.message


def test_a_function_needs_an_output():
    builder = BlockBuilder()
    with pytest.raises(RefmlcError, match="has no output"), builder.function("main", []):
        pass
    with pytest.raises(RefmlcError, match="has no parameters"), builder.function("main"):
        builder.emit_func_output(relax.Tuple(()))
