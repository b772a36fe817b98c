"""Calls go into C where the arguments surely fit, and leave no trace where C declines or stops."""

import numpy as np
import pytest
from handwritten import counts, machine, module

from refmlc.diag import Exhausted, Malformed, Undefined
from refmlc.lang.dtypes import INT32
from refmlc.run.interp.hooks import Hooks
from refmlc.run.memory.budget import Budget
from refmlc.run.memory.registry import FunctionRegistry
from refmlc.run.memory.storage import Storage
from refmlc.run.memory.tensor import Tensor
from refmlc.vm import VirtualMachine, build

pytestmark = pytest.mark.needs("compiler")


def ints(*values):
    return np.array(values, np.int32)


@pytest.fixture(scope="module")
def mod():
    return module()


@pytest.fixture
def vm(mod):
    return machine(mod)


def test_what_fits_is_done_in_c(vm):
    b = ints(0, 0, 0)
    assert vm["add"](ints(1, 2, 3), 10, b) is None
    assert b.tolist() == [11, 12, 13]
    assert counts(vm) == (1, 0, 0, 0)


def test_a_result_is_returned(vm):
    assert vm["total"](ints(1, -2, 3, 2**31 - 1)) == 2**31 + 1
    assert counts(vm) == (1, 0, 0, 0)


def test_declared_strides_are_passed(vm):
    a, b = np.arange(12, dtype=np.int32)[::3], ints(0, 0, 0, 0)
    vm["window"](a, b)
    assert b.tolist() == [0, 3, 6, 9]
    assert counts(vm) == (1, 0, 0, 0)


def test_relax_calls_c_around_a_packed_call(mod):
    registry = FunctionRegistry()
    registry.register("env.twice", lambda x, out: np.multiply(x.numpy(), 2, out=out.numpy()))
    vm = machine(mod, registry=registry)
    assert vm["main"](ints(1, 2, 3)).numpy().tolist() == [6, 8, 10]
    assert counts(vm) == (2, 0, 0, 0)


def test_outputs_are_initialised_by_c_that_covers_them(vm):
    out = Tensor.empty((3,), INT32)
    vm["add"](ints(1, 2, 3), 0, out)
    assert out.initialised
    assert counts(vm) == (1, 0, 0, 0)


def test_what_c_writes_of_a_tracked_output_is_initialised(vm):
    out = Tensor.empty((8,), INT32)
    vm["sparse"](ints(1, 2, 3, 4), out)
    assert counts(vm) == (1, 0, 0, 0)
    assert [out.shadow[i] for i in range(8)] == [1, 0] * 4
    assert out.array[::2].tolist() == [1, 2, 3, 4]


def test_an_array_has_a_shadow_too(vm):
    out = np.zeros(8, np.int32)
    vm["sparse"](ints(1, 2, 3, 4), out)
    assert counts(vm) == (1, 0, 0, 0)
    assert out.tolist() == [1, 0, 2, 0, 3, 0, 4, 0]


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("add", [ints(1, 2, 3), 1, ints(0, 0)]),
        ("add", [ints(1, 2, 3), 1.5, ints(0, 0, 0)]),
        ("add", [ints(1, 2, 3), 2**31, ints(0, 0, 0)]),
        ("add", [np.zeros(3, np.int64), 1, ints(0, 0, 0)]),
        ("add", [ints(1, 2, 3), 1]),
        ("wary", [ints(1, 2, 3, 4, 5), ints(0, 0, 0, 0, 0)]),
        ("wary", [np.zeros(8, np.int32)[::2], ints(0, 0, 0, 0)]),
        ("wary", [7, ints(0, 0, 0, 0)]),
    ],
)
def test_what_does_not_fit_is_told_as_ever(mod, name, args):
    told = []
    for vm in (machine(mod), VirtualMachine(build(mod, "interp"))):
        with pytest.raises(Malformed) as failure:
            vm[name](*args)
        told.append(str(failure.value))
    assert told[0] == told[1]


def test_read_only_memory_is_read_in_c_and_written_by_nobody(vm):
    a, b = ints(1, 2, 3), ints(0, 0, 0)
    a.flags.writeable = False
    vm["add"](a, 1, b)
    assert counts(vm) == (1, 0, 0, 0)
    with pytest.raises(Malformed):
        vm["add"](b, 1, a)
    assert a.tolist() == [1, 2, 3]


def test_memory_that_overlaps_is_the_interpreter_s(vm):
    a = ints(1, 2, 3, 4)
    vm["add"](a[:3], 10, a[1:])
    assert a.tolist() == [1, 11, 21, 31]
    assert counts(vm) == (0, 0, 1, 0)


def test_what_is_read_must_be_initialised(vm):
    with pytest.raises(Undefined) as failure:
        vm["add"](Tensor.empty((3,), INT32), 1, ints(0, 0, 0))
    assert failure.value.code.id == "RM305"
    assert counts(vm) == (0, 1, 0, 0)


