"""Operators of Relax with symbolic sizes, proved to be defined: `sizes_table.py [--only WORD] [--why]`.

Each row of `operator_calls` is lowered with symbolic extents; each function of TensorIR that it becomes is asked
`prove_defined`. Each that is proved without a contract is called with drawn values as well. Exit status 1 if a
call contradicts a proof, which never happens.
"""

import argparse
import sys
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import click
from operator_calls import EXTENTS, rows

from refmlc.diag import RefmlcError
from refmlc.lang.ir import tir
from refmlc.lang.wellformed.reader_checks import read
from refmlc.observe.sanitize import sanitize
from refmlc.oracle.contracts.assumptions import assumed
from refmlc.oracle.refine.proof import prove_defined
from refmlc.prove.sizes.result import SizedKind
from refmlc.rewrite.transform import legalize_ops
from refmlc.run.memory.budget import Budget
from refmlc.strategies import rolled_inputs
from refmlc.strategies.arguments import arguments

CONTRACTS = {
    "astype": "0 <= x <= 200",
    "dequantize": "-1000 <= data <= 1000",
    "cumsum": "-1000 <= data <= 1000",
}
"""What the caller of an operator grants that converts floats to integers; without it the conversion is undefined."""
PROVED = (SizedKind.PROVED, SizedKind.INFERRED)


def text(row, dtype="float32"):
    """A function that makes the call of a row on symbolic extents."""
    declared = set()

    def extent(letter):
        if letter not in EXTENTS:
            return letter
        first = letter not in declared
        declared.add(letter)
        return f'"{letter}"' if first else letter

    params = ", ".join(
        f'{param.name}: R.Tensor(({"".join(f"{extent(each)}, " for each in param.extents)}), "{param.dtype or dtype}")'
        for param in row.params
    )
    sizes = "".join(f"    {letter} = T.int64()\n" for letter in sorted(declared))
    return f"@R.function\ndef main({params}):\n{sizes}    r = R.{row.call.replace('{D}', dtype)}\n    return r\n"


def functions(only):
    """The functions of TensorIR of each row, with the name of the row; None where it is not lowered."""
    for row in rows():
        if only in row.call and row.letters:
            try:
                module = legalize_ops(read(text(row), "row.py"))
            except RefmlcError:
                yield row.call, None, ""
                continue
            names = [name for name, func in module.functions.items() if isinstance(func, tir.PrimFunc)]
            yield from ((row.call, module, name) for name in names)
            if not names:
                yield row.call, None, ""


def contradictions(module, name, calls):
    """The undefined behaviour in small calls with drawn values. A function that is proved has none."""
    for seed in range(calls):
        try:
            report = sanitize(module, name, arguments(rolled_inputs(module, name, seed)), budget=Budget(1_000_000))
        except RefmlcError:
            continue  # sizes that do not fit each other
        if report.verdict == "undefined":
            yield f"seed {seed}: {report.findings[0].diagnostic.message}"


def sees_a_fault():
    """Whether calls find an index that is out of bounds for one size."""
    body = "    n = T.int64()\n    for i in range(n):\n        B[i] = A[T.min(i + 1, T.max(n - 1, 2))]\n"
    fault = '@T.prim_func\ndef main(A: T.Buffer(("n",), "float32"), B: T.Buffer((n,), "float32")):\n' + body
    return any(contradictions(read(fault, "fault.py"), "main", 8))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", metavar="WORD")
    parser.add_argument("--why", action="store_true", help="print each function that is not proved")
    parser.add_argument("--milliseconds", type=int, default=2000, help="for each obligation")
    parser.add_argument("--calls", type=int, default=6, help="for each function that is proved")
    options = parser.parse_args()
    if options.calls and not sees_a_fault():
        parser.error("calls do not find an index that is out of bounds")
    false_proofs = calls = 0
    kinds, reasons, obligations, times = Counter(), Counter(), Counter(), []
    for call, module, name in functions(options.only):
        if module is None:
            kinds["not lowered with symbolic sizes"] += 1
            continue
        start = time.thread_time()
        definedness = prove_defined(module, name, milliseconds=options.milliseconds)
        contract = CONTRACTS.get(call.partition("(")[0])
        if definedness.kind is SizedKind.UNDECIDED and contract is not None:
            granted = assumed([contract])
            definedness = prove_defined(module, name, milliseconds=options.milliseconds, assume=granted)
        times.append(time.thread_time() - start)
        under = " under a written contract" if definedness.contracts else ""
        kinds[f"{definedness.kind.value}{under}"] += 1
        if definedness.kind is SizedKind.PROVED and not definedness.contracts:
            calls += options.calls
            for finding in contradictions(module, name, options.calls):
                false_proofs += 1
                click.echo(f"FALSE PROOF {call}: {finding}")
        obligations.update(each.verdict.value for each in definedness.verdicts)
        open_ones = [each for each in definedness.verdicts if each.verdict not in PROVED]
        why = definedness.reason or (
            f"{open_ones[0].text}: {open_ones[0].reason} {open_ones[0].code}" if open_ones else ""
        )
        if why:
            reasons[
                f"{definedness.kind.value}: {definedness.reason or open_ones[0].kind + ' ' + open_ones[0].code}"
            ] += 1
            if options.why:
                click.echo(f"{definedness.kind.value:10} {call}: {why}")
    click.echo(f"functions: {dict(kinds)}\nobligations: {dict(obligations)}")
    click.echo(f"median: {sorted(times)[len(times) // 2]:.2f} s a function")
    click.echo(f"calls of what is proved: {calls}, undefined: {false_proofs}")
    click.echo("\n".join(f"{count} {why}" for why, count in reasons.most_common(20)))
    raise SystemExit(bool(false_proofs))


if __name__ == "__main__":
    main()
