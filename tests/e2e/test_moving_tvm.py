"""Every step on generated pipelines, by real TVM and by us: where both accept, the same bits."""

import json
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest
from test_schedule_tvm import applied

from refmlc.diag import Unsupported
from refmlc.diag.errors import Malformed
from refmlc.lang.ir import IRModule
from refmlc.lang.script import show
from refmlc.lang.wellformed.reader_checks import read
from refmlc.observe.sanitize import sanitize
from refmlc.run.memory.tensor import Tensor
from refmlc.strategies import rolled_inputs
from refmlc.strategies.arguments import arguments

sys.path.insert(0, str(Path(__file__).parents[1] / "property"))
from pipelines import pipeline

PYTHON = os.environ.get("REFMLC_TVM_PYTHON", "")
SIDE = Path(__file__).parent / "tvm_side" / "apply_steps.py"
SOAK = os.environ.get("REFMLC_PROFILE") == "soak"
CASES = 3000 if SOAK else 150

pytestmark = pytest.mark.needs("tvm")
PLAIN = 0.5  # the share of steps that leave blocks where they are
BLOCKS = ("first", "second", "third")


def rolled(seed):
    """A pipeline, and a step that may be legal."""
    rng = random.Random(f"tvm/{seed}")  # noqa: S311 - a seed, no secret
    func = pipeline(seed)
    at, block, loop = rng.randrange(2), rng.choice(BLOCKS), rng.randrange(2)
    if rng.random() < PLAIN:
        return func, rng.choice(
            [
                ["split", block, loop, [None, rng.choice((2, 3, 4))]],
                ["fuse", block, [0, 1]],
                ["reorder", block, [1, 0]],
                ["parallel", block, loop],
                ["vectorize", block, loop],
                ["unroll", block, loop],
                ["bind", block, loop, "threadIdx.x"],
                ["compute_inline", BLOCKS[at]],
                ["cache_write", block],
                ["decompose_reduction", BLOCKS[at], loop],
            ]
        )
    choices = [
        ["compute_at", BLOCKS[at], BLOCKS[at + 1], rng.randrange(2)],
        ["reverse_compute_at", BLOCKS[at + 1], BLOCKS[at], rng.randrange(2)],
        ["reverse_compute_inline", rng.choice(BLOCKS[1:])],
        ["rfactor", BLOCKS[at], 2, 0],
    ]
    return func, rng.choice(choices)


def ours(func, step):
    """The function after our step; None where it is refused."""
    try:
        return applied(func, *step)
    except (Malformed, Unsupported):
        return None


def bits(func, call):
    args = arguments(call)
    report = sanitize(IRModule({"main": func}), "main", args)
    outputs = [one.array[: one.shape[0] - 1, : one.shape[1] - 1] for one in args[-1:] if isinstance(one, Tensor)]
    return report.verdict, [one.tobytes() for one in outputs]


def test_where_both_accept_the_bits_are_the_same(record_property):
    rows = [rolled(seed) for seed in range(CASES)]
    texts = [{"text": show(func), "steps": [step]} for func, step in rows]
    done = subprocess.run(
        [PYTHON, str(SIDE)], input=json.dumps(texts), capture_output=True, text=True, check=False, timeout=1800
    )
    assert done.returncode == 0, done.stderr[-2000:]
    both = only = defined = theirs = 0
    for seed, ((func, step), found) in enumerate(zip(rows, json.loads(done.stdout), strict=True)):
        mine = ours(func, step)
        only += mine is not None and "text" not in found
        theirs += mine is None and "text" in found
        if mine is None or "text" not in found:
            continue
        both += 1
        other = read(found["text"], "tvm.py")["main"]
        call = rolled_inputs(IRModule({"main": func}), "main", seed)
        before = bits(func, call)
        if before[0] == "defined":
            defined += 1
            assert bits(mine, call) == before, f"{seed} {step}\n{show(func)}\n{show(mine)}"
            assert bits(other, call) == before, f"{seed} {step}\n{show(func)}\n{found['text']}"
    record_property("both accept", both)
    record_property("only we accept", only)
    record_property("only TVM accepts", theirs)
    assert both > CASES // 5
    assert defined > CASES // 8
