"""Every operator of Relax on values at the edges of its dtypes and on extents of 0: both tiers say the same.

In the profile `ci` each call has one dtype and one sort of inputs in a run, others in the next; in `soak` all of them.
"""

import pytest
from operator_calls import EXTENTS, rows
from operator_edges import Call, found
from operator_runs import DTYPES

pytestmark = pytest.mark.needs("compiler")

SORTS = ("edges", "plain", "edges", *EXTENTS)


def mixed(turn):
    """Each call once."""
    chosen = []
    for place, row in enumerate(rows()):
        sort = SORTS[(place + turn) % len(SORTS)]
        calls = [Call(row, dtype, one) for one in (sort, "edges") for dtype in DTYPES]
        taken = [call for call in calls if call.possible and call.inputs == sort] or [c for c in calls if c.possible]
        chosen.append(taken[(place // 2 + 5 * turn) % len(taken)])
    return chosen


def told(results):
    """The calls in which the tiers differ."""
    return [f"{one.call.row.call} {one.call.dtype} {one.call.inputs}: {one.told}" for one in results if one.told]


@pytest.mark.parametrize("turn", [0, 1])
def test_both_tiers_say_the_same(turn):
    calls = mixed(turn)
    results, counts = found(calls, seed=turn)
    assert told(results) == []
    assert len(calls) == len(rows())
    assert counts["native"] > 0.8 * len(results)
    assert not counts["declined"]
    assert sum(not one.code for one in results) > 0.7 * len(results)


@pytest.mark.soak
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("sort", dict.fromkeys(SORTS))
def test_both_tiers_say_the_same_of_every_dtype(sort, dtype):
    calls = [call for call in (Call(row, dtype, sort) for row in rows()) if call.possible]
    for seed in range(5 if sort == "edges" else 1):
        assert told(found(calls, seed)[0]) == []
