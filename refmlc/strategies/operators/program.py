"""The operators with plans, and the program of a seed: one to three calls, each on the results before it."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType

from refmlc.diag.errors import RefmlcError
from refmlc.lang.ir import IRModule, relax
from refmlc.lang.library import OPERATORS
from refmlc.lang.script import show
from refmlc.lang.wellformed.reader_checks import read
from refmlc.strategies.case import Case
from refmlc.strategies.choices import Choices, SeededChoices
from refmlc.strategies.operators import axes, elementwise, images, lookup
from refmlc.strategies.operators.calls import Calls, Plan

PLANS: Mapping[str, Callable[[Calls], Plan]] = MappingProxyType(
    {
        name: plan
        for family in (elementwise.PLANS, axes.PLANS, lookup.PLANS, images.PLANS)
        for name, plan in family.items()
        if name in OPERATORS and not OPERATORS[name].reason
    }
)
NAMES = tuple(PLANS)
TRIES = 8  # of one operator: most plans are accepted at once


def add_call(calls: Calls, name: str) -> bool:
    """Add a call of the operator; False: it refuses every drawn plan."""
    for _ in range(TRIES):
        saved = len(calls.params), len(calls.bindings), calls.last
        try:
            calls.call(name, PLANS[name](calls))
        except (RefmlcError, ValueError):
            del calls.params[saved[0] :], calls.recipes[saved[0] :], calls.bindings[saved[1] :]
            calls.last = saved[2]
        else:
            return True
    return False


def operators_of(choices: Choices) -> Case:
    """A program with arguments for one call."""
    calls = Calls(choices)
    count = 1 + (choices.below(10) > 5) + (choices.below(10) > 7)
    accepted = 0
    while accepted < count:
        accepted += add_call(calls, choices.pick(NAMES))
    result = calls.bindings[-1]
    body = relax.SeqExpr((relax.BindingBlock(tuple(calls.bindings)),), result.var)
    module = IRModule({"main": relax.Function(tuple(calls.params), body, None)})
    return Case(read(show(module, show_meta=True), "operators.py"), "main", (tuple(calls.recipes),))


def rolled_operators(seed: int) -> Case:
    """The program of a seed, always the same."""
    return replace(operators_of(SeededChoices(f"operators {seed}")), name=f"operators{seed}")


def operator_names(module: IRModule) -> tuple[str, ...]:
    """The operators that `main` calls, in order."""
    main = module.functions.get("main")
    blocks = main.body.blocks if isinstance(main, relax.Function) else ()
    values = [binding.value for block in blocks for binding in block.bindings]
    return tuple(
        binding.op.name for binding in values if isinstance(binding, relax.Call) and isinstance(binding.op, relax.Op)
    )
