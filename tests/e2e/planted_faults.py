"""Kernels with a planted fault of synchronisation: which of them the sanitizer finds, with which code and where.

`python tests/e2e/planted_faults.py [NAME …]`. `planted_faults/NAME.toml` holds a correct kernel, and its faults:

| field        | is                                                                    |
|--------------|-----------------------------------------------------------------------|
| `program`    | the kernel; its last parameter is the result, NumPy says which        |
| `what`       | the fault in words                                                    |
| `old`, `new` | what is written otherwise in the text, at one place                   |
| `code`, `at` | the code that is to be reported, and a part of the line where         |
| `orders`     | how many orders of threads are tried; 1 where it is left out          |

Exit status 1: a fault is not found, or a correct kernel has an alarm or a wrong result.
"""

import sys
import time
import tomllib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.markup import escape
from rich.table import Table

sys.path.insert(0, str(Path(__file__).parents[1]))

from biting import prove

from refmlc.lang.script import read
from refmlc.lang.wellformed import check_module
from refmlc.observe.sanitize import sanitize
from refmlc.oracle.implementations.implementation import Ended
from refmlc.oracle.implementations.interp import Interp
from refmlc.oracle.orders import explore

FOLDER = Path(__file__).parent / "planted_faults"
RESULTS = {
    "block_sum": lambda a: np.full(64, a.sum() + 64, "int32"),
    "bulk_tile": lambda a: a[::-1] + 1,
    "cluster_exchange": lambda a: a[::-1, ::-1],
    "cluster_ring": lambda a: np.repeat(a.sum(axis=1, keepdims=True), 2, axis=1),
    "double_buffer": lambda a: a[:, ::-1],
    "fenced_flag": lambda a: a[::-1],
    "flag": lambda a: a[::-1],
    "histogram": lambda a: np.bincount(a % 4, minlength=4),
    "matrix_unit": lambda a, b: a.astype("float32") @ b.astype("float32"),
    "named_barriers": lambda a: a[:32][::-1] + a[32:],
    "ring": lambda a: a[:, ::-1],
    "shared_tree": lambda a: a.sum(keepdims=True),
    "tensor_memory": lambda a: a[:, ::-1],
    "tensor_product": lambda a: sum(tile @ tile[:16].T for tile in (a % 5).astype("int32")),
    "tiled_matmul": lambda a, b: a @ b,
    "transposition": lambda a: a.T,
    "warp_specialised": lambda a: a[:, ::-1] * 2,
    "warp_sum": lambda a: a.reshape(2, 32).sum(axis=1),
    "warpgroup_product": lambda a: sum(tile @ tile[:8].T for tile in (a % 5).astype("int32")),
}


@dataclass(frozen=True)
class Fault:
    """A fault, what finds it and where."""

    kernel: str
    what: str
    code: str
    old: str
    new: str
    at: str
    orders: int = 1


@dataclass(frozen=True)
class Verdict:
    """What the sanitizer says of a kernel: `defined` or a code, the line, and the result."""

    code: str
    line: str
    result: np.ndarray


def kernels():
    """The texts of the correct kernels, by name."""
    return {path.stem: _table(path)["program"].lstrip() for path in sorted(FOLDER.glob("*.toml"))}


def faults(names):
    """The faults of kernels."""
    return [Fault(name, **fault) for name in names for fault in _table(FOLDER / f"{name}.toml")["fault"]]


def _table(path):
    return tomllib.loads(path.read_text())


def faulty(text, fault):
    """The kernel with the fault."""
    assert text.count(fault.old) == 1, f"{fault.kernel}, {fault.what}: {text.count(fault.old)} places"
    return text.replace(fault.old, fault.new)


def judged(text, orders=1):
    """Run a kernel under all detectors, in so many orders of its threads."""
    module = read(text, "kernel.py")
    problems = check_module(module)
    assert not problems, problems[0].message
    func = module.functions["main"]
    shapes = [
        (tuple(size.value for size in func.buffer_map[param].shape), func.buffer_map[param].dtype)
        for param in func.params
    ]
    arrays = [np.arange(np.prod(shape)).reshape(shape).astype(str(dtype)) for shape, dtype in shapes]
    arrays[:-1] = [(array % 11 - 3).astype(array.dtype) if array.dtype == "float16" else array for array in arrays[:-1]]
    given = [array.copy() for array in arrays[:-1]]
    arrays[-1][...] = -1
    fault = _of_orders(module, arrays, orders) if orders > 1 else _of_one(module, arrays)
    if fault is None:
        return Verdict("defined", "", arrays[-1]), given
    return Verdict(fault.code.id, text.splitlines()[fault.span.line - 1], arrays[-1]), given


def _of_one(module, arrays):
    report = sanitize(module, "main", arrays)
    return next((finding.diagnostic for finding in report.findings if not finding.is_lint), None)


def _of_orders(module, arrays, orders):
    tried = explore(module, "main", lambda: [array.copy() for array in arrays], Interp(), orders=orders)
    return None if isinstance(tried.answer, Ended) else tried.answer.diagnostic


def is_right(name, text):
    """Whether a correct kernel is: no alarm, and the result that NumPy says."""
    verdict, given = judged(text)
    return verdict.code == "defined" and np.array_equal(verdict.result, RESULTS[name](*given))


def is_found(text, fault):
    """Whether a fault is found with its code at its place, and what is reported."""
    verdict, _ = judged(faulty(text, fault), fault.orders)
    return verdict.code == fault.code and fault.at in verdict.line, verdict


def prove_itself(texts):
    """What is no fault is not found; a kernel without its only barrier is."""
    text = texts["transposition"]
    first = Fault("transposition", "", "RM305", "    T.cuda.cta_sync()\n", "", "S[t % 8, t // 8]")
    none = Fault("transposition", "", "RM305", "    T.cuda.cta_sync()\n", "    T.cuda.cta_sync()\n", "")
    prove("the table of faults", notices=is_found(text, first)[0], passes=not is_found(text, none)[0])


def main():
    """The table."""
    texts = {name: text for name, text in kernels().items() if not sys.argv[1:] or name in sys.argv[1:]}
    prove_itself(kernels())
    console, table, missed, began = Console(), Table("kernel", "fault", "code", "where", "found"), 0, time.monotonic()
    for name, text in texts.items():
        if not is_right(name, text):
            missed += 1
            table.add_row(
                name, "none, and the kernel is not correct", judged(text)[0].code, judged(text)[0].line, "ALARM"
            )
        for fault in faults([name]):
            found, verdict = is_found(text, fault)
            missed += not found
            table.add_row(
                name,
                fault.what,
                verdict.code,
                escape(verdict.line.strip()[:60]),
                "yes" if found else f"NO: {fault.code}",
            )
    console.print(table)
    count = len(faults(texts))
    console.print(f"{count} faults in {len(texts)} kernels, {missed} missed or false, {time.monotonic() - began:.1f} s")
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
