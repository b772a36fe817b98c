"""Every step on generated pipelines, so many legal applications of each: they keep the bits; others are refused."""

import os
import random
from collections import Counter

import pytest
from pipelines import pipeline
from test_property_schedules import written

from refmlc import schedule
from refmlc.check.module import check_module
from refmlc.check.reading import read
from refmlc.diag import RefmlcError, Unsupported
from refmlc.diag.errors import Malformed
from refmlc.ir import IRModule, tir
from refmlc.ir.equal import structural_equal
from refmlc.runtime.budget import Budget
from refmlc.runtime.tensor import Tensor
from refmlc.sanitize import sanitize
from refmlc.schedule.places import places
from refmlc.script import show
from refmlc.strategies import rolled_inputs
from refmlc.strategies.arguments import arguments

SOAK = os.environ.get("REFMLC_PROFILE") == "soak"
APPLICATIONS = 1000 if SOAK else 24  # of each step, legal ones
MOST_SEEDS = 200 * APPLICATIONS
BLOCKS = ("first", "second", "third")
PREPARING = ("split", "fuse", "reorder", "parallel", "unroll")


def loops(func):
    return [place.stmt for place in places(func.body) if isinstance(place.stmt, tir.For)]


def prepared(func, rng):
    """The function after up to two steps that change its loops."""
    for _ in range(rng.choice((0, 0, 1, 2))):
        name, loop = rng.choice(PREPARING), rng.choice(loops(func))
        try:
            if name == "split":
                func = schedule.split(func, loop.loop_var, [None, rng.choice((2, 3, 4))])[0]
            elif name in ("fuse", "reorder") and isinstance(loop.body, tir.For):
                outer, inner = loop.loop_var, loop.body.loop_var
                fused = name == "fuse"
                func = schedule.fuse(func, outer, inner)[0] if fused else schedule.reorder(func, [inner, outer])
            elif name in ("parallel", "unroll"):
                func = getattr(schedule, name)(func, loop.loop_var)
        except RefmlcError:
            continue
    return func


def moved(name, func, rng):
    """One application of the step, and what it was applied to."""
    block, loop = rng.choice(BLOCKS), rng.choice(loops(func)).loop_var
    match name:
        case "reverse_compute_inline" | "compute_inline" | "cache_write":
            return block, getattr(schedule, name)(func, block)
        case "split":
            return loop.name, schedule.split(func, loop, [None, rng.choice((1, 2, 3, 4))])[0]
        case "fuse" | "reorder":
            nested = [one for one in loops(func) if isinstance(one.body, tir.For)]
            chosen = rng.choice(nested)
            outer, inner = chosen.loop_var, chosen.body.loop_var
            fused = name == "fuse"
            after = schedule.fuse(func, outer, inner)[0] if fused else schedule.reorder(func, [inner, outer])
            return f"{outer.name} {inner.name}", after
        case "parallel" | "vectorize" | "unroll" | "serial":
            return loop.name, getattr(schedule, name)(func, loop)
        case "add_unit_loop":
            return block, schedule.add_unit_loop(func, block)[0]
        case "drop_unit_loop":
            return block, schedule.drop_unit_loop(*schedule.add_unit_loop(func, block))
        case "cache_read":
            buffer = rng.choice([*func.buffer_map.values()])
            return f"{block} {buffer.name}", schedule.cache_read(func, block, buffer)
        case "decompose_reduction":
            own = rng.choice(schedule.get_loops(func, block))
            return f"{block} {own.name}", schedule.decompose_reduction(func, block, own)
        case "rfactor":
            own = rng.choice(schedule.get_loops(func, block))
            return f"{block} {own.name}", schedule.rfactor(func, block, own, rng.choice((0, 1, -1)))[0]
        case "bind":
            return loop.name, schedule.bind(func, loop, rng.choice(("threadIdx.x", "blockIdx.x")))
        case "annotate":
            return loop.name, schedule.annotate(func, rng.choice((block, loop)), "pragma", 1)
        case "set_scope":
            return block, schedule.set_scope(func, block, 0, rng.choice(("shared", "local")))
        case "storage_align":
            return block, schedule.storage_align(func, block, 0, rng.choice((0, 1)), 32, 8)
        case _:
            return f"{block} {loop.name}", getattr(schedule, name)(func, block, loop)


def outcome(module, call):
    """Verdict and bits under all detectors; no lint, since a box need not be all of a domain."""
    args = arguments(call)
    report = sanitize(module, "main", args, budget=Budget(1_000_000))
    return report.verdict, [written(one) for one in args if isinstance(one, Tensor)]


STEPS = (
    "split",
    "fuse",
    "reorder",
    "parallel",
    "vectorize",
    "unroll",
    "serial",
    "add_unit_loop",
    "drop_unit_loop",
    "compute_inline",
    "cache_read",
    "cache_write",
    "decompose_reduction",
    "compute_at",
    "reverse_compute_at",
    "reverse_compute_inline",
    "rfactor",
    "bind",
    "annotate",
    "set_scope",
    "storage_align",
)


@pytest.mark.parametrize("name", STEPS)
def test_legal_applications_keep_the_bits(name):
    found = Counter()
    for seed in range(MOST_SEEDS):
        if found["legal"] >= APPLICATIONS:
            break
        rng = random.Random(f"{name}/{seed}")  # noqa: S311 - a seed, no secret
        func = pipeline(seed)
        module = IRModule({"main": func})
        try:
            words, after = moved(name, prepared(func, rng), rng)
        except Malformed:  # RM112: the block has no init, or does not read the buffer
            continue
        except Unsupported:  # RM504; anything else is a bug
            found["refused"] += 1
            continue
        found["legal"] += 1
        changed = IRModule({"main": after})
        assert check_module(changed) == (), f"{seed} {words}\n{show(changed)}"
        assert structural_equal(read(show(changed), "after.py"), changed), f"{seed} {words}\n{show(changed)}"
        call = rolled_inputs(module, "main", seed)
        before = outcome(module, call)
        if before[0] == "defined":
            found["compared"] += 1
            assert outcome(changed, call) == before, f"{seed} {words}\n{show(module)}\n{show(changed)}"
    assert found["legal"] >= APPLICATIONS, found
    assert found["compared"] > APPLICATIONS // 2, found
