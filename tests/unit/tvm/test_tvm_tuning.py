"""Searches over the functions of a module: its tasks, the best schedules in their places, pipelines by name."""

import warnings

import numpy as np
import pytest

import refmlc
from refmlc.diag import RefmlcError
from refmlc.lang.ir import tir
from refmlc.testing import assert_equivalent
from refmlc.tvm import build, relax
from refmlc.tvm.meta_schedule.database import Database
from refmlc.tvm.meta_schedule.relax_integration import extract_tasks, tune_relax
from refmlc.tvm.target import Target

Network = refmlc.read("""
@I.ir_module
class Network:
    @R.function
    def main(x: R.Tensor((4, 8), "float32"), w: R.Tensor((8, 8), "float32"), v: R.Tensor((8, 8), "float32")):
        with R.dataflow():
            a = R.permute_dims(w)
            b = R.matmul(x, a)
            c = R.nn.relu(b)
            d = R.permute_dims(v)
            e = R.matmul(c, d)
            R.output(e)
        return e
""")


def lowered():
    return relax.get_pipeline("zero")(Network)


def test_tasks_are_functions_with_the_number_of_their_calls():
    # TVM 0.27 gives these tasks for the network, in this order; it calls `permute_dims` transpose
    tasks = extract_tasks(lowered(), "llvm")
    assert [(task.task_name, task.weight) for task in tasks] == [
        ("matmul", 1),
        ("fused_matmul_relu", 1),
        ("permute_dims", 2),
    ]
    assert all([*task.mod.functions] == ["main"] and task.dispatched == [task.mod] for task in tasks)
    with pytest.raises(RefmlcError, match="module_equality"):
        extract_tasks(lowered(), "llvm", module_equality="anchor-block")


def test_the_best_schedules_take_the_places_of_functions(tmp_path):
    work_dir = str(tmp_path / "logs")
    tune = relax.transform.MetaScheduleTuneTIR(work_dir=work_dir, max_trials_global=6)
    apply = relax.transform.MetaScheduleApplyDatabase(work_dir=work_dir)
    with Target("llvm"):
        assert tune(lowered()).functions.keys() == lowered().functions.keys()
        best = apply(lowered())
    functions = [func for func in best.functions.values() if isinstance(func, tir.PrimFunc)]
    assert len(functions) == 3
    assert all(func.attrs.get("tirx.is_scheduled") and func.private for func in functions)
    assert_equivalent(Network, best, func="main", calls=3, exact=True)
    assert len((tmp_path / "logs" / "database_tuning_record.json").read_text().splitlines()) >= 3


def test_tasks_by_name_and_a_database_of_the_user():
    database = Database()
    tune_relax(lowered(), None, "llvm", None, 4, op_names=["relu"], database=database, seed=0)
    assert {len(record.workload.functions) for record in database.get_all_tuning_records()} == {1}
    with Target("llvm"), database:
        best = relax.transform.MetaScheduleApplyDatabase()(lowered())
    scheduled = {name for name, func in best.functions.items() if func.attrs.get("tirx.is_scheduled")}
    assert scheduled == {"fused_matmul_relu"}


def test_a_database_of_no_search_is_refused(tmp_path):
    with Target("llvm"), pytest.raises(RefmlcError, match="RM504"):
        relax.transform.MetaScheduleApplyDatabase(work_dir=str(tmp_path))(lowered())
    with Target("llvm"), pytest.raises(RefmlcError, match="RM504"):
        relax.transform.MetaScheduleApplyDatabase()(lowered())
    with pytest.raises(RefmlcError, match="no target is current"):
        relax.transform.MetaScheduleTuneTIR(str(tmp_path), 1)(lowered())


def test_a_task_without_constant_extents_is_left_out():
    module = refmlc.read("""
@I.ir_module
class Symbolic:
    @R.function
    def main(x: R.Tensor(("n",), "float32")):
        with R.dataflow():
            y = R.exp(x)
            R.output(y)
        return y
""")
    with pytest.warns(UserWarning, match="`exp` is not tuned"):
        assert len(tune_relax(relax.get_pipeline("zero")(module), None, "llvm", None, 2)) == 0


def test_pipelines_by_name(tmp_path):
    @relax.register_pipeline("mine")
    def mine(level=1):
        return relax.transform.LegalizeOps() if level else relax.transform.Normalize()

    assert repr(relax.get_pipeline("mine")) == "Pass(LegalizeOps)"
    assert repr(relax.get_pipeline("mine", level=0)) == "Pass(Normalize)"
    with pytest.raises(RefmlcError, match="registered already"):
        relax.register_pipeline("zero")
    tuned = relax.get_pipeline("static_shape_tuning", target="llvm", work_dir=str(tmp_path), total_trials=3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert_equivalent(Network, tuned(Network), func="main", calls=2, exact=True)
    with pytest.raises(RefmlcError, match="RM504"):
        relax.get_pipeline("static_shape_tuning", target="llvm", total_trials=1, cpu_weight_prepack=True)


def test_a_pipeline_of_a_compilation_is_applied():
    other = refmlc.read(Network.script().replace("R.nn.relu(b)", "R.negative(b)"))
    x, w, v = (np.random.default_rng(0).normal(size=size).astype("float32") for size in ((4, 8), (8, 8), (8, 8)))
    plain, expected = ((relax.VirtualMachine(build(module))["main"](x, w, v)).numpy() for module in (Network, other))
    changed = build(Network, "llvm", relax_pipeline=relax.transform.Pass("other", lambda _: other))
    assert not np.array_equal(plain, expected)
    np.testing.assert_array_equal(relax.VirtualMachine(changed)["main"](x, w, v).numpy(), expected)
    by_name = build(Network, "llvm", relax_pipeline="zero")
    np.testing.assert_array_equal(relax.VirtualMachine(by_name)["main"](x, w, v).numpy(), plain)
    with pytest.raises(AttributeError, match="nothing_of_this_name"):
        build(Network, "llvm", relax_pipeline="nothing_of_this_name")
