"""What fused functions compute, and how they end."""

import numpy as np
import pytest
from fused_runs import ADD, INCREASE, SCATTER, SPLIT, TWICE, F, execute, module, plan

from refmlc.lang.ops.evaluate import known
from refmlc.native.unit import Status

pytestmark = pytest.mark.needs("compiler")

X = {"x": F, "y": F}
FIVE = np.arange(5, dtype=np.float32)


def call(name, args, out=F, extra=""):
    return f"R.call_tir(cls.{name}, ({args},), out_sinfo={out}{extra})"


@pytest.mark.parametrize("size", [0, 1, 5, 100])
def test_calls_hand_over_what_they_made(size):
    """(x + y) * 2 + (x + y) and, beside it, what was between."""
    body = [f"a = {call('add', 'x, y')}", f"b = {call('twice', 'a')}", f"c = {call('add', 'a, b')}"]
    mod = module(ADD + TWICE, X, body, "b, c", "(b, c)")
    x = np.arange(size, dtype=np.float32)
    ran = execute(mod, {"x": x, "y": x + 1}, n=size)
    assert ran.status is Status.DONE
    assert np.array_equal(ran.outputs["b"], 4 * x + 2)
    assert np.array_equal(ran.outputs["c"], 6 * x + 3)


def test_a_long_chain_in_two_places():
    body = [f"v{number + 1} = {call('add', f'v{number}, x')}" for number in range(9)]
    mod = module(ADD, {"x": F, "v0": F}, body, "v9")
    (run,) = plan(mod)[0].runs
    n = next(iter(run.inputs[0].shape))
    assert known(run.workspace, {n: 100}) == 2 * 448
    assert known(run.allocated, {n: 100}) == 9 * 400
    assert np.array_equal(execute(mod, {"x": FIVE, "v0": FIVE}, n=5).outputs["v9"], 10 * FIVE)


def test_shapes_that_are_numbers_need_no_parameters():
    five = 'R.Tensor((5,), "float32")'
    body = [f"a = {call('add', 'x, y', five)}", f"b = {call('twice', 'a', five)}"]
    mod = module(ADD + TWICE, {"x": five, "y": five}, body, "b")
    (run,) = plan(mod)[0].runs
    assert run.numbers == ()
    assert np.array_equal(execute(mod, {"x": FIVE, "y": FIVE}).outputs["b"], 4 * FIVE)


def test_outputs_of_one_call_go_different_ways():
    body = [f"t = {call('split', 'x', f'[{F}, {F}]')}", "a = t[0]", "b = t[1]", f"c = {call('twice', 'b')}"]
    ran = execute(module(SPLIT + TWICE, {"x": F}, body, "a, c", "(a, c)"), {"x": FIVE}, n=5)
    assert np.array_equal(ran.outputs["a"], FIVE + 1)
    assert np.array_equal(ran.outputs["c"], 2 * FIVE - 2)


def test_in_place_calls_write_into_the_tensor_that_goes_on():
    inplace = f"R.call_tir_inplace(cls.increase, (a,), inplace_indices=[0], out_sinfo={F})"
    body = [f"a = {call('add', 'x, y')}", f"b = {inplace}", f"c = {call('add', 'a, b')}"]
    ran = execute(module(ADD + INCREASE, X, body, "b, c", "(b, c)"), {"x": FIVE, "y": FIVE}, n=5)
    assert ran.status is Status.DONE
    assert np.array_equal(ran.outputs["b"], 2 * FIVE + 1)
    assert np.array_equal(ran.outputs["c"], 4 * FIVE + 2)


def test_a_tensor_may_be_given_twice():
    body = [f"a = {call('add', 'x, x')}", f"b = {call('add', 'a, a')}"]
    assert np.array_equal(execute(module(ADD, {"x": F}, body, "b"), {"x": FIVE}, n=5).outputs["b"], 4 * FIVE)


SCALARS = """
    @T.prim_func(private=True)
    def scale(a: T.handle, by: T.float32, plus: T.int32, c: T.handle, more: T.int64):
        n = T.int64()
        A = T.match_buffer(a, (n,), "float32")
        C = T.match_buffer(c, (n,), "float32")
        for i in range(n):
            with T.sblock("scale"):
                v = T.axis.spatial(n, i)
                C[v] = A[v] * by + T.Cast("float32", plus) + T.Cast("float32", more)
"""


