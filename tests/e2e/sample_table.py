"""Modules printed by real TVM: read, shown, run, compared; the table of counts.

`python tests/e2e/sample_table.py --tvm PYTHON` makes the sample in TVM's environment and prints the table;
`--sample DIRECTORY` uses one made before. A difference must be explained in `explained.toml`, else exit 1.

Agreement is to the bit, in mode `libm` (NUM-506): TVM's transcendental functions are the platform's or formulas of its
own. Where the default mode, which rounds correctly, agrees too, the count says `equal`, else `equal with TVM's
functions`. NaN is one class. `--tier native` runs C where there is C.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import tomllib
from collections import Counter, defaultdict
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import ml_dtypes
import numpy as np
from rich.console import Console
from rich.table import Table

from refmlc.diag import RefmlcError
from refmlc.lang import script
from refmlc.lang.ir.equal import structural_equal
from refmlc.lang.ir.module import IRModule
from refmlc.lang.script import read
from refmlc.run.memory.registry import FunctionRegistry, register_func
from refmlc.run.memory.tensor import Tensor
from refmlc.vm import VirtualMachine, build

HERE = Path(__file__).parent
VERDICTS = ("equal", "equal with TVM's functions", "differs", "unsupported", "error")


@dataclass
class Outcome:
    """What became of one module. `reason` says why where something was not reached."""

    group: str
    name: str
    read: bool = False
    shown: bool = False
    ran: str = ""
    reason: str = ""


def arrays(directory: Path, entry: dict, prefix: str) -> list[np.ndarray]:
    """Inputs (`i`) or results (`o`) of an entry, writable."""
    with np.load(directory / f"{entry['stem']}.npz") as archive:
        raw = dict(archive)
    result = []
    for key, (dtype, shape) in entry["arrays"].items():
        if key.startswith(prefix):
            kind = getattr(ml_dtypes, dtype, None) or dtype
            result.append(np.frombuffer(raw[key].tobytes(), kind).reshape(shape).copy())
    return result


def same(a: np.ndarray, b: np.ndarray) -> bool:
    """Bit equality, NaN as one class."""
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    if a.dtype.kind in "iub":
        return bool(np.array_equal(a, b))
    nan = np.isnan(a.astype("float64")) & np.isnan(b.astype("float64"))
    bits = a.view(f"u{a.dtype.itemsize}") if a.ndim else np.atleast_1d(a).view(f"u{a.dtype.itemsize}")
    other = b.view(f"u{b.dtype.itemsize}") if b.ndim else np.atleast_1d(b).view(f"u{b.dtype.itemsize}")
    return bool(((bits == other) | nan).all())


def flatten(value) -> list[np.ndarray]:
    """Tensors of a result, tuples in order."""
    if isinstance(value, tuple):
        return [array for item in value for array in flatten(item)]
    return [value.numpy()]


def argsort(values: Tensor, indices: Tensor, axis: int, ascending: bool) -> None:
    """TVM's contributed sort, stable, as its lowering of `median` calls it."""
    keys = values.numpy() if ascending else -values.numpy()
    indices.array[...] = np.argsort(keys, axis=axis, kind="stable")


LIBRARY = FunctionRegistry()
register_func("tvm.contrib.sort.argsort", argsort, registry=LIBRARY)


def execute(module: IRModule, entry: dict, inputs: list[np.ndarray], tier: str, math: str) -> list[np.ndarray]:
    """The results: returned ones, or the last argument of a prim_func."""
    result = VirtualMachine(build(module, tier, registry=LIBRARY, math=math))[entry["entry"]](*inputs)
    return flatten(result) if result is not None else [inputs[-1]]


def compare(directory: Path, entry: dict, module: IRModule, tier: str) -> tuple[str, str]:
    """The verdict of a run and its reason."""
    expected = arrays(directory, entry, "o")
    verdict = "differs"
    for math, agrees in (("libm", VERDICTS[1]), ("cr", VERDICTS[0])):
        got = execute(module, entry, arrays(directory, entry, "i"), tier, math)
        if len(got) != len(expected) or not all(same(a, b) for a, b in zip(got, expected, strict=True)):
            break
        verdict = agrees
    if verdict != "differs":
        return verdict, ""
    wrong = [difference(a, b) for a, b in zip(got, expected, strict=False) if not same(a, b)]
    return verdict, f"{len(got)} results for {len(expected)}; " + ", ".join(wrong)


def difference(a: np.ndarray, b: np.ndarray) -> str:
    """How two arrays differ."""
    if a.dtype != b.dtype or a.shape != b.shape:
        return f"{a.dtype}{list(a.shape)} for {b.dtype}{list(b.shape)}"
    return f"{(a != b).sum()} of {a.size} {a.dtype}"


