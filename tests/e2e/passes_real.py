"""TVM's passes on real modules, and passes with a planted fault.

`passes_real.py --tvm PYTHON [--sample DIR] [--count 500] [--jobs 2]`: modules printed by TVM that are not lowered yet
go through `tvm.compile`, every stage is executed; a pass that changes the meaning is an alarm, which
`explained_passes.toml` explains or which is false. `--planted`: kernels with a fault put into one pass; the pass that
is named must be that one. Exit status 1: an alarm without explanation, or fewer than 95 of 100 faults named.
"""

import argparse
import json
import subprocess
import sys
import tomllib
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

import click
import sample_table

import refmlc
from refmlc.diag import RefmlcError
from refmlc.passes import Trace, check, read_trace, snapshots
from refmlc.passes.lifting import lifted
from refmlc.passes.verdicts import Checked, Said

HERE = Path(__file__).parent
GROUPS = ("operator", "te", "schedule", "model")
NAMED = 0.95


def explained() -> dict[str, str]:
    """Alarms that are true, by module and pass, with the reason."""
    rows = tomllib.loads((HERE / "explained_passes.toml").read_text(encoding="utf-8")).get("alarm", [])
    return {f"{name} {row['pass']}": row["why"] for row in rows for name in row["modules"]}


def real(python: str, file: Path) -> tuple[Checked | None, str]:
    """The stages of one module checked, or why it is not to be had."""
    try:
        module, constants = lifted(refmlc.read_file(file))
        trace = snapshots(refmlc.show(module, show_meta=True), python=python, seconds=300)
        return check(trace, constants=constants, small=False), ""
    except RefmlcError as failure:
        return None, f"{failure.code.id}: {failure.diagnostic.message}"


def real_modules(python: str, sample: Path, count: int, jobs: int) -> list[str]:
    """Check as many modules; print what came of them; the alarms that nothing explains."""
    index = json.loads((sample / "index.json").read_text(encoding="utf-8"))
    entries = [entry for entry in index if entry["group"] in GROUPS][:count]
    known, verdicts, alarms = explained(), Counter(), []
    with ProcessPoolExecutor(jobs) as pool:
        found = pool.map(partial(real, python), [sample / f"{entry['stem']}.py" for entry in entries])
        for entry, (checked, why) in zip(entries, found, strict=True):
            name = f"{entry['group']}/{entry['name']}"
            if checked is None:
                verdicts["not read"] += 1
                click.echo(f"{name}: {why}")
                continue
            verdicts.update(row.said.value for row in checked.rows)
            if checked.broken is not None:
                key = f"{name} {checked.broken.name}"
                click.echo(f"{key}: {checked.broken.diagnostic.message} [{known.get(key, 'NOT EXPLAINED')}]")
                alarms += [] if key in known else [key]
    click.echo(f"{len(entries)} modules; stages: {dict(verdicts)}; alarms without explanation: {len(alarms)}")
    return alarms


def faults(python: str) -> list[dict[str, object]]:
    """The traces with faults that real TVM made."""
    script = HERE / "tvm_side" / "planted_passes.py"
    done = subprocess.run([python, str(script)], capture_output=True, text=True, check=True, timeout=600)
    return [json.loads(line) for line in done.stdout.splitlines()]


def named(row: dict[str, object]) -> str:
    """What becomes of a planted fault: the pass that is named, or `nothing`."""
    trace: Trace = read_trace(map(json.dumps, row["lines"]))  # type: ignore[arg-type]
    checked = check(trace, small=False)
    if checked.broken is not None:
        return checked.broken.name
    unsaid = [each.name for each in checked.rows if each.said is Said.UNSUPPORTED]
    return f"nothing; unsupported: {', '.join(unsaid)}" if unsaid else "nothing"


def planted_faults(python: str, jobs: int) -> float:
    """Check each planted fault; print those that are not named; the share that is."""
    rows = faults(python)
    with ProcessPoolExecutor(jobs) as pool:
        found = list(pool.map(named, rows, chunksize=4))
    kinds: dict[str, Counter[bool]] = {}
    for row, name in zip(rows, found, strict=True):
        kinds.setdefault(str(row["fault"]), Counter())[name == row["planted"]] += 1
        if name != row["planted"]:
            click.echo(f"{row['program']}, {row['fault']} in {row['planted']}: {name}")
    for kind, counts in kinds.items():
        click.echo(f"{kind}: {counts[True]} of {counts.total()} named")
    right = sum(counts[True] for counts in kinds.values())
    click.echo(f"{right} of {len(rows)} faults: the right pass is named ({100 * right / len(rows):.1f} %)")
    return right / len(rows)


def main() -> None:
    """Read the options, run, leave with the status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tvm", required=True)
    parser.add_argument("--sample", type=Path)
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--planted", action="store_true")
    options = parser.parse_args()
    if options.planted:
        sys.exit(0 if planted_faults(options.tvm, options.jobs) >= NAMED else 1)
    sample = options.sample
    if sample is None:
        sample = Path("passes-sample")
        sample.mkdir(exist_ok=True)
        sample_table.make_sample(options.tvm, sample, quick=False)
    sys.exit(1 if real_modules(options.tvm, sample, options.count, options.jobs) else 0)


if __name__ == "__main__":
    main()