def scaled(by, plus, more):
    args = f"x, R.prim_value({by}), R.prim_value({plus})"
    return module(SCALARS, {"x": F}, [f"a = {call('scale', args, F, f', tir_vars=R.shape([{more}])')}"], "a")


def test_numbers_among_the_arguments():
    ran = execute(scaled("T.float32(0.1)", "-7", "n * 3"), {"x": FIVE}, n=5)
    assert np.array_equal(ran.outputs["a"], FIVE * np.float32(0.1) + np.float32(-7) + np.float32(15))


def test_numbers_that_may_not_fit_are_looked_at_when_they_are_known():
    mod = scaled("T.float32(2)", "n * 1000000000", "1")
    assert execute(mod, {"x": FIVE[:2]}, n=2).status is Status.DONE
    ran = execute(mod, {"x": FIVE}, n=5)
    assert (ran.status, ran.call) == (Status.CHECK_FAILED, 1)


def test_numbers_that_cannot_fit_are_left_to_the_interpreter():
    assert [apart.binding.var.name for apart in plan(scaled("T.float32(2)", "3000000000", "1"))[0].apart] == ["a"]


PERMUTED = {"x": F, "p": 'R.Tensor((n,), "int64")'}


def test_what_was_not_certainly_written_is_looked_at():
    body = [f"a = {call('twice', 'x')}", f"b = {call('scatter', 'a, p')}", f"c = {call('twice', 'b')}"]
    mod = module(TWICE + SCATTER, PERMUTED, body, "c")
    order = np.array([3, 1, 4, 0, 2])
    ran = execute(mod, {"x": FIVE, "p": order}, n=5)
    assert ran.status is Status.DONE
    expected = np.zeros(5, np.float32)
    expected[order] = 4 * FIVE
    assert np.array_equal(ran.outputs["c"], expected)
    ran = execute(mod, {"x": FIVE, "p": np.array([3, 1, 4, 0, 3])}, n=5)
    assert (ran.status, ran.call) == (Status.CHECK_FAILED, 2)


def test_the_call_in_which_a_check_fails_is_said():
    body = [f"a = {call('twice', 'x')}", f"b = {call('scatter', 'a, p')}"]
    ran = execute(module(TWICE + SCATTER, PERMUTED, body, "b"), {"x": FIVE, "p": np.array([0, 1, 5, 3, 4])}, n=5)
    assert (ran.status, ran.call) == (Status.CHECK_FAILED, 2)


def test_memory_counts_as_in_the_interpreter():
    """Three tensors of 20 bytes: all live until the block ends."""
    body = [f"v{number + 1} = {call('add', f'v{number}, x')}" for number in range(3)]
    mod = module(ADD, {"x": F, "v0": F}, body, "v3")
    ran = execute(mod, {"x": FIVE, "v0": FIVE}, memory=60, n=5)
    assert (ran.status, ran.memory) == (Status.DONE, 0)
    ran = execute(mod, {"x": FIVE, "v0": FIVE}, memory=59, n=5)
    assert (ran.status, ran.call) == (Status.NO_MEMORY, 3)


def test_fuel_is_paid_by_all_calls_together():
    body = [f"v{number + 1} = {call('add', f'v{number}, x')}" for number in range(3)]
    mod = module(ADD, {"x": F, "v0": F}, body, "v3")
    assert execute(mod, {"x": FIVE, "v0": FIVE}, fuel=15, n=5).status is Status.DONE
    ran = execute(mod, {"x": FIVE, "v0": FIVE}, fuel=14, n=5)
    assert (ran.status, ran.call) == (Status.FUEL_EXHAUSTED, 3)


def test_constants_come_in_as_tensors():
    body = ['a = R.call_tir(cls.add, (x, R.const([1.0, 2.0, 3.0], "float32")), out_sinfo=R.Tensor((3,), "float32"))']
    mod = module(ADD, {"x": 'R.Tensor((3,), "float32")'}, body, "a")
    assert np.array_equal(execute(mod, {"x": FIVE[:3]}).outputs["a"], [1, 3, 5])


def test_equal_modules_give_equal_text():
    body = [f"a = {call('add', 'x, y')}", f"b = {call('twice', 'a')}"]
    texts = {plan(module(ADD + TWICE, X, body, "b"))[1] for _ in range(2)}
    assert len(texts) == 1
