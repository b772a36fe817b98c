"""Modules printed by real TVM in plain NumPy: what the loops make of them, against the interpreter.

`python tests/e2e/numpy_sample.py --sample DIRECTORY` (a sample made by `sample_table.py`) prints how many are equal,
permitted by the certified bound, not taken by the loops (with what they name), and different; exit 1 where one is
different. `--impl SPEC` asks another implementation.
"""

import argparse
import json
import sys
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import sample_table
from rich.console import Console

from refmlc.diag import RefmlcError
from refmlc.lang.wellformed.reader_checks import read
from refmlc.oracle.examine import examine
from refmlc.oracle.implementations.implementation import Limits, Stopped
from refmlc.oracle.implementations.lookup import implementation
from refmlc.oracle.outcome import Kind
from refmlc.run.memory.tensor import Tensor

LIMITS = Limits(steps=50_000_000)


@dataclass
class Sampled:
    """A module of the sample with its inputs."""

    directory: Path
    entry: dict
    module: object

    calls = (0,)

    @property
    def func(self):
        return self.entry["entry"]

    @property
    def name(self):
        return f"{self.entry['group']}/{self.entry['name']}"

    def arguments(self, _number=0):
        return [Tensor.from_numpy(array) for array in sample_table.arrays(self.directory, self.entry, "i")]


def told(job):
    """The name of an entry, its verdict, and what is said of it."""
    directory, entry, spec = Path(job[0]), job[1], job[2]
    text = (directory / f"{entry['stem']}.py").read_text(encoding="utf-8")
    try:
        case = Sampled(directory, entry, read(text, f"{entry['stem']}.py", check=False))
        made = implementation(spec, LIMITS)
        found = examine([case], [made], sanitize=False, limits=LIMITS)[0]
    except RefmlcError as failure:
        return entry["stem"], "unsupported", str(failure)
    made.close()
    verdict = found.verdicts[made.name][0]
    if verdict.kind is Kind.UNSUPPORTED and isinstance(found.reference[0].answer, Stopped):
        return case.name, "not run by the interpreter", str(verdict)
    return f"{entry['stem']} {case.name}", verdict.kind.value, " ".join((str(verdict), *verdict.notes))


def outcomes(directory, spec="numpy", stems=None, workers=2):
    """Of each module that TVM ran."""
    index = json.loads((directory / "index.json").read_text(encoding="utf-8"))
    jobs = [(str(directory), entry, spec) for entry in index if entry["run"] and (not stems or entry["stem"] in stems)]
    if workers == 1:
        return [told(job) for job in jobs]
    with ProcessPoolExecutor(workers) as pool:
        return list(pool.map(told, jobs, chunksize=8))


def main():
    """Print the counts, and what is different."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sample", type=Path, required=True)
    parser.add_argument("--impl", default="numpy")
    parser.add_argument("stems", nargs="*")
    options = parser.parse_args()
    found = outcomes(options.sample, options.impl, options.stems)
    console = Console(width=150)
    for kind, count in Counter(kind for _, kind, _ in found).most_common():
        console.print(f"{count:5} {kind}")
    for words, count in Counter(text for _, kind, text in found if kind == "unsupported").most_common():
        console.print(f"{count:5} {words}", markup=False)
    wrong = [row for row in found if row[1] in ("wrong", "crashed", "timed out")]
    for name, kind, words in wrong:
        console.print(f"{name} {kind}: {words}", markup=False)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
