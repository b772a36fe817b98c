"""Operators on values at the edges of their dtypes: the interpreter and the C tier, on inputs that follow from a seed.

| inputs   | elements                                                                                        |
|----------|-------------------------------------------------------------------------------------------------|
| `plain`  | small numbers, indices of the axis                                                              |
| `edges`  | half of them NaN, infinities, -0, the ends of the range; of indices some outside                |
| a letter | small numbers, the extent of that letter being 0                                                |
"""

from collections import Counter
from dataclasses import dataclass, field

import ml_dtypes
import numpy as np
from operator_calls import EXTENTS, Param, Row
from operator_runs import FLOATS, accepted, extents, together
from tier_outcomes import STEPS, normal_codes, verdict_of
from tier_runs import InC

from refmlc.diag import RefmlcError
from refmlc.lang.ir import IRModule
from refmlc.native.compile import build
from refmlc.native.emit import emit_module
from refmlc.native.options import Grade, Options
from refmlc.native.tier.compiled_module import CompiledModule, Translation
from refmlc.native.tier.native_tier import NativeTier
from refmlc.rewrite.transform import legalize_ops
from refmlc.run.interp.machine import Machine
from refmlc.run.memory.budget import Budget
from refmlc.run.memory.tensor import Tensor


def kind(dtype: str) -> np.dtype:
    """NumPy's dtype of that name."""
    return np.dtype(getattr(ml_dtypes, dtype, dtype))


def edges(dtype: str) -> np.ndarray:
    """The ends of a dtype's range, and what is special in it."""
    if dtype == "bool":
        return np.array([False, True])
    if dtype in FLOATS:
        info = ml_dtypes.finfo(kind(dtype))
        ends = [info.max, -info.max, info.tiny, info.smallest_subnormal, info.eps]
        special = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1, -1, 0.5, 2.5], "float64").astype(kind(dtype))
        return np.concatenate([special, np.array(ends, kind(dtype))])
    info = np.iinfo(dtype)
    return np.array([info.min, info.max, info.max - 1, 0, 1, info.bits - 1, info.bits], dtype)


def elements(
    chance: np.random.Generator, param: Param, dtype: str, sizes: dict[str, int], *, edged: bool
) -> np.ndarray:
    """An argument. `edged`: with edge values."""
    shape, own = extents(param, sizes), kind(param.dtype or dtype)
    name = param.dtype or dtype
    if param.values:
        return np.array(param.values, "float64").astype(own).reshape(shape)
    if param.bound:
        limit = max(sizes.get(param.bound) or int(EXTENTS.get(param.bound, 0) or param.bound), 1)
        found = chance.integers(0, limit, shape)
        outside = chance.random(shape) < (0.1 if edged else 0)
        return np.where(outside, chance.choice([-1, limit, -limit - 1, 2**31 - 1], shape), found).astype(own)
    if name == "bool":
        return chance.random(shape) < 0.5
    if name in FLOATS:
        found = chance.uniform(-2, 2, shape).astype(own)
    else:
        found = chance.integers(0 if name.startswith("u") else -4, 5, shape).astype(own)
    return (
        np.where(chance.random(shape) < 0.5, chance.choice(edges(name), shape), found).astype(own) if edged else found
    )


@dataclass(frozen=True)
class Call:
    """A row with a dtype, on one sort of inputs."""

    row: Row
    dtype: str
    inputs: str

    @property
    def sizes(self) -> dict[str, int]:
        """The extents of the letters."""
        return {**EXTENTS, self.inputs: 0} if self.inputs in EXTENTS else EXTENTS

    @property
    def possible(self) -> bool:
        """Whether the operator takes that: in other cases both tiers are given the same refusal, before they begin."""
        if self.inputs in EXTENTS and self.inputs not in self.row.letters:
            return False
        return accepted(self.row, self.dtype, self.sizes)

    def arguments(self, seed: int) -> list[np.ndarray]:
        """The inputs."""
        chance = np.random.default_rng([seed, *self.row.call.encode()])
        edged = self.inputs == "edges"
        return [elements(chance, one, self.dtype, self.sizes, edged=edged) for one in self.row.params]


@dataclass
class Both:
    """Calls in both tiers, compiled once."""

    calls: list[Call]
    counts: Counter = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.module = legalize_ops(together([(one.row, one.dtype, one.sizes) for one in self.calls]))
        source = emit_module(self.module, Options(Grade.GUARDED))
        library = build(source.text, Options().isa, cache=None, tiny=True) if source.units else None
        self.compiled = CompiledModule(Translation(source.text, source.units, source.declined), library)

    def outcomes(self, place: int, inputs: list[np.ndarray]) -> tuple[object, object]:
        """What call number `place` comes to in the interpreter, and in C."""
        budget = Budget(STEPS)
        tier = NativeTier(self.module, self.compiled, budget)
        found = outcome(self.module, place, inputs), outcome(self.module, place, inputs, budget, InC(tier))
        self.counts.update(native=tier.counts.native, declined=tier.counts.declined, stopped=tier.counts.stopped)
        return found


def outcome(module: IRModule, place: int, inputs: list[np.ndarray], budget=None, substitutes=None) -> object:
    """The tensors that a call gives, by their bits, NaN being one class; or its verdict."""
    machine = Machine(module, budget=budget or Budget(STEPS), output=str, substitutes=substitutes)
    try:
        return bits(machine.call(f"f{place}", [Tensor.from_numpy(one.copy()) for one in inputs]))
    except RefmlcError as failure:
        return verdict_of(failure.diagnostic)


def bits(value: object) -> object:
    """A value such that equal ones are equal bits."""
    if isinstance(value, tuple):
        return tuple(bits(one) for one in value)
    assert isinstance(value, Tensor)
    return str(value.dtype), value.shape, normal_codes(np.ascontiguousarray(value.array).reshape(-1)).tobytes()


@dataclass(frozen=True)
class Found:
    """What came of one call: `code` of its verdict, and both outcomes where they differ."""

    call: Call
    code: str
    told: str = ""


def found(calls: list[Call], seed: int) -> tuple[list[Found], Counter]:
    """What came of each, and how many functions were executed in C, or not."""
    both = Both(calls)
    results = []
    for place, call in enumerate(calls):
        right, given = both.outcomes(place, call.arguments(seed))
        code = str(right[0]) if str(right[0]).startswith("RM") else ""
        results.append(Found(call, code, "" if right == given else f"{right} {given}"))
    return results, both.counts
