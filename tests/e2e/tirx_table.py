"""Kernels of TVM's tests of TIRx, executed on logical tiles, and again after real TVM's LowerTIRx.

`python tests/e2e/tirx_table.py --tests DIR --tvm PYTHON [--corpus DIR] [--names REGEX] [--arch sm_90a] [--time S]
[--verdicts FILE]`, where DIR is `tests/python/tirx` of a checkout of TVM, or a folder above it, and PYTHON has
apache-tvm and pytest. A kernel is a function with `T.device_entry()`, in a text that TVM prints; its arguments are
drawn. No GPU is needed. Verdicts are kept in FILE, and texts that have one are passed over: a run that its time ended
goes on.

| verdict       | meaning                                                                                      |
|---------------|----------------------------------------------------------------------------------------------|
| `equal`       | executed, and what TVM lowers it to leaves the same values in every argument                  |
| `close`       | the same within the accuracy of a float16: the lowered kernel computes another way           |
| `unlowered`   | executed; TVM has no lowering of it for this target                                          |
| `lowered`     | executed; what TVM lowers it to is unsupported by name                                       |
| `unsupported` | unsupported by name                                                                          |
| `undefined`   | a finding: the kernel has no meaning for these arguments, before or after the lowering        |
| `unread`      | refmlc does not read the text, or a static rule is broken                                    |
| `different`   | executed, and the lowered kernel leaves other values                                         |
| `traceback`   | refmlc ends by a bug of its own                                                              |

A second table has the variants of TVM's dispatcher for CUDA: how often each was taken for a kernel, in which scope, and
the verdicts of these kernels; those that no kernel takes are there too.

Of what is undefined the last lines say which causes are traced: the rows of `explained_kernels.toml`.

Exit status 1: a kernel is different, or there is a traceback.
"""

import argparse
import json
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from dataclasses import asdict, dataclass, field
from math import inf
from pathlib import Path

import numpy as np
import tvm_corpus
from explained_kernels import told
from rich.console import Console
from rich.table import Table

from refmlc.diag import Exhausted, IllFormed, Internal, Malformed, RefmlcError, Unsupported
from refmlc.lang.dtypes.storage import storage_dtype
from refmlc.lang.ir import tir
from refmlc.lang.ir.tirx import DEVICE_ENTRY
from refmlc.lang.ir.visit import walk
from refmlc.lang.script import read
from refmlc.run.interp.machine import Machine
from refmlc.run.memory.tensor import Tensor

SIDE = Path(__file__).parent / "tvm_side" / "lower_tirx.py"
VERDICTS = (
    *("equal", "close", "unlowered", "lowered", "unsupported", "undefined", "unread", "different", "traceback"),
)
AGREED = ("equal", "close")
FREE, SECONDS, BATCH = 3, 20, 10
CONSOLE = Console(width=180, highlight=False)


@dataclass
class Outcome:
    """What became of one kernel, and why."""

    name: str
    file: str
    verdict: str = "equal"
    reason: str = ""
    variants: list[list[str]] = field(default_factory=list)


class Late(Exception):
    """The time of one kernel is over."""


def stop(*_: object) -> None:
    raise Late


def kernels(module):
    """The names of the functions that enter a device."""
    for name, function in module.functions.items():
        if isinstance(function, tir.PrimFunc) and any(
            isinstance(node, tir.AttrStmt) and node.key == DEVICE_ENTRY for node in walk(function.body)
        ):
            yield name


def drawn(function, seed):
    """Arguments: small whole numbers, so that sums are exact; a size that is free is `FREE`."""
    rng = np.random.default_rng(seed)
    sizes: dict[tir.Var, int] = {}
    arguments = []
    for parameter in function.params:
        buffer = function.buffer_map.get(parameter)
        if buffer is None:
            arguments.append(sizes.setdefault(parameter, FREE))
            continue
        shape = [size.value if isinstance(size, tir.IntImm) else sizes.setdefault(size, FREE) for size in buffer.shape]
        values = rng.integers(1, 4, shape)
        if buffer.dtype.kind == "bool":
            values = values % 2
        arguments.append(values.astype(storage_dtype(buffer.dtype)))
    return arguments


def executed(module, name, arguments):
    """What a kernel leaves in its arguments: they are changed. Fails as the kernel does."""
    signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    function = module.functions[name]
    values = [
        Tensor.from_numpy(argument, function.buffer_map[parameter].dtype)
        if isinstance(argument, np.ndarray)
        else argument
        for parameter, argument in zip(function.params, arguments, strict=True)
    ]
    try:
        Machine(module).call(name, values)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def failed(outcome, failure, where=""):
    """The outcome after a failure."""
    outcome.reason = f"{where}{type(failure).__name__}: {failure}"
    outcome.verdict = "traceback"
    if isinstance(failure, Late | Exhausted):
        outcome.verdict = "lowered" if where else "unsupported"
        outcome.reason = f"{where}it takes more than {SECONDS} seconds of the processor, or memory"
    elif isinstance(failure, RefmlcError) and not isinstance(failure, Internal):
        outcome.reason = f"{where}{failure.code.id} {failure.diagnostic.message}"
        kinds = ((Unsupported, "unsupported"), (Malformed | IllFormed, "unread"))
        verdict = next((verdict for kind, verdict in kinds if isinstance(failure, kind)), "undefined")
        outcome.verdict = "lowered" if where and verdict != "undefined" else verdict
    return outcome


