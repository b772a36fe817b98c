"""Modules printed by real TVM under the sanitizer: no finding that is not a true one.

`python tests/e2e/sanitized_sample.py --sample DIRECTORY` runs the sample that `sample_table.py` makes, with every
detector on, and prints the findings by code. One that no row of `explained_findings.toml` explains as true ends it
with exit 1. `--seconds` bounds the time of each run; a run that takes longer is counted, and says nothing.
"""

import argparse
import json
import tomllib
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from sample_table import LIBRARY, arrays

from refmlc.diag import RefmlcError
from refmlc.lang.script import read
from refmlc.observe.sanitize import sanitize
from refmlc.run.memory.budget import Budget

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Sanitized:
    """What one module gave: its verdict, and code, message and count of each finding."""

    name: str
    verdict: str
    findings: tuple[tuple[str, str, int], ...] = ()


def run(job: tuple[str, dict, float]) -> Sanitized:
    """Sanitize one entry of the sample."""
    directory, entry, seconds = Path(job[0]), job[1], job[2]
    name = f"{entry['group']}/{entry['name']}"
    if not entry["run"]:
        return Sanitized(name, "not run")
    try:
        module = read((directory / f"{entry['stem']}.py").read_text(encoding="utf-8"), f"{entry['stem']}.py")
        budget = Budget(max_seconds=seconds)
        inputs = arrays(directory, entry, "i")
        report = sanitize(module, entry["entry"], inputs, registry=LIBRARY, budget=budget)
    except RefmlcError as failure:
        return Sanitized(name, "refused", ((failure.code.id, failure.diagnostic.message, 1),))
    found = ((f.diagnostic.code.id, f.diagnostic.message, f.count) for f in report.findings)
    return Sanitized(name, report.verdict, tuple(found))


def explained() -> dict[tuple[str, str], str]:
    """Why a finding of a code in an entry is a true one."""
    rows = tomllib.loads((HERE / "explained_findings.toml").read_text(encoding="utf-8"))["finding"]
    return {(row["code"], name): row["why"] for row in rows for name in row["names"]}


def unexplained(outcomes: list[Sanitized]) -> list[tuple[str, str, str]]:
    """Findings of undefined behaviour and lints that no row explains."""
    known = explained()
    return [
        (outcome.name, code, message)
        for outcome in outcomes
        for code, message, _ in outcome.findings
        if code.startswith("RM3") and (code, outcome.name) not in known
    ]


def main() -> None:
    """Print the counts; exit 1 when a finding is unexplained."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sample", required=True, type=Path)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--every", type=int, default=1, help="of so many entries, one")
    options = parser.parse_args()
    index = json.loads((options.sample / "index.json").read_text(encoding="utf-8"))[:: options.every]
    with ProcessPoolExecutor(2) as pool:
        jobs = [(str(options.sample), entry, options.seconds) for entry in index]
        outcomes = list(pool.map(run, jobs, chunksize=4))
    console = Console(width=160, highlight=False)
    console.print(dict(Counter(outcome.verdict for outcome in outcomes)))
    console.print(dict(Counter(code for outcome in outcomes for code, _, _ in outcome.findings)))
    missing = unexplained(outcomes)
    for name, code, message in missing:
        console.print(f"unexplained: {name}: {code} {message}", markup=False)
    raise SystemExit(1 if missing else 0)


if __name__ == "__main__":
    main()
