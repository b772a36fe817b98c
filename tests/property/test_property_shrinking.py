"""What Hypothesis makes of a failing program: a small one, that a person reads at a glance.

Each fault is planted into the interpreter's input: the program that it executes is another one than was drawn. The
smallest program on which that shows has at most two blocks, and no extent above 3.
"""

import random
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, Phase, find, settings

from refmlc.diag import RefmlcError
from refmlc.lang.dtypes import BOOL
from refmlc.lang.ir import tir
from refmlc.lang.ir.visit import rewrite, walk
from refmlc.run.interp.machine import Machine
from refmlc.run.memory.budget import Budget
from refmlc.run.memory.tensor import Tensor
from refmlc.strategies import prim_funcs

RULES = settings(
    max_examples=2000,
    deadline=None,
    database=None,
    derandomize=False,
    phases=(Phase.generate, Phase.shrink),
    suppress_health_check=list(HealthCheck),
)
TRUNCATED = {"floordiv": "truncdiv", "floormod": "truncmod"}


def truncated(node):
    """Division that drops the fraction, where the quotient's floor is meant."""
    if isinstance(node, tir.Apply) and node.op in TRUNCATED and node.dtype.is_integer:
        return replace(node, op=TRUNCATED[node.op])
    return node


def without_where(node):
    """A block that is executed for all values of its loops."""
    if isinstance(node, tir.SBlockRealize) and not isinstance(node.predicate, tir.IntImm):
        return replace(node, predicate=tir.IntImm(BOOL, 1))
    return node


def without_init(node):
    """A reduction that goes on from what is there."""
    return replace(node, init=None) if isinstance(node, tir.SBlock) and node.init is not None else node


def one_less(node):
    """A loop without its last iteration."""
    if isinstance(node, tir.For) and isinstance(node.extent, tir.IntImm) and node.extent.value > 1:
        return replace(node, extent=replace(node.extent, value=node.extent.value - 1))
    return node


def transposed(node):
    """A matrix that is read by columns."""
    if isinstance(node, tir.BufferLoad) and len(node.indices) == 2:
        return replace(node, indices=node.indices[::-1])
    return node


def left(module, case):
    """What the first call leaves in the tensors, or the code that it ends with."""
    given = case.arguments()
    try:
        Machine(module, budget=Budget(100_000), output=lambda _: None).call(case.func, given)
    except RefmlcError as failure:
        return failure.code.id
    return [(one.array.tobytes(), one.shadow.tobytes()) for one in given if isinstance(one, Tensor)]


def shows(case, fault):
    """Whether the program with the fault does something else."""
    wrong = rewrite(case.module, fault)
    return wrong is not case.module and left(wrong, case) != left(case.module, case)


def extents(case):
    """Those of loops and of tensors."""
    loops = [node.extent.value for node in walk(case.module) if _has_extent(node)]
    return [*loops, *(extent for one in case.calls[0] for extent in getattr(one, "shape", ()))]


def _has_extent(node):
    return isinstance(node, tir.For) and isinstance(node.extent, tir.IntImm)


def is_small(case):
    """At most two blocks, three stores, one call, and no extent above 3."""
    nodes = list(walk(case.module))
    blocks = [node for node in nodes if isinstance(node, tir.SBlock) and node.name != "root"]
    stores = [node for node in nodes if isinstance(node, tir.BufferStore)]
    return len(blocks) <= 2 and len(stores) <= 3 and len(case.calls) == 1 and max(extents(case), default=0) <= 3


LONG = [pytest.param(fault, marks=pytest.mark.soak) for fault in (truncated, without_where, transposed)]  # minutes


@pytest.mark.parametrize("fault", [without_init, one_less, *LONG])
def test_the_smallest_program_that_shows_a_fault_is_small(fault):
    """Shrinking ends where no single step helps: a second or third start may end lower, none has to."""
    found = []
    for seed in range(3):
        chance = random.Random(seed)  # noqa: S311 - no secret
        found.append(find(prim_funcs(), lambda case: shows(case, fault), settings=RULES, random=chance))
        if is_small(found[-1]):
            return
    pytest.fail("\n".join(map(repr, found)))
