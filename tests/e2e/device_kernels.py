"""Kernels of TVM's own tests for a GPU, executed by refmlc without one: each test's own assertion is the judge.

`python tests/e2e/device_kernels.py --tests DIR --tvm PYTHON [--only REGEX] [--one-in N] [--verdicts FILE] [--time S]`,
where DIR is a folder of TVM's tests for CUDA (`tests/python/tirx` of a checkout), and PYTHON has apache-tvm and pytest.
In TVM's environment a test compiles its kernel, draws its arguments and calls it; refmlc executes the kernel in the
place of a device; the test compares what is left with its own expectation (`tvm_side/judge_kernels.py`). Verdicts are
kept in FILE, a line of JSON for each test and way, and tests that have one are passed over: a run that its time ended
goes on. `--report` runs nothing and prints the tables of FILE.

| verdict       | meaning                                                                                    |
|---------------|--------------------------------------------------------------------------------------------|
| `right`       | the test's assertion holds, and fails when one element that a kernel wrote is made wrong   |
| `coarse`      | it holds, and fails only when all elements are made wrong                                  |
| `blind`       | it holds, and would hold whatever a kernel leaves: nothing is known                        |
| `wrong`       | it fails                                                                                   |
| `unsupported` | unsupported by name                                                                        |
| `undefined`   | a finding, a race for example: the kernel has no meaning for the test's arguments          |
| `refused`     | refmlc does not read the text, or a static rule is broken                                  |
| `late`        | it takes too long, too many steps, or too much memory                                      |
| `traceback`   | refmlc ends by a bug of its own                                                            |
| `unlowered`   | TVM's LowerTIRx fails, or TVM does not print the module                                    |
| `uncalled`    | the test calls no kernel: it asserts on what TVM prints                                    |
| `elsewhere`   | the test fails before a kernel is called, or in this version of TVM                        |
| `unjudged`    | a kernel takes an argument that is neither a tensor nor a number                           |
| `skipped`     | the test skips itself                                                                      |
| `fault`       | TVM ends by a fault                                                                        |

The ways: `tiles` is the kernel as it is built, with its tile primitives; `lowered` the same after real TVM's LowerTIRx.
Before the first test the command proves that it can fail: a test of its own that is certainly wrong is `wrong`.

Of what is undefined the last lines say which causes are traced: the rows of `explained_kernels.toml`.

Exit status 1: something is wrong, or a traceback, or a fault in an element is never seen.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from math import inf
from pathlib import Path

from rich.console import Console
from rich.table import Table

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

from biting import prove  # noqa: E402 - after the path
from explained_kernels import told  # noqa: E402

VERDICTS = (
    *("right", "coarse", "blind", "wrong", "unsupported", "undefined", "refused", "late", "traceback", "unlowered"),
    *("uncalled", "elsewhere", "unjudged", "skipped", "fault"),
)
HELD = ("right", "coarse", "blind")
ENDS = ("right", "wrong")
WAYS = ("tiles", "lowered")
DONE = "done"
FAULTS = 12  # times that a file of tests may end by a fault before the rest of it is given up
PROOF = """
import numpy as np
import tvm
from tvm.script import tirx as T


def left():
    @T.prim_func
    def main(A: T.Buffer((32,), "int32"), B: T.Buffer((32,), "int32")):
        T.device_entry()
        T.cta_id([1])
        t = T.thread_id([32])
        B[t] = A[t] + 1

    executable = tvm.compile(tvm.IRModule({"main": main}), target=tvm.target.Target("cuda"), tir_pipeline="tirx")
    A, B = (tvm.runtime.tensor(np.full(32, value, "int32"), tvm.cuda(0)) for value in (1, 0))
    executable(A, B)
    return B.numpy().tolist()


def test_right():
    assert left() == [2] * 32


def test_wrong():
    assert left() == [2] * 31 + [3]
"""
CONSOLE = Console(width=200, highlight=False)


def judge(options, file, until):
    """Run the tests of a file, again after each fault, until all have a verdict."""
    server = json.dumps([sys.executable, str(HERE / "kernel_server.py"), str(options.seconds)])
    command = [options.tvm, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "judge_kernels"]
    command += ["--rootdir", str(options.tests), "--verdicts", str(options.verdicts.resolve()), "--server", server]
    command += ["--only", options.only, "--one-in", str(options.one_in), "--judge-seconds", str(8 * options.seconds)]
    command += ["--until", str(until), str(file)]
    if options.keep:
        options.keep.mkdir(exist_ok=True)
        command += ["--texts", str(options.keep.resolve())]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": "", "PYTHONDONTWRITEBYTECODE": "1"}
    environment["PYTHONPATH"] = os.pathsep.join((str(HERE / "tvm_side"), str(HERE.parents[1])))
    name = str(file.relative_to(options.tests))
    for _ in range(FAULTS):
        before = options.verdicts.read_bytes()
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
        if done.returncode in range(6):  # pytest's own statuses: it came to its end
            if done.returncode in (2, 3, 4) and "the time is over" not in done.stdout:
                lines = [line for line in done.stdout.splitlines() if line.startswith("E ")] or ["E  pytest refuses it"]
                note(
                    options.verdicts, str(file.relative_to(options.tests)), "tiles", "elsewhere", lines[-1][1:].strip()
                )
            if not options.only and "the time is over" not in done.stdout:
                note(options.verdicts, name, DONE, str(options.one_in))
            return
        if options.verdicts.read_bytes() == before:
            return


def prove_itself(options):
    """End the program unless a test that is certainly wrong is seen as `wrong`, and one that is right as `right`."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "test_proof.py").write_text(PROOF, "utf-8")
        changed = {"tests": folder, "verdicts": folder / "verdicts.jsonl", "only": "", "one_in": 1, "keep": None}
        own = argparse.Namespace(**{**vars(options), **changed})
        own.verdicts.touch()
        judge(own, folder / "test_proof.py", inf)
        rows = read_verdicts(own.verdicts)
    seen = {
        test: {row["verdict"] for row in rows.values() if row["test"].endswith(test)} for test in ("right", "wrong")
    }
    prove("the judge", notices=seen["wrong"] == {"wrong"}, passes=seen["right"] == {"right"}, why=str(seen))