def compared(outcome, before, after):
    """The verdict on what two runs left."""
    for number, (first, second) in enumerate(zip(before, after, strict=True)):
        if not isinstance(first, np.ndarray) or first.tobytes() == second.tobytes():
            continue
        a, b = first.astype(np.float64), second.astype(np.float64)
        places = np.argwhere(~((a == b) | (np.isnan(a) & np.isnan(b))))
        if not len(places):
            continue
        if np.allclose(a, b, rtol=2e-3, atol=2e-3, equal_nan=True):
            outcome.verdict = "close"
            continue
        place = tuple(places[0])
        outcome.verdict = "different"
        outcome.reason = f"argument {number} at {place}: {a[place]} on tiles, {b[place]} lowered"
        return outcome
    return outcome


def tried(text, low, refused, outcome, name, seed=1):
    """The outcome of a kernel; `low` is the lowered text, or there is a reason for its absence."""
    try:
        module = read(text, outcome.file)
        arguments = drawn(module.functions[name], seed)
        before = [argument.copy() if isinstance(argument, np.ndarray) else argument for argument in arguments]
        executed(module, name, before)
    except Exception as failure:  # noqa: BLE001 - a traceback is a bug to be listed, not the end of the table
        return failed(outcome, failure)
    if low is None:
        outcome.verdict, outcome.reason = "unlowered", refused
        return outcome
    try:
        module = read(low, f"{outcome.file}, lowered")
        after = [argument.copy() if isinstance(argument, np.ndarray) else argument for argument in arguments]
        executed(module, name if name in module.functions else next(iter(module.functions)), after)
    except Exception as failure:  # noqa: BLE001 - as above
        return failed(outcome, failure, "lowered: ")
    return compared(outcome, before, after)


def lowered(python, folder, arch):
    """Let TVM lower the texts in a folder; where it ends by a fault, it goes on with the next."""
    while True:
        before = len(list(folder.glob("*.lowered"))) + len(list(folder.glob("*.refused")))
        done = subprocess.run([python, str(SIDE), str(folder), arch], capture_output=True, check=False, timeout=1800)
        after = len(list(folder.glob("*.lowered"))) + len(list(folder.glob("*.refused")))
        if done.returncode == 0 or after == before:
            return


def read_or(path, other):
    """The text of a file; `other` where there is none."""
    return path.read_text("utf-8") if path.exists() else other


def masked(message):
    """A message without its names and numbers."""
    return re.sub(r"\d+", "#", re.sub(r"`[a-zA-Z_0-9]+`", "`_`", message))[:150]


def table(outcomes):
    """Counts for each file of tests."""
    result = Table(title="kernels of TVM's tests of TIRx")
    for column in ("tests", "kernels", *VERDICTS):
        result.add_column(column, justify="left" if column == "tests" else "right")
    files = defaultdict(list)
    for outcome in outcomes:
        files[outcome.file].append(outcome)
    for file, members in (*sorted(files.items()), ("all", outcomes)):
        counts = Counter(outcome.verdict for outcome in members)
        result.add_row(file, str(len(members)), *(str(counts[verdict]) for verdict in VERDICTS))
    return result


def variants(outcomes, registered):
    """Counts for each variant of the dispatcher; `registered`: operators with variants."""
    result = Table(title="variants of TVM's dispatcher")
    for column in ("operator", "variant", "scope", "kernels", *VERDICTS):
        result.add_column(column, justify="left" if column in ("operator", "variant", "scope") else "right")
    taken = defaultdict(list)
    for outcome in outcomes:
        for operator, variant, scope in outcome.variants:
            taken[operator, variant, scope].append(outcome)
    for operator, variant in sorted({(operator, variant) for operator, variant in registered}):
        scopes = sorted(scope for name, each, scope in taken if (name, each) == (operator, variant))
        for scope in scopes or ("",):
            members = taken.get((operator, variant, scope), [])
            counts = Counter(outcome.verdict for outcome in members)
            numbers = (str(counts[verdict]) for verdict in VERDICTS)
            result.add_row(operator.removeprefix("tirx.tile."), variant, scope, str(len(members)), *numbers)
    met = {(operator, variant) for operator, variant, _ in taken}
    compared_ones = {row[:2] for row, members in taken.items() if any(each.verdict in AGREED for each in members)}
    known = {(operator, variant) for operator, variant in registered}
    result.caption = (
        f"{len(known)} variants: {len(met & known)} taken by a kernel, {len(compared_ones)} with one that agrees"
    )
    return result


