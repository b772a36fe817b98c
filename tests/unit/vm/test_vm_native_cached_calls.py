"""Quick calls: what was looked at once is not looked at again, and everything that can differ is."""

import gc
import pickle

import numpy as np
import pytest
from handwritten import counts, machine, module

from refmlc.diag import Malformed, Undefined
from refmlc.lang.dtypes import INT32, dtype
from refmlc.lang.script import read
from refmlc.native.compile import compiler, pieces
from refmlc.run.memory.budget import Budget
from refmlc.run.memory.registry import FunctionRegistry
from refmlc.run.memory.storage import ALIGNMENT
from refmlc.run.memory.tensor import Tensor
from refmlc.vm.call_cache import CallCache
from refmlc.vm.executable import build
from refmlc.vm.machine import VirtualMachine


def ints(*values):
    return np.array(values, np.int32)


@pytest.fixture(scope="module")
def mod():
    return module()


@pytest.fixture
def vm(mod):
    return machine(mod)


@pytest.fixture
def twice(vm):
    """A function that was called once with arrays of three."""
    twice = vm["twice"]
    twice(ints(1, 2, 3), ints(0, 0, 0))
    return twice


@pytest.fixture
def alone(monkeypatch):
    """Nothing but the quick call of a function may run."""

    def cached_only(function):
        monkeypatch.setattr(function, "_run", lambda *_: pytest.fail("the call was not quick"))
        return function

    return cached_only


@pytest.mark.needs("compiler")
def test_the_second_call_is_quick(vm, twice, alone):
    b = ints(0, 0, 0)
    assert alone(twice)(ints(4, 5, 6), b) is None
    assert b.tolist() == [8, 10, 12]
    assert counts(vm) == (2, 0, 0, 0)
    assert vm.budget.steps == 1


@pytest.mark.needs("compiler")
def test_each_shape_has_its_cached_call(twice, alone):
    twice(ints(1, 2), ints(0, 0))
    alone(twice)
    for size in (3, 2, 2, 3, 3, 2):
        b = np.zeros(size, np.int32)
        twice(np.full(size, 7, np.int32), b)
        assert b.tolist() == [14] * size


@pytest.mark.parametrize(
    "args",
    [
        (ints(1, 2, 3), ints(0, 0)),
        (ints(1, 2, 3), np.zeros(3, np.float32)),
        (ints(1, 2, 3), np.zeros((3, 1), np.int32)),
        (ints(1, 2, 3), np.zeros(3, ">i4")),
        (ints(1, 2, 3), [0, 0, 0]),
        (ints(1, 2, 3), None),
        (ints(1, 2, 3),),
        (ints(1, 2, 3), ints(0, 0, 0), ints(0, 0, 0)),
        (np.arange(6, dtype=np.int32)[::2], ints(0, 0, 0)),
        (np.arange(6, dtype=np.int32)[::-2], ints(0, 0, 0)),
        (),
    ],
)
def test_other_arguments_are_refused_as_ever(twice, args):
    with pytest.raises(Malformed) as failure:
        twice(*args)
    assert failure.value.code.id == "RM111"


def test_read_only_arrays_are_not_written(twice):
    a, b = ints(1, 2, 3), ints(0, 0, 0)
    a.flags.writeable = b.flags.writeable = False
    with pytest.raises(Malformed):
        twice(a, b)
    assert b.tolist() == [0, 0, 0]


@pytest.mark.needs("compiler")
def test_read_only_arrays_are_read(twice, alone):
    a, b = ints(1, 2, 3), ints(0, 0, 0)
    a.flags.writeable = False
    alone(twice)(a, b)
    assert b.tolist() == [2, 4, 6]


class Named(np.ndarray):
    """Arrays of a class of its own."""


@pytest.mark.parametrize(
    "b",
    [
        np.zeros(3, np.int32).view(Named),
        np.frombuffer(bytearray(13), np.uint8)[1:].view(np.int32),
        pickle.loads(pickle.dumps(ints(0, 0, 0))),  # noqa: S301 - its dtype is another object
        Tensor.empty((3,), INT32),
    ],
    ids=["subclass", "crooked", "another dtype object", "tensor"],
)
def test_a_call_that_is_not_cached_is_done_all_the_same(twice, b):
    twice(ints(1, 2, 3), b)
    assert np.asarray(b).tolist() == [2, 4, 6]


@pytest.mark.needs("compiler")
def test_names_are_quick(twice, alone):
    b = ints(0, 0, 0)
    alone(twice)(ints(1, 2, 3), b=b)
    twice(B=b, A=ints(4, 5, 6))
    assert b.tolist() == [8, 10, 12]


@pytest.mark.needs("compiler")
def test_tensors_that_are_no_more_than_arrays_are_quick(twice, alone):
    a, b = Tensor.from_numpy(ints(1, 2, 3)), Tensor.from_numpy(ints(0, 0, 0))
    alone(twice)(a, b)
    twice(b, b2 := ints(0, 0, 0))
    assert (b.numpy().tolist(), b2.tolist()) == ([2, 4, 6], [4, 8, 12])


