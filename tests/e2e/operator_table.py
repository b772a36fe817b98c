"""Operators of Relax by our definitions against TVM's lowerings: a row for each operator, the cases that differ.

`python tests/e2e/operator_table.py --tvm PYTHON [PREFIX …]`; `--sample DIRECTORY`, once or more, uses results made
before. Agreement is to the bit in mode `libm`, as in `sample_table`. Exit status 1 where a case differs that
`explained_operators.toml` does not explain. `--record` keeps the counts of all operators in `tvm_operators.toml`, for
the table of operators.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import tomllib
from collections import Counter
from pathlib import Path

import sample_table
from rich.console import Console
from rich.table import Table

HERE = Path(__file__).parent
EXPLAINED = HERE / "explained_operators.toml"
RECORD = HERE / "tvm_operators.toml"


def make(python: str, directory: Path, prefixes: list[str]) -> None:
    """Let TVM make the results."""
    subprocess.run([python, str(HERE / "tvm_side" / "operator_results.py"), str(directory), *prefixes], check=True)


def outcomes(directory: Path, tier: str = "auto", prefixes: tuple[str, ...] = ()) -> list[sample_table.Outcome]:
    """What became of each case."""
    index = json.loads((directory / "index.json").read_text(encoding="utf-8"))
    chosen = [entry for entry in index if not prefixes or entry["name"].startswith(prefixes)]
    return [sample_table.check((str(directory), entry, tier)) for entry in chosen]


def explained() -> dict[str, str]:
    """The cases that may differ, each with its reason."""
    return tomllib.loads(EXPLAINED.read_text(encoding="utf-8"))["differs"]


def table(found: list[sample_table.Outcome]) -> Table:
    """A row for each operator."""
    shown = Table(title="operators of Relax: our definitions and TVM's lowerings")
    for column in ("operator", *sample_table.VERDICTS, "TVM cannot"):
        shown.add_column(column, justify="left" if column == "operator" else "right")
    rows: dict[str, Counter] = {}
    for one in found:
        rows.setdefault(one.name.partition("/")[0], Counter())[one.ran or "TVM cannot"] += 1
    for name, counts in rows.items():
        shown.add_row(name, *(str(counts[key] or "") for key in (*sample_table.VERDICTS, "TVM cannot")))
    return shown


def summary(found: list[sample_table.Outcome], reasons: dict[str, str]) -> list[str]:
    """How many of the operators that TVM lowers and executes give the same, in lines."""
    ran: dict[str, list[sample_table.Outcome]] = {}
    for one in found:
        if one.ran:
            ran.setdefault(one.name.partition("/")[0], []).append(one)
    good = {name: [one for one in all_ if one.ran in sample_table.VERDICTS[:2]] for name, all_ in ran.items()}
    told = {name: [one for one in all_ if one.name in reasons] for name, all_ in ran.items()}
    equal = sum(bool(good[name]) and len(good[name]) + len(told[name]) == len(all_) for name, all_ in ran.items())
    cases, same = sum(map(len, ran.values())), sum(map(len, good.values()))
    share = f"{equal} of {len(ran)} operators that TVM executes ({equal / max(len(ran), 1):.1%})"
    return [
        f"{share} give equal results, each difference being explained",
        f"{same} of {cases} cases are equal to the bit, {sum(map(len, told.values()))} differ and are explained",
    ]


def record(found: list[sample_table.Outcome], reasons: dict[str, str]) -> None:
    """Write down what became of the cases of each operator; the names that TVM registers stay as they are."""
    kept = tomllib.loads(RECORD.read_text(encoding="utf-8"))
    cases: dict[str, Counter] = {}
    for one in {one.name: one for one in found}.values():
        known = "equal" if one.ran in sample_table.VERDICTS[:2] else "refused" if not one.ran else "differs"
        what = "explained" if known == "differs" and one.name in reasons else known
        cases.setdefault(one.name.partition("/")[0], Counter())[what] += 1
    lines = [RECORD.read_text(encoding="utf-8").partition("[cases]")[0], "[cases]\n"]
    for name, counts in sorted({**kept["cases"], **cases}.items()):
        told = ", ".join(f"{key} = {counts[key]}" for key in ("equal", "explained", "refused") if counts.get(key))
        lines += [f'"{name}" = {{ {told} }}\n'] if told else []
    RECORD.write_text("".join(lines), encoding="utf-8")


def main() -> int:
    """Print the table and what differs."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("prefixes", nargs="*")
    options.add_argument("--tvm", default="")
    options.add_argument("--sample", type=Path, action="append", default=[])
    options.add_argument("--record", action="store_true")
    options.add_argument("--tier", default="auto")
    given = options.parse_args()
    console = Console()
    with tempfile.TemporaryDirectory() as temporary:
        directories = given.sample or [Path(temporary)]
        if given.tvm:
            make(given.tvm, directories[0], given.prefixes)
        found = [one for place in directories for one in outcomes(place, given.tier, tuple(given.prefixes))]
    console.print(table(found))
    reasons = explained()
    bad = [one for one in found if one.ran in ("differs", "error") and one.name not in reasons]
    for one in found:
        if one.ran not in sample_table.VERDICTS[:2]:
            console.print(f"{one.name}: {one.ran or 'not run'}: {one.reason} {reasons.get(one.name, '')}", markup=False)
    for line in summary(found, reasons):
        console.print(line, markup=False)
    if given.record:
        record(found, reasons)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
