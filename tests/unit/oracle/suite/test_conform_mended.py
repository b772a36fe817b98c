"""Cases that found faults of ours once: every way to run holds them, or says that it does not take them."""

import pytest

from refmlc.oracle.evidence import holds
from refmlc.oracle.implementations.implementation import Stop, Stopped
from refmlc.oracle.implementations.local_calls import answered
from refmlc.oracle.implementations.lookup import implementation
from refmlc.oracle.suite.suite import load_suite

IDS = (
    *("tir.view.data-with-offset", "trap.call.no-value", "reject.graph-if.any", "trap.graph-name.several-types"),
    *("op.subtract.extents-two", "op.subtract.extents-one-more", "op.subtract.extents-a-number"),
    *("reject.rm105.pinned-nn-group-norm.channel-among-axes", "tir.lanes.ramp-wraps"),
)


@pytest.fixture(scope="module")
def cases():
    return {case.id: case for case in load_suite().cases}


@pytest.mark.parametrize("way", ["interp", "interp:sanitized", "native", "numpy"])
@pytest.mark.parametrize("name", IDS)
def test_it_holds(cases, name, way):
    case = cases[name]
    asked = implementation(way)
    read = answered(lambda: case.module)
    made = read if isinstance(read, Stopped) else asked.prepare(read)
    for number in range(len(case.calls)):
        answer = made if isinstance(made, Stopped) else made.run(case.func, case.arguments(number))
        if isinstance(answer, Stopped) and not asked.promises_verdicts:
            ends = case.calls[number].assertion["kind"] != "return" and answer.why is not Stop.CRASHED
            assert answer.why is Stop.UNSUPPORTED or ends
            continue
        if isinstance(answer, Stopped) and answer.why is Stop.UNSUPPORTED and way == "native":
            continue
        assert holds(case, number, answer) == ""