def check(job: tuple[str, dict, str]) -> Outcome:
    """Read, show, re-read and run one entry."""
    directory, entry, tier = Path(job[0]), job[1], job[2]
    outcome = Outcome(entry["group"], entry["name"], reason=entry["error"])
    text = (directory / f"{entry['stem']}.py").read_text(encoding="utf-8")
    try:
        module = read(text, f"{entry['stem']}.py")
        outcome.read = True
        if entry["run"]:
            outcome.ran, outcome.reason = compare(directory, entry, module, tier)
        outcome.shown = structural_equal(read(script.show(module, show_meta=True), "shown.py"), module)
    except RefmlcError as failure:
        outcome.reason = f"{failure.code.id} {failure.diagnostic.message}"
        outcome.ran = outcome.ran or ("unsupported" if failure.exit_code == 3 else "error")
    except Exception as failure:  # noqa: BLE001 - a traceback is a bug to be listed, not the end of the table
        outcome.reason, outcome.ran = f"{type(failure).__name__}: {failure}", "error"
    if outcome.read and not outcome.shown and outcome.ran in ("unsupported", "error"):
        outcome.shown = shows_back(module)
    return outcome


def shows_back(module: IRModule) -> bool:
    """Whether a module whose run failed is shown and read back equal."""
    try:
        return structural_equal(read(script.show(module, show_meta=True), "shown.py"), module)
    except RefmlcError:
        return False


def make_sample(python: str, directory: Path, *, quick: bool) -> None:
    """Let real TVM write the sample."""
    script = [python, str(HERE / "tvm_side" / "make_sample.py"), str(directory), *(["quick"] if quick else [])]
    done = subprocess.run(script, capture_output=True, text=True, check=False, timeout=600)
    if done.returncode:
        raise SystemExit(f"the sample could not be made:\n{done.stderr[-2000:]}")


def run_sample(directory: Path, tier: str = "interp") -> list[Outcome]:
    """All entries, on two processes."""
    index = json.loads((directory / "index.json").read_text())
    with ProcessPoolExecutor(2) as pool:
        return list(pool.map(check, [(str(directory), entry, tier) for entry in index], chunksize=8))


def explained() -> dict[str, str]:
    """Names (with `*`) of entries that may differ, and why."""
    rows = tomllib.loads((HERE / "explained.toml").read_text(encoding="utf-8"))["difference"]
    return {name: row["why"] for row in rows for name in row["names"]}


def unexplained(outcomes: list[Outcome]) -> list[Outcome]:
    """Differences and errors that no row explains."""
    known = explained()
    return [o for o in outcomes if o.ran in ("differs", "error") and f"{o.group}/{o.name}" not in known]


def table(outcomes: list[Outcome]) -> Table:
    """Counts per group."""
    result = Table(title="modules printed by TVM 0.27")
    for column in ("group", "modules", "read", "shown equal", *VERDICTS):
        result.add_column(column, justify="left" if column == "group" else "right")
    groups: dict[str, list[Outcome]] = defaultdict(list)
    for outcome in outcomes:
        groups[outcome.group].append(outcome)
    groups["all"] = outcomes
    for group, members in groups.items():
        ran = Counter(member.ran for member in members)
        counts = [len(members), sum(m.read for m in members), sum(m.shown for m in members)]
        result.add_row(group, *map(str, counts), *(str(ran[verdict]) for verdict in VERDICTS))
    return result


def main() -> None:
    """Print the table; exit 1 when a difference is unexplained or less than 98 % is read and shown."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tvm", help="a Python that has apache-tvm")
    parser.add_argument("--sample", help="a sample made before")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--tier", default="interp", choices=["interp", "native", "auto"])
    options = parser.parse_args()
    console = Console(width=120)
    with tempfile.TemporaryDirectory() as temporary:
        directory = Path(options.sample or temporary)
        if options.sample is None:
            make_sample(options.tvm or sys.executable, directory, quick=options.quick)
        outcomes = run_sample(directory, options.tier)
    console.print(table(outcomes))
    reasons = Counter(f"{o.ran or 'not run'}: {o.reason}" for o in outcomes if o.reason)
    for reason, count in reasons.most_common():
        console.print(f"{count:4} {reason}", markup=False)
    missing = unexplained(outcomes)
    for outcome in missing:
        console.print(f"unexplained: {outcome.group}/{outcome.name}: {outcome.reason}", markup=False)
    shown = sum(outcome.shown for outcome in outcomes) / len(outcomes)
    raise SystemExit(1 if missing or shown < 0.98 else 0)


if __name__ == "__main__":
    main()
