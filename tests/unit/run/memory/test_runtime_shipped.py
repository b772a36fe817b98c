"""What TVM's runtime ships: results of real TVM 0.27, written down; what it leaves open is refused by name."""

import re

import numpy as np
import pytest

import refmlc
from refmlc.diag import RefmlcError
from refmlc.run.interp.graph.calls import BY_NAME
from refmlc.run.memory import shipped
from refmlc.run.memory.registry import FunctionRegistry
from refmlc.run.memory.tensor import Tensor


def tensor(*values, kind="float32"):
    return Tensor.from_numpy(np.array(values, kind))


def sorts(name, *args):
    return FunctionRegistry().get_func(f"tvm.contrib.sort.{name}")(args, None)


def code(call, *args):
    with pytest.raises(RefmlcError) as caught:
        call(*args)
    return caught.value.code.id


@pytest.mark.parametrize(
    ("ascending", "places", "values"), [(1, [1, 3, 0, 2], [1, 1, 3, 7]), (0, [2, 0, 1, 3], [7, 3, 1, 1])]
)
def test_the_runtime_sorts_and_keeps_the_order_of_equal_ones(ascending, places, values):
    data, out, where = tensor(3, 1, 7, 1), tensor(0, 0, 0, 0), tensor(0, 0, 0, 0, kind="int32")
    sorts("sort", data, out, -1, ascending)
    sorts("argsort", data, where, 0, ascending)
    assert (out.numpy().tolist(), where.numpy().tolist()) == (values, places)
    first, at = tensor(0, 0), tensor(0, 0, kind="int64")
    sorts("topk", data, first, at, 2, 0, "both", ascending)
    assert (first.numpy().tolist(), at.numpy().tolist()) == (values[:2], places[:2])


def test_zeros_of_both_signs_are_equal():
    out = tensor(0, 0, 0)
    sorts("sort", tensor(0.0, -0.0, 0.0), out, 0, 0)
    assert np.signbit(out.numpy()).tolist() == [False, True, False]


@pytest.mark.parametrize(
    ("counts", "axis", "ascending", "places"),
    [
        ([3, 5], 1, 1, [[1, 0, 2, 3, 4], [4, 3, 2, 1, 0]]),
        ([3, 5], 1, 0, [[0, 2, 1, 3, 4], [0, 1, 2, 3, 4]]),
        ([2, 0], -1, 1, [[1, 0, 2, 3, 4], [0, 1, 2, 3, 4]]),
        ([1, 2, 0, 2, 1], 0, 0, [[0, 1, 0, 0, 0], [1, 0, 1, 1, 1]]),
    ],
)
def test_only_the_first_of_each_row_are_ordered(counts, axis, ascending, places):
    data, out = tensor([3, 1, 3, 2, 1], [5, 4, 3, 2, 1]), tensor([0] * 5, [0] * 5, kind="int32")
    sorts("argsort_nms", data, tensor(*counts, kind="int32"), out, axis, ascending)
    assert out.numpy().tolist() == places


def test_what_sorting_leaves_open_is_refused():
    ints = tensor(0, 0, kind="int32")
    assert code(sorts, "sort", tensor(1, np.nan), tensor(0, 0), 0, 1) == "RM504"
    assert code(sorts, "topk", tensor(1, 2), tensor(0, 0, 0), 3, 0, "values", 1) == "RM504"
    assert code(sorts, "argsort_nms", tensor(1, 2), tensor(3, kind="int32"), ints, 0, 1) == "RM304"
    assert (
        code(sorts, "argsort_nms", tensor(1, 2), tensor(1, kind="int32"), tensor(0, 0, kind="int64"), 0, 1) == "RM504"
    )
    assert code(sorts, "argsort_nms", tensor(1, 2), tensor(1, 1, kind="int32"), ints, 0, 1) == "RM111"
    assert code(sorts, "sort", tensor(1, 2), tensor(0, 0), 1, 1) == "RM111"
    assert code(sorts, "sort", tensor(1, 2), tensor(0), 0, 1) == "RM111"


def unique(*args):
    return FunctionRegistry().get_func("relax.run.unique")(args, None)


def test_unique_of_elements():
    assert unique(tensor(3, 1, 3), 0, 0, 0, 0).numpy().tolist() == [3, 1]
    once, *extras = unique(tensor(3, np.nan, 1, np.nan, 3), 1, 1, 1, 1)
    assert np.array_equal(once.numpy(), [1, 3, np.nan], equal_nan=True)
    assert [one.numpy().tolist() for one in extras] == [[2, 0, 1], [1, 2, 0, 2, 1], [1, 2, 2]]
    assert code(unique, tensor([1, np.nan]), 1, 0, 0, 0, 1) == "RM504"


def test_a_name_that_tvm_ships_and_that_has_no_meaning_is_unsupported_by_name():
    with pytest.raises(RefmlcError) as caught:
        refmlc.get_func("tvm.contrib.random.uniform")
    assert caught.value.code.id == "RM504"
    assert "`tvm.contrib.random.uniform` of TVM's runtime is not supported: its results are random" in str(caught.value)
    assert code(refmlc.get_func, "tvm.contrib.random.uniforn") == "RM402"


def test_what_the_user_registers_goes_first():
    registry = FunctionRegistry()
    registry.register("tvm.contrib.sort.sort", lambda: 7)
    registry.register("tvm.contrib.random.uniform", lambda: 8)
    assert registry.get_func("tvm.contrib.sort.sort")([], None) == 7
    assert registry.get_func("tvm.contrib.random.uniform")([], None) == 8


def test_no_name_is_there_twice():
    reasons, given = shipped.reasons(), {*shipped.FUNCTIONS, *BY_NAME}
    assert given & set(reasons) == set()
    assert all(re.fullmatch(r"[a-z][^.]*", reason) for reason in reasons.values())


CALLED = """
@I.ir_module
class Module:
    @T.prim_func(s_tir=True, private=True)
    def sort(x: T.Buffer((2, 3), "int32"), y: T.Buffer((2, 3), "int32")):
        with T.sblock("sort_cpu"):
            T.reads()
            T.writes()
            T.call_packed(
                "tvm.contrib.sort.sort",
                T.tvm_stack_make_array(x.data, T.tvm_stack_make_shape(2, 3), 0, 2, 0, 0),
                T.tvm_stack_make_array(y.data, T.tvm_stack_make_shape(2, 3), 0, 2, 0, 0), -1, T.bool(False))
    @R.function(pure=False)
    def main(x: R.Tensor((2, 3), "int32")):
        cls = Module
        y = R.call_tir(cls.sort, (x,), out_ty=R.Tensor((2, 3), "int32"))
        s: R.Any = R.call_packed("vm.builtin.check_string_info", R.str("s"), R.str("here"), ty_args=(R.Any,))
        t: R.Any = R.call_packed("vm.builtin.make_tuple", y, R.str("s"), ty_args=(R.Any,))
        return t
"""


@pytest.mark.parametrize("tier", ["interp", "native"])
def test_a_lowered_module_calls_them(tier):
    vm = refmlc.VirtualMachine(refmlc.build(refmlc.read(CALLED), tier=tier))
    found, text = vm["main"](np.array([[1, 3, 2], [6, 4, 5]], "int32"))
    assert (found.numpy().tolist(), text) == ([[3, 2, 1], [6, 5, 4]], "s")


def test_what_is_no_string_is_told():
    text = CALLED.replace('R.str("s"), R.str("here")', 'x, R.str("here")')
    vm = refmlc.VirtualMachine(refmlc.build(refmlc.read(text)))
    assert code(vm["main"], np.zeros((2, 3), "int32")) == "RM405"
