"""Which tier does the work: what was asked for, what pays, what there is."""

import subprocess
import sys
import warnings
from dataclasses import replace
from threading import Barrier, Thread

import numpy as np
import pytest
from handwritten import C, counts, machine, module, native_module

from refmlc.native.compile import NativeWarning, failures
from refmlc.native.tier import work
from refmlc.native.tier.work import Work, compilation_cost
from refmlc.run.memory.tensor import Tensor
from refmlc.vm import VirtualMachine, build
from refmlc.vm.tiers import Tier


def ints(*values):
    return np.array(values, np.int32)


@pytest.fixture(scope="module")
def mod():
    return module()


@pytest.fixture
def cheap(monkeypatch):
    """A compilation is worth a hundred iterations."""
    monkeypatch.setattr(work, "COMPILATION", 100)
    monkeypatch.setattr(work, "EACH_FUNCTION", 0)


def test_what_is_done_once_and_quickly_is_interpreted(mod):
    vm = machine(mod, tier="auto")
    vm["add"](ints(1, 2), 1, ints(0, 0))
    assert vm.native.counts is None


@pytest.mark.needs("compiler")
def test_a_long_loop_is_compiled_before_it_runs(mod):
    vm = machine(mod, tier="auto")
    size = compilation_cost(mod)
    vm["twice"](np.zeros(size, np.int32), np.zeros(size, np.int32))
    assert counts(vm) == (1, 0, 0, 0)


@pytest.mark.needs("compiler")
def test_short_loops_add_up(mod, cheap):
    vm = machine(mod, tier="auto")
    for _ in range(3):
        vm["twice"](np.zeros(30, np.int32), np.zeros(30, np.int32))
        assert vm.native.counts is None
    vm["twice"](np.zeros(30, np.int32), np.zeros(30, np.int32))
    assert counts(vm) == (1, 0, 0, 0)


@pytest.mark.needs("compiler")
def test_steps_count_where_extents_say_less(mod, cheap, monkeypatch):
    monkeypatch.setattr(Work, "iterations", lambda *_: 0)
    vm = machine(mod, tier="auto")
    for _ in range(4):
        vm["twice"](np.zeros(33, np.int32), np.zeros(33, np.int32))
    assert counts(vm) == (1, 0, 0, 0)


@pytest.mark.needs("compiler")
def test_all_functions_are_compiled_together(mod, cheap):
    vm = machine(mod, tier="auto")
    vm["twice"](np.zeros(200, np.int32), np.zeros(200, np.int32))
    assert vm["total"](ints(1, 2, 3, 4)) == 10
    assert vm["chain"](ints(1)).numpy().tolist() == [4]
    assert counts(vm) == (3, 0, 0, 0)


def test_work_is_the_product_of_extents(mod):
    func = mod.functions["sparse"]
    assert Work(func).iterations([]) == 4
    add = Work(mod.functions["add"])
    tensor = Tensor.from_numpy(np.zeros(7, np.int32))
    assert add.iterations([tensor, 1, tensor]) == 7
    assert add.iterations([]) <= 1


def test_machines_of_one_executable_share_the_library(mod):
    compiled = []
    native = native_module(mod)
    inner = native._compiler
    native._compiler = lambda *given: compiled.append(given) or inner(*given)
    executable = replace(build(mod, "interp"), tier="native", native=native)
    for _ in range(3):
        VirtualMachine(executable)["total"](ints(1, 2, 3, 4))
    assert len(compiled) == 1


def test_machines_run_in_threads(mod):
    executable = machine(mod).executable
    together, wrong = Barrier(2), []

    def work(number):
        vm = VirtualMachine(executable)
        together.wait()
        for turn in range(300):
            x = np.full(100 + turn % 3, number + turn, np.int32)
            if (vm["chain"](x).numpy() != 4 * x).any():
                wrong.append((number, turn))

    threads = [Thread(target=work, args=(number,)) for number in (1000, 2000)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


@pytest.mark.needs("compiler")
def test_the_report_says_what_is_where(mod):
    assert {report.reason for report in build(mod, "interp").report.values()} == {"it is the tier asked for"}
    executable = replace(build(mod, "interp"), tier="auto", native=native_module(mod))
    assert set(executable.tiers.values()) == {Tier.INTERP}
    assert executable.report["add"].reason == "it was not worth a compilation yet"
    executable.native.compiled()
    native = {name for name, tier in executable.tiers.items() if tier is Tier.NATIVE}
    assert native == {"add", "bump", "wary", "sparse", "window", "total", "twice"}
    assert executable.report["add"].unit.symbol == "f0_add"
    assert "1 runs of its bindings" in executable.report["chain"].reason


def test_where_something_is_allowed_the_interpreter_works(mod):
    executable = build(mod, "native", allow=frozenset({"RM306"}))
    assert executable.native is None
    assert executable.report["add"].reason == "undefined behaviour is allowed"


@pytest.mark.parametrize("compiler", ["/nonexistent", "false"])
def test_without_a_compiler_there_is_one_warning_and_the_same_results(mod, monkeypatch, compiler):
    monkeypatch.setenv("REFMLC_CC", compiler)
    failures._warned_causes.cache_clear()
    text = C.replace("run->result_int = 0;", f"run->result_int = 0; /* {compiler} */")
    vm = machine(mod, native=native_module(mod, text))
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        assert vm["total"](ints(1, 2, 3, 4)) == 10
        assert VirtualMachine(vm.executable)["chain"](ints(1, 2)).numpy().tolist() == [4, 8]
        other = machine(mod, native=native_module(mod, text))
        b = ints(0)
        other["twice"](ints(4), b)
        assert b.tolist() == [8]
    assert [warning.category for warning in warned] == [NativeWarning]
    assert "the interpreter does the work" in str(warned[0].message)
    assert set(vm.executable.tiers.values()) == {Tier.INTERP}
    assert "compiler" in vm.executable.report["total"].reason
    failures._warned_causes.cache_clear()


QUIET = """
import sys
import numpy as np
import refmlc
text = '''
@T.prim_func
def f(A: T.Buffer((4,), "int32")):
    for i in range(4):
        A[i] = i
'''
for tier in ("interp", "auto"):
    a = np.zeros(4, "int32")
    refmlc.VirtualMachine(refmlc.build(refmlc.read(text), tier=tier))["f"](a)
    assert a.tolist() == [0, 1, 2, 3]
heavy = ("cffi", "refmlc.native.compile", "refmlc.native.emit", "refmlc.native.tile", "refmlc.native.fuse")
print([name for name in heavy if name in sys.modules])
"""


def test_nothing_native_is_loaded_before_it_is_needed():
    done = subprocess.run([sys.executable, "-c", QUIET], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