def reasons(outcomes):
    """Print what stands behind the counts, the most frequent first."""
    groups = defaultdict(list)
    for outcome in outcomes:
        if outcome.reason:
            groups[outcome.verdict, masked(outcome.reason)].append(outcome)
    for (verdict, reason), members in sorted(groups.items(), key=lambda group: -len(group[1])):
        CONSOLE.print(f"{len(members):5} {verdict}: {reason}", markup=False, soft_wrap=True)
        CONSOLE.print(f"      {members[0].name}: {members[0].reason}"[:400], markup=False, style="dim", soft_wrap=True)


def arguments():
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tests", type=Path, help="without it the corpus is used as it is")
    parser.add_argument("--tvm", required=True, help="a Python that has apache-tvm and pytest")
    parser.add_argument("--corpus", type=Path, help="where texts are kept")
    parser.add_argument("--names", default="", help="a regular expression: of these texts alone")
    parser.add_argument("--verdicts", type=Path, help="where verdicts are kept; texts that have one are passed over")
    parser.add_argument("--time", type=float, default=inf, help="seconds after which no further texts are judged")
    parser.add_argument("--arch", default="sm_90a", help="the architecture that TVM lowers for")
    parser.add_argument("--seconds", type=int, default=120, help="how long a file of tests may last, between faults")
    return parser.parse_args()


def judged(texts, options):
    """The outcomes of some texts, each a line that can be kept, and the variants that TVM registers."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        for name, text in texts.items():
            (folder / f"{name}.py").write_text(text, "utf-8")
        lowered(options.tvm, folder, options.arch)
        lines = []
        for name, text in texts.items():
            both = [read_or(folder / f"{name}.{suffix}", None) for suffix in ("lowered", "refused")]
            seen = json.loads(read_or(folder / f"{name}.variants", "[]"))
            lines.append({"text": name, "outcomes": [asdict(each) for each in outcomes_of(name, text, both, seen)]})
        return lines, json.loads(read_or(folder / "registered.variants", "[]"))


def outcomes_of(name, text, both, seen):
    """The outcomes of the kernels of a text."""
    file = name.partition("__")[0]
    try:
        found = list(kernels(read(text, name)))
    except Exception as failure:  # noqa: BLE001 - as in `tried`
        return [failed(Outcome(name, file), failure)]
    whole = [Outcome(f"{name}:{kernel}", file, variants=seen) for kernel in found]
    return [tried(text, *both, each, kernel) for each, kernel in zip(whole, found, strict=True)]


def judge_all(texts, options, verdicts):
    """Judge what has no verdict, a batch at a time; after the time no further batch is begun."""
    until = time.monotonic() + options.time
    known = {line["text"] for line in map(json.loads, verdicts.read_text("utf-8").splitlines())}
    missing = [name for name in texts if name not in known]
    for at in range(0, len(missing), BATCH):
        if time.monotonic() > until:
            break
        lines, registered = judged({name: texts[name] for name in missing[at : at + BATCH]}, options)
        with verdicts.open("a", encoding="utf-8") as out:
            out.writelines(json.dumps({**line, "registered": registered}) + "\n" for line in lines)


def main():
    """Print the table and the reasons."""
    options = arguments()
    with tempfile.TemporaryDirectory() as temporary:
        corpus = options.corpus or Path(temporary) / "corpus"
        verdicts = options.verdicts or Path(temporary) / "verdicts.jsonl"
        if options.tests:
            tvm_corpus.extract(options.tvm, options.tests.resolve(), corpus, options.seconds, CONSOLE.print)
        paths = [path for path in sorted(corpus.glob("*__*.py")) if re.search(options.names, path.name)]
        texts = {path.stem: path.read_text("utf-8") for path in paths}
        texts = {name: text for name, text in texts.items() if "device_entry" in text}
        verdicts.touch()
        judge_all(texts, options, verdicts)
        kept = [json.loads(line) for line in verdicts.read_text("utf-8").splitlines()]
    lines = [line for line in kept if line["text"] in texts]
    outcomes = [Outcome(**each) for line in lines for each in line["outcomes"]]
    CONSOLE.print(table(outcomes))
    CONSOLE.print(variants(outcomes, {tuple(each) for line in lines for each in line["registered"]}))
    reasons(outcomes)
    for line in told([(each.file, "", each.reason) for each in outcomes if each.verdict == "undefined"]):
        CONSOLE.print(line, markup=False, soft_wrap=True)
    if len(lines) < len(texts):
        CONSOLE.print(f"{len(texts) - len(lines)} texts are left")
    return int(any(outcome.verdict in ("different", "traceback") for outcome in outcomes))


if __name__ == "__main__":
    sys.exit(main())
