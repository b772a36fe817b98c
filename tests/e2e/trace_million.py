"""A trace of a million events: how long it takes to make, and how long its page takes to load and to step.

    python tests/e2e/trace_million.py [gemm] [buffers] [wide] [course] [--pages FOLDER]

| program   | is                                                                        |
|-----------|---------------------------------------------------------------------------|
| `gemm`    | a product of 56 x 56 matrices, all of it                                  |
| `buffers` | 200 buffers, each computed from the one before                            |
| `wide`    | matrices of 1000 x 1000, a part of which is read and written              |
| `course`  | `course_2022_matmul_relu.py`, 12.7 million events, of which some are kept |

Needs the extras `report` and `browser`, and a Chromium. Ends with 1 where a page loads in more than 3 s, or a step
takes more than 50 ms (the slowest of those tried; a step ends when the layout is done).
"""

import argparse
import resource
import shutil
import sys
import tempfile
from itertools import pairwise
from pathlib import Path
from time import perf_counter

import numpy as np
from playwright.sync_api import sync_playwright

import refmlc
from refmlc.debug import Program
from refmlc.debug.trace import record
from refmlc.debug.trace.page import page
from refmlc.lang.dtypes import FLOAT32
from refmlc.run.memory.tensor import Tensor

LOAD_SECONDS, STEP_MS, MOST = 3.0, 50.0, 2_000_000
COURSE = Path(__file__).parents[1] / "programs" / "course_2022_matmul_relu.py"
HEAD = "from tvm.script import tirx as T\n\n@T.prim_func(s_tir=True)\n"
GEMM = f"""{HEAD}
def main(A: T.Buffer((56, 56), "float32"), B: T.Buffer((56, 56), "float32"), C: T.Buffer((56, 56), "float32")):
    for i, j, k in T.grid(56, 56, 56):
        with T.sblock("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] += A[vi, vk] * B[vk, vj]
"""
NAMES = ["A", *(f"t{number}" for number in range(198)), "C"]
BUFFERS = f"""{HEAD}
def main(A: T.Buffer((8, 8), "float32"), C: T.Buffer((8, 8), "float32")):
{"".join(f'    {name} = T.alloc_buffer((8, 8), "float32"){chr(10)}' for name in NAMES[1:-1])}
    for r, i, j in T.grid(35, 8, 8):
{"".join(f"        {to}[i, j] = {of}[i, j] + T.float32(1){chr(10)}" for of, to in pairwise(NAMES))}
"""
WIDE = f"""{HEAD}
def main(A: T.Buffer((1000, 1000), "float32"), C: T.Buffer((1000, 1000), "float32")):
    for i, j in T.grid(1000, 330):
        C[i, j * 3] = A[j, i] * T.float32(2)
"""
MOVES = """(kind) => {
    const time = document.getElementById("time"), last = Number(time.max), found = [];
    let at = Math.floor(last / 2), seed = 7;
    for (let n = 0; n < 300; n++) {
        seed = (seed * 48271) % 2147483647;
        const far = kind === "jump" ? seed % (last + 1) : n % 2 ? seed % Math.max(1, at) : last;
        at = kind === "jump" || kind === "jump back" ? far : kind === "back" ? at - 1 : at + 1;
        const start = performance.now();
        time.value = String(at);
        time.dispatchEvent(new Event("input"));
        document.body.getBoundingClientRect();
        found.push(performance.now() - start);
    }
    return found.sort((a, b) => a - b);
}"""


def say(line: str) -> None:
    """A line of the result."""
    sys.stdout.write(f"{line}\n")


def program_of(name: str) -> Program:
    """What is run."""
    rng = np.random.default_rng(7)
    module = (
        refmlc.read_file(COURSE)
        if name == "course"
        else refmlc.read({"gemm": GEMM, "buffers": BUFFERS, "wide": WIDE}[name])
    )
    shape = {"gemm": (56, 56), "buffers": (8, 8), "wide": (1000, 1000), "course": (128, 128)}[name]
    given = [rng.standard_normal(shape, dtype=np.float32) for _ in range(2 if name in ("gemm", "course") else 1)]
    return Program(module, "main", given if name == "course" else [*given, Tensor.empty(shape, FLOAT32)])


def made(name: str, path: Path) -> None:
    """Write the page of the trace."""
    program = program_of(name)
    start = perf_counter()
    trace = record(program) if name == "course" else record(program, max_events=MOST)
    recorded = perf_counter()
    path.write_text(page(trace), encoding="utf-8")
    done = perf_counter()
    say(f"{name}: {trace.total:,} events, {len(trace):,} kept: recorded in {recorded - start:.1f} s")
    say(f"written in {done - recorded:.1f} s, {path.stat().st_size / 1e6:.1f} MB")


def measured(path: Path) -> bool:
    """Load the page, move in it; whether all was quick enough."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    with sync_playwright() as running:
        browser = running.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        seen = browser.new_page()
        start = perf_counter()
        seen.goto(path.as_uri())
        seen.wait_for_function("document.getElementById('event').textContent.startsWith('step 0')")
        seconds = perf_counter() - start
        say(f"load: {seconds:.2f} s")
        good = seconds < LOAD_SECONDS
        for kind in ("forward", "back", "jump", "jump back"):
            times = seen.evaluate(MOVES, kind)
            good &= times[-1] < STEP_MS
            say(f"{kind}: median {times[len(times) // 2]:.1f} ms, slowest {times[-1]:.1f} ms of {len(times)}")
        browser.close()
    return good


def main() -> int:
    """Make, load, step."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("programs", nargs="*", default=["gemm", "buffers", "wide", "course"])
    parser.add_argument("--pages", type=Path, help="Keep the pages here.")
    given = parser.parse_args()
    good = True
    with tempfile.TemporaryDirectory() as folder:
        for name in given.programs:
            path = ((given.pages or Path(folder)) / f"{name}.html").resolve()
            made(name, path)
            good &= measured(path)
    say(f"peak of this process: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
