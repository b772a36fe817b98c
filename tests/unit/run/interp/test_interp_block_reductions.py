"""Reductions over a block (TIX-020): the steps of the code that TVM 0.27 generates, worked out by hand."""

import numpy as np
import pytest

from refmlc.diag import RefmlcError
from refmlc.lang.script import read
from refmlc.observe.sanitize import sanitize
from refmlc.run.interp.machine import Machine

KERNEL = """@T.prim_func
def f(A: T.Buffer(({count},), '{dtype}'), B: T.Buffer(({count},), '{dtype}')):
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([{count}])
    S = T.alloc_buffer(({size},), '{dtype}', scope='{scope}')
{body}
"""


def module(body, dtype, count, size=4, scope="shared"):
    lines = "\n".join(f"    {line}" for line in body.split("\n"))
    return read(KERNEL.format(dtype=dtype, count=count, size=size, scope=scope, body=lines), "f.py")


def run(body, values, size=4, scope="shared"):
    """What the kernel of this body leaves in B."""
    out = np.zeros_like(values)
    Machine(module(body, values.dtype, len(values), size, scope)).call("f", [values.copy(), out])
    return out


def failure(body, dtype="float32", count=128, size=4, scope="shared"):
    with pytest.raises(RefmlcError) as caught:
        run(body, np.ones(count, dtype), size, scope)
    return caught.value.code.id, caught.value.diagnostic.message


SUM = 'B[t] = T.cuda.cta_reduce(A[t], "sum", {warps}, S.ptr_to([0]))'


def in_steps(values):
    """The sum of 32 lanes: each adds that of the lane with another bit, the highest first."""
    values, bit = list(values), 16
    while bit:
        values = [np.float32(value + values[lane ^ bit]) for lane, value in enumerate(values)]
        bit >>= 1
    return values[0]


def test_a_sum_of_floats_rounds_at_each_step_of_its_two_levels():
    rng = np.random.default_rng(7)
    values = rng.standard_normal(128).astype("float32") * np.float32(1e4)
    of_warps = [in_steps(values[32 * warp : 32 * warp + 32]) for warp in range(4)] + [np.float32(0)] * 28
    assert run(SUM.format(warps=4), values).tolist() == [in_steps(of_warps)] * 128


def test_a_sum_of_integers_wraps():
    values = np.full(64, 1 << 26, "int32")
    assert run(SUM.format(warps=2), values).tolist() == [0] * 64


@pytest.mark.parametrize(("op", "expected"), [("max", 95.0), ("min", -32.0)])
def test_the_greatest_and_the_least(op, expected):
    values = np.arange(-32, 96, dtype="float32")
    assert run(f"B[t] = T.cuda.cta_{op}(A[t], 4, S.ptr_to([0]))", values).tolist() == [expected] * 128


def test_all_warps_of_the_largest_block_have_a_lane():
    values = np.arange(1024, dtype="float32")
    assert run(SUM.format(warps=32), values, size=32).tolist() == [1023.0 * 512] * 1024


def test_the_value_may_be_a_part_of_an_expression_and_of_another_reduction():
    inner = "T.cuda.cta_max(A[t], 2, S.ptr_to([2]))"
    body = (
        "x: T.let = T.cuda.cta_sum(A[t], 2, S.ptr_to([0])) * 2.0\n"
        f"B[t] = x + T.cuda.cta_sum(A[t] + {inner}, 2, S.ptr_to([2]))"
    )
    values = np.arange(64, dtype="float32")
    assert run(body, values).tolist() == [2016.0 * 3 + 63 * 64] * 64


def test_what_every_execution_evaluates_is_executed():
    values = np.arange(64, dtype="float32")
    total = "T.cuda.cta_sum(A[t], 2, S.ptr_to([0]))"
    assert run(f"B[t] = T.Cast('float32', {total} > 1.0 and A[t] > 31.5)", values).tolist() == [0.0] * 32 + [1.0] * 32
    values = values - 31.5
    assert run(f"v = T.float32()\nB[t] = T.let(v, {total} + A[t], v * v)", values).tolist() == (values**2).tolist()


def test_launched_threads_reduce_by_their_number_in_the_block():
    text = """@T.prim_func(s_tir=True)
def f(A: T.Buffer((64,), 'int32'), B: T.Buffer((64,), 'int32')):
    bx = T.launch_thread('blockIdx.x', 1)
    x = T.launch_thread('threadIdx.x', 16)
    y = T.launch_thread('threadIdx.y', 4)
    S = T.alloc_buffer((2,), 'int32', scope='shared')
    B[y * 16 + x] = T.cuda.cta_sum(A[y * 16 + x], 2, S.data)
"""
    out = np.zeros(64, "int32")
    Machine(read(text, "f.py")).call("f", [np.arange(64, dtype="int32"), out])
    assert out.tolist() == [2016] * 64


@pytest.mark.parametrize(
    ("body", "dtype", "scope"),
    [
        (SUM.format(warps=3), "float32", "shared"),
        (SUM.format(warps=4), "float32", "local"),
        (SUM.format(warps=4).replace("sum", "max"), "int32", "shared"),
        (SUM.format(warps=4).replace("sum", "max"), "float16", "shared"),
        (SUM.format(warps=4).replace("sum", "product"), "float32", "shared"),
        ("if T.cuda.cta_sum(A[t], 4, S.ptr_to([0])) > 1.0:\n    B[t] = 1.0", "float32", "shared"),
        ("B[t] = T.Cast('float32', A[t] > 0.0 and T.cuda.cta_sum(A[t], 4, S.ptr_to([0])) > 1.0)", "float32", "shared"),
        ("T.evaluate(T.cuda.cta_reduce(A[t] > 0.0, 'sum', 4, S.ptr_to([0])))", "float32", "shared"),
        ("B[t] = T.if_then_else(t < 64, T.cuda.cta_sum(A[t], 4, S.ptr_to([0])), 0.0)", "float32", "shared"),
    ],
)
def test_other_forms_are_unsupported_by_name(body, dtype, scope):
    code, message = failure(body, dtype, scope=scope)
    assert (code, message) == ("RM504", "`T.cuda.cta_reduce` in this form is not executed")


def test_a_warp_beyond_the_scratch_memory_is_out_of_bounds():
    assert failure(SUM.format(warps=2))[0] == "RM304"


def test_a_warp_that_never_comes_leaves_its_place_unwritten():
    assert failure(SUM.format(warps=4), count=64)[0] == "RM305"


def test_a_thread_that_does_not_come_is_waited_for():
    assert failure("if t < 96:\n    " + SUM.format(warps=4))[0] == "RM327"


@pytest.mark.parametrize(("between", "races"), [("", True), ("T.cuda.cta_sync()\n", False)])
def test_scratch_memory_that_is_used_again_without_a_barrier_is_a_race(between, races):
    call = "T.cuda.cta_sum(A[t], 2, S.ptr_to([0]))"
    body = f"x: T.let = {call}\n{between}B[t] = x + {call}"
    values = [np.ones(64, "float32"), np.zeros(64, "float32")]
    counts = sanitize(module(body, "float32", 64), "f", values).counts
    assert {code for code, count in counts.items() if count} == ({"RM321"} if races else set())
