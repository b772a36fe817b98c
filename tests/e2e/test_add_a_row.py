"""The how-to pages hold: in a copy of the tree, three files of a checklist bring a new row to every part of refmlc.

The expected numbers are worked by hand. `fdim` is C99's: a - b where a > b, else 0, NaN where one of them is.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.needs("compiler")

ROOT = Path(__file__).parents[2]

OPERATOR_ROW = """

FDIM = ScalarOp(
    Contract(
        name="fdim",
        arity=2,
        meaning="a - b where a > b, else 0; NaN where one of them is NaN",
        clause="NUM-505",
        accepts=FLOATS,
        accuracy=Accuracy.ROUNDED,
        examples=(Example("float32", (3.0, 1.0), 2.0), Example("float32", (1.0, 3.0), 0.0)),
        notation=Notation(c=("fdim",)),
    ),
    _in_binary64(lambda a, b: a - b if a > b else 0.0 if a <= b else math.nan),
)

FLOATING = (*FLOATING, FDIM)
"""
OPERATOR_IN_C = """
#define RM_FDIM(D)                                                                        \\
  RM_FN rm_##D rm_fdim_##D(rm_##D a, rm_##D b) {                                          \\
    return a > b ? rm_rounded_##D((double)a - (double)b) : a <= b ? 0 : (rm_##D)NAN;      \\
  }
RM_EACH_FLOAT(RM_FDIM)

#endif
"""
OPERATOR_IN_NUMPY = """    "pow": power,
    "fdim": lambda a, b: math.nan if a != a or b != b else a - b if a > b else 0.0,
"""
OPERATOR = {
    "refmlc/lang/ops/scalar/floating.py": lambda text: text + OPERATOR_ROW,
    "kernels_c/rm_floating.h": lambda text: text.rpartition("#endif")[0] + OPERATOR_IN_C,
    "refmlc/oracle/implementations/loops/arithmetic.py": lambda text: text.replace(
        '    "pow": power,\n', OPERATOR_IN_NUMPY
    ),
}
INTRINSIC = {
    "refmlc/lang/ops/intrinsics/table.py": lambda text: text.replace(
        '        Intrinsic("vscale"',
        '        Intrinsic("saturate", "its argument between 0 and 1", "TIR-302", PURE, "number", 0),\n'
        '        Intrinsic("vscale"',
    ),
    "refmlc/run/interp/tensorir/intrinsics.py": lambda text: text.replace(
        "def _vscale(",
        "def _saturate(scope: Scope, node: tir.Call) -> Eval:\n"
        "    number = scope.number(operands(node)[0])\n"
        "    return lambda frame: min(max(number(frame), 0.0), 1.0)\n\n\n"
        "def _vscale(",
    ).replace('    "vscale": _vscale,', '    "saturate": _saturate,\n    "vscale": _vscale,'),
    "refmlc/oracle/implementations/loops/expressions.py": lambda text: text.replace(
        '    if name == "vscale":',
        '    if name == "saturate":\n'
        "        kept = writer.bind('kept', lambda x: min(max(x, 0.0), 1.0))\n"
        '        return f"{kept}({_expr(writer, args[0], source)})"\n'
        '    if name == "vscale":',
    ),
}

RUN = """
import json
import sys

import numpy as np

import refmlc
from refmlc.oracle.implementations.lookup import implementation

found = []
for text, dtype, columns in json.load(sys.stdin):
    module = refmlc.read(text)
    shown = module.script()
    assert refmlc.read(shown).script() == shown
    inputs = [np.array([float(x) for x in column], dtype) for column in columns]
    answers = {"text": shown, "tiers": {}}
    for tier in ("interp", "native"):
        out, executable = np.zeros(len(columns[0]), dtype), refmlc.build(module, tier=tier)
        refmlc.VirtualMachine(executable)["main"](*inputs, out)
        answers[tier] = out.astype("float64").tolist()
        answers["tiers"][tier] = executable.report["main"].tier.value
    answer = implementation("numpy").prepare(module).run("main", [*inputs, np.zeros(len(columns[0]), dtype)])
    answers["numpy"] = np.asarray(answer.args[-1]).astype("float64").tolist()
    found.append(answers)
print(json.dumps(found))
"""


def copied(folder, edits):
    """The tree with these files changed. Each edit changes its file: else the page names a place that is gone."""
    for name in ("refmlc", "kernels_c"):
        shutil.copytree(ROOT / name, folder / name, symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))
    for name, edit in edits.items():
        before = (folder / name).read_text(encoding="utf-8")
        after = edit(before)
        assert after != before, name
        (folder / name).write_text(after, encoding="utf-8")
    return folder


def answers(tree, jobs):
    """What the copy makes of programs: their texts, and the results of the interpreter, of C and of NumPy."""
    environment = {**os.environ, "PYTHONPATH": str(tree), "REFMLC_CACHE_DIR": str(tree / "cache")}
    command = [sys.executable, "-c", RUN]
    done = subprocess.run(
        command, input=json.dumps(jobs), capture_output=True, text=True, check=False, env=environment, cwd=tree
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def program(expression, dtype, inputs, size):
    """A kernel of one dtype that stores the expression at `v` of its inputs."""
    params = ", ".join(f'{name}: T.Buffer(({size},), "{dtype}")' for name in (*inputs, "out"))
    return (
        "from tvm.script import tirx as T\n\n\n"
        f"@T.prim_func(s_tir=True)\ndef main({params}):\n    for i in range({size}):\n"
        f'        with T.sblock("out"):\n            v = T.axis.spatial({size}, i)\n'
        f"            out[v] = {expression}\n"
    )


def check(found, expected):
    spelled = [str(float(x)) for x in expected]
    for who in ("interp", "native", "numpy"):
        assert [str(x) for x in found[who]] == spelled, who


def test_three_files_bring_an_operator_to_every_part(tmp_path):
    cases = [
        ("float32", [3.0, 1.0, 2.0**24, "nan"], [1.0, 3.0, 0.5, 1.0], [2.0, 0.0, 2.0**24, "nan"]),
        ("float16", [3.0, -1.0, 2048.0, "inf"], [1.0, -3.0, 0.5, 1.0], [2.0, 2.0, 2048.0, "inf"]),
        ("float64", [1.0, 2.0, -0.0, 1.5], ["nan", 2.0, 0.0, -1.5], ["nan", 0.0, 0.0, 3.0]),
    ]
    jobs = [(program("T.fdim(A[v], B[v])", dtype, "AB", len(a)), dtype, [a, b]) for dtype, a, b, _ in cases]
    found = answers(copied(tmp_path, OPERATOR), jobs)
    for answer, (_, _, _, expected) in zip(found, cases, strict=True):
        assert "T.fdim(A[v], B[v])" in answer["text"]
        assert answer["tiers"] == {"interp": "interp", "native": "native"}
        check(answer, expected)


def test_three_files_bring_an_intrinsic_to_every_part(tmp_path):
    """C leaves the function to the interpreter, with the reason; the result is the same."""
    job = (program("T.saturate(A[v])", "float32", "A", 3), "float32", [[-1.0, 0.25, 2.0]])
    (found,) = answers(copied(tmp_path, INTRINSIC), [job])
    assert "T.saturate(A[v])" in found["text"]
    check(found, [0.0, 0.25, 1.0])
