"""Compiled code ends at the budget's seconds and at interrupts, whatever its loops look like (NAT-007)."""

import os
import signal
import threading
from pathlib import Path
from time import perf_counter

import numpy as np
import pytest

from refmlc import read
from refmlc.diag import Exhausted, RefmlcError
from refmlc.native.threads import detect_threads
from refmlc.run.memory.budget import Budget
from refmlc.vm import VirtualMachine, build

pytestmark = pytest.mark.needs("compiler")

SECONDS = 0.2
LATE = 2.0  # seconds, on a busy machine; each of these programs takes a minute and more
DEAR = " + ".join(["T.pow(A[i % 8], T.float32(1.5))"] * 20)
BODIES = {
    "dear iterations": f"""
    for i in range(1000000000):
        C[i % 8] = {DEAR}
""",
    "iterations of a microsecond": f"""
    for i in range(100000000):
        for j in range(3):
            C[i % 8] = {" + ".join(["T.pow(A[(i + j) % 8], T.float32(1.5))"] * 60)}
""",
    "cheap iterations": """
    for i in T.serial(T.int64(0), T.int64(200000000000)):
        C[i % T.int64(8)] = A[i % T.int64(7)] + C[(i + T.int64(1)) % T.int64(8)]
""",
    "an extent from memory": """
    for i in T.serial(T.int64(0), T.Cast("int64", A[0]) * T.int64(200000000000)):
        C[i % T.int64(8)] = A[i % T.int64(7)] + C[(i + T.int64(1)) % T.int64(8)]
""",
    "a step from memory": """
    for i in T.serial(T.int64(0), T.int64(200000000000), step=T.Cast("int64", A[0])):
        C[i % T.int64(8)] = A[i % T.int64(7)] + C[(i + T.int64(1)) % T.int64(8)]
""",
    "a while": """
    while A[0] < T.float32(2):
        C[0] = A[1] + C[1]
""",
    "a loop that is left": """
    for i in T.serial(T.int64(0), T.int64(200000000000)):
        if A[i % T.int64(7)] > T.float32(2):
            break
        C[0] = A[1] + C[1]
""",
    "many short loops": """
    for i in T.serial(T.int64(0), T.int64(20000000000)):
        for j in T.serial(T.int64(0), T.Cast("int64", A[0])):
            C[j] = A[j] + C[(i + T.int64(1)) % T.int64(8)]
""",
    "a reduction": """
    for i, k in T.grid(8, T.int64(200000000000)):
        with T.sblock("C"):
            vi = T.axis.spatial(8, i)
            vk = T.axis.reduce(T.int64(200000000000), k)
            with T.init():
                C[vi] = T.float32(0)
            C[vi] += A[vi]
""",
    "tiles in a loop": """
    for r in T.serial(T.int64(0), T.int64(2000000000)):
        for i, k in T.grid(8, 64):
            with T.sblock("C"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    C[vi] = T.float32(0)
                C[vi] += A[vi]
""",
}
HEAD = """
@T.prim_func(s_tir=True)
def f(A: T.Buffer((8,), "float32"), C: T.Buffer((8,), "float32")):"""
GRAPH = """
@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def slow(A: T.Buffer((8,), "float32"), C: T.Buffer((8,), "float32")):
        for i in range(8):
            C[i] = A[i]
        for i in T.serial(T.int64(0), T.int64(200000000000)):
            C[i % T.int64(8)] = A[i % T.int64(7)] + C[(i + T.int64(1)) % T.int64(8)]

    @R.function
    def f(x: R.Tensor((8,), "float32")) -> R.Tensor((8,), "float32"):
        with R.dataflow():
            y = R.call_tir(Module.slow, (x,), out_sinfo=R.Tensor((8,), "float32"))
            z = R.call_tir(Module.slow, (y,), out_sinfo=R.Tensor((8,), "float32"))
            R.output(z)
        return z
"""
PROGRAMS = {**{name: HEAD + body for name, body in BODIES.items()}, "a graph": GRAPH}


class Interrupted(Exception):
    """What a handler raises."""


def machine(name, seconds=None):
    budget = Budget(max_steps=1 << 54, max_seconds=seconds)
    return VirtualMachine(build(read(PROGRAMS[name]), tier="native", budget=budget))


def call(vm, name):
    arrays = [np.ones(8, np.float32), np.zeros(8, np.float32)]
    vm["f"](*arrays[: 1 if name == "a graph" else 2])


@pytest.fixture
def interrupt(monkeypatch):
    """`interrupt(seconds)`: this process gets a signal then, whose handler raises `Interrupted`."""
    timers = []

    def handle(_number, _frame):
        raise Interrupted

    def begin(seconds):
        timers.append(threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGUSR1)))
        timers[-1].start()

    before = signal.signal(signal.SIGUSR1, handle)
    yield begin
    for timer in timers:
        timer.join()
    signal.signal(signal.SIGUSR1, before)


@pytest.mark.parametrize("name", PROGRAMS)
def test_seconds_end_compiled_code(name):
    vm = machine(name, SECONDS)
    begin = perf_counter()
    with pytest.raises(Exhausted) as failure:
        call(vm, name)
    assert failure.value.code.id == "RM605"
    assert failure.value.diagnostic.span is not None
    assert vm.budget.steps < 100  # nothing was interpreted: C is charged when it is done
    assert SECONDS < perf_counter() - begin < SECONDS + LATE


@pytest.mark.parametrize("name", PROGRAMS)
def test_an_interrupt_ends_compiled_code(name, interrupt):
    vm = machine(name)
    interrupt(0.3)
    begin = perf_counter()
    with pytest.raises(Interrupted):
        call(vm, name)
    assert perf_counter() - begin < 0.3 + LATE


@pytest.mark.parametrize("threads", [2, 3])
def test_seconds_end_compiled_code_on_threads(threads):
    budget = Budget(max_steps=1 << 54, max_seconds=SECONDS)
    executable = build(read(PROGRAMS["a reduction"]), tier="native", budget=budget, threads=threads)
    before = threading.active_count()
    begin = perf_counter()
    with pytest.raises(Exhausted) as failure:
        call(VirtualMachine(executable), "a reduction")
    assert failure.value.code.id == "RM605"
    assert SECONDS < perf_counter() - begin < SECONDS + LATE
    assert threading.active_count() <= before  # whatever other tests left


def test_an_interrupt_ends_compiled_code_on_threads(interrupt):
    vm = VirtualMachine(build(read(PROGRAMS["a reduction"]), tier="native", budget=Budget(1 << 54), threads=2))
    tasks = Path("/proc/self/task")
    before = len([*tasks.iterdir()]) if tasks.is_dir() else 0
    interrupt(0.3)
    begin = perf_counter()
    with pytest.raises(Interrupted):
        call(vm, "a reduction")
    assert perf_counter() - begin < 0.3 + LATE
    assert (len([*tasks.iterdir()]) if tasks.is_dir() else 0) <= before + 1  # the timer; no thread of the call is left


@pytest.mark.parametrize("threads", [0, -1, 257])
def test_an_impossible_number_of_threads_is_refused(threads):
    with pytest.raises(RefmlcError, match="number of threads") as failure:
        build(read(PROGRAMS["a reduction"]), threads=threads)
    assert failure.value.code.id == "RM112"


def test_the_environment_asks_for_threads(monkeypatch):
    monkeypatch.setenv("REFMLC_THREADS", "3")
    assert detect_threads() == 3
    monkeypatch.setenv("REFMLC_THREADS", "many")
    with pytest.raises(RefmlcError, match="REFMLC_THREADS is `many`"):
        detect_threads()
