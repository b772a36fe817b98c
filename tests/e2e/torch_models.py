"""Models of PyTorch that nobody here wrote, imported and run: `python tests/e2e/torch_models.py [MODEL …]`.

| becomes     | if                                                                                        |
|-------------|-------------------------------------------------------------------------------------------|
| right       | each element of each result is within the bound of PyTorch's, and shapes and dtypes agree |
| wrong       | one is not                                                                                |
| unsupported | the import says so by name                                                                |
| refused     | the import or the run ends with another finding                                           |
| traceback   | anything else is raised                                                                   |
| too long    | it takes more than `--seconds` or more than `--gigabytes`                                 |
| not exported| PyTorch itself does not export it, or does not run it                                     |

The bound of a result is `BOUND` of its largest magnitude; "error" is the greatest distance, in the same unit. Each
model has a process of its own. `--docs` writes the table into docs/reference/pytorch.md. Ends with 1 where a model is
wrong or ends in a traceback. Needs torchvision and transformers of this PyTorch: models that need one that is missing
are left out, and the end says which.
"""

import argparse
import json
import re
import resource
import subprocess
import sys
import time
import traceback
import warnings
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import torch
from rich.console import Console
from rich.table import Table
from torch_population import HUGGING, LAYERS, case, population, tensors

import refmlc
from refmlc.diag import RefmlcError
from refmlc.diag.errors import Unsupported
from refmlc.frontends import from_exported_program

BOUND = 1e-4
OUTCOMES = ("right", "wrong", "unsupported", "refused", "traceback", "too long", "not exported")
BAD = ("wrong", "traceback")
PAGE = Path(__file__).parents[2] / "docs" / "reference" / "pytorch.md"
MARK = ("<!-- models: written by tests/e2e/torch_models.py --docs -->\n", "<!-- end of models -->")


def outcome(name: str) -> dict[str, object]:
    """What became of a model, in this process."""
    started = time.monotonic()
    try:
        made = case(name)
        with warnings.catch_warnings(), torch.no_grad():
            warnings.simplefilter("ignore")  # PyTorch's own, on its own code
            program = torch.export.export(made.model, made.inputs)
            wanted = [one.numpy() for one in tensors(made.model(*made.inputs))]
    except Exception as broken:  # noqa: BLE001 - PyTorch's own, counted apart
        return {"is": "not exported", "why": _line(broken)}
    try:
        module = from_exported_program(program)
        imported = time.monotonic()
        main = refmlc.VirtualMachine(refmlc.build(module, "native"))["main"]
        found = flat(main(*(one.numpy() for one in made.inputs)))
    except Unsupported as unsupported:
        return {"is": "unsupported", "why": unsupported.diagnostic.message}
    except RefmlcError as refused:
        return {"is": "refused", "why": f"{refused.diagnostic.code.id} {refused.diagnostic.message}"}
    except Exception as broken:  # noqa: BLE001 - that is what is counted
        place = traceback.extract_tb(broken.__traceback__)[-1]
        return {"is": "traceback", "why": f"{_line(broken)} ({Path(place.filename).name}:{place.lineno})"}
    took = {"import": imported - started, "all": time.monotonic() - started}
    return {**judged(found, wanted), "took": took, "ops": len(module.functions["main"].body.blocks[0].bindings)}


def flat(result: object) -> list[np.ndarray]:
    """The arrays of a result, of tuples too."""
    if isinstance(result, tuple | list):
        return [one for part in result for one in flat(part)]
    return [result.numpy()]


def judged(found: list[np.ndarray], wanted: list[np.ndarray]) -> dict[str, object]:
    """Whether results are PyTorch's, and the greatest error of them all."""
    if len(found) != len(wanted):
        return {"is": "wrong", "why": f"{len(found)} results, PyTorch gives {len(wanted)}"}
    errors = []
    for ours, theirs in zip(found, wanted, strict=True):
        if (ours.shape, ours.dtype) != (theirs.shape, theirs.dtype):
            return {"is": "wrong", "why": f"{ours.dtype}{ours.shape}, PyTorch gives {theirs.dtype}{theirs.shape}"}
        errors.append(error(ours, theirs))
    worst = max(errors, default=0.0)
    return {"is": "right" if worst <= BOUND else "wrong", "error": worst, "why": f"the error is {worst:.1e}"}


def error(ours: np.ndarray, theirs: np.ndarray) -> float:
    """The greatest distance of elements, in parts of the largest magnitude; inf where NaN or infinities differ."""
    if not theirs.size:
        return 0.0
    if theirs.dtype.kind not in "fc":
        return 0.0 if np.array_equal(ours, theirs) else float("inf")
    a, b = ours.astype(np.float64), theirs.astype(np.float64)
    finite = np.isfinite(b)
    if not np.array_equal(a[~finite], b[~finite], equal_nan=True) or not np.isfinite(a[finite]).all():
        return float("inf")
    if not finite.any():
        return 0.0
    largest = float(np.abs(b[finite]).max()) or 1.0
    return float(np.abs(a[finite] - b[finite]).max()) / largest


