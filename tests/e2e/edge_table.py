"""Operators on values at the edges of their dtypes, and on extents of 0: what TVM's lowering gives, and refmlc.

`python tests/e2e/edge_table.py --tvm PYTHON [--dtype DTYPE …] [--sort SORT …] [--only OPERATOR …]` takes the calls of
`tests/operator_calls.py` with the inputs of `tests/property/operator_edges.py`. Calls that are undefined here are not
given to TVM. Agreement is to the bit in mode `libm`, NaN being one class. Exit status 1 where a call differs that
`explained_edges.toml` does not explain.
"""

import argparse
import json
import subprocess
import sys
import tomllib
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1]))  # as pytest has them: this file is a script
sys.path.append(str(Path(__file__).parents[1] / "property"))

import numpy as np
import sample_table
from edge_rules import differ_so
from operator_calls import EXTENTS, rows
from operator_edges import Call, kind
from operator_runs import text
from rich.console import Console
from rich.table import Table

from refmlc.diag import RefmlcError
from refmlc.lang import script
from refmlc.vm import VirtualMachine, build

HERE = Path(__file__).parent
EXPLAINED = HERE / "explained_edges.toml"
SORTS = ("plain", "edges", *EXTENTS)
VERDICTS = ("equal", "explained", "differs", "undefined", "TVM refuses", "TVM crashes")


@dataclass
class Compared:
    """A call, what it gives here, and in TVM, and what became of it."""

    call: Call
    inputs: list[np.ndarray]
    given: list[np.ndarray] = field(default_factory=list)
    wanted: list[np.ndarray] = field(default_factory=list)
    verdict: str = ""
    told: str = ""

    @property
    def name(self) -> str:
        """The call, its dtype, its sort of inputs."""
        return f"{self.call.row.call} | {self.call.dtype} | {self.call.inputs}"


def here(call: Call, seed: int) -> Compared:
    """The call in the interpreter."""
    found = Compared(call, call.arguments(seed))
    module = script.read(text(call.row, call.dtype, call.sizes))
    try:
        result = VirtualMachine(build(module, tier="interp", math="libm"))["main"](*[x.copy() for x in found.inputs])
        found.given = sample_table.flatten(result)
    except RefmlcError as verdict:
        found.verdict, found.told = "undefined", verdict.code.id
    return found


def there(python: str, calls: list[Compared]) -> None:
    """The same in TVM, each call in a process of its own."""
    requests = [
        {
            "module": script.show(script.read(text(one.call.row, one.call.dtype, one.call.sizes))),
            "action": "run",
            "arguments": [[str(x.dtype), list(x.shape), np.ascontiguousarray(x).tobytes().hex()] for x in one.inputs],
        }
        for one in calls
    ]
    command = [python, str(HERE / "tvm_side" / "run_module.py")]
    done = subprocess.run(command, input=json.dumps(requests), capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"TVM gave no answers:\n{done.stderr[-2000:]}")
    for one, answer in zip(calls, json.loads(done.stdout)[1:], strict=True):
        judge(one, answer)


def judge(one: Compared, answer: dict) -> None:
    """What became of a call, by TVM's answer."""
    arrays = answer.get("arrays") or ([answer["array"]] if "array" in answer else None)
    if arrays is None:
        one.verdict = "TVM crashes" if "signal" in answer else "TVM refuses"
        one.told = str(answer.get("error", answer.get("signal"))).strip().splitlines()[-1][:200]
        return
    wanted = one.wanted = [np.frombuffer(bytes.fromhex(raw), kind(d)).reshape(shape) for d, shape, raw in arrays]
    same = len(wanted) == len(one.given) and all(map(sample_table.same, one.given, wanted))
    one.verdict = "equal" if same else "differs"
    if not same:
        pairs = zip(one.given, wanted, strict=False)
        one.told = "; ".join(sample_table.difference(a, b) for a, b in pairs if not sample_table.same(a, b))


def explain(found: list[Compared]) -> None:
    """Differences that are explained become so: by the operator, the sorts of inputs, and how the results differ."""
    for row in tomllib.loads(EXPLAINED.read_text(encoding="utf-8"))["difference"]:
        for one in found:
            call, wide = one.call, row["operators"]
            of_row = call.inputs in row.get("inputs", SORTS) and call.dtype in row.get("dtypes", [call.dtype])
            if one.verdict != "differs" or call.row.operator not in wide or not of_row:
                continue
            if differ_so(one.given, one.wanted, row["differs"]):
                one.verdict, one.told = "explained", row["why"]


def table(found: list[Compared]) -> Table:
    """A row for each sort of inputs and dtype."""
    shown = Table(title="calls of operators, here and in TVM")
    for column in ("inputs", "dtype", "calls", *VERDICTS):
        shown.add_column(column, justify="left" if column in ("inputs", "dtype") else "right")
    groups: dict[tuple[str, str], Counter] = defaultdict(Counter)
    for one in found:
        groups[one.call.inputs, one.call.dtype][one.verdict] += 1
        groups["all", ""][one.verdict] += 1
    for (inputs, dtype), counts in groups.items():
        shown.add_row(inputs, dtype, str(counts.total()), *(str(counts[key] or "") for key in VERDICTS))
    return shown


def main() -> int:
    """Print the table and what differs."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--tvm", required=True)
    options.add_argument("--dtype", action="append", default=[])
    options.add_argument("--sort", action="append", default=[], choices=SORTS)
    options.add_argument("--only", action="append", default=[])
    options.add_argument("--seed", type=int, default=0)
    given = options.parse_args()
    console = Console()
    chosen = [row for row in rows() if not given.only or row.operator in given.only]
    dtypes = given.dtype or ["float32", "int32"]
    calls = [Call(row, dtype, sort) for sort in given.sort or SORTS for dtype in dtypes for row in chosen]
    found = [here(call, given.seed) for call in calls if call.possible]
    there(given.tvm, [one for one in found if not one.verdict])
    explain(found)
    console.print(table(found))
    for verdict in VERDICTS[1:]:
        for one in found:
            if one.verdict == verdict != "undefined":
                console.print(f"{one.name}: {verdict}: {one.told}", markup=False, soft_wrap=True)
    ran = [one for one in found if one.verdict in VERDICTS[:3]]
    equal, told = (sum(one.verdict == verdict for one in ran) for verdict in VERDICTS[:2])
    console.print(
        f"{equal} of {len(ran)} calls that TVM executes ({equal / max(len(ran), 1):.1%}) are equal to the bit"
    )
    console.print(f"{told} differ and are explained, {len(ran) - equal - told} differ otherwise", markup=False)
    return 1 if len(ran) > equal + told else 0


if __name__ == "__main__":
    sys.exit(main())
