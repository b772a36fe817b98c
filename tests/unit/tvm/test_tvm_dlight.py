"""`tvm.s_tir.dlight`: the first rule that takes a function schedules it; what it makes means the same."""

import subprocess
import sys
import warnings

import pytest

import refmlc
from refmlc import tvm
from refmlc.diag import RefmlcError
from refmlc.lang.ir import tir
from refmlc.lang.ir.visit import walk
from refmlc.testing import assert_equivalent
from refmlc.tvm import relax, s_tir
from refmlc.tvm.s_tir import Schedule, dlight
from refmlc.tvm.target import Target

Network = refmlc.read("""
@I.ir_module
class Network:
    @R.function
    def main(x: R.Tensor((4, 8), "float32"), w: R.Tensor((8, 6), "float32"), s: R.Tensor((6,), "float32")):
        with R.dataflow():
            a = R.matmul(x, w)
            b = R.nn.relu(a)
            c = R.nn.layer_norm(b, s, s, axes=[-1])
            d = R.permute_dims(c)
            R.output(d)
        return d
""")
RULES = (dlight.gpu.Matmul(), dlight.gpu.GeneralReduction(), dlight.gpu.Transpose(), dlight.gpu.Fallback())


@pytest.fixture(autouse=True)
def _quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def scheduled(*rules, target="cuda", module=None):
    with Target(target):
        return dlight.ApplyDefaultSchedule(*rules)(module or relax.get_pipeline("zero")(Network))


def functions(module):
    return {name: func for name, func in module.functions.items() if isinstance(func, tir.PrimFunc)}


def taken(module):
    return {name for name, func in functions(module).items() if func.attrs.get("tirx.is_scheduled")}


def test_each_rule_takes_its_functions():
    names = {"fused_matmul_relu", "layer_norm", "permute_dims"}
    assert {*functions(relax.get_pipeline("zero")(Network))} == names
    assert taken(scheduled(dlight.gpu.Matmul())) == {"fused_matmul_relu"}
    assert taken(scheduled(dlight.gpu.GeneralReduction())) == {"fused_matmul_relu", "layer_norm"}
    assert taken(scheduled(dlight.gpu.Transpose())) == {"permute_dims"}
    assert taken(scheduled(dlight.gpu.GEMV(), dlight.gpu.RMSNorm(), dlight.gpu.LowBatchGEMV())) == set()
    assert taken(scheduled(*RULES)) == names


def test_a_scheduled_module_means_the_same_and_binds_threads():
    module = scheduled(*RULES)
    loops = [node for func in functions(module).values() for node in walk(func) if isinstance(node, tir.For)]
    assert {loop.tag for loop in loops if loop.tag} == {"blockIdx.x", "threadIdx.x"}
    assert all(func.private for func in functions(module).values())
    assert_equivalent(Network, module, func="main", calls=3, exact=True)
    assert "tirx.is_scheduled" in module.script()


def test_the_default_schedule_is_that_of_the_last_rule():
    with Target("cuda"):
        module = s_tir.transform.DefaultGPUSchedule()(relax.get_pipeline("zero")(Network))
    assert refmlc.lang.ir.equal.structural_equal(module, scheduled(dlight.gpu.Fallback()))


def test_a_function_that_is_scheduled_stays_as_it_is():
    first = scheduled(dlight.gpu.Fallback())
    again = scheduled(dlight.gpu.Matmul(), module=first)
    assert all(again[name] is first[name] for name in functions(first))


def test_rules_for_gpus_leave_the_functions_of_a_cpu():
    assert taken(scheduled(*RULES, target="llvm")) == set()


def test_a_target_is_needed():
    with pytest.raises(RefmlcError, match="no target is current"):
        dlight.ApplyDefaultSchedule(*RULES)(relax.get_pipeline("zero")(Network))
    with Target("cuda"), Target("llvm"):
        assert str(Target.current()) == "llvm"
    assert Target.current() is None


def test_a_rule_of_a_user_comes_in_its_order():
    calls = []

    @dlight.ScheduleRule.from_callable("Mine")
    def mine(func, target, tunable):
        calls.append((str(target.kind), tunable))
        schedule = Schedule(func)
        infos = dlight.analysis.normalize_prim_func(schedule)
        if len(infos) != 1 or not infos[0].is_injective():
            return None
        schedule.bind(schedule.fuse(*schedule.get_loops(infos[0].block_rv)), "blockIdx.x")
        return schedule

    assert type(mine).__name__ == "Mine"
    module = scheduled(mine, dlight.gpu.Matmul())
    assert taken(module) == {"permute_dims", "fused_matmul_relu"}
    assert calls == [("cuda", False)] * 3
    tags = [node.tag for node in walk(module["permute_dims"]) if isinstance(node, tir.For)]
    assert tags == ["blockIdx.x"]
    assert_equivalent(Network, module, func="main", calls=2, exact=True)


SYMBOLIC = refmlc.read("""
@T.prim_func(s_tir=True)
def main(a: T.handle, b: T.handle, c: T.handle):
    n = T.int64()
    A = T.match_buffer(a, (n, 8), "float32")
    B = T.match_buffer(b, (6, 8), "float32")
    C = T.match_buffer(c, (n, 6), "float32")
    for i, j, k in T.grid(n, 6, 8):
        with T.sblock("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vj, vk]
""")


def test_symbolic_extents_are_left_or_refused_by_name():
    with pytest.warns(UserWarning, match="left as it is"):
        assert taken(scheduled(dlight.gpu.Fallback(), module=SYMBOLIC)) == set()
    with pytest.raises(RefmlcError, match="LowBatchGEMV"):
        scheduled(dlight.gpu.LowBatchGEMV(), module=SYMBOLIC)


def test_what_is_not_here_is_refused_with_its_reason():
    with pytest.raises(AttributeError, match="one family"):
        _ = dlight.adreno


def test_devices_and_targets():
    assert str(Target.from_device(tvm.cuda(0))) == str(Target.from_device("cuda:1")) == "cuda"
    assert str(Target.from_device(tvm.cpu())) == "llvm"
    cuda, metal, llvm = Target("cuda"), Target("metal"), Target("llvm")
    # the numbers are those of TVM 0.27
    assert (cuda.kind.name, cuda.keys, cuda.attrs["max_num_threads"]) == ("cuda", ["cuda", "gpu"], 1024)
    assert (metal.keys, metal.attrs["max_num_threads"]) == (["metal", "gpu"], 256)
    assert (llvm.keys, llvm.attrs) == (["cpu"], {})
    with pytest.raises(RefmlcError, match="RM112"):
        Target.from_device("abacus")


def test_the_modules_have_their_names_of_tvm():
    text = (
        "import refmlc; refmlc.install_tvm(anyway=True)\n"
        "from tvm.s_tir import dlight\nfrom tvm import dlight as former\n"
        "from tvm.s_tir.dlight.base.schedule_rule import ScheduleRule\n"
        "from tvm.s_tir.dlight.base.transform import ApplyDefaultSchedule\n"
        "from tvm.s_tir.dlight.analysis import normalize_prim_func\n"
        "from tvm.s_tir.meta_schedule.relax_integration import extract_tasks\n"
        "assert dlight.ScheduleRule is ScheduleRule and former is dlight"
    )
    subprocess.run([sys.executable, "-c", text], check=True)
