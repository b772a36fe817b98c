"""The measurement of the debugger: it measures what it says, and says whether the goals are met."""

from dataclasses import replace

from refmlc.tools.bench.debugger import NEVER, TEXT, bench_debugger


def test_all_of_it_is_measured() -> None:
    calls: list[None] = []
    cost = bench_debugger(1, lambda: calls.append(None), 6)
    assert len(calls) == 2
    assert cost.statements == 1 + 6 + 72 + 432
    assert min(cost.hooks, cost.debugger, cost.breakpoint, cost.median_back) > 0
    assert cost.worst_back >= cost.median_back


def test_the_breakpoint_is_at_a_statement_that_is_never_executed() -> None:
    assert "C[0, 0] = T.float32(0)" in TEXT.split("\n")[NEVER - 1]


def test_goals() -> None:
    cost = bench_debugger(1, size=4)
    good = replace(cost, hooks=100.0, breakpoint=130.0, median_back=99.0, megabytes=499.0)
    assert good.kept
    assert not replace(good, breakpoint=131.0).kept
    assert not replace(good, median_back=100.0).kept
    assert not replace(good, megabytes=500.0).kept
