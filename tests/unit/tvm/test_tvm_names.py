"""The course's API by its own names: nodes, types, operators, devices, and what is said of the rest."""

import warnings

import numpy as np
import pytest

import refmlc
from refmlc import tvm
from refmlc.diag import RefmlcError
from refmlc.lang.dtypes import FLOAT32
from refmlc.lang.ir import IRModule, relax as nodes, tir
from refmlc.lang.ir.types import TensorType
from refmlc.lang.library import OPERATORS
from refmlc.tvm import relax, te, topi
from refmlc.tvm.relax.graph_op import FUNCTIONS
from refmlc.tvm.script import relax as R, tir as T  # noqa: N812 - as chapters name them


def te_double(a):
    return te.compute(a.shape, lambda *i: a(*i) * 2, name="double")


def built(emit):
    """The module whose `main` is what `emit` makes of the builder and a 2 x 3 parameter."""
    builder = relax.BlockBuilder()
    x = relax.Var("x", (2, 3), relax.DynTensorType(2, "float32"))
    with builder.function("main", [x]):
        with builder.dataflow():
            out = builder.emit_output(emit(builder, x))
        builder.emit_func_output(out)
    return builder.get()


X = np.array([[1, -2, 3], [-4, 5, -6]], "float32")


def test_variables_of_2022_and_of_today_are_the_same_node():
    old = relax.Var("x", (2, 3), relax.DynTensorType(2, "float32"))
    new = relax.Var("x", relax.TensorStructInfo((2, 3), "float32"))
    assert isinstance(old.ty, TensorType)
    assert [one.value for one in old.ty.shape] == [one.value for one in new.ty.shape] == [2, 3]
    assert old.ty.dtype == new.ty.dtype == FLOAT32


def test_classes_hold_nodes():
    seen = []

    def emit(builder, x):
        seen.append(builder.emit(relax.op.nn.relu(x)))
        return seen[0]

    built(emit)
    (var,) = seen
    assert isinstance(var, relax.Var)
    assert isinstance(var, relax.DataflowVar)
    assert isinstance(var, relax.Expr)
    assert not isinstance(var, relax.Constant)
    assert not isinstance(relax.Var("x", relax.ShapeStructInfo([1])), relax.DataflowVar)
    assert isinstance(IRModule({}), tvm.IRModule)
    assert isinstance(IRModule({}), tvm.ir.IRModule)
    assert isinstance(relax.ShapeExpr([1, 2]), nodes.ShapeExpr)
    assert isinstance(tvm.tir.Var("n", "int64"), tir.Var)


def test_what_is_only_read_cannot_be_made():
    with pytest.raises(RefmlcError) as raised:
        relax.SeqExpr([], None)
    assert raised.value.code.id == "RM112"


@pytest.mark.parametrize(
    ("value", "dtype", "wanted"),
    [
        (1, None, "int32"),
        (1.5, None, "float32"),
        (np.float64(1.5), None, "float64"),
        ([1, 2], "float16", "float16"),
        (np.ones((2, 2)), "float32", "float32"),
    ],
)
def test_constants_have_tvms_dtypes(value, dtype, wanted):
    assert str(relax.const(value, dtype).dtype) == wanted


def test_a_constant_of_another_rank_is_refused():
    with pytest.raises(RefmlcError) as raised:
        relax.const(np.ones((2, 2), "float32"), relax.DynTensorType(1, "float32"))
    assert raised.value.code.id == "RM105"


# ------------------------------------------------------------------------------------------------ operators


def run(module, *args):
    return relax.VirtualMachine(tvm.compile(module, tvm.target.Target("llvm", host="llvm")), tvm.cpu())["main"](*args)


@pytest.mark.parametrize(
    ("emit", "wanted"),
    [
        (lambda b, x: relax.op.relu(x), np.maximum(X, 0)),
        (lambda b, x: relax.op.add(x, x), X + X),
        (lambda b, x: relax.op.add(x, relax.const(1.0)), X + 1),
        (lambda b, x: relax.op.sum(x, axis=1), X.sum(axis=1)),
        (lambda b, x: relax.op.sum(x, [0], True), X.sum(axis=0, keepdims=True)),
        (lambda b, x: relax.op.permute_dims(x, [1, 0]), X.T),
        (lambda b, x: relax.op.concat([x, x], axis=0), np.concatenate([X, X])),
        (lambda b, x: relax.op.dense(x, relax.const(X)), X @ X.T),
        (lambda b, x: b.emit_te(topi.nn.dense, x, x), X @ X.T),
        (lambda b, x: b.emit_te(topi.add, x, x), X + X),
        (lambda b, x: b.emit_te(topi.transpose, x, [1, 0]), X.T),
        (lambda b, x: b.emit_te(topi.add, x, 1), X + 1),
        (lambda b, x: b.emit_te(te_double, x), X * 2),
    ],
)
def test_operators_as_calls_and_as_functions_of_tensor_expressions(emit, wanted):
    np.testing.assert_array_equal(run(built(emit), X).numpy(), wanted)


