"""Steps of schedules on generated functions: the same verdict, the same bits, no lint that was not there before."""

import os
from collections import Counter

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from refmlc.diag import RefmlcError
from refmlc.lang.dtypes import FLOAT32
from refmlc.lang.ir import IRModule
from refmlc.lang.ir.equal import structural_equal
from refmlc.lang.script import show
from refmlc.lang.wellformed.module import check_module
from refmlc.lang.wellformed.reader_checks import read
from refmlc.observe.sanitize import sanitize
from refmlc.rewrite.schedule import get_loops, reorder
from refmlc.run.memory.budget import Budget
from refmlc.run.memory.tensor import Tensor
from refmlc.strategies import Same, rolled, rolled_schedules, schedules

SOAK = os.environ.get("REFMLC_PROFILE") == "soak"
SEEDS = range(2000 if SOAK else 20)
STEPS = 2_000_000


def written(tensor):
    """The bits of the written elements; NaN is one class."""
    cells = np.ascontiguousarray(tensor.array).reshape(-1)
    codes = cells.view(f"u{cells.dtype.itemsize}") if cells.dtype.kind != "b" else cells
    with np.errstate(all="ignore"):
        nan = np.isnan(cells.astype(float)) if tensor.dtype.is_float else np.zeros(len(cells), bool)
    own = tensor.strides is not None or not tensor.size
    shadow = [own or tensor.shadow[number] != 0 for number in range(tensor.size)]
    return [
        ("nan" if is_nan else code) if is_written else None
        for code, is_nan, is_written in zip(codes.tolist(), nan.tolist(), shadow, strict=True)
    ]


def outcome(module, name, args):
    """What a call comes to under all detectors."""
    report = sanitize(module, name, args, budget=Budget(STEPS))
    lints = sorted(one.diagnostic.code.id for one in report.findings if one.is_lint)
    return report.verdict, [written(one) for one in args if isinstance(one, Tensor)], repr(report.result), lints


def defined_calls(case):
    """The calls that are defined, with what they come to; two parameters are never one tensor here."""
    for number, recipe in enumerate(case.calls):
        if not any(isinstance(one, Same) for one in recipe):
            found = outcome(case.module, case.func, case.arguments(number))
            if found[0] == "defined":
                yield number, found


@pytest.mark.parametrize("first", SEEDS[::20])
def test_scheduled_functions_mean_the_same(first):
    compared = 0
    for seed in range(first, first + 20):
        case = rolled(seed)
        before = list(defined_calls(case))
        for trace, func in rolled_schedules(case.prim_func, seed):
            module = IRModule({case.func: func})
            assert check_module(module) == (), (trace, case)
            assert structural_equal(read(show(module), "case.py"), module), (trace, case)
            for number, found in before:
                assert outcome(module, case.func, case.arguments(number)) == found, f"{trace}\n{show(module)}\n{case}"
                compared += 1
    assert compared > 20


def test_every_step_is_taken():
    found = Counter(
        step.split()[0]
        for seed in range(150)
        for trace, _ in rolled_schedules(rolled(seed).prim_func, seed)
        for step in trace.split("; ")
    )
    steps = ("split", "fuse", "reorder", "unroll", "vectorize", "parallel", "drop_unit_loop", "add_unit_loop")
    steps += ("compute_inline", "cache_write", "cache_read", "decompose_reduction", "blockize", "tensorize")
    steps += ("renamed", "plus_nothing", "loaded", "divided_if", "partitioned")
    assert {name: found[name] for name in steps if not found[name]} == {}


PRODUCT = """
from tvm.script import tirx as T

@T.prim_func(s_tir=True)
def main(A: T.Buffer((3, 4), "float32"), B: T.Buffer((4, 5), "float32"), X: T.Buffer((3, 5), "float32")):
    P = T.sblock_alloc_buffer((4, 5), "float32")
    for i, j in T.grid(4, 5):
        with T.sblock("scale"):
            vi, vj = T.axis.remap("SS", [i, j])
            P[vi, vj] = B[vi, vj] * T.float32(3)
    for i, j, k in T.grid(3, 5, 4):
        with T.sblock("product"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                X[vi, vj] = T.float32(0)
            X[vi, vj] = X[vi, vj] + A[vi, vk] * P[vk, vj]
"""
MODULE = read(PRODUCT, "product.py")
LEFT = np.array([[1e8, 1.0, -1e8, 3e-5], [0.1, 0.2, 0.3, 0.4], [np.inf, 1.0, np.nan, -0.0]], np.float32)
RIGHT = (np.arange(20, dtype=np.float32).reshape(4, 5) - 7) / 3


def in_order():
    """The product with its terms added in their order, every step rounded to float32."""
    found = np.zeros((3, 5), np.float32)
    scaled = RIGHT * np.float32(3)
    with np.errstate(all="ignore"):
        for k in range(4):
            found = found + LEFT[:, k, None] * scaled[None, k, :]
    return found


@settings(max_examples=1000 if SOAK else 15, suppress_health_check=[HealthCheck.too_slow])
@given(schedules(MODULE["main"], steps=6))
def test_a_product_keeps_its_order_of_summation(scheduled):
    _, func = scheduled
    target = Tensor.empty((3, 5), FLOAT32)
    report = sanitize(IRModule({"main": func}), "main", [LEFT.copy(), RIGHT.copy(), target])
    assert report.verdict == "defined"
    nan = np.isnan(in_order())
    np.testing.assert_array_equal(np.isnan(target.numpy()), nan)
    np.testing.assert_array_equal(target.numpy().view("u4")[~nan], in_order().view("u4")[~nan])


@given(st.permutations(range(3)))
def test_loops_of_a_product_stand_in_any_order(order):
    loops = get_loops(MODULE["main"], "product")
    func = reorder(MODULE["main"], [loops[place] for place in order])
    assert get_loops(func, "product") == tuple(loops[place] for place in order)


def test_a_second_axis_of_a_sum_does_not_move():
    text = PRODUCT.replace("for i, j, k in T.grid(3, 5, 4):", "for i, j, k, m in T.grid(3, 5, 2, 2):")
    text = text.replace(
        'vi, vj, vk = T.axis.remap("SSR", [i, j, k])',
        "vi, vj = T.axis.remap('SS', [i, j])\n" + " " * 12 + "vk = T.axis.reduce(4, k * 2 + m)",
    )
    func = read(text, "product.py")["main"]
    i, j, k, m = get_loops(func, "product")
    assert get_loops(reorder(func, [k, j, m, i]), "product") == (k, j, m, i)
    with pytest.raises(RefmlcError, match="the order of the accesses of an element of `X` may change") as refusal:
        reorder(func, [i, j, m, k])
    assert refusal.value.code.id == "RM504"
