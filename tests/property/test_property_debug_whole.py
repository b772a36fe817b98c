"""Stepping over in C and in the interpreter: the same moment, the same state, for random programs and statements."""

import random

import pytest
from debug_states import arguments, state, walked

from refmlc.debug import Moment, Program, Session, outlined_loops
from refmlc.debug.places import StmtPlace
from refmlc.debug.snapshots import SnapshotRate
from refmlc.lang.ir import tir
from refmlc.strategies import Case, rolled

pytestmark = pytest.mark.needs("compiler")

STEPS = 120


def check_over(case: Case, seed: int, moves: int) -> int:
    """From `moves` random moments over the statement there; how many loops and blocks were executed in C."""
    program = Program(case.module, case.func, arguments(case))
    with Session(program, snapshot_rate=SnapshotRate(1 << 40, 1e9)) as plain, Session(program) as quick:
        known = walked(plain, STEPS)
        due = dict(known)
        if not known:
            return 0
        quick.start()
        plain.restart()
        for here in around(quick, list(due), seed)[:moves]:
            plain.goto(here)
            with pytest.MonkeyPatch.context() as short:
                short.setattr(outlined_loops, "LONG", 1)
                quick.goto(here)
                assert state(quick) == due[here]
                stop = quick.step_over()
            expected = plain.step_over()
            assert (stop.moment, stop.reason) == (expected.moment, expected.reason)
            assert state(quick) == state(plain)
        return len(quick._engine.tier_switch.loops)


def around(session: Session, moments: list[Moment], seed: int) -> list[Moment]:
    """The moments at which a loop or a block is to be executed, in any order."""
    found = []
    for moment in moments:
        session.goto(moment)
        place = session._engine.position.place
        if isinstance(place, StmtPlace) and isinstance(place.node, tir.For | tir.SBlockRealize):
            found.append(moment)
    random.Random(seed).shuffle(found)  # noqa: S311 - no secrets
    return found


def test_over_is_the_same_in_c() -> None:
    assert sum(check_over(rolled(seed), seed, 3) for seed in (13, 15, 17)) > 2


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(1000, 1200))
def test_over_is_the_same_in_c_for_many_programs(seed: int) -> None:
    check_over(rolled(seed), seed, 12)
