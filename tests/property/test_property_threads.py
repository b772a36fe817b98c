"""On two and three threads C gives the bits, the verdicts and the memory of the interpreter, as on one.

Nests of any size run on threads here: what is short is not worth them otherwise.
"""

from dataclasses import replace

import numpy as np
import pytest
from test_property_tiers import MOVED, TOGETHER, batch
from tier_outcomes import told
from tier_runs import Way, differences, usable, with_moved_loops

import refmlc
from refmlc.native.analysis import legality
from refmlc.native.emit import emit_module, tiles
from refmlc.native.options import ISAS, Grade, Options
from refmlc.run.memory.budget import Budget

pytestmark = pytest.mark.needs("compiler")

WAY = Way("moved", Grade.REORDERED, ISAS[usable()[0]])
MATMUL = """
@T.prim_func(s_tir=True)
def f(x: T.Buffer(({m}, {k}), "float32"), w: T.Buffer(({k}, {n}), "float32"), o: T.Buffer(({m}, {n}), "float32")):
    for i, j, r in T.grid({m}, {n}, {k}):
        with T.sblock("o"):
            vi, vj, vr = T.axis.remap("SSR", [i, j, r])
            with T.init():
                o[vi, vj] = T.float32(0)
            o[vi, vj] = o[vi, vj] + x[vi, vr] * w[vr, vj]
"""
SOFTMAX = """
@T.prim_func(s_tir=True)
def f(x: T.Buffer(({m}, {n}), "float32"), o: T.Buffer(({m}, {n}), "float32")):
    top = T.sblock_alloc_buffer(({m},), "float32")
    power = T.sblock_alloc_buffer(({m}, {n}), "float32")
    total = T.sblock_alloc_buffer(({m},), "float32")
    for i, j in T.grid({m}, {n}):
        with T.sblock("top"):
            vi, vj = T.axis.remap("SR", [i, j])
            with T.init():
                top[vi] = T.float32("-inf")
            top[vi] = T.max(top[vi], x[vi, vj])
    for i, j in T.grid({m}, {n}):
        with T.sblock("power"):
            vi, vj = T.axis.remap("SS", [i, j])
            power[vi, vj] = T.exp(x[vi, vj] - top[vi])
    for i, j in T.grid({m}, {n}):
        with T.sblock("total"):
            vi, vj = T.axis.remap("SR", [i, j])
            with T.init():
                total[vi] = T.float32(0)
            total[vi] = total[vi] + power[vi, vj]
    for i, j in T.grid({m}, {n}):
        with T.sblock("o"):
            vi, vj = T.axis.remap("SS", [i, j])
            o[vi, vj] = power[vi, vj] / total[vi]
"""
SCAN = """
@T.prim_func(s_tir=True)
def f(x: T.Buffer((4096,), "float32"), o: T.Buffer((4097,), "float32")):
    o[0] = T.float32(1)
    for i in T.parallel(4096):
        with T.sblock("o"):
            vi = T.axis.spatial(4096, i)
            o[vi + 1] = o[vi] + x[vi]
"""


@pytest.fixture
def any_size(monkeypatch):
    """Threads for nests of any size."""
    monkeypatch.setattr(tiles, "WORTH", 0)


@pytest.mark.usefixtures("any_size")
@pytest.mark.parametrize("threads", [2, 3])
def test_generated_programs_come_to_the_same(threads):
    way = replace(WAY, threads=threads)
    count = 0
    for start in range(0, MOVED, TOGETHER):
        programs = with_moved_loops(batch(start)[0], way)
        found, ran = differences(programs, way)
        assert not found, told(found)
        count += ran.compiled.translation.text.count("rm_in_threads(")
    assert count > MOVED / 30


def outputs(text, arguments, shape, threads):
    """The result of a call of `f` on `threads` threads, with the steps that it took."""
    budget = Budget()
    executable = refmlc.build(refmlc.read(text), tier="native", threads=threads, budget=budget)
    machine = refmlc.VirtualMachine(executable)
    result = np.full(shape, np.nan, "float32")
    machine["f"](*arguments, result)
    assert machine.native.counts.native == 1
    return result.tobytes(), budget.steps


@pytest.mark.usefixtures("any_size")
@pytest.mark.parametrize(("m", "n", "k"), [(1, 200, 30), (67, 129, 31), (128, 96, 64), (211, 1, 7)])
def test_products_of_matrices_have_the_same_bits_and_steps(m, n, k):
    rng = np.random.default_rng(m)
    arguments = [rng.standard_normal(shape).astype("float32") for shape in ((m, k), (k, n))]
    alone, *others = (outputs(MATMUL.format(m=m, n=n, k=k), arguments, (m, n), threads) for threads in (1, 2, 3))
    assert others == [alone, alone]


@pytest.mark.usefixtures("any_size")
@pytest.mark.parametrize(("m", "n"), [(301, 700), (33, 5), (640, 64)])
def test_nests_in_strips_have_the_same_bits_and_steps(m, n):
    x = np.random.default_rng(m).standard_normal((m, n)).astype("float32")
    alone, *others = (outputs(SOFTMAX.format(m=m, n=n), [x], (m, n), threads) for threads in (1, 2, 3))
    assert others == [alone, alone]


def test_what_is_short_runs_on_one_thread():
    text = MATMUL.format(m=8, n=8, k=8)
    sources = [emit_module(refmlc.read(text), Options(isa=WAY.isa, threads=threads)).text for threads in (1, 2)]
    assert sources[0] == sources[1]


@pytest.mark.usefixtures("any_size")
def test_a_loop_that_carries_values_stays_on_one_thread():
    """Though it says `T.parallel`: nothing proves its iterations independent."""
    assert "rm_in_threads" not in emit_module(refmlc.read(SCAN), Options(isa=WAY.isa, threads=2)).text


@pytest.mark.usefixtures("any_size")
def test_a_loop_that_is_wrongly_taken_for_independent_is_noticed(monkeypatch):
    """The planted race: without the condition that keeps reads apart, threads give other bits than the definition."""
    monkeypatch.setattr(legality._Legality, "_reads_apart", lambda _self, _places: None)
    monkeypatch.setattr(legality._Legality, "_initialised", lambda _self: None)
    assert "rm_in_threads" in emit_module(refmlc.read(SCAN), Options(isa=WAY.isa, threads=2)).text
    x = np.ones(4096, "float32")
    machine = refmlc.VirtualMachine(refmlc.build(refmlc.read(SCAN), tier="native", threads=2))
    result = np.zeros(4097, "float32")
    machine["f"](x, result)
    assert not np.array_equal(result, np.arange(1, 4098, dtype="float32"))
