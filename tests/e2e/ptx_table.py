"""How many of the operators that TVM registers for PTX refmlc executes: a table by family, and the count.

`python tests/e2e/ptx_table.py --tvm PYTHON [--calls 8] [--names REGEX] [--reasons]`. Each operator is called, as TVM
prints it, in a kernel of one warp, with modifiers that TVM accepts; no GPU is needed. The kernel gives the call what it
needs to have a meaning: `ptx_kernels.py` says what. `T.ptx.addr` is an operand of such calls.

| verdict       | its calls                                                                           |
|---------------|-------------------------------------------------------------------------------------|
| `executed`    | one of them ends, and so does the kernel                                            |
| `undefined`   | none ends, and one is undefined for these operands: nothing is shown of its meaning |
| `unsupported` | all of them are unsupported by name                                                 |
| `refused`     | all of them are unsupported, unread or ill-formed: refmlc and TVM disagree          |
| `traceback`   | one ends by a bug of refmlc's own                                                   |

Two more columns count what has a clause (`refmlc.lang.ops.ptx.clauses`), and what a case of the suite shows besides:
the case returns and cites the clause, and TVM finds the operator in its text. What has neither is listed, and what is
unsupported too, by its reason. Before the first operator the command proves itself: a planted one whose calls are all
undefined is not counted. Races are not looked for: all lanes make the same call.

Exit status 1: an operator is undefined or refused, one that is executed has no clause, or there is a traceback.
"""

import argparse
import json
import re
import subprocess
import sys
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
from ptx_kernels import TENSOR, WORDS, kernel
from rich.console import Console
from rich.table import Table

from refmlc.diag import IllFormed, Malformed, RefmlcError, Unsupported
from refmlc.lang.ops.ptx.clauses import clauses_of_operators
from refmlc.lang.ops.ptx.registry import registered
from refmlc.lang.script import read
from refmlc.lang.wellformed import check_module
from refmlc.oracle.suite import load_suite
from refmlc.run.interp.machine import Machine
from refmlc.run.memory.budget import Budget

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

from biting import prove  # noqa: E402 - after the path

SIDE = HERE / "tvm_side" / "ptx_specimens.py"
OPERATORS = HERE / "tvm_side" / "ptx_operators.py"
VERDICTS = ("executed", "undefined", "unsupported", "refused", "traceback")
VALUES = ((1,), (32,), (1, 32), (1, 1, 32), (0x3C003C00,), (0x3F800000,), (0,))
"""What the registers hold, in turn: numbers, a barrier and its count, also behind a result, two halves, a float,
and what is 0 in every dtype."""
STEPS, SECONDS = 200_000, 20
EVIDENCE = ("clause", "clause and case")
UNDEFINED = [
    "T.ptx.rem(r_uint32[0], r_uint32[1], T.uint32(0), 'u32', '')",
    "T.ptx.mbarrier(S.data, 'arrive', 'b64', '')",
]
DEFINED = "T.ptx.rem(r_uint32[0], r_uint32[1], T.uint32(3), 'u32', '')"


def verdict(call: str, values: tuple[int, ...]) -> tuple[str, str]:
    """What comes of a call, and why."""
    try:
        module = read(kernel(call, values), "f.py")
        problems = check_module(module)
        if problems:
            return "refused", problems[0].message
        Machine(module, budget=Budget(STEPS, max_seconds=SECONDS)).call("main", [np.zeros(WORDS, "uint32")])
    except Unsupported as failure:
        return "unsupported", failure.diagnostic.message
    except (IllFormed, Malformed) as failure:
        return "refused", failure.diagnostic.message
    except RefmlcError as failure:
        return "undefined", f"{failure.code.id} {failure.diagnostic.message}"
    except Exception as failure:  # noqa: BLE001 - a bug of refmlc is a verdict
        return "traceback", repr(failure)
    return "executed", ""


def judged(calls: list[str]) -> tuple[str, str]:
    """The verdict on an operator: the best of its calls; what ends by a bug is told."""
    verdicts = []
    for call in calls:
        before = ("", "")
        for values in VALUES:
            result = verdict(call, values)
            verdicts.append(result)
            if result[0] in ("executed", "traceback"):
                return result
            if TENSOR in call and result == before and result[0] == "unsupported":
                break  # their registers hold addresses and descriptors: numbers change nothing
            before = result
    return min(verdicts, key=lambda each: VERDICTS.index(each[0]))