def test_tensors_that_are_more_than_arrays_are_looked_at(vm, twice):
    a = Tensor.from_numpy(ints(1, 2, 3))
    twice(a, ints(0, 0, 0))
    a.storage.forget(4, 4)
    with pytest.raises(Undefined):
        twice(a, ints(0, 0, 0))
    out = Tensor.empty((3,), INT32)
    twice(ints(1, 2, 3), out)
    assert out.initialised
    a.storage.kill()
    with pytest.raises(Undefined):
        vm["chain"](a)


def test_a_tensor_of_int1_is_no_array_of_int8():
    one = Tensor.from_numpy(np.zeros(3, np.int8), dtype("int1"))
    assert one.plain is one
    assert isinstance(Tensor.from_numpy(np.zeros(3, np.int8)).plain, np.ndarray)


@pytest.mark.needs("compiler")
def test_where_c_stops_the_interpreter_runs(vm, twice):
    b = ints(0, 0, 0)
    twice(ints(9, 2, 3), b)
    assert b.tolist() == [18, 4, 6]
    assert counts(vm) == (1, 0, 1, 1)


@pytest.mark.needs("compiler")
def test_tracked_parameters_have_cached_calls_for_arrays(vm, alone):
    a, b = ints(1, 2, 3, 4), np.zeros(8, np.int32)
    vm["sparse"](a, b)
    alone(vm["sparse"])(a + 10, b)
    assert b.tolist() == [11, 0, 12, 0, 13, 0, 14, 0]


def test_what_changes_in_place_is_not_quick(vm):
    a = ints(1, 2, 3, 4)
    for _ in range(3):
        vm["bump"](a)
    assert a.tolist() == [4, 5, 6, 7]
    with pytest.raises(Undefined):
        vm["bump"](ints(1, 2, 9, 4))


@pytest.mark.needs("compiler")
def test_a_relax_function_that_is_one_run_is_quick(vm, alone):
    assert vm["chain"](ints(1, 2, 3)).numpy().tolist() == [4, 8, 12]
    assert counts(vm) == (1, 0, 0, 0)
    out = alone(vm["chain"])(ints(4, 5, 6))
    assert out.numpy().tolist() == [16, 20, 24]
    assert (out.shape, out.dtype, out.initialised, out.writable) == ((3,), INT32, True, True)
    assert out.storage.array.__array_interface__["data"][0] % ALIGNMENT == 0
    assert counts(vm) == (2, 0, 0, 0)
    assert vm.budget.steps == 5


