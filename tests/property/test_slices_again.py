"""A slice is the whole truth: evaluated again from its leaves it gives the element, for generated programs."""

import math

import numpy as np
import pytest

from refmlc.diag import RefmlcError
from refmlc.lang.ops.contract import Scalar
from refmlc.lang.ops.scalar import SCALAR_OPS
from refmlc.lang.ops.scalar.convert import converter
from refmlc.observe.why import Kind, Origin, Slice, SliceLimits, Source, Value, Write, why
from refmlc.run.memory.tensor import Tensor
from refmlc.strategies import Case, rolled
from refmlc.vm import VirtualMachine, build

WHOLE = SliceLimits(width=1 << 30)
COUNT = 12


class Again:
    """Evaluates the stores of a slice, first to last, from the arguments."""

    def __init__(self, found: Slice, arguments: dict[str, Tensor]) -> None:
        self.found = found
        self.arguments = arguments
        self.done: dict[int, Scalar | None] = {}

    def element(self) -> Scalar | None:
        for number in sorted(self.found.writes):
            self.done[number] = self.value(self.found.writes[number].value)
        return self.source(self.found.source())

    def source(self, origin: Write | Origin) -> Scalar | None:
        if isinstance(origin, Write):
            return self.done[origin.number]
        assert origin.source is Source.ARGUMENT
        name, _, indices = origin.name.partition("[")
        at = tuple(int(index) for index in indices[:-1].split(",") if index.strip(" ()"))
        value: Scalar = self.arguments[name].numpy()[at].item()
        return value

    def value(self, node: Value) -> Scalar | None:
        parts = [self.value(part) for part in node.parts]
        match node.kind:
            case Kind.LOAD:
                return self.source(self.found.source(node))
            case Kind.CHOICE:
                return parts[-1]
            case Kind.OPERATOR if node.text in ("and", "or"):
                return parts[-1]
            case Kind.OPERATOR:
                return SCALAR_OPS[node.text].value(tuple(part.dtype for part in node.parts), node.dtype)(*parts)
            case Kind.CAST:
                return converter(node.parts[0].dtype, node.dtype)(parts[0] if parts[0] is not None else 0)
            case _:
                return node.value


def alike(a: Scalar | None, b: Scalar | None) -> bool:
    if isinstance(a, float) and isinstance(b, float) and math.isnan(a):
        return math.isnan(b)
    return a == b and math.copysign(1, a or 0) == math.copysign(1, b or 0)


def sliced(case: Case) -> int:
    """Slice elements of every output of the first call; how many."""
    function = case.prim_func
    names = [function.buffer_map[var].name if var in function.buffer_map else var.name for var in function.params]
    after = case.arguments()
    try:
        VirtualMachine(build(case.module, "interp"))[case.func](*after)
    except RefmlcError:
        return 0
    before = dict(zip(names, case.arguments(), strict=True))
    held = {name: value for name, value in before.items() if isinstance(value, Tensor)}
    count = 0
    for name, result in zip(names, after, strict=True):
        if not isinstance(result, Tensor) or result.dtype.is_vector or not result.size or not result.initialised:
            continue
        for flat in {0, result.size // 2, result.size - 1}:
            at = tuple(int(index) for index in np.unravel_index(flat, result.shape))
            found = why(case.module, case.func, case.arguments(), name, at, limits=WHOLE)
            assert found.cut == ""
            wanted: Scalar = result.numpy()[at].item()
            assert alike(found.value, wanted), (name, at, found.value, wanted)
            if isinstance(found.source(), Write) or name in held:
                assert alike(Again(found, held).element(), wanted), (name, at)
                count += 1
    return count


@pytest.mark.parametrize("first", range(0, COUNT, 6))
def test_evaluated_again_a_slice_gives_the_element(first: int) -> None:
    assert sum(sliced(rolled(seed)) for seed in range(first, first + 6)) > 6


@pytest.mark.soak
def test_evaluated_again_many_slices_give_their_elements() -> None:
    assert sum(sliced(rolled(seed)) for seed in range(100, 1000)) > 1000
