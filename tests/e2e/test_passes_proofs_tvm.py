"""Real TVM's default pipeline and a schedule, proved stage by stage."""

import json
import os
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

from refmlc.cli import main

PYTHON = os.environ.get("REFMLC_TVM_PYTHON", "")
ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.needs("tvm")

NETWORK = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4, 3), "float32")) -> R.Tensor((4, 3), "float32"):
        y = R.add(x, R.const([[1, 2, 3]], "float32"))
        return R.nn.relu(y)
"""


def test_the_default_pipeline_is_proved_stage_by_stage(tmp_path):
    file = tmp_path / "network.py"
    file.write_text(NETWORK, encoding="utf-8")
    done = CliRunner().invoke(main, ["passes", str(file), "--tvm", PYTHON, "--prove", "--json"])
    result = json.loads(done.stdout)
    assert (done.exit_code, result["alarms"]) == (0, [])
    assert [row["pass"] for row in result["stages"] if row["proof"]["word"] != "proved"] == []
    assert {"LegalizeOps", "VMShapeLower", "tirx.BindTarget", "tirx.MakePackedAPI"} <= {
        row["pass"] for row in result["stages"]
    }


SCHEDULE = """
import tvm
from tvm import s_tir
from tvm.script import from_source
from refmlc.oracle.passes import check_passes, check_schedule

TEXT = '''
# from tvm.script import tirx as T
@T.prim_func(s_tir=True)
def main(A: T.Buffer((10,), "int32"), B: T.Buffer((10,), "int32")):
    for i in range(10):
        with T.sblock("B"):
            v = T.axis.spatial(10, i)
            B[v] = A[v] + 1
'''
module = tvm.IRModule({"main": from_source(TEXT)})
schedule = s_tir.Schedule(module)
loop, = schedule.get_loops(schedule.get_sblock("B"))
schedule.split(loop, [None, 4])
schedule.vectorize(schedule.get_loops(schedule.get_sblock("B"))[1])
print([(row.name, row.proof.word.value) for row in check_schedule(tvm, schedule, module, prove=True).rows])
with check_passes(tvm, prove=True) as watched:
    s_tir.transform.LowerOpaqueBlock()(s_tir.transform.ConvertBlocksToOpaque()(schedule.mod))
print([(row.name, row.proof.word.value) for row in watched.rows])
"""


def test_primitives_and_passes_are_proved_within_a_program_that_uses_tvm():
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [PYTHON, "-c", SCHEDULE], capture_output=True, text=True, check=False, env=environment, timeout=300
    )
    assert done.stdout.splitlines() == [
        "[('3: Split', 'proved'), ('6: Vectorize', 'proved')]",
        "[('s_tir.ConvertBlocksToOpaque', 'proved'), ('s_tir.LowerOpaqueBlock', 'proved')]",
    ], done.stderr
