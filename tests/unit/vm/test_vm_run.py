"""Build and run: results, destination-passing, DLPack, hooks, budgets, registries, tiers."""

import numpy as np
import pytest
from needs import imported

from refmlc.diag import Exhausted, IllFormed, Malformed, Trap, Undefined
from refmlc.lang.dtypes import FLOAT32
from refmlc.lang.ir import IRModule, relax
from refmlc.lang.wellformed.reader_checks import read
from refmlc.run.interp.hooks import Hooks
from refmlc.run.memory.budget import Budget
from refmlc.run.memory.registry import FunctionRegistry
from refmlc.run.memory.tensor import Tensor, tensor
from refmlc.vm import Executable, VirtualMachine, build
from refmlc.vm.tiers import Tier

HEAD = "from tvm.script import ir as I, relax as R, tir as T\n"
ADD_ONE = (
    HEAD
    + """
@I.ir_module
class Module:
    @T.prim_func
    def add_one(a: T.handle, b: T.handle):
        n = T.int64()
        A = T.match_buffer(a, (n,), "float32")
        B = T.match_buffer(b, (n,), "float32")
        for i in range(n):
            with T.block("B"):
                vi = T.axis.spatial(n, i)
                B[vi] = A[vi] + T.float32(1)

    @R.function
    def main(x: R.Tensor(("n",), "float32")) -> R.Tensor(("n",), "float32"):
        n = T.int64()
        cls = Module
        y = R.call_tir(cls.add_one, (x,), out_sinfo=R.Tensor((n,), "float32"))
        return y

    @R.function
    def pair(x: R.Tensor(("n",), "float32")) -> R.Tuple(R.Tensor(("n",), "float32"), R.Shape(["n"])):
        n = T.int64()
        return (x, R.shape([n]))

    @R.function
    def library(x: R.Tensor(("n",), "float32")) -> R.Tensor(("n",), "float32"):
        n = T.int64()
        y = R.call_dps_packed("env.twice", (x,), out_sinfo=R.Tensor((n,), "float32"))
        return y
"""
)


def code(failure):
    return failure.value.code.id


@pytest.fixture(scope="module")
def module():
    return read(ADD_ONE)


@pytest.fixture
def vm(module):
    return VirtualMachine(build(module))


def test_relax_functions_return_tensors(vm):
    x = np.arange(3, dtype=np.float32)
    result = vm["main"](x)
    assert isinstance(result, Tensor)
    assert result.numpy().tolist() == [1, 2, 3]
    assert x.tolist() == [0, 1, 2]


def test_prim_funcs_write_into_the_arrays_given(vm):
    x, y = np.arange(3, dtype=np.float32), np.zeros(3, np.float32)
    assert vm["add_one"](x, y) is None
    assert y.tolist() == [1, 2, 3]


def test_tensors_and_torch_tensors(vm):
    torch = imported("torch")
    x, y = torch.arange(3, dtype=torch.float32), torch.zeros(3)
    vm["add_one"](x, y)
    assert y.tolist() == [1, 2, 3]
    out = Tensor.empty((3,), FLOAT32)
    vm["add_one"](tensor([5, 6, 7], "float32"), out)
    assert out.initialised
    assert torch.from_dlpack(vm["main"](x)).tolist() == [1, 2, 3]


def test_tuples_come_back_as_tuples(vm):
    first, shape = vm["pair"](np.zeros(4, np.float32))
    assert first.numpy().tolist() == [0] * 4
    assert tuple(shape) == (4,)


def test_arguments_by_name(vm):
    x, y = np.ones(2, np.float32), np.zeros(2, np.float32)
    vm["add_one"](x, B=y)
    vm["add_one"](b=y, A=y)
    assert y.tolist() == [3, 3]
    assert vm["main"](x=y).numpy().tolist() == [4, 4]


def test_a_registry_of_one_s_own(module):
    registry = FunctionRegistry()

    def twice(x, out):
        np.multiply(x.numpy(), 2, out=out.numpy())

    registry.register("env.twice", twice)
    own = VirtualMachine(build(module, registry=registry))
    assert own["library"](np.arange(3, dtype=np.float32)).numpy().tolist() == [0, 2, 4]
    with pytest.raises(Trap) as failure:
        VirtualMachine(build(module, registry=FunctionRegistry()))["library"](np.zeros(3, np.float32))
    assert code(failure) == "RM402"


def test_functions_are_found_when_they_are_called(module):
    registry = FunctionRegistry()
    own = VirtualMachine(build(module, registry=registry))
    registry.register("env.twice", lambda _, out: out.numpy().fill(8))
    assert own["library"](np.zeros(1, np.float32)).numpy().tolist() == [8]


