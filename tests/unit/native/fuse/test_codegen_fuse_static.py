"""Functions and runs made for dimensions that are known."""

import numpy as np
import pytest
from fused_runs import ADD, SCATTER, SPLIT, TWICE, F, execute, module, plan, values_of

from refmlc.lang.ir import IRModule, tir
from refmlc.lang.ir.visit import walk
from refmlc.lang.ops.evaluate import known
from refmlc.native.emit import emit_module
from refmlc.native.fuse import fuse_static, with_dims
from refmlc.native.options import Options
from refmlc.native.unit import Status
from refmlc.run.interp.machine import Machine

X = {"x": F, "y": F}
FIVE = np.arange(5, dtype=np.float32)


def call(name, args, out=F, extra=""):
    return f"R.call_tir(cls.{name}, ({args},), out_sinfo={out}{extra})"


def static_plan(mod, **dims):
    run = plan(mod)[0].runs[0]
    values = values_of(run, dims)
    return fuse_static(mod, emit_module(mod, Options()), run, lambda expr: known(expr, values), Options())


@pytest.mark.needs("compiler")
@pytest.mark.parametrize("size", [0, 1, 5, 100])
def test_the_same_comes_out(size):
    body = [
        f"t = {call('split', 'x', f'[{F}, {F}]')}",
        "a = t[0]",
        f"b = {call('twice', 'a')}",
        f"c = {call('add', 'b, y')}",
    ]
    mod = module(ADD + TWICE + SPLIT, X, body, "b, c", "(b, c)")
    x = np.arange(size, dtype=np.float32)
    ran = execute(mod, {"x": x, "y": 3 * x}, n=size, static=True)
    assert ran.status is Status.DONE
    assert np.array_equal(ran.outputs["b"], 2 * x + 2)
    assert np.array_equal(ran.outputs["c"], 5 * x + 2)


@pytest.mark.needs("compiler")
def test_checks_stay():
    mod = module(SCATTER, {"x": F, "p": 'R.Tensor((n,), "int64")'}, [f"a = {call('scatter', 'x, p')}"], "a")
    order = np.array([3, 1, 4, 0, 2])
    assert execute(mod, {"x": FIVE, "p": order}, n=5, static=True).outputs["a"].tolist() == [3, 1, 4, 0, 2]
    for wrong in ([3, 1, 4, 0, 5], [3, 1, 4, 0, 3]):
        ran = execute(mod, {"x": FIVE, "p": np.array(wrong)}, n=5, static=True)
        assert (ran.status, ran.call) == (Status.CHECK_FAILED, 1)


def test_nothing_is_left_to_be_passed():
    body = [f"a = {call('add', 'x, y')}", f"b = {call('twice', 'a')}", f"c = {call('twice', 'b')}"]
    made = static_plan(module(ADD + TWICE, X, body, "c"), n=7)
    (run,) = made.runs
    assert (run.numbers, run.equal) == ((), ())
    assert [operand.value.name for operand in (*run.inputs, *run.outputs)] == ["x", "y", "c"]
    assert (run.start, run.stop) == (0, 3)
    assert [extent.value for operand in run.inputs for extent in operand.shape] == [7, 7]
    assert made.text.count("int64_t f") == 2  # one `add`, one `twice` for both calls
    assert run.workspace.value == 128


def test_one_function_for_each_shape_it_is_called_with():
    small = 'R.Tensor((3,), "float32")'
    body = [f"a = {call('twice', 'x')}", f"b = {call('twice', 'z', small)}"]
    made = static_plan(module(TWICE, {"x": F, "z": small}, body, "a, b", "(a, b)"), n=7)
    assert made.runs[0].calls == ("twice_7", "twice_3")


def test_a_dimension_without_a_value_gives_no_plan():
    assert static_plan(module(TWICE, {"x": F}, [f"a = {call('twice', 'x')}"], "a")) is None


@pytest.mark.needs("compiler")
def test_numbers_that_do_not_fit_give_no_plan():
    scale = """
    @T.prim_func(private=True)
    def scale(a: T.handle, by: T.int32, c: T.handle):
        n = T.int64()
        A = T.match_buffer(a, (n,), "float32")
        C = T.match_buffer(c, (n,), "float32")
        for i in range(n):
            C[i] = A[i] * T.Cast("float32", by)
"""
    mod = module(scale, {"x": F}, [f"a = {call('scale', 'x, R.prim_value(n * 1000000000)')}"], "a")
    assert execute(mod, {"x": FIVE[:2]}, n=2, static=True).outputs["a"].tolist() == [0, 2e9]
    assert static_plan(mod, n=3) is None


def test_a_function_with_its_dimensions_is_the_function():
    """Interpreted: the same results on that shape, and no variable is left."""
    tail = """
    @T.prim_func(private=True)
    def tail(a: T.handle, c: T.handle):
        n = T.int64()
        A = T.match_buffer(a, (n * 2,), "float32")
        C = T.match_buffer(c, (n,), "float32")
        for i in range(n):
            C[i] = A[n + i]
"""
    mod = module(tail + TWICE, {"x": F}, [f"a = {call('twice', 'x')}"], "a")
    func = mod.functions["tail"]
    (n,) = {node for node in walk(func) if isinstance(node, tir.Var) and node.name == "n"}
    made = with_dims(func, {n: 3})
    shapes = [[extent.value for extent in buffer.shape] for buffer in made.buffer_map.values()]
    assert shapes == [[6], [3]]
    assert not any(node is n for node in walk(made))
    given, out = np.arange(6, dtype=np.float32), np.zeros(3, np.float32)
    Machine(IRModule({"tail": made})).call("tail", [given, out])
    assert out.tolist() == [3, 4, 5]