def note(verdicts, test, way, verdict, reason=""):
    """Add a line: a file of tests that cannot be imported, or one that is `DONE`, whose verdict is its sample."""
    with verdicts.open("a", encoding="utf-8") as out:
        out.write(json.dumps({"test": test, "way": way, "verdict": verdict, "reason": reason, "seconds": 0.0}) + "\n")


def read_verdicts(path):
    """The last verdict of each test and way, in their order."""
    rows = map(json.loads, path.read_text("utf-8").splitlines())
    return {(row["test"], row["way"]): row for row in rows}


def table(rows, way):
    """Counts for each file of tests."""
    result = Table(title=f"kernels of TVM's tests, {way}")
    met = [verdict for verdict in VERDICTS if any(row["verdict"] == verdict for row in rows)]
    for column in ("tests", "", *met):
        result.add_column(column, justify="left" if column == "tests" else "right")
    files = defaultdict(list)
    for row in rows:
        files[row["test"].partition("::")[0]].append(row)
    for file, members in (*sorted(files.items()), ("all", rows)):
        counts = Counter(row["verdict"] for row in members)
        result.add_row(file, str(len(members)), *(str(counts[verdict] or "") for verdict in met))
    return result


def masked(message):
    """A message without its names and numbers."""
    return re.sub(r"\d+", "#", re.sub(r"`[a-zA-Z_0-9]+`", "`_`", message))[:160]


def reasons(rows):
    """Print what stands behind the counts, the most frequent first."""
    groups = defaultdict(list)
    for row in rows:
        if row["verdict"] not in HELD and row["reason"]:
            groups[row["way"], row["verdict"], masked(row["reason"])].append(row)
    for (way, verdict, reason), members in sorted(groups.items(), key=lambda group: -len(group[1])):
        CONSOLE.print(f"{len(members):5} {way}, {verdict}: {reason}", markup=False, soft_wrap=True)
        first = members[0]
        CONSOLE.print(f"      {first['test']}: {first['reason']}"[:400], markup=False, style="dim", soft_wrap=True)


def report(rows):
    """Print the tables and the reasons; the exit status."""
    for way in WAYS:
        CONSOLE.print(table([row for row in rows if row["way"] == way], way))
    reasons(rows)
    undefined = [row for row in rows if row["verdict"] == "undefined"]
    for line in told([(*row["test"].split("::", 1), row["reason"]) for row in undefined]):
        CONSOLE.print(line, markup=False, soft_wrap=True)
    counts = Counter(row["verdict"] for row in rows)
    held = sum(counts[verdict] for verdict in HELD)
    seen = f"{counts['right']} see it in one element, {counts['coarse']} in all, {counts['blind']} never"
    CONSOLE.print(f"a fault planted in what {held} tests accept: {seen}")
    return int(bool(counts["wrong"] or counts["traceback"] or (held and not counts["right"])))


def arguments():
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tests", type=Path, help="a folder of TVM's tests")
    parser.add_argument("--tvm", help="a Python that has apache-tvm and pytest")
    parser.add_argument("--files", default="", help="a regular expression: of these files of tests alone")
    parser.add_argument("--only", default="", help="a regular expression: of these tests alone")
    parser.add_argument("--one-in", type=int, default=1, help="one test in so many, the same ones each time")
    parser.add_argument("--verdicts", type=Path, help="where verdicts are kept; tests that have one are passed over")
    parser.add_argument("--keep", type=Path, help="a folder for the texts of the kernels that are not right")
    parser.add_argument("--seconds", type=int, default=20, help="how long a kernel may last")
    parser.add_argument("--time", type=float, default=inf, help="seconds after which no further test is begun")
    parser.add_argument("--report", action="store_true", help="run nothing")
    options = parser.parse_args()
    if not options.report and not (options.tests and options.tvm):
        parser.error("--tests and --tvm are needed")
    return options


def main():
    """Judge what has no verdict, and print the tables."""
    options = arguments()
    until = time.time() + options.time
    with tempfile.TemporaryDirectory() as folder:
        options.verdicts = options.verdicts or Path(folder) / "verdicts.jsonl"
        options.verdicts.touch()
        if not options.report:
            options.tests = options.tests.resolve()
            prove_itself(options)
            known = read_verdicts(options.verdicts)
            for file in sorted(options.tests.rglob("test_*.py")):
                name = str(file.relative_to(options.tests))
                is_done = known.get((name, DONE), {"verdict": ""})["verdict"] in ("1", str(options.one_in))
                if not is_done and re.search(options.files, name) and time.time() < until:
                    judge(options, file, until)
        rows = [row for row in read_verdicts(options.verdicts).values() if row["way"] in WAYS]
    asked = (options.only, options.files)
    return report([row for row in rows if all(re.search(each, row["test"]) for each in asked)])


if __name__ == "__main__":
    sys.exit(main())