def test_hooks_watch(module):
    seen = []

    class Names(Hooks):
        def enter_function(self, name, args):
            seen.append(name)

    VirtualMachine(build(module), hooks=Names())["main"](np.zeros(2, np.float32))
    assert seen == ["main", "add_one"]


def test_each_call_has_the_whole_budget(module):
    budget = Budget(max_steps=100)
    own = VirtualMachine(build(module, budget=budget))
    for _ in range(5):
        own["main"](np.zeros(10, np.float32))
    assert own.budget is budget
    assert 10 <= budget.steps <= 100
    with pytest.raises(Exhausted) as failure:
        own["main"](np.zeros(1000, np.float32))
    assert code(failure) == "RM601"
    assert own["main"](np.zeros(1, np.float32)).numpy().tolist() == [1]


def test_memory_comes_back_after_a_call(module):
    budget = Budget(max_bytes=100)
    own = VirtualMachine(build(module, budget=budget))
    for _ in range(5):
        own["main"](np.zeros(20, np.float32))
    with pytest.raises(Exhausted) as failure:
        own["main"](np.zeros(26, np.float32))
    assert code(failure) == "RM603"


def test_read_only_inputs_are_read_and_not_written(vm):
    x = np.zeros(2, np.float32)
    x.flags.writeable = False
    assert vm["main"](x).numpy().tolist() == [1, 1]
    with pytest.raises(Malformed) as failure:
        vm["add_one"](np.zeros(2, np.float32), x)
    assert code(failure) == "RM111"
    assert "`B` of `add_one` is written, the array given is read-only" in str(failure.value)


def test_tiers(module):
    for tier in ("auto", "interp"):
        executable = build(module, tier)
        assert isinstance(executable, Executable)
        assert set(executable.tiers) == set(module.functions)
        assert set(executable.tiers.values()) == {Tier.INTERP}
    with pytest.raises(Malformed) as failure:
        build(module, tier="fast")
    assert code(failure) == "RM112"
    assert "auto, interp, native" in str(failure.value)
    with pytest.raises(Malformed) as failure:
        build(module, math="exact")
    assert code(failure) == "RM112"
    assert "cr, libm" in str(failure.value)


def test_wrong_use(module):
    for wrong in (
        lambda: build("module"),
        lambda: build(module, allow=frozenset({"RM401"})),
        lambda: build(module, allow=frozenset({"RM3999"})),
        lambda: VirtualMachine(module),
        lambda: VirtualMachine(build(module))["missing"],
    ):
        with pytest.raises(Malformed) as failure:
            wrong()
        assert code(failure) == "RM112"
    with pytest.raises(Malformed) as failure:
        VirtualMachine(build(module))["missing"]
    assert "`missing`" in str(failure.value)
    assert failure.value.diagnostic.notes == ("its functions: add_one, main, pair, library",)


def test_an_empty_module():
    with pytest.raises(Malformed) as failure:
        VirtualMachine(build(IRModule({})))["main"]
    assert failure.value.diagnostic.notes == ("its functions: none",)


def test_build_checks_the_module(module):
    text = HEAD + (
        "@I.ir_module\nclass Module:\n    @R.function\n"
        '    def main(x: R.Tensor((1,), "float32")):\n        with R.dataflow():\n'
        "            y = x\n            z = y\n"
        "            R.output(z)\n        return y\n"
    )
    broken = read(text, check=False)
    with pytest.raises(IllFormed) as failure:
        build(broken)
    assert code(failure).startswith("RM2")
    assert build(broken, check=False).module is broken


def test_undefined_behaviour_can_be_allowed():
    text = HEAD + (
        "@I.ir_module\nclass Module:\n"
        '    @T.prim_func\n    def wrap(A: T.Buffer((1,), "int32")):\n        A[0] = A[0] + T.int32(1)\n'
    )
    module = read(text)
    top = np.array([2**31 - 1], np.int32)
    with pytest.raises(Undefined) as failure:
        VirtualMachine(build(module))["wrap"](top)
    assert code(failure) == "RM306"
    VirtualMachine(build(module, allow=frozenset({"RM306"})))["wrap"](top)
    assert top.tolist() == [-(2**31)]


def test_a_packed_function_may_run_the_machine_again(module):
    registry = FunctionRegistry()
    own = VirtualMachine(build(module, registry=registry))

    def twice(x, out):
        np.copyto(out.numpy(), own["main"](x).numpy())

    registry.register("env.twice", twice)
    assert own["library"](np.zeros(2, np.float32)).numpy().tolist() == [1, 1]


def test_extern_functions_are_not_run(module):
    extern = IRModule({"f": relax.ExternFunc("f")})
    with pytest.raises(Malformed) as failure:
        VirtualMachine(build(extern, check=False))["f"]
    assert code(failure) == "RM112"
    assert "extern function" in str(failure.value)
