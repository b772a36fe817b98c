"""Two forms of the C of one function compared for all arguments of given sizes, and held to the interpreter.

| verdict   | means                                                                                                |
|-----------|------------------------------------------------------------------------------------------------------|
| proved    | wherever both forms give a result themselves, it is the same expression in each element: the same bits |
| differ    | a first element is another expression                                                                |
| undecided | neither: the reason                                                                                  |

Proved is meant up to the assumption of `fingerprints`. Trusted are the generator's text, g++ and `rm_terms.hpp`. So the
outcome is held to the interpreter's exact terms, where it executes the function within `STEPS`: `held` counts the
elements that were. An operation that C checks and that fails is executed by the interpreter, in every form.
"""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np

from refmlc.lang.ir import IRModule
from refmlc.native.options import Options
from refmlc.prove.emitted.fingerprints import Fingerprints, draw
from refmlc.prove.emitted.run import UNWRITTEN, Outcome, emitted, outcome_of
from refmlc.prove.execute import OutputTensor, SymbolicCall, execute
from refmlc.prove.terms import Terms, Undecided

UNFOLDED = "an operator on numbers alone is an expression in C, and a number elsewhere"
STEPS = 200_000
SAMPLE = 64
"""Steps of the interpreter that a sample may take, and the elements of each buffer that are held to it."""


class FormKind(Enum):
    """The kind of a verdict on two forms."""

    PROVED = "proved"
    DIFFER = "differ"
    UNDECIDED = "undecided"


@dataclass(frozen=True)
class FormProof:
    """A verdict with its reason. `elements`: how many were compared; `held`: how many of them to the interpreter."""

    kind: FormKind
    reason: str = ""
    elements: int = 0
    held: int = 0


def forms_compared(
    module: IRModule, func: str, first: Options, second: Options, dims: Mapping[str, int] | None = None
) -> FormProof:
    """Whether the C of `func` in two forms computes the same expressions, for the sizes and scalars of `dims`."""
    sizes = {} if dims is None else dims
    secret = draw()
    try:
        before = outcome_of(emitted(module, func, first), func, sizes, secret)
        after = outcome_of(emitted(module, func, second), func, sizes, secret)
        return compared(before, after, lambda: held_to_interpreter(module, func, sizes, secret, after))
    except Undecided as end:
        return FormProof(FormKind.UNDECIDED, end.reason)


def compared(before: Outcome, after: Outcome, sample: Callable[[], int]) -> FormProof:
    """The verdict on two outcomes under one secret; `sample` holds the second to the interpreter."""
    elements = sum(len(cells) for cells in before.cells)
    for buffer, shape, a, b in zip(before.buffers, before.shapes, before.cells, after.cells, strict=True):
        unwritten = np.flatnonzero((a == UNWRITTEN).all(axis=1))
        if len(unwritten):
            return FormProof(FormKind.DIFFER, f"{buffer.name}{list(_index(unwritten[0], shape))} is not initialised")
        differing = np.flatnonzero((a != b).any(axis=1))
        if len(differing):
            place = list(_index(differing[0], shape))
            if before.unfolded or after.unfolded:
                return FormProof(FormKind.UNDECIDED, UNFOLDED)
            return FormProof(
                FormKind.DIFFER, f"{buffer.name}{place} differs, as {len(differing)} elements do", elements
            )
    return FormProof(FormKind.PROVED, elements=elements, held=sample())


def held_to_interpreter(
    module: IRModule, func: str, dims: Mapping[str, int], secret: Sequence[int], outcome: Outcome
) -> int:
    """How many elements of `outcome` have the fingerprint of the interpreter's exact term; 0: it takes too long.

    Fails: Undecided where one has another.
    """
    terms = Terms(laws=False)
    try:
        execution = execute(module, func, SymbolicCall(dims, steps=STEPS), terms)
    except Undecided:
        return 0
    if execution.failure is not None:
        return 0
    shapes = dict(zip(execution.names, enumerate(outcome.shapes), strict=True))
    fingerprints = Fingerprints(secret, shapes)
    count = 0
    outputs = [output for output in execution.outputs if isinstance(output, OutputTensor)]
    for output, cells in zip(outputs, outcome.cells, strict=True):
        for place in random.sample(range(len(cells)), min(SAMPLE, len(cells))):
            value = output.cells[place]
            if value is None:
                continue
            if fingerprints.of(value, output.dtype) != tuple(map(int, cells[place])):
                place_of = output.element(place)
                raise Undecided(UNFOLDED if outcome.unfolded else f"the interpreter has another term for {place_of}")
            count += 1
    return count


def _index(place: int, shape: Sequence[int]) -> tuple[int, ...]:
    return tuple(int(part) for part in np.unravel_index(place, shape))