def test_memory_that_is_gone_is_not_touched(vm):
    out = Tensor.empty((4,), INT32)
    out.storage.kill()
    vm["window"](ints(1, 2, 3, 4), out)
    assert counts(vm) == (0, 1, 0, 0)


def test_a_shadow_of_other_units_is_the_interpreter_s(vm):
    out = Tensor(Storage(32, unit=1), INT32, (8,))
    vm["sparse"](ints(1, 2, 3, 4), out)
    assert counts(vm) == (0, 1, 0, 0)
    assert [out.shadow[i] for i in range(8)] == [1, 0] * 4


def test_elements_between_addresses_are_the_interpreter_s(vm):
    a = np.frombuffer(b"\0" + ints(1, 2, 3).tobytes(), np.uint8)[1:].view(np.int32)
    b = ints(0, 0, 0)
    vm["add"](a, 1, b)
    assert b.tolist() == [2, 3, 4]
    assert counts(vm) == (0, 1, 0, 0)


def test_memory_is_as_it_was_before_the_interpreter_tells(vm):
    a = ints(1, 2, 9, 4)
    with pytest.raises(Undefined) as failure:
        vm["bump"](a)
    assert failure.value.code.id == "RM304"
    assert a.tolist() == [1, 2, 9, 4]
    assert counts(vm) == (0, 0, 1, 0)


def test_the_interpreter_does_what_c_stopped_at_without_a_reason(vm):
    a = ints(1, 2, 3, 200)
    vm["bump"](a)
    assert a.tolist() == [2, 3, 4, 201]
    b = ints(0, 0, 0, 0)
    vm["wary"](a, b)
    assert b.tolist() == [2, 3, 4, 201]
    assert counts(vm) == (0, 0, 2, 2)


def test_a_shadow_is_as_it_was_before_the_interpreter_tells(vm):
    out = Tensor.empty((8,), INT32)
    out.storage.initialise(4, 4)
    with pytest.raises(Undefined):
        vm["sparse"](ints(1, 9, 3, 4), out)
    assert [out.shadow[i] for i in range(8)] == [1, 1, 0, 0, 0, 0, 0, 0]


def test_fuel_bounds_compiled_loops(mod):
    vm = machine(mod, budget=Budget(max_steps=10))
    vm["add"](np.zeros(2000, np.int32), 1, np.zeros(2000, np.int32))
    assert vm.budget.steps == 1 + 2000 // 256
    with pytest.raises(Exhausted) as failure:
        vm["add"](np.zeros(3000, np.int32), 1, np.zeros(3000, np.int32))
    assert failure.value.code.id == "RM601"
    assert "more than 10 steps" in str(failure.value)


def test_little_memory_is_the_interpreter_s(mod):
    vm = machine(mod, budget=Budget(max_bytes=100))
    vm["add"](ints(1), 1, ints(1))
    assert counts(vm) == (0, 1, 0, 0)


def test_depth_is_counted(mod):
    vm = machine(mod, budget=Budget(max_depth=1))
    with pytest.raises(Exhausted) as failure:
        vm["main"](ints(1))
    assert failure.value.code.id == "RM602"


def test_depth_is_counted_in_fused_calls(mod):
    vm = machine(mod, budget=Budget(max_depth=1))
    with pytest.raises(Exhausted) as failure:
        vm["chain"](ints(1))
    assert failure.value.code.id == "RM602"
    assert counts(vm) == (0, 1, 0, 0)


def test_fuel_bounds_fused_calls(mod):
    vm = machine(mod, budget=Budget(max_steps=20))
    for _ in range(2):
        assert vm["chain"](np.zeros(1000, np.int32)).shape == (1000,)
        assert vm.budget.steps == 1 + 2 + 2 + 2000 // 256
    with pytest.raises(Exhausted) as failure:
        vm["chain"](np.zeros(2000, np.int32))
    assert failure.value.code.id == "RM601"


def test_where_a_fused_call_stops_its_bindings_are_executed_one_by_one(mod):
    vm = machine(mod)
    assert vm["chain"](ints(9, 1)).numpy().tolist() == [36, 4]
    assert counts(vm) == (1, 0, 2, 1)


def test_memory_bounds_fused_calls(mod):
    vm = machine(mod, budget=Budget(max_bytes=1 << 21))
    with pytest.raises(Exhausted) as failure:
        vm["chain"](np.zeros((1 << 18) + 1, np.int32))
    assert failure.value.code.id == "RM603"


def test_what_is_not_initialised_does_not_go_into_a_fused_call(mod):
    vm = machine(mod)
    with pytest.raises(Undefined) as failure:
        vm["chain"](Tensor.empty((2,), INT32))
    assert failure.value.code.id == "RM305"
    assert counts(vm)[0] == 0


def test_hooks_see_everything(mod):
    class Stores(Hooks):
        seen = 0

        def store(self, *_):
            Stores.seen += 1

    vm = VirtualMachine(machine(mod).executable, hooks=Stores())
    vm["add"](ints(1, 2), 1, ints(0, 0))
    assert Stores.seen == 2
    assert vm.native.counts is None
