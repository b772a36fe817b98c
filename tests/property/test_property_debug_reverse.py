"""Reverse is exact: whatever one does, at a moment the program is what it was there at first, to the bit."""

import random

import pytest
from debug_states import arguments, state, walked

from refmlc.debug import Moment, Program, Session
from refmlc.debug.snapshots import SnapshotRate
from refmlc.strategies import Case, rolled, rolled_module

STEPS = 150
DENSE = SnapshotRate(7, 0.0, adapts=False)


def sessions(case: Case) -> tuple[Session, Session]:
    """Two of the same program: one that takes no snapshots, one that takes many."""
    program = Program(case.module, case.func, arguments(case))
    return Session(program, snapshot_rate=SnapshotRate(1 << 40, 1e9)), Session(program, snapshot_rate=DENSE)


def check_moves(case: Case, seed: int, moves: int) -> None:
    """Walk a program once, then move at random: each moment must be what it was."""
    plain, dense = sessions(case)
    with plain, dense:
        known = walked(plain, STEPS)
        if not known:  # the function is one expression
            return
        due = dict(known)
        rng = random.Random(seed)  # noqa: S311 - no secrets
        dense.start()
        here = 0
        for _ in range(moves):
            match rng.randrange(4):
                case 0:
                    here = rng.randrange(len(known))
                    dense.goto(known[here][0])
                case 1:
                    count = min(rng.randrange(1, 5), here)
                    if count:
                        dense.step_back(count)
                        here -= count
                case 2:
                    count = min(rng.randrange(1, 5), len(known) - 1 - here)
                    if count:
                        dense.step_in(count)
                        here += count
                case _:
                    dense.resume()
                    assert dense.ended
                    dense.goto(known[here][0])
            moment = dense.stop.moment
            assert moment == known[here][0]
            assert state(dense) == due[moment]


@pytest.mark.parametrize("seed", [*range(10), 207])
def test_prim_funcs_are_at_each_moment_what_they_were(seed: int) -> None:
    check_moves(rolled(seed), seed, 8)


@pytest.mark.parametrize("seed", range(1, 9))
def test_modules_are_at_each_moment_what_they_were(seed: int) -> None:
    check_moves(rolled_module(seed), seed, 8)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(100, 600))
def test_many_programs_are_at_each_moment_what_they_were(seed: int) -> None:
    check_moves((rolled if seed % 2 else rolled_module)(seed), seed, 40)


def test_there_are_snapshots_within_programs() -> None:
    """The laws above would say little if going back always meant the beginning."""
    taken = 0
    for seed in range(6):
        _, dense = sessions(rolled(seed))
        with dense:
            dense.start()
            dense.resume()
            taken += dense.snapshots[0] > 1
    assert taken >= 3
    assert Moment(1, 2) < Moment(2, 0)