def _line(problem: Exception) -> str:
    """What is said, in one line."""
    return f"{type(problem).__name__}: {' '.join(str(problem).split())[:200]}"


def limited(name: str, seconds: int, gigabytes: int) -> dict[str, object]:
    """What became of a model, in a process of its own with limits."""
    size = gigabytes << 30
    command = [sys.executable, __file__, "--alone", name]
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            check=False,
            timeout=seconds,
            preexec_fn=partial(resource.setrlimit, resource.RLIMIT_DATA, (size, size)),
        )
    except subprocess.TimeoutExpired:
        return {"is": "too long", "why": f"more than {seconds} s"}
    lines = done.stdout.strip().splitlines()
    if not lines or not lines[-1].startswith("{"):
        return {"is": "traceback", "why": f"exit status {done.returncode}: {done.stderr.strip()[-200:]}"}
    found: dict[str, object] = json.loads(lines[-1])
    return found


def missing() -> dict[str, list[str]]:
    """The models whose package is missing, by it."""
    names = population()
    needs = {"torchvision": [n for n in names if n not in HUGGING and n not in LAYERS], "transformers": list(HUGGING)}
    return {package: its for package, its in needs.items() if find_spec(package) is None}


def table(found: dict[str, dict[str, object]]) -> str:
    """The table for the documents: what became of each, then of all."""
    counts = Counter(str(one["is"]) for one in found.values())
    lines = [", ".join(f"{counts[what]} {what}" for what in OUTCOMES if counts[what]) + f" of {len(found)}.", ""]
    lines += ["| model | is | error |", "|---|---|---|"]
    for name in sorted(found, key=list(population()).index):
        one = found[name]
        shown = f"{one['error']:.1e}" if "error" in one else re.sub(r"[|\n]", " ", str(one["why"]))
        lines.append(f"| {name} | {one['is']} | {shown} |")
    return "\n".join(lines) + "\n"


def known(log: Path) -> dict[str, dict[str, object]]:
    """The outcomes in a log, the last one of each model."""
    lines = log.read_text(encoding="utf-8").splitlines() if log.exists() else []
    return {one["model"]: one for one in map(json.loads, lines)}


def main() -> int:
    """Print what became of each model, and the counts."""
    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    reader.add_argument("names", nargs="*", metavar="MODEL")
    reader.add_argument("--seconds", type=int, default=400)
    reader.add_argument("--gigabytes", type=int, default=10)
    reader.add_argument("--jobs", type=int, default=1)
    reader.add_argument("--docs", action="store_true", help="write the table into docs/reference/pytorch.md")
    reader.add_argument("--log", type=Path, help="a file to which each outcome is added, a line of JSON each")
    reader.add_argument("--read", action="store_true", help="take from the log what it has already")
    reader.add_argument("--alone", metavar="MODEL", help=argparse.SUPPRESS)
    given = reader.parse_args()
    if given.alone:
        torch.set_num_threads(1)
        sys.stdout.write(json.dumps(outcome(given.alone)) + "\n")
        return 0
    console, lacking = Console(width=160), missing()
    left_out = {name for its in lacking.values() for name in its}
    names = [name for name in given.names or population() if name not in left_out]
    before = known(given.log) if given.read else {}
    found = {name: before[name] for name in names if name in before}
    wanted = [name for name in names if name not in before]
    with ThreadPoolExecutor(given.jobs) as pool:
        done = pool.map(partial(limited, seconds=given.seconds, gigabytes=given.gigabytes), wanted)
        for name, one in zip(wanted, done, strict=True):
            found[name] = one
            if given.log:
                with given.log.open("a", encoding="utf-8") as log:
                    log.write(json.dumps({"model": name, **one}) + "\n")
            took = one.get("took", {"all": 0.0})["all"]  # type: ignore[index]
            console.print(f"{name:32} {one['is']:12} {took:6.1f} s  {one['why']}", markup=False, highlight=False)
    counts = Counter(str(one["is"]) for one in found.values())
    shown = Table(*OUTCOMES, "of", title="models of PyTorch")
    shown.add_row(*(str(counts[what]) for what in OUTCOMES), str(len(found)))
    console.print(shown)
    for package, its in lacking.items():
        console.print(f"{len(its)} models are left out: they need `{package}`")
    if given.docs:
        text = PAGE.read_text(encoding="utf-8")
        before, after = text.split(MARK[0])[0], text.split(MARK[1])[1]
        PAGE.write_text(before + MARK[0] + table(found) + MARK[1] + after, encoding="utf-8")
    return 1 if any(counts[what] for what in BAD) else 0


if __name__ == "__main__":
    sys.exit(main())
