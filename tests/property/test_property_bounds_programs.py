"""Certificates of generated programs hold the interpreter's result, which is one permitted evaluation."""

from collections import Counter
from functools import cache

import numpy as np
from hypothesis import given, strategies as st

from refmlc.diag import RefmlcError
from refmlc.lang.ir import IRModule
from refmlc.observe.bounds.certify import certify
from refmlc.observe.bounds.enclosure import Enclosure
from refmlc.run.memory.tensor import Tensor
from refmlc.strategies import rolled
from refmlc.strategies.arguments import arguments

MANY = 300


def outside(seed):
    """The outputs whose reference lies outside, by name; None where the program is not certified."""
    case = rolled(seed, "")
    try:
        found = certify(IRModule({"main": case.prim_func}), "main", arguments(case.calls[0]))
    except RefmlcError as failure:
        assert failure.code.id.startswith(("RM1", "RM3", "RM4", "RM5", "RM6")), failure  # noqa: PT017 - no bug of ours
        return None
    wrong = []
    for output in found.outputs:
        values = np.ascontiguousarray(output.reference).ravel()
        for number, element in enumerate(output.elements):
            value = values[number].item()
            value = value if isinstance(value, bool | int | float) else float(value)
            if element is not None and not output.permits(number, value):
                wrong.append((output.name, number, value, element))
    return wrong


@cache
def outcomes():
    return [outside(seed) for seed in range(MANY)]


def test_references_lie_inside():
    assert [found for found in outcomes() if found] == []


def test_most_programs_are_certified():
    assert sum(found is not None for found in outcomes()) >= 0.85 * MANY


@given(st.integers(MANY, 1 << 20))
def test_references_of_more_programs_lie_inside(seed):
    assert not outside(seed)


def test_bounds_say_something():
    """A certificate that permits anything holds every reference: four in five bounds are small, edges included."""
    sizes = Counter()
    for seed in range(60):
        case = rolled(seed, "")
        try:
            found = certify(IRModule({"main": case.prim_func}), "main", arguments(case.calls[0]))
        except RefmlcError:
            continue
        for output in found.outputs:
            for element in output.elements:
                if isinstance(element, Enclosure):
                    small = element.radius <= max(abs(element.centre), 1)
                    sizes["small" if element.radius == 0 or small else "large"] += 1
    assert sizes["small"] > 4 * sizes["large"]


def test_a_certificate_does_not_change_its_arguments():
    changed, seen = [], 0
    for seed in range(20):
        case = rolled(seed, "")
        untouched, lent = arguments(case.calls[0]), arguments(case.calls[0])
        try:
            certify(IRModule({"main": case.prim_func}), "main", lent)
        except RefmlcError:
            continue
        tensors = [pair for pair in zip(untouched, lent, strict=True) if isinstance(pair[0], Tensor)]
        seen += len(tensors)
        changed += [seed for a, b in tensors if bytes(a.storage.shadow) != bytes(b.storage.shadow)]
        changed += [seed for a, b in tensors if a.initialised and a.numpy().tobytes() != b.numpy().tobytes()]
    assert changed == []
    assert seen > 20
