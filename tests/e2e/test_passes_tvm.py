"""Real TVM pass by pass: no alarm where nothing is wrong, planted faults named, the instrument within TVM's Python."""

import json
import os
import subprocess
import sys
from argparse import Namespace
from pathlib import Path

import known
import passes_real
import pytest
from click.testing import CliRunner

import refmlc
from refmlc.cli import main
from refmlc.oracle.passes import check, snapshots
from refmlc.oracle.passes.report import TvmRequest, tvm_script

PYTHON = os.environ.get("REFMLC_TVM_PYTHON", "")
ROOT = Path(__file__).parents[2]
SOFTMAX = ROOT / "tests" / "programs" / "printed_softmax.py"

pytestmark = pytest.mark.needs("tvm")

NETWORK = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", 3), "float32")) -> R.Tensor(("n", 3), "float32"):
        y = R.add(x, R.const([[1, 2, 3]], "float32"))
        return R.nn.relu(y)
"""


def passes(*options):
    done = CliRunner().invoke(main, ["passes", "--tvm", PYTHON, "--json", *map(str, options)])
    return done.exit_code, json.loads(done.stdout)


def test_the_default_pipeline_keeps_what_modules_mean(tmp_path):
    file = tmp_path / "network.py"
    file.write_text(NETWORK, encoding="utf-8")
    status, said = passes(file)
    assert (status, said["stopped"], said["broken"]) == (0, "", None)
    verdicts = {row["pass"]: row["verdict"] for row in said["stages"]}
    assert verdicts["LegalizeOps"] == verdicts["VMShapeLower"] == verdicts["tirx.LowerTVMBuiltin"] == "same"
    assert {row["verdict"] for row in said["stages"]} == {"same", "no call"}
    assert [row["pass"] for row in said["stages"] if row["verdict"] == "no call"] == ["tirx.BindTarget"]


def test_passes_by_name():
    status, said = passes(SOFTMAX, "--passes", "s_tir.LowerInitBlock,s_tir.ConvertBlocksToOpaque")
    assert status == 0
    assert [row["pass"] for row in said["stages"]] == ["s_tir.LowerInitBlock", "s_tir.ConvertBlocksToOpaque"]
    done = CliRunner().invoke(main, ["passes", str(SOFTMAX), "--tvm", PYTHON, "--passes", "tirx.UnrollLoop"])
    assert (done.exit_code, done.stdout) == (0, "no pass changes the module: there is nothing to compare\n")
    for name, word in (
        (" ,", "names no pass"),
        ("s_tir.LowerInitBlok", "LowerInitBlock"),
        ("tirx.UnrollLoop(9)", "pass"),
    ):
        done = CliRunner().invoke(main, ["passes", str(SOFTMAX), "--tvm", PYTHON, "--passes", name])
        assert (done.exit_code, word in done.stderr) == (2, True), done.stderr


ZERO = """
@T.prim_func(s_tir=True)
def main(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
    for i in range(4):
        B[i] = A[i] * T.float32(0)
"""  # TVM's simplifier takes x * 0 for 0; infinities and NaN say otherwise


ADD = ZERO.replace("* T.float32(0)", "+ T.float32(1)")


def test_a_pass_that_drops_what_is_needed_is_named(tmp_path):
    file, report = tmp_path / "zero.py", tmp_path / "report.md"
    file.write_text(ZERO, encoding="utf-8")
    status, said = passes(file, "--no-reduce", "--report", report)
    assert status == 1
    assert said["broken"]["func"] == "main"
    assert [row["pass"] for row in said["stages"] if row["verdict"] == "broken"] == ["s_tir.StmtSimplify"]
    text = report.read_text(encoding="utf-8")
    assert text.startswith("# `s_tir.StmtSimplify` changes what `main` computes\n\nTVM 0.27")
    assert "```diff" in text


def test_the_report_shows_it_with_tvm_alone():
    text = refmlc.show(refmlc.read(ZERO))
    program = tvm_script(text, check(snapshots(text, python=PYTHON)).broken)
    done = subprocess.run([PYTHON, "-c", program], capture_output=True, text=True, check=True, timeout=100)
    assert "B[i] = T.float32(0.0)" in done.stdout  # what the pass made of it
    said, meant = done.stdout.splitlines()[-2:]
    assert "array([0., 0., 0., 0.]" in said.partition("TVM:")[2]
    assert "-0.0" in meant.partition("meant:")[2].rpartition("[")[2]


def test_the_report_shows_passes_by_name_with_tvm_alone():
    text = NETWORK.replace("R.add(x, R.const([[1, 2, 3]]", "R.multiply(x, R.const(0").replace("R.nn.relu(y)", "y")
    asked = TvmRequest(["relax.Normalize", "relax.LegalizeOps"], opt=1)
    broken = check(snapshots(text, python=PYTHON, passes=asked.passes)).broken
    program = tvm_script(text, broken, asked)
    done = subprocess.run([PYTHON, "-c", program], capture_output=True, text=True, check=True, timeout=100)
    assert "without the passes:" in done.stdout
    assert "nan" in done.stdout.partition("meant:")[2]
    assert "nan" not in done.stdout.partition("with the passes:")[2].partition("meant:")[0]


def test_a_pass_that_ends_the_compiler_is_named():
    status, said = passes(SOFTMAX, "--passes", "s_tir.LowerInitBlock,tirx.NarrowDataType(33)")
    assert (status, said["kind"], said["failure"]["code"]) == (1, "compiler error", "RM708")
    assert said["stopped"].startswith("in `tirx.NarrowDataType`: ")


def test_a_pass_that_the_user_names_may_refuse(tmp_path):
    file = tmp_path / "network.py"
    file.write_text(NETWORK, encoding="utf-8")
    status, said = passes(file, "--passes", "relax.LegalizeOps,relax.Gradient('missing')")
    assert (status, said["kind"], said["failure"]) == (0, "precondition", None), said


def test_kernels_and_what_launches_them(tmp_path):
    file = tmp_path / "threads.py"
    file.write_text(
        """
@T.prim_func(s_tir=True)
def main(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
    for i in T.thread_binding(4, thread="threadIdx.x"):
        B[i] = A[i] + T.float32(1)
""",
        encoding="utf-8",
    )
    for target in ("cuda", "llvm"):  # this TVM has no CUDA, and no threads on a CPU: the passes before that are there
        status, said = passes(file, "--target", target)
        names = [row["pass"] for row in said["stages"]]
        assert (status, {row["verdict"] for row in said["stages"]}) == (0, {"same"}), said
        assert {"tirx.SplitHostDevice", "tirx.MakePackedAPI", "tirx.LowerTVMBuiltin"} <= set(names)


def test_verdicts_are_kept_and_alarms_without_explanation_are_told(tmp_path, capfd):
    texts = {"fine": ADD, "zero": ZERO, "rubbish": "no module"}
    for name, text in texts.items():
        (tmp_path / f"{name}.py").write_text(text, encoding="utf-8")
    index = [{"stem": name, "group": "te", "name": name} for name in texts]
    (tmp_path / "index.json").write_text(json.dumps(index), encoding="utf-8")
    options = Namespace(count=9, jobs=2, verdicts=tmp_path / "verdicts.jsonl", again=None)
    assert not passes_real.real_modules(PYTHON, tmp_path, options)
    first = capfd.readouterr().out
    assert "te/zero s_tir.StmtSimplify: the program after gives another `B`" in first
    assert "[NOT EXPLAINED]" in first
    assert "{'all stages the same': 1, 'alarm': 1, 'not taken by refmlc': 1}" in first
    assert first.splitlines()[-1].endswith("alarms: 0 explained, 1 without explanation")
    written = options.verdicts.read_text(encoding="utf-8")
    assert not passes_real.real_modules(PYTHON, tmp_path, options)  # nothing is asked again, all is told
    assert options.verdicts.read_text(encoding="utf-8") == written
    assert "{'all stages the same': 1, 'alarm': 1, 'not taken by refmlc': 1}" in capfd.readouterr().out
    (tmp_path / "zero.py").write_text(ADD, encoding="utf-8")
    assert passes_real.real_modules(PYTHON, tmp_path, options)
    assert len(options.verdicts.read_text(encoding="utf-8").splitlines()) == len(texts) + 1


def test_planted_faults_are_named():
    rows = passes_real.faults(PYTHON)
    assert len(rows) >= 150
    assert {row["fault"] for row in rows} == {
        "drop predicate",
        "swap operands",
        "skip cast",
        "wrong operator",
        "shorter loop",
    }
    some = rows[::29]
    assert [passes_real.named(row) for row in some] == [row["planted"] for row in some]


WITHIN = """
import sys
import numpy as np
import tvm
from tvm import relax, s_tir
from tvm.script import from_source
from refmlc.diag import RefmlcError
from refmlc.oracle.passes import check_passes, check_schedule
from refmlc.testing import Inequivalent, assert_defined, assert_equivalent

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
other = tvm.IRModule({"main": from_source(TEXT.replace("+ 1", "- 1"))})


@tvm.transform.module_pass(opt_level=0, name="Wrong")
def wrong(mod, ctx):
    return other


@tvm.transform.module_pass(opt_level=0, name="Raises")
def raises(mod, ctx):
    tvm.s_tir.transform.ConvertBlocksToOpaque()(mod)
    raise ValueError("not today")


def told(work):
    try:
        with check_passes(tvm) as seen:
            work()
    except (Inequivalent, RefmlcError) as problem:
        return str(problem).splitlines()[0]
    return sorted({row.verdict.value for row in seen.rows}), len(seen.traces), [row.name for row in seen.rows][:2]


def in_a_context():
    with tvm.transform.PassContext(opt_level=1):
        tvm.compile(module, "llvm")


def two_modules():
    for each in (module, other, module):
        tvm.s_tir.transform.ConvertBlocksToOpaque()(each)


def one_raises():
    try:
        raises(module)
    except ValueError:
        tvm.s_tir.transform.ConvertBlocksToOpaque()(other)


def with_a_constant():
    builder = relax.BlockBuilder()
    x = relax.Var("x", relax.TensorType((2, 3), "float32"))
    with builder.function("main", [x]):
        value = relax.const(np.arange(6, dtype="float32").reshape(2, 3))
        builder.emit_func_output(builder.emit(relax.op.add(x, relax.op.add(value, value))))
    passes = tvm.transform.Sequential([relax.transform.LegalizeOps(), relax.transform.FoldConstant()])
    passes(builder.get())


@tvm.transform.module_pass(opt_level=0, name="Vague")
def vague(mod, ctx):
    return tvm.IRModule({"main": from_source(STRANGE.replace("1,", "2,"))})


STRANGE = TEXT.replace("A[v] + 1", 'T.call_extern("int32", "strange", 1, A[v])')
for work in (
    lambda: tvm.compile(module, "llvm"),
    in_a_context,
    lambda: wrong(module),
    two_modules,
    one_raises,
    with_a_constant,
    lambda: None,
    lambda: vague(tvm.IRModule({"main": from_source(STRANGE)})),
):
    print(told(work))
print(tvm.transform.PassContext.current().instruments, tvm.transform.PassContext.__enter__.__name__)
schedule = s_tir.Schedule(module)
loop, = schedule.get_loops(schedule.get_sblock("B"))
schedule.split(loop, [None, 4])
schedule.vectorize(schedule.get_loops(schedule.get_sblock("B"))[1])
for given in (module, module["main"], TEXT):
    print([(row.name, row.verdict.value) for row in check_schedule(tvm, schedule, given).rows])
assert_defined(module)
assert_equivalent(module, schedule.mod)
assert_equivalent(module["main"], TEXT)
known = tvm.IRModule({"main": from_source(sys.argv[1])})
schedule = s_tir.Schedule(known)
schedule.reverse_compute_at(schedule.get_sblock("total"), schedule.get_loops(schedule.get_sblock("sum"))[1])
try:
    check_schedule(tvm, schedule, known)
except Inequivalent as problem:
    print(str(problem).splitlines()[0])
"""


def test_the_instrument_within_a_program_that_uses_tvm(tmp_path):
    script = tmp_path / "program.py"
    script.write_text(WITHIN, encoding="utf-8")
    places = [str(ROOT), *(place for place in sys.path if place.endswith("site-packages"))]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(places)}
    (row,) = (row for row in known.ROWS if row["id"] == "reverse-compute-at-reduction")
    command = [PYTHON, str(script), row["module"]]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300, env=environment)
    assert done.returncode == 0, done.stderr[-2000:]
    whole, context, wrong, two, raised, constant, nothing, vague, after, *steps, broken = done.stdout.splitlines()
    assert whole == context == "(['same'], 1, ['tirx.BindTarget', 's_tir.ConvertBlocksToOpaque'])"
    assert wrong.startswith(
        "error[RM705]: `Wrong` changes the meaning: the program after gives another `B`: [0] is -1, expected 1,"
    )
    assert two == raised == "(['same'], 2, ['s_tir.ConvertBlocksToOpaque', 's_tir.ConvertBlocksToOpaque'])"
    assert constant == "(['same'], 2, ['LegalizeOps', 'FoldConstant'])"  # to fold, TVM lowers a module of its own
    assert nothing == "error[RM112]: no pass ran in the block"
    assert vague.startswith("error[RM504]: nothing was compared: `main`: RM502: the function `strange`")
    assert after == "() __enter__"
    assert steps == ["[('3: Split', 'same'), ('6: Vectorize', 'same')]"] * 3
    assert broken.startswith("error[RM705]: `4: ReverseComputeAt` changes the meaning: ")
