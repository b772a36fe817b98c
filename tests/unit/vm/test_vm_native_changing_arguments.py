"""Arguments that change between cached calls, or while one runs: each call gives what the interpreter gives."""

import gc
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from refmlc.diag import Malformed, RefmlcError
from refmlc.lang.wellformed.reader_checks import read
from refmlc.run.memory.tensor import Tensor
from refmlc.vm import VirtualMachine, build

pytestmark = pytest.mark.needs("compiler")

TEXT = """
@I.ir_module
class Module:
    @T.prim_func
    def double(a: T.handle, b: T.handle):
        n = T.int64()
        A = T.match_buffer(a, (n,), "int32")
        B = T.match_buffer(b, (n,), "int32")
        for i in range(n):
            B[i] = A[i] + A[i]

    @R.function
    def main(x: R.Tensor(("n",), "int32")) -> R.Tensor(("n",), "int32"):
        n = T.int64()
        cls = Module
        with R.dataflow():
            y = R.call_tir(cls.double, (x,), out_sinfo=R.Tensor((n,), "int32"))
            z = R.call_tir(cls.double, (y,), out_sinfo=R.Tensor((n,), "int32"))
            w = R.call_tir(cls.double, (z,), out_sinfo=R.Tensor((n,), "int32"))
            R.output(w)
        return w
"""


@pytest.fixture(scope="module")
def mod():
    return read(TEXT)


@pytest.fixture
def native(mod):
    """A machine that has cached calls of both functions."""
    vm = VirtualMachine(build(mod, "native"))
    vm["double"](ints(1, 2, 3, 4), np.zeros(4, np.int32))
    vm["main"](ints(1, 2, 3, 4))
    assert all(vm[name]._cache.last is not None for name in ("double", "main"))
    return vm


@pytest.fixture
def interp(mod):
    return VirtualMachine(build(mod, "interp"))


def ints(*values):
    return np.array(values, np.int32)


def outcome(vm, name, *args):
    """The result of a call as bytes, or its failure as text."""
    try:
        result = vm[name](*args)
    except RefmlcError as failure:
        return str(failure)
    return None if result is None else (result.shape, result.numpy().tobytes())


def reshape(a):
    a.shape = (2, 2)


def retype(a):
    a.dtype = np.float32


def swap(a):
    a.dtype = ">i4"


def grow(a):
    a.resize(6, refcheck=False)


def shrink(a):
    a.resize(0, refcheck=False)


def overwrite(a):
    a[:] = -7


def close(a):
    a.flags.writeable = False


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("change", [reshape, retype, swap, grow, shrink, overwrite, close])
@pytest.mark.parametrize("place", [0, 1])
def test_an_array_that_is_changed_between_calls(native, interp, change, place):
    seen = []
    for vm in (interp, native):
        args = [ints(1, 2, 3, 4), np.zeros(4, np.int32)]
        vm["double"](*args)
        change(args[place])
        seen.append((outcome(vm, "double", *args), args[0].tobytes(), args[1].tobytes()))
        seen[-1] += (outcome(vm, "main", args[place]),)
    assert seen[0] == seen[1]


def test_arrays_that_take_the_place_of_others(native):
    places = set()
    for number in range(300):
        dtype = (np.int32, np.float32, np.int32, np.int64)[number % 4]
        a = np.full((4, 2)[number % 2], number, dtype)
        places.add(id(a))
        if dtype is np.int32:
            assert native["main"](a).numpy().tolist() == [8 * number] * len(a)
        else:
            with pytest.raises(Malformed, match="int32"):
                native["main"](a)
        del a
    assert len(places) < 300  # some have the address of an earlier one


def test_arguments_that_overlap_are_read_as_the_order_of_the_loop_says(native):
    x = ints(1, 0, 0, 0, 0)
    native["double"](x[:4], x[1:])
    assert x.tolist() == [1, 2, 4, 8, 16]
    native["double"](x[1:], x[:4])
    assert x.tolist() == [4, 8, 16, 32, 16]
    native["double"](x, x)
    assert x.tolist() == [8, 16, 32, 64, 32]


