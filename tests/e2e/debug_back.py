"""Steps back into loops of every kind, a million statements deep: `python tests/e2e/debug_back.py`.

Each program is run to its end; then the debugger goes to random moments of it and takes a step back from each. Printed
are the median and the worst, and what the snapshots take; ends with 1 where a median is `MOST` milliseconds or more.
"""

import random
import sys
import time
from statistics import median

import numpy as np
from rich.console import Console
from rich.table import Table

import refmlc
from refmlc.debug import Moment, Program, Session

MOST = 100.0
BACK = 31
HEAD = "from tvm.script import tirx as T\n\n@T.prim_func(s_tir=True)\n"
TEXTS = {
    "a while loop": """
def f(A: T.Buffer((1,), "int32")):
    n = T.alloc_buffer((1,), "int32")
    n[0] = 0
    A[0] = 0
    while n[0] < 1000000:
        A[0] = A[0] + n[0] % 3
        n[0] = n[0] + 1
""",
    "a loop over bounds in memory": """
def f(P: T.Buffer((1001,), "int32"), X: T.Buffer((1000000,), "float32"), Y: T.Buffer((1000,), "float32")):
    for i in range(1000):
        Y[i] = T.float32(0)
        for k in range(P[i], P[i + 1]):
            Y[i] = Y[i] + X[k]
""",
    "one such loop": """
def f(P: T.Buffer((2,), "int32"), X: T.Buffer((1000000,), "float32"), Y: T.Buffer((1,), "float32")):
    Y[0] = T.float32(0)
    for k in range(P[0], P[1]):
        Y[0] = Y[0] + X[k]
""",
    "thread axes": """
def f(A: T.Buffer((1000000,), "float32")):
    for b in T.thread_binding(1000, thread="blockIdx.x"):
        for t in T.thread_binding(1000, thread="threadIdx.x"):
            A[b * 1000 + t] = T.Cast("float32", t)
""",
    "a launch of threads": """
def f(A: T.Buffer((1000000,), "float32")):
    b = T.launch_thread("blockIdx.x", 1000)
    t = T.launch_thread("threadIdx.x", 1000)
    A[b * 1000 + t] = T.Cast("float32", t)
""",
    "threads that wait for each other": """
def f(A: T.Buffer((256000,), "float32"), B: T.Buffer((256000,), "float32")):
    for b in T.thread_binding(1000, thread="blockIdx.x"):
        S = T.alloc_buffer((256,), "float32", scope="shared")
        for t in T.thread_binding(256, thread="threadIdx.x"):
            S[t] = A[b * 256 + t]
            T.evaluate(T.tvm_storage_sync("shared"))
            B[b * 256 + t] = S[255 - t]
""",
}


def arguments(function: object) -> list[np.ndarray]:
    """Ones; what bounds are read from goes up evenly."""
    found = []
    for buffer in function.buffer_map.values():  # type: ignore[attr-defined]
        shape, kind = tuple(extent.value for extent in buffer.shape), str(buffer.dtype)
        steps = np.linspace(0, 1_000_000, shape[0]).astype(kind)
        found.append(steps if buffer.name == "P" else np.ones(shape, kind))
    return found


def measured(text: str) -> tuple[int, float, list[float], tuple[int, int]]:
    """Statements, seconds of the run, seconds of each step back, the snapshots and their bytes."""
    module = refmlc.read(f"{HEAD}{text.lstrip()}", "f.tvm")
    rng = random.Random(0)  # noqa: S311 - no secrets
    with Session(Program(module, "f", arguments(module.functions["f"]))) as session:
        session.start()
        begin = time.perf_counter()
        session.resume()
        whole, taken = time.perf_counter() - begin, []
        last = session.step_back().moment
        for _ in range(BACK):
            session.goto(Moment(last.event, rng.randrange(3, last.step)))
            begin = time.perf_counter()
            session.step_back()
            taken.append(time.perf_counter() - begin)
        return last.step, whole, taken, session.snapshots


def main() -> int:
    """Measure and print."""
    table = Table("program", "statements", "run, s", "a step back, ms", "worst, ms", "snapshots", "MB")
    slow = False
    for name, text in TEXTS.items():
        statements, whole, taken, (count, nbytes) = measured(text)
        middle = median(taken) * 1e3
        slow |= middle >= MOST
        row = (f"{statements:,}", f"{whole:.2f}", f"{middle:.0f}", f"{max(taken) * 1e3:.0f}", str(count))
        table.add_row(name, *row, f"{nbytes / 1e6:.1f}")
    Console(width=110).print(table)
    return int(slow)


if __name__ == "__main__":
    sys.exit(main())