def test_every_operator_has_a_maker():
    for name, operator in OPERATORS.items():
        if operator.reason:
            with pytest.raises(AttributeError, match="is not covered"):
                operator_of(name)
        elif name not in FUNCTIONS:
            assert operator_of(name).operator is operator


def operator_of(name):
    found = relax.op
    for part in name.split("."):
        found = getattr(found, part)
    return found


def test_functions_of_topi_are_called_by_their_name():
    module = built(lambda b, x: b.emit_te(topi.nn.relu, x))
    assert list(module.functions) == ["relu", "main"]


@pytest.mark.parametrize(
    "call",
    [
        lambda x: relax.op.add(x),
        lambda x: relax.op.sum(x, axis=1, foo=2),
        lambda x: relax.op.add(x, x, x),
        lambda x: relax.op.add(x, "three"),
    ],
)
def test_wrong_arguments_are_refused(call):
    with pytest.raises(RefmlcError) as raised:
        built(lambda b, x: b.emit(call(x)))
    assert raised.value.code.id in ("RM105", "RM206")


# -------------------------------------------------------------------------------------- building and running


@tvm.script.ir_module
class Doubling:
    @T.prim_func
    def double(x: T.handle, y: T.handle):
        n = T.int64()
        X = T.match_buffer(x, (n,), "float32")
        Y = T.match_buffer(y, (n,), "float32")
        for i in range(n):
            with T.block("Y"):
                vi = T.axis.remap("S", [i])
                Y[vi] = X[vi] * T.float32(2)

    @R.function
    def main(x: R.Tensor(("n",), "float32")):
        n = T.int64()
        with R.dataflow():
            out = R.call_dps_packed("double", (x,), R.Tensor((n,), "float32"))
            R.output(out)
        return out


def test_what_tvm_deduces_is_deduced():
    text = Doubling.script(dialect="2023")
    assert "T.reads(X[vi])" in text
    assert "T.writes(Y[vi])" in text
    assert '-> R.Tensor(("n",), dtype="float32")' in text


@pytest.mark.parametrize("build", [tvm.build, tvm.compile, relax.build, relax.vm.build])
def test_every_build_gives_the_same(build):
    machine = relax.VirtualMachine(build(Doubling, target="llvm"), tvm.cpu())
    assert machine["main"](tvm.nd.array(np.array([1, 2], "float32"))).numpy().tolist() == [2, 4]


def test_an_executable_is_called_by_function():
    built_module = tvm.build(Doubling["double"], target="llvm")
    out = tvm.nd.empty((2,))
    built_module["main"](tvm.runtime.tensor(np.array([1, 2], "float32")), out)
    assert out.numpy().tolist() == [2, 4]
    built_module(tvm.runtime.tensor(np.array([3, 4], "float32")), out)
    assert str(out) == "[6. 8.]"


def test_types_as_the_language_says_them():
    n = tvm.tir.Var("n", "int64")
    var = relax.Var("x", R.Tensor((n, 4), "float32"))
    assert isinstance(var.ty, TensorType)
    assert var.ty.shape[0] is n
    assert isinstance(relax.Var("s", R.Shape([n])), relax.Var)


def test_calls_of_functions():
    builder = relax.BlockBuilder()
    x = relax.Var("x", R.Tensor((3,), "float32"))
    callee = builder.add_func(Doubling["double"], "double")
    with builder.function("main", [x]):
        with builder.dataflow():
            y = builder.emit(relax.call_tir(callee, (x,), R.Tensor((3,), "float32")))
            z = builder.emit(relax.op.call_dps_packed("test.tvm.plus", [y], relax.TensorStructInfo((3,), "float32")))
            out = builder.emit_output(z)
        builder.emit_func_output(out)
    tvm.register_func("test.tvm.plus", plus, override=True)
    assert run(builder.get(), np.arange(3, dtype="float32")).numpy().tolist() == [1, 3, 5]
    with pytest.raises(RefmlcError):
        relax.call_tir(callee, (x,), (3,))


def plus(a, b):
    np.add(a.numpy(), 1, out=b.numpy())


def test_a_module_of_one_function():
    assert list(tvm.IRModule.from_expr(Doubling["double"]).functions) == ["main"]


def test_times_are_measured():
    times = tvm.build(Doubling).time_evaluator("main", tvm.cpu(), number=2, repeat=3)(np.ones(4, "float32"))
    assert len(times.results) == 3
    assert 0 < times.min <= times.mean <= times.max


@pytest.mark.parametrize("target", ["cuba", {"kind": "metall"}, {"tag": "nvidia"}, 3])
def test_what_is_no_target_is_refused(target):
    with pytest.raises(RefmlcError) as raised:
        tvm.build(Doubling, target=target)
    assert raised.value.code.id == "RM112"