def test_arrays_without_elements(native, interp):
    for vm in (interp, native, native):
        vm["double"](ints(), ints())
        assert vm["main"](ints()).shape == (0,)


class Lent:
    """Memory that another library lends by DLPack."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **kwargs):
        return self.array.__dlpack__(**kwargs)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


def test_memory_of_other_libraries(native):
    for number in range(3):
        b = np.zeros(4, np.int32)
        native["double"](Lent(np.full(4, number, np.int32)), Lent(b))
        assert b.tolist() == [2 * number] * 4
        assert native["main"](Lent(b)).numpy().tolist() == [16 * number] * 4


class Liar(np.ndarray):
    """An array that says of itself what is not true."""

    @property
    def __array_struct__(self):
        return np.zeros(4, np.int32).__array_struct__


class Imitation:
    """No array, although it has the array interface."""

    dtype, shape = np.dtype(np.int32), (4,)

    def __init__(self):
        self.__array_struct__ = ints(1, 2, 3, 4).__array_struct__


def test_only_arrays_themselves_are_asked(native):
    a = ints(1, 2, 3, 4)
    assert native["main"](a.view(Liar)).numpy().tolist() == [8, 16, 24, 32]
    with pytest.raises(Malformed):
        native["main"](Imitation())
    assert native["main"](a).numpy().tolist() == [8, 16, 24, 32]


def test_calls_hold_nothing_when_they_have_ended(native):
    a, b, crooked = ints(1, 2, 3, 4), np.zeros(4, np.int32), np.zeros(8, np.int32)[::2]
    held = (a, b, crooked, a.dtype, np.ndarray)
    gc.collect()  # what earlier tests left refers to the dtype too
    before = [sys.getrefcount(thing) for thing in held]
    for _ in range(100):
        native["double"](a, b)
        native["main"](a)
        with pytest.raises(Malformed):
            native["main"](crooked)
    gc.collect()
    after = [sys.getrefcount(thing) for thing in held]
    assert all(abs(x - y) < 50 for x, y in zip(before, after, strict=True))


def test_results_outlive_machines(mod):
    vm = VirtualMachine(build(mod, "native"))
    results = [vm["main"](np.full(5, number, np.int32)) for number in range(4)]
    del vm
    gc.collect()
    assert [result.numpy().tolist() for result in results] == [[8 * number] * 5 for number in range(4)]


@pytest.mark.parametrize("sizes", [(200_000,), (200_000, 100_003)])
def test_threads_call_one_machine(mod, sizes):
    """Calls lie in C at the same time, as Python lets other threads run: each needs memory of its own there."""
    vm = VirtualMachine(build(mod, "native"))

    def call(number):
        x = np.full(sizes[number % len(sizes)], number, np.int32)
        if number % 5 == 4:
            out = np.empty_like(x)
            vm["double"](x, out)
            return bool((out == 2 * number).all())
        return bool((vm["main"](x).numpy() == 8 * number).all())

    call(0)
    with ThreadPoolExecutor(4) as threads:
        assert all(threads.map(call, range(120)))
    assert vm.budget.depth == 0


def test_threads_call_one_interpreter(interp):
    def call(number):
        return interp["main"](np.full(20, number, np.int32)).numpy().tolist() == [8 * number] * 20

    with ThreadPoolExecutor(4) as threads:
        assert all(threads.map(call, range(40)))


def test_tensors_of_a_cached_call_are_arguments_of_the_next(native):
    x: object = ints(1, 2, 3, 4)
    for power in range(1, 5):
        x = native["main"](x)
        assert isinstance(x, Tensor)
        assert x.numpy().tolist() == [8**power * value for value in (1, 2, 3, 4)]
