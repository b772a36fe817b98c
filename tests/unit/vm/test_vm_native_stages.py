"""Quick code first: what a call is executed by while optimised code is on its way, and when it fails."""

import gc
import os
import signal
import subprocess
import sys
import warnings
from pathlib import Path
from threading import Barrier, Thread
from time import monotonic, sleep

import numpy as np
import pytest
from needs import need

from refmlc import VirtualMachine, build, read
from refmlc.diag import RefmlcError
from refmlc.native.compile import NativeWarning, failures
from refmlc.native.compile.compiler import Compilation
from refmlc.native.tier import stages, work
from refmlc.native.tier.native_module import NativeModule, StagedModule, detect_staged
from refmlc.tools.bench import workloads

TEXT = """
from tvm.script import ir as I, relax as R, tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def scale(A: T.Buffer((200,), "float32"), B: T.Buffer((200,), "float32")):
        for i in range(200):
            with T.sblock("B"):
                v = T.axis.spatial(200, i)
                B[v] = A[v] * T.float32(0.1) + A[v]

    @R.function
    def main(x: R.Tensor((200,), "float32")):
        cls = Module
        with R.dataflow():
            y = R.call_tir(cls.scale, (x,), out_ty=R.Tensor((200,), "float32"))
            z = R.call_tir(cls.scale, (y,), out_ty=R.Tensor((200,), "float32"))
            R.output(z)
        return z
"""
X = np.random.default_rng(0).normal(size=200).astype(np.float32)
TENTH = np.float32(0.1)
Y = X * TENTH + X
Z = Y * TENTH + Y
SOON = 60.0  # seconds, on a busy machine