@pytest.mark.parametrize(
    ("target", "kind"),
    [("cuda", "cuda"), ("cuda -arch=sm_80", "cuda"), ({"kind": "metal"}, "metal"), ("nvidia/tesla-p100", "cuda")],
)
def test_targets_of_other_devices_are_executed_on_the_cpu_with_one_warning(target, kind):
    with pytest.warns(
        UserWarning, match=f"`{kind}` is executed on the CPU: results are checked, times are those"
    ) as seen:
        built_for = tvm.build(Doubling, target=target)
    assert len(seen) == 1
    assert built_for["main"](np.ones(4, "float32")).numpy().tolist() == [2.0] * 4


def test_devices_have_their_own_names():
    assert [str(tvm.cuda(1)), str(tvm.metal()), str(tvm.device("cuda")), str(tvm.cpu())] == [
        "cuda(1)", "metal(0)", "cuda(0)", "cpu(0)",
    ]  # fmt: skip
    assert [tvm.cuda().exist, tvm.cpu().exist] == [False, True]
    with pytest.raises(RefmlcError, match="no device `tpu`"):
        tvm.device("tpu")


def test_bound_parameters():
    module = built(lambda b, x: relax.op.add(x, x))
    bound = relax.transform.BindParams("main", {"x": X})(module)
    assert run(bound).numpy().tolist() == (X + X).tolist()
    assert "call_tir" in relax.transform.LegalizeOps()(bound).script()


def leaking():
    builder = relax.BlockBuilder()
    x = relax.Var("x", (2, 3), relax.DynTensorType(2, "float32"))
    with builder.function("main", [x]):
        with builder.dataflow():
            inner = builder.emit(relax.op.add(x, x))
            builder.emit_output(inner)
        builder.emit_func_output(inner)
    return builder.get()


@pytest.mark.parametrize("build", [tvm.build, tvm.compile, relax.build, relax.vm.build])
def test_a_variable_that_leaves_its_block_is_let_out_as_tvm_does(build):
    """TVM 0.27 compiles and runs it; its `well_formed` and `refmlc.build` refuse it."""
    with pytest.warns(UserWarning, match="`lv` of `main`"):
        executable = build(leaking(), target="llvm")
    assert relax.VirtualMachine(executable, tvm.cpu())["main"](X).numpy().tolist() == (X + X).tolist()
    with pytest.raises(RefmlcError) as raised:
        refmlc.build(leaking())
    assert raised.value.code.id == "RM204"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        relax.vm.build(Doubling, target="llvm")


def test_packed_functions():
    @tvm.register_func("test.tvm.negate", override=True)
    def negate(x: tvm.nd.NDArray, out: tvm.runtime.Tensor):
        np.negative(x.numpy(), out=out.numpy())

    @tvm.script.ir_module
    class Negating:
        @R.function
        def main(x: R.Tensor((2,), "float32")):
            with R.dataflow():
                out = R.call_dps_packed("test.tvm.negate", (x,), R.Tensor((2,), "float32"))
                R.output(out)
            return out

    assert run(Negating, np.array([1, 2], "float32")).numpy().tolist() == [-1, -2]
    assert tvm.get_global_func("test.tvm.negate") is not None


def test_a_schedule():
    schedule = tvm.tir.Schedule(te.create_prim_func([a := te.placeholder((16,), name="A"), te_double(a)]))
    block = schedule.get_block("double")
    (i,) = schedule.get_loops(block)
    outer, inner = schedule.split(i, factors=[None, 4])
    schedule.parallel(outer)
    schedule.vectorize(inner)
    assert tvm.s_tir.Schedule is tvm.tir.Schedule
    out = tvm.nd.empty((16,))
    tvm.build(schedule.mod, target="llvm")["main"](np.arange(16, dtype="float32"), out)
    tvm.testing.assert_allclose(out.numpy(), np.arange(16) * 2)


# ------------------------------------------------------------------------------------------- what is not there


@pytest.mark.parametrize(
    ("module", "name"),
    [
        (tvm, "micro"),
        (tvm, "hexagon"),
        (relax, "PyExprFoo"),
        (relax.op, "no_such_operator"),
        (relax.op.nn, "no_such_operator"),
        (relax.transform, "NoSuchPass"),
        (relax.vm, "nothing"),
        (relax.expr, "nothing"),
        (relax.frontend, "nothing"),
        (relax.frontend.torch, "nothing"),
        (topi, "nothing"),
        (topi.nn, "nothing"),
        (te, "nothing"),
        (tvm.tir, "nothing"),
        (tvm.tirx, "nothing"),
        (tvm.s_tir, "nothing"),
        (tvm.nd, "nothing"),
        (tvm.runtime, "nothing"),
        (tvm.target, "nothing"),
        (tvm.testing, "nothing"),
        (tvm.ir, "nothing"),
        (tvm.transform, "nothing"),
        (tvm.script, "nothing"),
    ],
)
def test_a_name_that_is_not_there_is_said_once(module, name):
    with pytest.raises(AttributeError, match=f"{name}` is not covered"):
        getattr(module, name)
    assert not hasattr(module, name)
