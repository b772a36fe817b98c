"""Budgets: each limit ends the run with its code."""

from itertools import chain, repeat

import pytest

from refmlc.diag import Exhausted
from refmlc.run.memory import budget as budget_module
from refmlc.run.memory.budget import Budget


def test_the_last_allowed_step_is_taken():
    budget = Budget(max_steps=10)
    budget.charge_steps(4)
    budget.charge_steps(6)
    with pytest.raises(Exhausted) as failure:
        budget.charge_steps(1)
    assert failure.value.code.id == "RM601"
    assert "more than 10 steps" in str(failure.value)


def test_a_loop_of_a_trillion_is_refused_before_it_begins():
    with pytest.raises(Exhausted) as failure:
        Budget().charge_steps(10**12)
    assert failure.value.code.id == "RM601"


def test_depth():
    budget = Budget(max_depth=2)
    budget.enter()
    budget.enter()
    budget.leave()
    budget.enter()
    with pytest.raises(Exhausted) as failure:
        budget.enter()
    assert failure.value.code.id == "RM602"


def test_bytes_come_back():
    budget = Budget(max_bytes=8)
    budget.charge_bytes(8)
    with pytest.raises(Exhausted) as failure:
        budget.charge_bytes(1)
    assert failure.value.code.id == "RM603"
    budget.release_bytes(3)
    budget.charge_bytes(3)


class Clock:
    """A clock that goes on when something is done. `looks`: how often it was looked at."""

    def __init__(self, monkeypatch):
        self.now, self.looks = 100.0, 0
        monkeypatch.setattr(budget_module, "monotonic", self.look)

    def look(self):
        self.looks += 1
        return self.now


def spend(budget, clock, costs):
    """The second at which the budget ends, each step taking the time that `costs` has for it."""

    def steps():
        for cost in costs:
            budget.charge_steps(1)
            clock.now += cost

    with pytest.raises(Exhausted) as failure:
        steps()
    assert failure.value.code.id == "RM605"
    assert "longer than 2 s" in str(failure.value)
    return clock.now - 100.0


@pytest.mark.parametrize("cost", [1e-6, 1e-4, 3e-3, 0.1, 0.4])
def test_seconds_hold_whatever_a_step_takes(monkeypatch, cost):
    clock = Clock(monkeypatch)
    assert 2.0 < spend(Budget(max_seconds=2.0), clock, repeat(cost)) <= 2.5


def test_steps_that_become_dear_are_noticed(monkeypatch):
    clock = Clock(monkeypatch)
    assert 2.0 < spend(Budget(max_seconds=2.0), clock, chain(repeat(1e-6, 1_900_000), repeat(3e-3))) <= 2.5


def test_cheap_steps_seldom_look_at_the_clock(monkeypatch):
    clock = Clock(monkeypatch)
    spend(Budget(max_seconds=2.0), clock, repeat(1e-5))
    assert clock.looks <= 200_000 // 100


def test_a_look_is_at_once_where_there_is_a_limit(monkeypatch):
    clock = Clock(monkeypatch)
    budget, unlimited = Budget(max_seconds=2.0), Budget()
    for each in (budget, unlimited):
        each.charge_steps(1)
        each.charge_steps(1)
    clock.now += 2.1
    unlimited.look()
    with pytest.raises(Exhausted):
        budget.look()


def test_a_new_run_has_its_steps_again():
    budget = Budget(max_steps=5, max_depth=1)
    budget.charge_steps(5)
    budget.enter()
    budget.charge_bytes(7)
    budget.renew()
    budget.charge_steps(5)
    budget.enter()
    assert budget.bytes == 7