@pytest.mark.needs("compiler")
def test_a_library_that_was_compiled_in_pieces_has_cached_calls(monkeypatch, tmp_path):
    """Entries are in one piece, what they call in others."""
    monkeypatch.setenv("REFMLC_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(pieces, "SMALLEST", 100)
    monkeypatch.setattr(compiler, "processors", lambda: 4)
    vm = machine()
    x, y = np.arange(5, dtype=np.int32), np.zeros(5, np.int32)
    for _ in range(3):
        assert vm["chain"](x).numpy().tolist() == [0, 4, 8, 12, 16]
        vm["twice"](x, y)
        assert y.tolist() == [0, 2, 4, 6, 8]
    assert counts(vm) == (6, 0, 0, 0)


@pytest.mark.needs("compiler")
def test_results_of_cached_calls_are_tensors_like_others(vm):
    slow, quick = (vm["chain"](ints(1, 2, 3)) for _ in range(2))
    assert vm["chain"]._cache.last is not None
    for other in (slow, quick):
        assert vm["chain"](other).numpy().tolist() == [16, 32, 48]
        assert [other.cells[i] for i in range(3)] == [4, 8, 12]
        assert np.from_dlpack(other).tolist() == [4, 8, 12]
        other.storage.forget(0, 4)
        assert not other.initialised
    assert repr(slow) == repr(quick)
    assert (slow.storage.origin, slow.storage.unit) == (quick.storage.origin, quick.storage.unit) == ("`twice`", 4)


def test_results_of_cached_calls_do_not_share_memory(vm):
    results = [vm["chain"](ints(i, 0, 0)) for i in range(1, 6)]
    assert [result.numpy()[0] for result in results] == [4, 8, 12, 16, 20]


@pytest.mark.needs("compiler")
def test_several_results(vm, alone):
    vm["pair"](ints(1, 2, 3))
    z, y = alone(vm["pair"])(ints(4, 5, 6))
    assert (y.numpy().tolist(), z.numpy().tolist()) == ([8, 10, 12], [16, 20, 24])


def test_results_are_charged_as_long_as_they_live(mod):
    vm = machine(mod, budget=Budget(max_bytes=1 << 24))
    kept = [vm["chain"](np.zeros(1000, np.int32)) for _ in range(4)]
    assert vm.budget.bytes == 16000
    kept.clear()
    gc.collect()
    assert vm.budget.bytes == 0


@pytest.mark.needs("compiler")
def test_cached_calls_leave_memory_to_the_interpreter_where_it_is_short(mod):
    vm = machine(mod, budget=Budget(max_bytes=(1 << 20) + 10_000))
    kept = [vm["chain"](np.full(1000, number, np.int32)) for number in range(5)]
    assert [result.numpy()[0] for result in kept] == [0, 4, 8, 12, 16]
    assert counts(vm)[1] > 0


def test_empty_arrays(vm):
    for _ in range(2):
        assert vm["chain"](np.zeros(0, np.int32)).shape == (0,)


def test_a_limit_of_time_is_looked_at(mod):
    vm = machine(mod, budget=Budget(max_seconds=1000.0))
    for _ in range(2):
        vm["twice"](ints(1), ints(1))
    assert vm["twice"]._cache.last is None


def test_a_packed_function_may_call_what_is_quick(mod):
    registry = FunctionRegistry()
    vm = machine(mod, registry=registry)
    vm["chain"](ints(1, 2))
    inner = []
    registry.register("env.twice", lambda x, out: _twice(vm, inner, x, out))
    assert vm["main"](ints(1, 2)).numpy().tolist() == [10, 14]
    assert inner == [[8, 12]]


def _twice(vm, inner, x, out):
    inner.append(vm["chain"](x.numpy()).numpy().tolist())
    out.array[...] = inner[-1]


# ------------------------------------------------------------------------------------------------ strides, offsets

LAYOUTS = """
from tvm.script import ir as I, tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def variable(a: T.handle, b: T.handle):
        n = T.int64()
        stride = T.int64()
        A = T.match_buffer(a, (n,), "float32", strides=(stride,))
        B = T.match_buffer(b, (n,), "float32")
        for i in range(n):
            B[i] = A[i] + T.Cast("float32", stride)

    @T.prim_func
    def fixed(a: T.handle, b: T.handle):
        A = T.match_buffer(a, (4,), "float32", strides=(2,))
        B = T.match_buffer(b, (4,), "float32")
        for i in range(4):
            B[i] = A[i]

    @T.prim_func
    def moved(a: T.handle, b: T.handle):
        offset = T.int64()
        A = T.match_buffer(a, (4,), "float32", elem_offset=offset)
        B = T.match_buffer(b, (4,), "float32")
        for i in range(4):
            B[i] = A[i] + T.Cast("float32", offset)

    @T.prim_func
    def plain(A: T.Buffer((1, 1), "float32"), B: T.Buffer((1, 1), "float32")):
        B[0, 0] = A[0, 0]
"""


@pytest.fixture(scope="module")
def layouts():
    return read(LAYOUTS, "layouts.py")


@pytest.mark.needs("compiler")
def test_a_declared_stride_is_that_of_each_call(layouts):
    vm = VirtualMachine(build(layouts, "native"))
    for stride in (2, 1, 2, 1, 3):
        b = np.zeros(4, np.float32)
        vm["variable"](np.arange(4 * stride, dtype=np.float32)[::stride], b)
        assert b.tolist() == [stride * (i + 1) for i in range(4)]


@pytest.mark.needs("compiler")
def test_arrays_without_the_declared_stride_are_refused_as_ever(layouts):
    vm = VirtualMachine(build(layouts, "native"))
    for _ in range(2):
        vm["fixed"](np.arange(8, dtype=np.float32)[::2], b := np.zeros(4, np.float32))
        assert b.tolist() == [0, 2, 4, 6]
        with pytest.raises(Malformed, match="stride 0 of `A` is 1, declared is 2"):
            vm["fixed"](np.arange(4, dtype=np.float32), np.zeros(4, np.float32))


@pytest.mark.needs("compiler")
def test_a_declared_offset_is_that_of_each_call(layouts):
    vm = VirtualMachine(build(layouts, "native"))
    whole = Tensor.from_numpy(np.zeros(8, np.float32))
    for offset in (0, 3, 0, 2):
        view = Tensor(whole.storage, dtype("float32"), (4,), byte_offset=4 * offset)
        vm["moved"](view, b := np.zeros(4, np.float32))
        assert b.tolist() == [offset] * 4


@pytest.mark.needs("compiler")
def test_strides_of_axes_of_one_element_may_be_anything_in_every_call(layouts):
    vm = VirtualMachine(build(layouts, "native"))
    for _ in range(3):
        vm["plain"](np.full((1, 1), 5, np.float32)[::-1], b := np.zeros((1, 1), np.float32)[:, ::-1])
        assert b.tolist() == [[5]]


@pytest.mark.needs("compiler")
def test_a_cached_call_may_be_evicted_while_it_is_looked_up(twice):
    looked_up = iter([twice._cache.last])

    class EvictedAtOnce(CallCache):
        last = property(lambda _: next(looked_up, None), lambda *_: None)

    twice._cache.__class__ = EvictedAtOnce
    b = ints(0, 0, 0)
    twice(ints(4, 5, 6), b)
    assert b.tolist() == [8, 10, 12]
