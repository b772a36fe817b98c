"""Modules printed by real TVM, certified: TVM's own results are judged by the certified bound.

`python tests/e2e/certified_sample.py --sample DIRECTORY [--ulps 0]` (a sample made by `sample_table.py`) prints the
verdicts. With `--ulps 0` functions have the accuracy that the clause says (NUM-501); TVM's formulas for tanh, sigmoid
and others miss it, so those modules are called wrong, and no others. With 4 ulps only atanh of float16 is left.
"""

import argparse
import json
import sys
from collections import Counter
from pathlib import Path

import sample_table
from rich.console import Console

from refmlc.diag import RefmlcError
from refmlc.lang.ir import tir
from refmlc.lang.wellformed.reader_checks import read
from refmlc.observe.bounds.certify import certify
from refmlc.observe.bounds.freedom import Freedom
from refmlc.oracle.compare import judge
from refmlc.oracle.outcome import Kind, Verdict, of_failure

ORDER = (Kind.EQUAL, Kind.PERMITTED, Kind.WRONG)


def verdict(directory, entry, freedom):
    """The worst verdict among the results of one module; that of the failure where there is no certificate."""
    text = (directory / f"{entry['stem']}.py").read_text(encoding="utf-8")
    expected = sample_table.arrays(directory, entry, "o")
    try:
        module = read(text, f"{entry['stem']}.py")
        inputs = sample_table.arrays(directory, entry, "i")
        outputs = certify(module, entry["entry"], inputs, freedom=freedom).outputs
    except RefmlcError as failure:
        return of_failure(failure)
    if isinstance(module.functions[entry["entry"]], tir.PrimFunc):
        outputs = outputs[-1:]  # what TVM's run kept
    found = [judge(result, output) for result, output in zip(expected, outputs, strict=True)]
    return max(found, key=lambda each: ORDER.index(each.kind), default=Verdict(Kind.EQUAL))


def verdicts(directory, ulps=0.0):
    """The verdict of every module that TVM ran, by group and name, with its text."""
    freedom = Freedom(ulps=ulps)
    index = json.loads((directory / "index.json").read_text(encoding="utf-8"))
    return [(entry, verdict(directory, entry, freedom)) for entry in index if entry["run"]]


def main():
    """Print the counts, and what is called wrong."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sample", type=Path, required=True)
    parser.add_argument("--ulps", type=float, default=0.0)
    options = parser.parse_args()
    found = verdicts(options.sample, options.ulps)
    console = Console(width=150)
    for kind, count in Counter(each.kind for _, each in found).items():
        console.print(f"{kind.value:12} {count}")
    for entry, each in found:
        if each.kind is Kind.WRONG:
            console.print(f"{entry['group']}/{entry['name']}: {each}", markup=False)
    return 0


if __name__ == "__main__":
    sys.exit(main())
