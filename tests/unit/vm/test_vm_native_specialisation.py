"""The generator's C behind the virtual machine, and functions compiled once more for dimensions that are known."""

import numpy as np
import pytest
from handwritten import counts

from refmlc.diag import Exhausted, Malformed
from refmlc.lang.wellformed.reader_checks import read
from refmlc.native.compile import NativeWarning, failures
from refmlc.native.options import Grade
from refmlc.native.tier import prepared_calls, specialisation
from refmlc.native.tier.prepared_calls import FOREVER, MOST, WORTH, PreparedCall, PreparedCalls
from refmlc.run.memory.budget import Budget
from refmlc.vm import VirtualMachine, bind_params, build

pytestmark = pytest.mark.needs("compiler")

TEXT = """
from tvm.script import ir as I, relax as R, tir as T

@I.ir_module
class Module:
    @T.prim_func
    def gemm(a: T.handle, b: T.handle, c: T.handle):
        n = T.int64()
        m = T.int64()
        A = T.match_buffer(a, (n, m), "float32")
        B = T.match_buffer(b, (m, n), "float32")
        C = T.match_buffer(c, (n, n), "float32")
        for i, j, k in T.grid(n, n, m):
            with T.block("C"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    C[vi, vj] = T.float32(0)
                C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]

    @R.function
    def main(x: R.Tensor(("n", "m"), "float32"), w: R.Tensor(("m", "n"), "float32")) -> R.Tensor(("n", "n"), "float32"):
        n, m = T.int64(), T.int64()
        cls = Module
        with R.dataflow():
            y = R.call_tir(cls.gemm, (x, w), out_sinfo=R.Tensor((n, n), "float32"))
            z = R.call_tir(cls.gemm, (y, y), out_sinfo=R.Tensor((n, n), "float32"))
            R.output(z)
        return z
"""


@pytest.fixture(scope="module")
def mod():
    return read(TEXT)


def arrays(n, m, seed=0):
    random = np.random.default_rng(seed)
    return random.standard_normal((n, m), np.float32), random.standard_normal((m, n), np.float32)


def in_order(a, b):
    """The product, each sum in the order of k, each step rounded."""
    total = np.zeros((a.shape[0], b.shape[1]), np.float32)
    for k in range(a.shape[1]):
        total += a[:, k : k + 1] * b[k : k + 1, :]
    return total


@pytest.fixture
def soon(monkeypatch):
    """Known dimensions are worth a compilation after a thousand iterations."""
    monkeypatch.setattr(prepared_calls, "WORTH", 1000)


def specialised(call):
    """The specialisations of a call, by dimensions; None where there is none."""
    prepared = (call for call in call._prepared._calls.values() if call is not None and call.left == FOREVER)
    return {call.dims: call.specialised for call in prepared}


def grade(call):
    return call.unit.grade


def test_the_generator_s_c_gives_the_bits_of_the_order_that_is_written(mod):
    vm = VirtualMachine(build(mod, "native"))
    a, b = arrays(5, 7)
    for _ in range(3):
        c = np.full((5, 5), np.nan, np.float32)
        vm["gemm"](a, b, c)
        assert c.tobytes() == in_order(a, b).tobytes()
        y = in_order(a, b)
        assert vm["main"](a, b).numpy().tobytes() == in_order(y, y).tobytes()
    assert counts(vm) == (6, 0, 0, 0)


def test_a_function_is_compiled_for_the_dimensions_it_is_called_with(mod, soon):
    vm = VirtualMachine(build(mod, "native"))
    a, b = arrays(6, 9)
    results = []
    for _ in range(8):
        c = np.zeros((6, 6), np.float32)
        vm["gemm"](a, b, c)
        results.append(c.tobytes())
    assert set(results) == {in_order(a, b).tobytes()}
    call = vm.native.tier()._calls["gemm"]
    (better,) = specialised(call).values()
    assert grade(call) < grade(better) == Grade.REORDERED
    assert counts(vm) == (8, 0, 0, 0)


def test_a_run_is_compiled_for_its_dimensions(mod, soon):
    vm = VirtualMachine(build(mod, "native"))
    a, b = arrays(6, 9)
    y = in_order(a, b)
    for _ in range(8):
        assert vm["main"](a, b).numpy().tobytes() == in_order(y, y).tobytes()
    (call,) = vm.native.tier()._fused.values()
    assert [better is not None for better in specialised(call).values()] == [True]
    assert vm["main"]._cache.last is not None


def test_a_long_run_begins_again_with_its_dimensions_known(mod, soon):
    vm = VirtualMachine(build(mod, "native"))
    a, b = arrays(20, 30)
    y = in_order(a, b)
    assert vm["main"](a, b).numpy().tobytes() == in_order(y, y).tobytes()
    (call,) = vm.native.tier()._fused.values()
    assert list(specialised(call)) == [(20, 30)]
    assert counts(vm) == (1, 0, 0, 0)


