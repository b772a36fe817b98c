"""TVM's passes on real modules, and passes with a planted fault.

`passes_real.py --tvm PYTHON [--sample DIR] [--count 500] [--jobs 2] [--verdicts FILE]`: modules printed by TVM that are
not lowered yet go through `tvm.compile`, every stage is executed; a pass that changes the meaning is an alarm, which
`explained_passes.toml` explains or which is false. The modules are taken from all groups in turn. FILE keeps a line of
JSON for each module as soon as it is done: the same command goes on where it was; a module whose text has changed is
asked again, and so are those whose name has the word of `--again`.

`--planted`: kernels with a fault put into one pass; the pass that is named must be that one. Exit status 1: an alarm
without explanation, or fewer than 95 of 100 faults named.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping
from concurrent.futures import ProcessPoolExecutor
from hashlib import sha256
from itertools import chain, zip_longest
from multiprocessing import Process
from pathlib import Path
from time import monotonic

import click
import sample_table

sys.path.insert(0, str(Path(__file__).parents[1]))

from biting import prove

import refmlc
from refmlc.diag import RefmlcError
from refmlc.oracle.passes import PassTrace, TvmPasses, check, read_trace
from refmlc.oracle.passes.baseline import lifted
from refmlc.oracle.passes.stages import StageVerdict

HERE = Path(__file__).parent
GROUPS = ("operator", "te", "schedule", "model")
NAMED = 0.95
REASON = 64  # characters of a reason that count


def explained() -> dict[str, str]:
    """Alarms that are true, by module and pass, with the reason."""
    rows = tomllib.loads((HERE / "explained_passes.toml").read_text(encoding="utf-8")).get("alarm", [])
    return {f"{name} {row['pass']}": row["why"] for row in rows for name in row["modules"]}


def real(tvm: TvmPasses, file: Path) -> dict[str, object]:
    """The outcome for one module: its stages, the alarm, or why it is not available."""
    start = monotonic()
    found: dict[str, object] = {"rows": [], "broken": None, "stopped": "", "why": ""}
    try:
        module, constants = lifted(refmlc.read_file(file))
        checked = check(tvm(refmlc.show(module, show_meta=True)), constants=constants, small=False)
    except RefmlcError as failure:
        found["why"] = f"{failure.code.id}: {failure.diagnostic.message}"
    else:
        found["rows"] = [[row.name, row.verdict.value, row.calls, row.why] for row in checked.rows]
        found["stopped"] = checked.stopped
        if checked.broken is not None:
            found["broken"] = [checked.broken.name, checked.broken.diagnostic.message]
    return found | {"seconds": round(monotonic() - start, 2)}


def key_of(entry: Mapping[str, str], file: Path) -> dict[str, object]:
    """What a verdict is about: the module by name, and its text."""
    return {"module": f"{entry['group']}/{entry['name']}", "text": sha256(file.read_bytes()).hexdigest()[:16]}


def chosen(sample: Path, count: int) -> list[tuple[dict[str, object], Path]]:
    """As many modules, from all groups in turn."""
    index = json.loads((sample / "index.json").read_text(encoding="utf-8"))
    groups = [[entry for entry in index if entry["group"] == group] for group in GROUPS]
    mixed = [entry for entry in chain.from_iterable(zip_longest(*groups)) if entry is not None]
    files = [(entry, sample / f"{entry['stem']}.py") for entry in mixed[:count]]
    return [(key_of(entry, file), file) for entry, file in files]


def done_before(verdicts: Path, again: str | None) -> dict[tuple[object, object], dict[str, object]]:
    """The verdicts of the file, the last one of each module."""
    if not verdicts.exists():
        return {}
    rows = [json.loads(line) for line in verdicts.read_text(encoding="utf-8").splitlines() if line.endswith("}")]
    return {(row["module"], row["text"]): row for row in rows if again is None or again not in row["module"]}


def part(python: str, verdicts: Path, left: list[tuple[dict[str, object], Path]]) -> None:
    """Check these modules; each verdict is written as soon as it is there."""
    with TvmPasses(python, seconds=300) as tvm, verdicts.open("a", encoding="utf-8") as out:
        for key, file in left:
            row = key | real(tvm, file)
            out.write(json.dumps(row) + "\n")
            out.flush()
            if row["broken"] is not None:
                click.echo(f"{row['module']}: {row['broken']}", err=True)


def real_modules(python: str, sample: Path, options: argparse.Namespace) -> bool:
    """Check the modules, print what came of them; whether nothing is left without explanation."""
    modules = chosen(sample, options.count)
    with tempfile.TemporaryDirectory() as folder:
        verdicts = options.verdicts or Path(folder) / "verdicts.jsonl"
        before = done_before(verdicts, options.again)
        left = [pair for pair in modules if (pair[0]["module"], pair[0]["text"]) not in before]
        parts = [left[number :: options.jobs] for number in range(options.jobs)]
        processes = [Process(target=part, args=(python, verdicts, some)) for some in parts if some]
        try:
            for process in processes:
                process.start()
            for process in processes:
                process.join()
        except KeyboardInterrupt:
            click.echo("interrupted", err=True)
            for process in processes:
                process.terminate()
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        click.echo(f"this run: {len(left)} modules asked for, {used.ru_utime + used.ru_stime:.0f} s of processor time")
        found = done_before(verdicts, None)
    rows = [found[key["module"], key["text"]] for key, _ in modules if (key["module"], key["text"]) in found]
    return told(rows, len(modules)) and len(rows) == len(modules)


def fate(row: Mapping[str, object]) -> str:
    """A module in a word: the worst of what happened to it."""
    said = {each[1] for each in row["rows"]}
    if row["why"]:
        return "not taken by refmlc"
    if row["broken"] is not None:
        return "alarm"
    if not any(each[2] for each in row["rows"]):
        return "nothing compared"
    if row["stopped"]:
        return "refused by TVM on the way"
    return "some stages unsupported" if "unsupported" in said else "all stages the same"


def told(rows: list[dict[str, object]], wanted: int) -> bool:
    """Print the counts and what is behind them; whether each alarm is explained."""
    known = explained()
    alarms = Counter()
    for row in rows:
        if row["broken"] is not None:
            key = f"{row['module']} {row['broken'][0]}"
            alarms[key in known] += 1
            click.echo(f"{key}: {row['broken'][1]} [{known.get(key, 'NOT EXPLAINED')}]")
    stale = set(known) - {f"{row['module']} {row['broken'][0]}" for row in rows if row["broken"] is not None}
    for key in sorted(stale if len(rows) == wanted else ()):
        click.echo(f"explained, but no alarm: {key}")
    counted("not taken", ((row["module"], row["why"]) for row in rows if row["why"]))
    counted("refused by TVM", ((row["module"], row["stopped"]) for row in rows if row["stopped"]))
    for word in (StageVerdict.UNSUPPORTED.value, StageVerdict.NO_CALL.value):
        stages = [(f"{row['module']} {s[0]}", s[3]) for row in rows for s in row["rows"] if s[1] == word]
        counted(f"stages: {word}", stages)
    fates = Counter(map(fate, rows))
    stages = Counter(stage[1] for row in rows for stage in row["rows"])
    seconds = sum(float(row["seconds"]) for row in rows)
    click.echo(f"modules: {dict(fates.most_common())}; stages: {dict(stages.most_common())}")
    click.echo(
        f"{len(rows)} of {wanted} modules in {seconds:.0f} s; "
        f"alarms: {alarms[True]} explained, {alarms[False]} without explanation"
    )
    return not alarms[False]


def counted(what: str, pairs: Iterable[tuple[str, str]]) -> None:
    """Reasons, how often each, and one example."""
    rows = list(pairs)
    counts = Counter(why[:REASON] for _, why in rows)
    for why, count in counts.most_common():
        example = next(name for name, each in rows if each[:REASON] == why)
        click.echo(f"{what}: {count} × {why} (such as {example})")


def faults(python: str) -> list[dict[str, object]]:
    """The traces with faults that real TVM made."""
    script = HERE / "tvm_side" / "planted_passes.py"
    done = subprocess.run([python, str(script)], capture_output=True, text=True, check=True, timeout=600)
    return [json.loads(line) for line in done.stdout.splitlines()]


def named(row: dict[str, object]) -> str:
    """What becomes of a planted fault: the pass that is named, or `nothing`."""
    trace: PassTrace = read_trace(map(json.dumps, row["lines"]))  # type: ignore[arg-type]
    checked = check(trace, small=False)
    if checked.broken is not None:
        return checked.broken.name
    unsaid = [each.name for each in checked.rows if each.verdict is StageVerdict.UNSUPPORTED]
    return f"nothing; unsupported: {', '.join(unsaid)}" if unsaid else "nothing"


PROOF = """
@T.prim_func(s_tir=True)
def main(A: T.Buffer((4,), "int32"), B: T.Buffer((4,), "int32")):
    for i in range(4):
        B[i] = A[i] + 1
"""


def prove_itself() -> None:
    """A pass that makes 2 of 1 is named, and where each leaves the text as it is nothing is."""
    said = []
    for last in (PROOF.replace("+ 1", "+ 2"), PROOF):
        stages = [{"name": name, "text": text} for name, text in (("first", PROOF), ("second", last))]
        said.append(named({"lines": [*stages, {"done": True}]}))
    prove("the blame of passes", notices=said[0] == "second", passes=said[1] == "nothing", why=f"{said}")


def planted_faults(python: str, jobs: int) -> float:
    """Check each planted fault; print those that are not named; the share that is."""
    prove_itself()
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
    parser.add_argument("--verdicts", type=Path)
    parser.add_argument("--again", metavar="WORD")
    parser.add_argument("--planted", action="store_true")
    options = parser.parse_args()
    if options.planted:
        sys.exit(0 if planted_faults(options.tvm, options.jobs) >= NAMED else 1)
    sample = options.sample
    if sample is None:
        sample = Path("passes-sample")
        sample.mkdir(exist_ok=True)
        sample_table.make_sample(options.tvm, sample, quick=False)
    sys.exit(0 if real_modules(options.tvm, sample, options) else 1)


if __name__ == "__main__":
    main()
