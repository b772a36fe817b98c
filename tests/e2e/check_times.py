"""How long `refmlc check MODEL` takes, beside running the model in each way: `python tests/e2e/check_times.py`.

| column          | says                                                                                        |
|-----------------|---------------------------------------------------------------------------------------------|
| multiply-adds   | of one call of the model (`model_sizes`)                                                    |
| guarded, native | a process of its own that imports the model, compiles it that way, and makes the same calls |
| framework       | the same in PyTorch or ONNX                                                                 |
| check           | `refmlc check MODEL --trust`                                                                |
| ratio           | the check to the sum of the ways                                                            |
| bound           | the greatest certified bound of a call to the greatest result; inf: none                    |

Units: seconds of processor, compilers included, which another program on the machine does not change much. `--most N`
is the greatest number of multiply-adds. Each row is written to standard error when it is measured. Ends with 1 where a
check finds something, or takes more than twice the ways.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
from model_sizes import NAMES, write
from rich.console import Console
from rich.table import Table

from refmlc.observe.bounds import certify
from refmlc.oracle.agreement import OTHERS
from refmlc.oracle.check.model import model_of
from refmlc.oracle.check.program import checked_program
from refmlc.oracle.check.run import CheckOptions
from refmlc.oracle.implementations.implementation import Ended
from refmlc.oracle.implementations.interp import Interp
from refmlc.oracle.implementations.native import Native
from refmlc.rewrite.transform import legalize_ops

WAYS = ("guarded", "native", "framework")
COUNTS = (10**6, 10**7, 10**8)
MOST_RATIO = 2.0


def alone(path: Path, way: str) -> None:
    """Run a model in one way."""
    warnings.simplefilter("ignore")
    model = model_of(path, trust=True)
    options = model.options(CheckOptions())
    program, _ = checked_program(model.module, "main", options.request, Interp())
    if way == "bound":
        sys.stdout.write(json.dumps(bound(program, model.module, options)))
        return
    how = {"guarded": Native("guarded", limits=options.limits), "native": Native(limits=options.limits)}
    prepared = (how.get(way) or model.ways(options)[-1]).prepare(model.module)
    for number in range(len(program.calls)):
        answer = prepared.run("main", program.arguments(number))
        assert isinstance(answer, Ended), answer


def bound(program: object, module: object, options: CheckOptions) -> float:
    """The greatest bound of the first two calls, relative to the greatest result."""
    prepared, worst = Native(limits=options.limits).prepare(module), 0.0
    for number in range(min(2, len(program.calls))):
        answer = prepared.run("main", program.arguments(number))
        arguments = program.arguments(number)
        for output in certify(legalize_ops(module), "main", arguments, freedom=OTHERS, result=answer.value).outputs:
            worst = max(worst, float(output.bound.max() / np.abs(output.reference).max()))
    return worst


def seconds(command: list[str]) -> tuple[float, subprocess.CompletedProcess[str]]:
    """The time of processor that a command and its children take."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([sys.executable, "-W", "ignore", *command], capture_output=True, text=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done


def row(name: str, count: int, folder: Path) -> dict[str, object]:
    """The times of one model."""
    path, exact = write(name, count, folder)
    found: dict[str, object] = {"model": name, "multiply-adds": exact}
    for way in WAYS:
        found[way], done = seconds([__file__, "--alone", way, str(path)])
        if done.returncode:
            raise SystemExit(done.stderr)
    found["check"], done = seconds(["-m", "refmlc", "check", str(path), "--trust"])
    found["status"] = done.returncode
    found["ratio"] = found["check"] / sum(found[way] for way in WAYS)
    _, done = seconds([__file__, "--alone", "bound", str(path)])
    found["bound"] = json.loads(done.stdout)
    return found


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--most", type=int, default=COUNTS[-1])
    parser.add_argument("--alone", help=argparse.SUPPRESS)
    parser.add_argument("file", nargs="?", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.alone:
        alone(options.file, options.alone)
        return 0
    table, failed = Table(), False
    columns = ("model", "multiply-adds", *WAYS, "check", "ratio", "bound")
    for column in columns:
        table.add_column(column, justify="left" if column == "model" else "right")
    with tempfile.TemporaryDirectory() as folder:
        for count in COUNTS:
            for name in NAMES if count <= options.most else ():
                times = row(name, count, Path(folder))
                cells = [
                    f"{value:.2g}" if isinstance(value, float) else f"{value}" for value in map(times.get, columns)
                ]
                table.add_row(*cells)
                sys.stderr.write(f"{' '.join(cells)}\n")
                failed = failed or times["status"] != 0 or times["ratio"] > MOST_RATIO
    Console(width=110).print(table)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
