"""Budgets: each limit ends the run with its code."""

import pytest

from refmlc.diag import Exhausted
from refmlc.runtime import budget as budget_module
from refmlc.runtime.budget import Budget


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


def test_seconds_are_looked_at_every_so_many_steps(monkeypatch):
    clock = iter([100.0, 100.5, 103.0])
    monkeypatch.setattr(budget_module, "monotonic", lambda: next(clock))
    budget = Budget(max_seconds=2.0)
    budget.charge_steps(1)
    budget.charge_steps(1 << 16)
    budget.charge_steps(1 << 16)
    with pytest.raises(Exhausted) as failure:
        budget.charge_steps(1 << 16)
    assert failure.value.code.id == "RM605"
    assert "longer than 2 s" in str(failure.value)


def test_a_new_run_has_its_steps_again():
    budget = Budget(max_steps=5, max_depth=1)
    budget.charge_steps(5)
    budget.enter()
    budget.charge_bytes(7)
    budget.renew()
    budget.charge_steps(5)
    budget.enter()
    assert budget.bytes == 7
