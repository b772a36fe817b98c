"""Each planted fault is found within so many programs, and what is left of the program is small."""

import json

import pytest
from planted import FAULTS, settings, unchanged

from refmlc.lang.ir import tir
from refmlc.lang.ir.visit import walk
from refmlc.oracle.fuzz.batch import run_batch, shrink
from refmlc.oracle.fuzz.result import BatchResult
from refmlc.strategies.case import Case

PROGRAMS = 480
BLOCKS, EXTENT, STATEMENTS = 2, 3, 12


def first_finding(known):
    for batch in range(PROGRAMS // known.size):
        result = BatchResult.from_json(run_batch(known.to_json(), batch, known.programs(batch)))
        if result.findings:
            return result.findings[0]
    return None


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_a_planted_fault_is_found_and_made_small(fault):
    known = settings(fault)
    found = first_finding(known)
    assert found is not None
    assert (found.path, found.code) in {(fault.__name__, "RM701"), (fault.__name__, "RM703")}
    made = shrink(known.to_json(), found.to_json(), 60.0)
    assert made["statements"][1] <= STATEMENTS
    nodes = list(walk(Case.from_json(json.dumps(made["case"])).prim_func))
    assert sum(isinstance(node, tir.SBlock) for node in nodes) <= BLOCKS + 1  # the root is a block
    extents = [node.extent.value for node in nodes if isinstance(node, tir.For) and isinstance(node.extent, tir.IntImm)]
    assert max(extents, default=0) <= EXTENT


def test_the_interpreter_itself_has_none():
    """What finds the faults finds nothing where there is none."""
    known = settings(unchanged)
    result = BatchResult.from_json(run_batch(known.to_json(), 0, known.programs(0)))
    assert result.findings == ()
    assert result.verdicts["unchanged"]["equal"] > 10
