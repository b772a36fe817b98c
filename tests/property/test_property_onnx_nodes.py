"""Hostile ONNX models: whatever a node says, the import and the run give a result or a finding, in little memory."""

import os
import resource
from collections import Counter

import numpy as np
import pytest
from needs import imported

from refmlc.diag import RefmlcError
from refmlc.diag.errors import Internal

imported("onnx")

from onnx_nodes import model  # noqa: E402 - ONNX may be missing

import refmlc.frontends.onnx_backend as backend  # noqa: E402

SEEDS = 40_000 if os.environ.get("REFMLC_PROFILE") == "soak" else 400
PARTS = 4
MOST_BYTES = 1 << 30


def peak():
    """The most memory that the process has held, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


@pytest.mark.parametrize("part", range(PARTS))
def test_a_node_gives_a_result_or_a_finding(part) -> None:
    before, outcomes = peak(), Counter()
    for seed in range(part, SEEDS, PARTS):
        written, values = model(seed)
        try:
            with np.errstate(all="ignore"):
                backend.prepare(written, tier="interp").run(values)
            outcomes["result"] += 1
        except Internal as fault:
            pytest.fail(f"seed {seed}: {fault}")
        except RefmlcError as finding:
            outcomes[finding.diagnostic.code.id] += 1
        except Exception as broken:
            broken.add_note(f"seed {seed}: {written.graph.node[0]}")
            raise
    assert peak() - before < MOST_BYTES
    assert outcomes["result"] >= 0.2 * outcomes.total() <= outcomes.total() - outcomes["result"]
    assert {"RM111", "RM501"} <= set(outcomes)