def prove_itself() -> None:
    """End the program unless an operator whose calls are all undefined is not counted, and one that ends is."""
    seen = judged(UNDEFINED), judged([*UNDEFINED, DEFINED])
    prove("the table", notices=seen[0][0] == "undefined", passes=seen[1][0] == "executed", why=str(seen))


def specimens(tvm: str, count: int) -> dict[str, list[str]]:
    """A few calls of each operator."""
    command = [tvm, str(SIDE), str(count)]
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=600)
    return json.loads(done.stdout)


def shown(tvm: str) -> dict[str, str]:
    """A case for each operator that one shows: the case returns, and cites the clause of the operator."""
    cases = {case.id: case for case in load_suite().cases if "T.ptx" in case.text and case.id.startswith("tirx.")}
    returning = {
        name: case for name, case in cases.items() if any(call.assertion["kind"] == "return" for call in case.calls)
    }
    texts = json.dumps({name: case.text for name, case in returning.items()})
    done = subprocess.run([tvm, str(OPERATORS)], input=texts, check=True, capture_output=True, text=True, timeout=600)
    rows = clauses_of_operators()
    return {
        operator: name
        for name, operators in json.loads(done.stdout).items()
        for operator in operators
        if rows.get(operator) in returning[name].clauses
    }


def masked(reason: str) -> str:
    """A reason without the names in it."""
    return re.sub(r" with the modifiers .*?: ", ": ", re.sub(r"`[^`]*`", "_", reason))


def print_reasons(console: Console, reasons: dict[str, list[str]]) -> None:
    """What is unsupported, by reason: how many operators of how many families, and which."""
    for reason, names in sorted(reasons.items(), key=lambda group: -len(group[1])):
        families = sorted({registered()[name] for name in names})
        text = f"{len(names):4} unsupported, of {len(families)} families ({', '.join(families)}): {reason}"
        console.print(text, markup=False, soft_wrap=True)


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description="How many operators of PTX are executed.")
    parser.add_argument("--tvm", required=True, help="a Python with apache-tvm")
    parser.add_argument("--calls", type=int, default=8, help="calls of each operator")
    parser.add_argument("--names", default="", help="only operators of these names")
    parser.add_argument("--reasons", action="store_true", help="why each operator is not executed")
    return parser.parse_args()


def main() -> int:
    """The table."""
    options = arguments()
    prove_itself()
    families: dict[str, Counter[str]] = defaultdict(Counter)
    reasons: dict[str, list[str]] = defaultdict(list)
    console = Console(width=120, highlight=False)
    cases, bare = shown(options.tvm), []
    for name, calls in specimens(options.tvm, options.calls).items():
        if re.search(options.names, name):
            result, why = judged(calls)
            families[registered()[name]][result] += 1
            if result == "executed":
                evidence = [name in clauses_of_operators(), name in cases]
                families[registered()[name]].update(dict(zip(EVIDENCE, evidence, strict=True)))
                bare += [] if all(evidence) else [name]
            if result == "unsupported":
                reasons[masked(why)].append(name)
            if why and (options.reasons or result in ("undefined", "refused", "traceback")):
                console.print(f"{name}: {result}: {why}", markup=False, soft_wrap=True)
    table = Table("family", *VERDICTS, *EVIDENCE)
    for family, counts in sorted(families.items()):
        table.add_row(family, *(str(counts[each] or "") for each in (*VERDICTS, *EVIDENCE)))
    total = sum(families.values(), Counter())
    table.add_row("all", *(str(total[each]) for each in (*VERDICTS, *EVIDENCE)))
    console.print(table)
    print_reasons(console, reasons)
    console.print(f"{total['undefined']} are undefined, whatever their operands")
    console.print(f"executed without a clause or a case: {' '.join(bare) or 'none'}", markup=False, soft_wrap=True)
    count = sum(total[each] for each in VERDICTS)
    console.print(f"{total['executed'] + 1} of {count + 1} operators are executed, T.ptx.addr among them")
    console.print(f"{total['clause and case']} of them have a clause and a case that cites it, T.ptx.addr left out")
    wrong = total["undefined"] + total["refused"] + total["traceback"] + total["executed"] - total["clause"]
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
