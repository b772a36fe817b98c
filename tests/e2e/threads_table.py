"""Kernels of TVM whose threads wait for each other: which of them C takes, whether it gives the interpreter's bits.

    python tests/e2e/threads_table.py --tvm PYTHON [--counts] [NAME…]

The population: the paged key-value kernels for CUDA and Metal (`kv_kernels`), the operators of `tvm_kernels` as TVM's
default rules schedule them, at three stages (`gpu_schedules`), and every stage of three kernels (`gpu_stages`).
`--counts` compares nothing. A line for each kernel: the time of a call in the interpreter and in guarded C, without
detectors; the arguments are those of `refmlc check`. Exit 1 if a call differs.
"""

# ruff: noqa: T201 - the command prints its table

import argparse
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Collection, Iterator
from pathlib import Path

from refmlc.diag import RefmlcError
from refmlc.lang.ir import IRModule, tir
from refmlc.lang.ir.threads import exchanges
from refmlc.lang.script import read
from refmlc.native.emit.module import emit_functions
from refmlc.native.options import Options
from refmlc.oracle.arguments import CallLimits
from refmlc.oracle.check.program import CallRequest, checked_program
from refmlc.oracle.implementations.implementation import Limits
from refmlc.oracle.implementations.interp import Interp

SIDE = Path(__file__).parent / "tvm_side"
sys.path.insert(0, str(Path(__file__).parents[1] / "property"))

from tier_runs import GUARDED, INTERP, Ran  # noqa: E402 - after the path

PRINTERS = {"kv": ("kv_kernels.py", "cuda", "metal"), "operators": ("gpu_schedules.py",), "stages": ("gpu_stages.py",)}
STEPS = 30_000_000
CALLS = 2


def printed(folder: Path, python: str, kinds: Collection[str] = PRINTERS) -> Iterator[tuple[str, tir.PrimFunc]]:
    """The functions that TVM prints whose threads wait for each other, by name."""
    for kind, (script, *names) in PRINTERS.items():
        if kind not in kinds:
            continue
        target = folder / kind
        target.mkdir()
        command = [python, str(SIDE / script), str(target), *names]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, timeout=600)
        for file in sorted(target.rglob("*.py")):
            for name, func in read(file.read_text("utf-8"), file.name).functions.items():
                if isinstance(func, tir.PrimFunc) and exchanges(func):
                    yield f"{kind}/{file.relative_to(target).with_suffix('')} {name}", func


def refusal(func: tir.PrimFunc) -> str:
    """Why C does not take the function; empty: it does."""
    _, declined = emit_functions(IRModule({"main": func}), Options())
    return declined["main"].reason if declined else ""


def compared(func: tir.PrimFunc) -> tuple[str, float, float]:
    """How the calls of both tiers compare, and the times of the longest call: `equal`, `different` or why no call."""
    module = IRModule({"main": func})
    interp, native = Ran(module, INTERP, steps=STEPS), Ran(module, GUARDED, steps=STEPS)
    request = CallRequest(limits=CallLimits(CALLS, 0, 10.0))
    try:
        program, _ = checked_program(module, "main", request, Interp(Limits(seconds=60.0)))
    except RefmlcError as failure:
        return failure.diagnostic.message, 0.0, 0.0
    slow = fast = 0.0
    for number in range(min(CALLS, len(program.calls))):
        begin = time.perf_counter()
        expected = interp.call("main", program.arguments(number))
        between = time.perf_counter()
        result = native.call("main", program.arguments(number))
        slow, fast = max(slow, between - begin), max(fast, time.perf_counter() - between)
        if expected != result:
            return "different", slow, fast
    stopped = ", C stops" if native.counts["stopped"] else ""
    return f"equal{stopped}", slow, fast


def main() -> int:
    """Print the table; 1 if a call differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tvm", required=True, metavar="PYTHON", help="a Python that has TVM")
    parser.add_argument("--counts", action="store_true", help="compare nothing")
    parser.add_argument("names", nargs="*", help="parts of names")
    options = parser.parse_args()
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        for name, func in printed(Path(folder), options.tvm):
            if options.names and not any(part in name for part in options.names):
                continue
            reason = refusal(func)
            counts[f"refused: {reason}" if reason else "in C"] += 1
            if not reason and not options.counts:
                result, slow, fast = compared(func)
                counts[result] += 1
                print(f"{name:64} {result:16} {slow:8.3f} s {fast:8.3f} s", flush=True)
    for what, count in counts.most_common():
        print(f"{count:5} {what}")
    return int(counts["different"] > 0)


if __name__ == "__main__":
    sys.exit(main())