def test_other_dimensions_are_not_taken_for_the_known_ones(mod, soon):
    vm = VirtualMachine(build(mod, "native"))
    for n, m in ((8, 12), (12, 8), (8, 12), (1, 1), (12, 8), (8, 12), (3, 40), (8, 12)):
        a, b = arrays(n, m, n)
        y = in_order(a, b)
        assert vm["main"](a, b).numpy().tobytes() == in_order(y, y).tobytes()
        c = np.zeros((n, n), np.float32)
        vm["gemm"](a, b, c)
        assert c.tobytes() == y.tobytes()
    with pytest.raises(Malformed):
        vm["main"](*arrays(8, 12)[::-1][:1], arrays(8, 12)[1])


def test_budgets_hold_with_known_dimensions(mod, soon):
    vm = VirtualMachine(build(mod, "native", budget=Budget(max_steps=20)))
    a, b = arrays(10, 10)
    vm["main"](a, b)
    with pytest.raises(Exhausted) as failure:
        vm["main"](*arrays(20, 20))
    assert failure.value.code.id == "RM601"


def test_constants_of_the_module_go_into_c(mod):
    a, b = arrays(4, 3)
    vm = VirtualMachine(build(bind_params(mod, "main", {"w": b}), "native"))
    y = in_order(a, b)
    for _ in range(3):
        assert vm["main"](a).numpy().tobytes() == in_order(y, y).tobytes()
    assert vm["main"]._cache.last is not None


def test_what_is_compiled_goes_on_where_nothing_more_can_be(mod, soon, monkeypatch):
    vm = VirtualMachine(build(mod, "native"))
    monkeypatch.setenv("REFMLC_CC", "/nonexistent")
    failures._warned_causes.cache_clear()
    a, b = arrays(20, 30)
    y = in_order(a, b)
    with pytest.warns(NativeWarning, match="no C compiler"):
        assert vm["main"](a, b).numpy().tobytes() == in_order(y, y).tobytes()
    assert vm["main"](a, b).numpy().tobytes() == in_order(y, y).tobytes()
    assert counts(vm) == (2, 0, 0, 0)
    failures._warned_causes.cache_clear()


def test_few_dimensions_are_compiled_for(mod, soon, monkeypatch):
    monkeypatch.setattr(specialisation, "MOST", 1)
    vm = VirtualMachine(build(mod, "native"))
    for n in (10, 11, 10, 11):
        a, b = arrays(n, n)
        c = np.zeros((n, n), np.float32)
        vm["gemm"](a, b, c)
        assert c.tobytes() == in_order(a, b).tobytes()
    made = specialised(vm.native.tier()._calls["gemm"])
    assert [made[(n, n)] is None for n in (10, 11)] == [False, True]


def test_a_prepared_call_is_specialised_once_when_it_pays():
    dims = []
    call = PreparedCall((1, 2), "plan", lambda known: dims.append(known) or "better")
    call.count(WORTH - 1)
    assert (call.specialised, call.left) == (None, 1)
    call.count(1)
    assert [call.specialised for _ in range(2)] == ["better"] * 2
    assert (dims, call.left) == ([(1, 2)], FOREVER)


def test_a_call_without_dimensions_has_no_specialisation():
    call = PreparedCall((), "plan", lambda _: pytest.fail("there is nothing to specialise for"))
    call.count(WORTH)
    assert (call.specialised, call.left) == (None, FOREVER)


def test_prepared_calls_are_forgotten_together_when_there_are_too_many():
    prepared, calls = [], PreparedCalls()
    for _ in range(2):
        for key in range(MOST):
            assert calls.find(key, lambda key=key: prepared.append(key) or f"call {key}") == f"call {key}"
    assert prepared == [*range(MOST)]
    calls.find(MOST, lambda: None)
    assert calls.find(MOST, lambda: pytest.fail("it is prepared")) is None
    assert [calls.get(key) for key in (0, MOST - 1)] == [None, None]
    calls.forget(MOST)
    assert calls.find(MOST, lambda: "again") == calls.get(MOST) == "again"


@pytest.mark.parametrize("count", [1, 2, 3, 4, 6])
def test_a_value_that_was_narrowed_is_not_what_it_was(count):
    """The conversion to float32 and back, of two neighbours, which gcc 12 took for nothing."""
    text = f"""
@T.prim_func(s_tir=True)
def main(A: T.Buffer(({count},), "float64"), B: T.Buffer(({count},), "float64")):
    C = T.alloc_buffer(({count},))
    for i in range({count}):
        C[i] = T.Cast("float32", A[i])
    for j in range({count}):
        with T.sblock("b"):
            vi = T.axis.spatial({count}, j)
            B[vi] = T.Cast("float64", C[vi])
"""
    given, found = np.resize([1e-46, 1e308, -1e-46], count), np.empty(count)
    VirtualMachine(build(read(text), tier="native"))["main"](given, found)
    assert found.tolist() == np.resize([0.0, np.inf, -0.0], count).tolist()
