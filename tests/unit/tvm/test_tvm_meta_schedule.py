"""`tvm.meta_schedule`: a search measures programs of the space, all of which mean the same, and keeps the best."""

import json

import numpy as np
import pytest

from refmlc import RefmlcError, read, tvm
from refmlc.lang.ir.equal import structural_equal
from refmlc.tvm import meta_schedule as ms
from refmlc.tvm.meta_schedule.search import Limits, default_space, search

Product = read("""
@T.prim_func
def main(A: T.Buffer((8, 12), "float32"), B: T.Buffer((12, 16), "float32"), C: T.Buffer((8, 16), "float32")):
    D = T.alloc_buffer((8, 12), "float32")
    for i, j in T.grid(8, 12):
        with T.block("D"):
            vi, vj = T.axis.remap("SS", [i, j])
            D[vi, vj] = A[vi, vj] + T.float32(1)
    for i, j, k in T.grid(8, 16, 12):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + D[vi, vk] * B[vk, vj]
""")


def tiles(schedule):
    block = schedule.get_block("C")
    i, j, k = schedule.get_loops(block)
    j_0, j_1 = schedule.split(j, schedule.sample_perfect_tile(j, n=2))
    schedule.reorder(i, j_0, k, j_1)
    schedule.decompose_reduction(block, k)


def test_a_given_space_is_searched_and_the_best_is_kept(tmp_path):
    database = ms.tune_tir(
        mod=Product,
        target="llvm --num-cores=1",
        max_trials_global=10,
        num_trials_per_iter=10,
        space=ms.space_generator.ScheduleFn(tiles),
        work_dir=str(tmp_path / "work"),
        seed=4,
    )
    records = database.get_all_tuning_records()
    drawn = [tuple(record.trace.decisions.values()) for record in records]
    assert 1 < len(drawn) <= 5  # the divisors of 16
    assert len({str(decision) for decision in drawn}) == len(drawn)
    best = database.query_tuning_record(Product, "llvm --num-cores=1")
    assert best.run_secs[0] == min(record.run_secs[0] for record in records)
    schedule = ms.tir_integration.compile_tir(database, Product, "llvm --num-cores=1")
    assert structural_equal(schedule.mod, best.schedule.mod)
    a, b = np.random.default_rng(0).random((2, 12, 16), "float32")
    a = np.ascontiguousarray(a.T[:8])
    out = tvm.runtime.tensor(np.zeros((8, 16), "float32"))
    tvm.build(schedule.mod)["main"](a, b, out)
    np.testing.assert_allclose(out.numpy(), (a + 1) @ b, rtol=1e-5)
    lines = (tmp_path / "work" / "database_tuning_record.json").read_text().splitlines()
    assert [json.loads(line)["run_secs"] for line in lines] == sorted(record.run_secs[0] for record in records)


def test_without_a_work_directory_nothing_is_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    database = ms.tune_tir(Product, "llvm", max_trials_global=1, space=tiles)
    assert len(database) == 1
    assert list(tmp_path.iterdir()) == []


def test_the_default_space_inlines_tiles_and_takes_the_init_out():
    found = search(Product, default_space(parallel=False), Limits(3), seed=2)
    assert found.wrong == found.refused == 0
    for record in found.records:
        text = record.schedule.mod.script()
        assert "C_init" in text
        assert 'T.block("D")' not in text
        assert "T.vectorized" in text
        assert "T.parallel" not in text


def test_a_schedule_that_gives_other_results_is_thrown_away():
    other = read(Product.script().replace("T.float32(1", "T.float32(2"))

    def wrong(schedule):
        schedule._module = other

    searched = search(Product, wrong, Limits(2), seed=1)
    assert (searched.wrong, searched.records) == (1, [])


@pytest.mark.parametrize("option", ["runner", "builder", "cost_model", "strategy"])
def test_options_that_choose_how_to_search_are_refused(option):
    with pytest.raises(RefmlcError, match=f"tune_tir\\({option}") as refusal:
        ms.tune_tir(Product, "llvm", **{option: "anything"})
    assert refusal.value.code.id == "RM504"


@pytest.mark.parametrize("name", ["tune_tasks", "cost_model", "runner", "relay_integration"])
def test_other_names_are_refused(name):
    with pytest.raises(AttributeError, match=f"tvm.meta_schedule.{name}` is not covered"):
        getattr(ms, name)


def test_a_module_without_main_is_refused():
    module = tvm.IRModule({"other": Product["main"]})
    with pytest.raises(RefmlcError, match="a TensorIR function `main`"):
        ms.tune_tir(module, "llvm", max_trials_global=1)