@pytest.fixture(autouse=True)
def surroundings(monkeypatch, tmp_path):
    """Every compilation is the first one, and is worth 400 iterations; quick code is worth 200."""
    need("compiler")
    monkeypatch.setenv("REFMLC_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("REFMLC_STAGED", raising=False)
    monkeypatch.setattr(work, "COMPILATION", 400)
    monkeypatch.setattr(work, "EACH_FUNCTION", 0)
    failures._warned_causes.cache_clear()
    yield
    failures._warned_causes.cache_clear()


@pytest.fixture
def vm():
    return VirtualMachine(build(read(TEXT, "stages.py")))


@pytest.fixture
def compiler(tmp_path, monkeypatch):
    """Make the compiler one that does what `text` says where it is to optimise, and else works."""

    def make(text):
        path = tmp_path / "bin" / "cc"
        path.parent.mkdir()
        path.write_text(f'#!/bin/sh\ncase "$*" in *-O3*) {text};; esac\nexec gcc "$@"\n')
        path.chmod(0o755)
        monkeypatch.setenv("REFMLC_CC", str(path))

    need("gcc")
    return make


def finish(vm):
    """Call until there is no better code to come."""
    until = monotonic() + SOON
    while not vm.native.is_final:
        assert monotonic() < until
        assert vm["main"](X).numpy().tobytes() == Z.tobytes()


def call_until_it_failed(vm):
    """Call until optimising has failed."""
    until = monotonic() + SOON
    while vm.executable.native.if_compiled is None or vm.executable.native._stages._optimised is None:
        assert monotonic() < until
        assert vm["main"](X).numpy().tobytes() == Z.tobytes()


def left_in(folder):
    """Files of the cache."""
    return sorted(path.name for path in folder.iterdir())


def test_the_first_call_is_executed_by_quick_code_and_later_ones_by_optimised_code(vm):
    assert vm["main"](X).numpy().tobytes() == Z.tobytes()
    assert not vm.native.is_final
    assert vm.native.counts.native == 2
    finish(vm)
    before = vm.native.counts.native
    assert vm["main"](X).numpy().tobytes() == Z.tobytes()
    assert vm.native.counts.native == before + 1  # both bindings are one run
    assert vm.native.counts.declined == vm.native.counts.stopped == 0


def test_both_tiers_of_code_are_said_to_be_compiled(vm):
    vm["main"](X)
    assert vm.executable.tiers["scale"].value == "native"
    finish(vm)
    assert vm.executable.tiers["scale"].value == "native"


def test_optimised_code_of_the_cache_is_taken_at_once(vm):
    finish(vm)
    again = VirtualMachine(build(read(TEXT, "stages.py")))
    again["main"](X)
    assert again.native.is_final


def test_a_long_call_waits_for_optimised_code(vm, monkeypatch):
    monkeypatch.setattr(stages, "QUICK_SPEED", 0)
    assert vm["main"](X).numpy().tobytes() == Z.tobytes()
    assert vm.native.is_final


def test_a_long_call_waits_though_there_is_quick_code(vm, monkeypatch):
    vm["main"](X)
    assert not vm.native.is_final
    monkeypatch.setattr(stages, "QUICK_SPEED", 0)
    vm["main"](X)
    assert vm.native.is_final


def test_nothing_is_staged_where_the_user_asks_for_equal_ways(monkeypatch):
    monkeypatch.setenv("REFMLC_STAGED", "0")
    vm = VirtualMachine(build(read(TEXT, "stages.py")))
    vm["main"](X)
    vm["main"](X)
    vm["main"](X)
    assert vm.native.is_final
    assert type(vm.executable.native) is NativeModule


def test_a_build_that_asks_for_c_waits_for_optimised_code():
    executable = build(read(TEXT, "stages.py"), "native")
    assert not executable.native.compiled().is_quick


def test_the_optimised_code_can_be_waited_for(vm):
    vm["main"](X)
    assert isinstance(vm.executable.native, StagedModule)
    assert not vm.executable.native.compiled().is_quick
    vm["main"](X)
    assert vm.native.is_final


def test_the_variable_is_0_or_1(monkeypatch):
    monkeypatch.setenv("REFMLC_STAGED", "yes")
    with pytest.raises(RefmlcError, match="RM112"):
        detect_staged()


@pytest.mark.parametrize("end", ["echo no >&2; exit 1", "kill -9 $$"], ids=["fails", "is killed"])
def test_where_optimising_fails_quick_code_stays(vm, compiler, end, tmp_path):
    compiler(end)
    with pytest.warns(NativeWarning, match="fails.*\n?.*optimised less does the work"):
        call_until_it_failed(vm)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(3):
            assert vm["main"](X).numpy().tobytes() == Z.tobytes()
            out = np.empty_like(X)
            vm["scale"](X, out)
            assert out.tobytes() == Y.tobytes()
    assert vm.native.counts.declined == 0
    assert len(left_in(tmp_path / "cache")) == 1


def test_where_quick_code_fails_the_call_waits_for_optimised_code(vm, tmp_path, monkeypatch):
    need("gcc")
    path = tmp_path / "cc"
    path.write_text('#!/bin/sh\ncase "$*" in *-O0*) exit 1;; esac\nexec gcc "$@"\n')
    path.chmod(0o755)
    monkeypatch.setenv("REFMLC_CC", str(path))
    assert vm["main"](X).numpy().tobytes() == Z.tobytes()
    assert vm.native.is_final
    assert vm.native.counts.native == 2


def test_without_a_compiler_the_interpreter_does_the_work(vm, monkeypatch):
    monkeypatch.setenv("REFMLC_CC", "no-such-compiler")
    with pytest.warns(NativeWarning, match="the interpreter does the work"):
        assert vm["main"](X).numpy().tobytes() == Z.tobytes()


def begun(vm, folder):
    """Call `vm` until the compiler that optimises has said its number."""
    until = monotonic() + SOON
    while not folder.exists() or not folder.read_text():
        assert monotonic() < until
        assert vm["main"](X).numpy().tobytes() == Z.tobytes()
    return int(folder.read_text())


def is_gone(pid):
    """Whether the process ends, soon."""
    until = monotonic() + SOON
    while monotonic() < until:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        sleep(0.01)
    return False


def test_a_module_that_nobody_has_any_more_leaves_no_compiler(vm, compiler, tmp_path, request):
    compiler(f"echo $$ > {tmp_path}/pid; exec sleep 1000")
    own = VirtualMachine(build(read(TEXT, "stages.py")))
    pid = begun(own, tmp_path / "pid")
    del own
    gc.collect()
    assert is_gone(pid)
    assert len(left_in(tmp_path / "cache")) == 1


ENDING = """
import sys
sys.path.insert(0, {here!r})
import test_vm_native_stages as test
from pathlib import Path
test.work.COMPILATION, test.work.EACH_FUNCTION = 400, 0
vm = test.VirtualMachine(test.build(test.read(test.TEXT, "stages.py")))
test.begun(vm, Path({pid!r}))
{end}
"""


@pytest.mark.parametrize("end", ["", "raise SystemExit(3)", "raise KeyboardInterrupt"])
def test_a_process_that_ends_leaves_no_compiler_and_no_files(compiler, tmp_path, end):
    pid = tmp_path / "pid"
    compiler(f"echo $$ > {pid}; exec sleep 1000")
    here = Path(__file__)
    code = ENDING.format(here=str(here.parent), pid=str(pid), end=end)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run([sys.executable, "-c", code], env=environment, check=False, timeout=SOON, stderr=subprocess.DEVNULL)
    assert is_gone(int(pid.read_text()))
    assert len(left_in(tmp_path / "cache")) == 1


def test_a_fork_neither_takes_nor_ends_the_compilation(vm, compiler, tmp_path):
    compiler(f"echo $$ > {tmp_path}/pid; while [ ! -e {tmp_path}/go ]; do sleep 0.01; done")
    pid = begun(vm, tmp_path / "pid")
    child = os.fork()
    if child == 0:
        is_equal = all(vm["main"](X).numpy().tobytes() == Z.tobytes() for _ in range(3))
        vm.executable.native._stages._build.close()
        os._exit(0 if is_equal and not vm.native.is_final else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    os.kill(pid, 0)
    (tmp_path / "go").touch()
    finish(vm)


def test_a_fork_can_wait_for_optimised_code_of_its_own(vm, compiler, tmp_path):
    compiler(f"echo $$ > {tmp_path}/pid; while [ ! -e {tmp_path}/go ]; do sleep 0.01; done")
    begun(vm, tmp_path / "pid")
    (tmp_path / "go").touch()
    child = os.fork()
    if child == 0:
        signal.alarm(int(SOON))
        os._exit(vm.executable.native.compiled().is_quick)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    finish(vm)


def test_after_an_interrupt_optimising_begins_again(vm, monkeypatch, tmp_path):
    vm["main"](X)
    look, interrupts = Compilation.library, []

    def interrupted(self, seconds=0.0):
        if not interrupts:
            interrupts.append(seconds)
            raise KeyboardInterrupt
        return look(self, seconds)

    monkeypatch.setattr(Compilation, "library", interrupted)
    with pytest.raises(KeyboardInterrupt):
        finish(vm)
    assert not vm.native.is_final
    assert len(left_in(tmp_path / "cache")) == 1
    finish(vm)
    assert vm["main"](X).numpy().tobytes() == Z.tobytes()


WORKLOADS = (
    workloads.matmul(5, 6, 7),
    workloads.matmul(5, 6, 7, "float16"),
    workloads.matmul(5, 6, 7, "bfloat16"),
    workloads.matmul_int8(5, 6, 7),
    workloads.conv2d(2, 3, 5, 4),
    workloads.softmax(6, 7),
    workloads.layernorm(6, 7),
    workloads.elementwise(50),
    workloads.exp(40),
    workloads.mlp(12, 5, 3),
)


@pytest.mark.parametrize("workload", WORKLOADS, ids=lambda workload: workload.name)
def test_quick_code_gives_the_bits_of_the_witness(workload, monkeypatch):
    """What NumPy computes in the order of the text."""
    monkeypatch.setattr(work, "COMPILATION", 0)
    monkeypatch.setattr(NativeModule, "cost", 0)
    monkeypatch.setattr(stages, "QUICK_SPEED", 1 << 30)
    monkeypatch.setattr(stages, "compilation_cost", lambda _: 1 << 30)
    vm = VirtualMachine(build(read(workload.text, "quick.py")))
    is_relax = workload.func == "main" and "R.function" in workload.text
    out = np.zeros_like(workload.output)
    result = vm[workload.func](*workload.inputs, *(() if is_relax else (out,)))
    assert vm.native.counts.native > 0
    assert not vm.native.is_final
    assert (result.numpy() if is_relax else out).tobytes() == workload.expected().tobytes()


def test_machines_in_threads_exchange_code_between_their_calls(tmp_path):
    """Both call while the code is exchanged; each result is right."""
    executable, together, wrong = build(read(TEXT, "stages.py")), Barrier(2), []

    def call():
        own = VirtualMachine(executable)
        together.wait()
        until = monotonic() + SOON
        after = 0
        while after < 20 and monotonic() < until:
            if own["main"](X).numpy().tobytes() != Z.tobytes():
                wrong.append(own)
            after += own.native.is_final
        if after < 20:
            wrong.append("late")

    threads = [Thread(target=call) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
