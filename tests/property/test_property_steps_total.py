"""Steps asked of any block of a drawn function, the root too, after steps that were taken: a function or a refusal."""

import random
from collections import Counter

import pytest
from pipelines import pipeline
from step_applications import BLOCKS, prepared

from refmlc.diag import Internal, RefmlcError
from refmlc.lang.ir import tir
from refmlc.lang.ir.visit import walk
from refmlc.rewrite import schedule
from refmlc.rewrite.schedule.places import places, position, top

OF_A_BLOCK = ("compute_inline", "reverse_compute_inline", "cache_write", "add_unit_loop")
OF_A_BUFFER = ("cache_read",)
OF_A_LOOP = ("compute_at", "reverse_compute_at", "decompose_reduction", "rfactor", "blockize", "vectorize", "parallel")


def blocks(func):
    return [place.stmt.block.name for place in places(func.body) if isinstance(place.stmt, tir.SBlockRealize)]


def loops(func):
    return [place.stmt.loop_var for place in places(func.body) if isinstance(place.stmt, tir.For)]


def asked(func, choose):
    """One step on a block and a loop drawn from all that there are. Gives what it made, or the code of the refusal."""
    name, block = choose.choice((*OF_A_BLOCK, *OF_A_BUFFER, *OF_A_LOOP)), choose.choice(blocks(func))
    loop = choose.choice(loops(func))
    step = getattr(schedule, name)
    try:
        if name in OF_A_BLOCK:
            made = step(func, block)
        elif name in OF_A_BUFFER:
            buffers = [one for one in walk(func) if isinstance(one, tir.Buffer)]
            made = step(func, block, choose.choice(buffers))
        elif name in ("blockize", "vectorize", "parallel"):
            made = step(func, loop)
        elif name == "rfactor":
            made = step(func, block, loop, 0)
        else:
            made = step(func, block, loop)
    except Internal:
        raise
    except RefmlcError as refusal:
        return func, refusal.code.id
    return made[0] if isinstance(made, tuple) else made, "made"


def drawn(seed):
    choose = random.Random(seed)  # noqa: S311 - a seed, no secret
    return prepared(pipeline(seed), choose), choose


@pytest.mark.parametrize("part", range(4))
def test_a_step_ends_in_a_function_or_a_refusal(part):
    ends = Counter()
    for seed in range(part * 60, part * 60 + 60):
        func, choose = drawn(seed)
        for _ in range(6):
            func, end = asked(func, choose)
            ends[end] += 1
    assert set(ends) <= {"made", "RM112", "RM504"}
    assert min(ends["made"], ends["RM112"], ends["RM504"]) > 5


@pytest.mark.parametrize("name", [*OF_A_BLOCK, "compute_at", "reverse_compute_at"])
def test_the_root_is_no_block_of_a_step(name):
    seen = 0
    for seed in range(20):
        func, _ = drawn(seed)
        if "root" in blocks(func):
            target = schedule.get_loops(func, BLOCKS[-1])[:1] if name.endswith("compute_at") else ()
            with pytest.raises(RefmlcError) as found:
                getattr(schedule, name)(func, "root", *target)
            assert found.value.code.id in ("RM112", "RM504")
            seen += 1
    assert seen > 5


def test_the_position_of_what_stands_in_the_root_is_that_of_its_statement():
    func, _ = drawn(3)
    for at, part in enumerate(top(func)):
        assert {position(func, place.stmt) for place in places(part)} == {at}


def test_the_root_has_no_position():
    func = next(one for one, _ in map(drawn, range(20)) if "root" in blocks(one))
    with pytest.raises(RefmlcError, match="`root` is the root of the function"):
        position(func, func.body)
