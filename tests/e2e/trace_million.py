"""A trace of a million events: how long it takes to make, and how long its page takes to load and to step.

    python tests/e2e/trace_million.py [--page FILE]

Needs the extras `report` and `browser`, and a Chromium. Ends with 1 where the page loads in more than 3 s, or a step
takes more than 50 ms (the slowest of those tried; a step ends when the layout is done).
"""

import argparse
import shutil
import sys
import tempfile
from pathlib import Path
from time import perf_counter

import numpy as np
from playwright.sync_api import sync_playwright

import refmlc
from refmlc.debug import Program
from refmlc.debug.trace import record
from refmlc.debug.trace.page import page
from refmlc.dtypes import FLOAT32
from refmlc.runtime.tensor import Tensor

SIZE = 56
LOAD_SECONDS, STEP_MS = 3.0, 50.0
TEXT = f"""
from tvm.script import tirx as T

@T.prim_func(s_tir=True)
def gemm(A: T.Buffer(({SIZE}, {SIZE}), "float32"), B: T.Buffer(({SIZE}, {SIZE}), "float32"), C: T.Buffer(({SIZE}, {SIZE}), "float32")):
    for i, j, k in T.grid({SIZE}, {SIZE}, {SIZE}):
        with T.sblock("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] += A[vi, vk] * B[vk, vj]
"""  # noqa: E501 - a program
MOVES = """(kind) => {
    const time = document.getElementById("time"), last = Number(time.max), found = [];
    let at = Math.floor(last / 2), seed = 7;
    for (let n = 0; n < 300; n++) {
        seed = (seed * 48271) % 2147483647;
        at = kind === "jump" ? seed % (last + 1) : kind === "back" ? at - 1 : at + 1;
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


def made(path: Path) -> None:
    """Write the page of the trace."""
    rng = np.random.default_rng(7)
    matrices = [rng.standard_normal((SIZE, SIZE), dtype=np.float32) for _ in range(2)]
    program = Program(refmlc.read(TEXT), "gemm", [*matrices, Tensor.empty((SIZE, SIZE), FLOAT32)])
    start = perf_counter()
    trace = record(program, max_events=2_000_000)
    recorded = perf_counter()
    path.write_text(page(trace), encoding="utf-8")
    done = perf_counter()
    say(f"{trace.total:,} events, {len(trace):,} kept: recorded in {recorded - start:.1f} s")
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
        for kind in ("forward", "back", "jump"):
            times = seen.evaluate(MOVES, kind)
            good &= times[-1] < STEP_MS
            say(f"{kind}: median {times[len(times) // 2]:.1f} ms, slowest {times[-1]:.1f} ms of {len(times)}")
        browser.close()
    return good


def main() -> int:
    """Make, load, step."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--page", type=Path, help="Keep the page here.")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = (given.page or Path(folder) / "trace.html").resolve()
        made(path)
        return 0 if measured(path) else 1


if __name__ == "__main__":
    sys.exit(main())
