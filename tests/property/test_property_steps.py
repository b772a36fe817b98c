"""Every step on generated functions, so many legal applications of each: they keep the bits; others are refused.

`tests/e2e/schedule_soak.py` does the same for thousands, in C and beside real TVM's schedule.
"""

import os
from collections import Counter

import pytest
from step_applications import STEPS, applied, draw
from test_property_schedules import written

from refmlc.diag import Unsupported
from refmlc.diag.errors import Malformed
from refmlc.lang.ir import IRModule
from refmlc.lang.ir.equal import structural_equal
from refmlc.lang.script import show
from refmlc.lang.wellformed.module import check_module
from refmlc.lang.wellformed.reader_checks import read
from refmlc.observe.sanitize import sanitize
from refmlc.run.memory.budget import Budget
from refmlc.run.memory.tensor import Tensor
from refmlc.strategies import rolled_inputs
from refmlc.strategies.arguments import arguments

SOAK = os.environ.get("REFMLC_PROFILE") == "soak"
APPLICATIONS = 1000 if SOAK else 16  # of each step, legal ones
MOST_SEEDS = 200 * APPLICATIONS


def outcome(module, call):
    """Verdict and bits under all detectors; no lint, since a box need not be all of a domain."""
    args = arguments(call)
    report = sanitize(module, "main", args, budget=Budget(1_000_000))
    return report.verdict, [written(one) for one in args if isinstance(one, Tensor)]


@pytest.mark.parametrize("name", STEPS)
def test_legal_applications_keep_the_bits(name):
    found = Counter()
    for seed in range(MOST_SEEDS):
        if found["legal"] >= APPLICATIONS:
            break
        app = draw(name, seed)
        if app is None:
            continue
        module = IRModule({"main": app.func})
        try:
            after = applied(app.func, *app.words)
        except Malformed:  # RM112: the block has no init
            continue
        except Unsupported:  # RM504; anything else is a bug
            found["refused"] += 1
            continue
        found["legal"] += 1
        changed = IRModule({"main": after})
        assert check_module(changed) == (), f"{seed} {app.words}\n{show(changed)}"
        assert structural_equal(read(show(changed), "after.py"), changed), f"{seed} {app.words}\n{show(changed)}"
        call = rolled_inputs(module, "main", seed)
        before = outcome(module, call)
        if before[0] == "defined":
            found["compared"] += 1
            assert outcome(changed, call) == before, f"{seed} {app.words}\n{show(module)}\n{show(changed)}"
    assert found["legal"] >= APPLICATIONS, found
    assert found["compared"] > APPLICATIONS // 2, found
