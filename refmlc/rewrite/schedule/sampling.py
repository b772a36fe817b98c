"""Steps that draw a number or a place: `sample_…`. They change nothing; the trace has what was drawn (`decision`).

| step                      | draws                                                                                  |
|---------------------------|----------------------------------------------------------------------------------------|
| `sample_perfect_tile`     | n factors whose product is the extent, the last one at most `max_innermost_factor`     |
| `sample_partitioned_tile` | the same, the factors from `partition_pos` on having a product that is a multiple of   |
|                           | `innerpart_factor`                                                                     |
| `sample_categorical`      | one of the candidates, each as likely as its probability says                          |
| `sample_compute_location` | a loop that the block may be moved into, or that it stays, or is inlined               |

With `decision` that is taken and nothing is drawn. Decision: a `decision` that is none of the possible ones is refused
(RM112); TVM changes it until it fits.
"""

from collections.abc import Callable, Sequence
from itertools import count
from math import prod

from refmlc.diag import RefmlcError, fail
from refmlc.diag.catalogue import BAD_USAGE
from refmlc.diag.entry import entry_points
from refmlc.lang.dtypes import INT32
from refmlc.lang.ir import tir
from refmlc.rewrite.schedule.at import compute_at, reverse_compute_at
from refmlc.rewrite.schedule.draws import loops as loops_of
from refmlc.rewrite.schedule.handles import INLINED, STAYS, BlockRV, ExprRV, LoopRV
from refmlc.rewrite.schedule.inline import compute_inline
from refmlc.rewrite.schedule.places import get_loop
from refmlc.rewrite.schedule.session import Session
from refmlc.rewrite.schedule.trace import DECISION, Step

SEEDS = 1 << 31


def primes(number: int) -> list[int]:
    """The prime factors, each as often as it divides."""
    result: list[int] = []
    for candidate in count(2):
        if candidate * candidate > number:
            return [*result, number] if number > 1 else result
        while number % candidate == 0:
            result.append(candidate)
            number //= candidate
    return result


def divisors(number: int) -> list[int]:
    """What divides a number."""
    result = {1}
    for prime in primes(number):
        result |= {prime * divisor for divisor in result}
    return sorted(result)


@entry_points
class SamplingSteps(Session):
    """The methods that draw."""

    def seed(self, seed: int) -> None:
        """Draw from a seed from now on; -1: from none."""
        self._random.seed(None if seed == -1 else seed)

    def fork_seed(self) -> int:
        """A seed for another schedule."""
        return self._random.randrange(1, SEEDS)

    def sample_perfect_tile(
        self, loop: LoopRV, n: int, max_innermost_factor: int = 16, decision: Sequence[int] | None = None
    ) -> list[ExprRV]:
        """Draw n factors of the extent of a loop. Fails: RM112."""
        extent = self._extent(loop, n)
        if max_innermost_factor != -1 and max_innermost_factor < 1:
            raise fail(BAD_USAGE, f"max_innermost_factor is positive or -1, not {max_innermost_factor}")
        factors = self._tile(extent, n, max_innermost_factor) if decision is None else list(decision)
        _check_tile(factors, extent, n)
        if max_innermost_factor != -1 and factors[-1] > max_innermost_factor:
            raise fail(BAD_USAGE, f"the decision {factors} has a last factor over {max_innermost_factor}")
        options = {"n": n, "max_innermost_factor": max_innermost_factor, DECISION: factors}
        return self._drawn("sample_perfect_tile", (loop,), options, factors)

    def sample_partitioned_tile(
        self,
        loop: LoopRV,
        n: int,
        partition_pos: int = 0,
        innerpart_factor: int = 1,
        decision: Sequence[int] | None = None,
    ) -> list[ExprRV]:
        """Draw n factors of the extent, those from `partition_pos` on a multiple of a number. Fails: RM112."""
        extent = self._extent(loop, n)
        if not 0 <= partition_pos < n or innerpart_factor < 1 or extent % innerpart_factor:
            message = f"no {n} factors of {extent} have a multiple of {innerpart_factor} from {partition_pos} on"
            raise fail(BAD_USAGE, message)
        factors = list(decision or ())
        if decision is None:
            inner = innerpart_factor * self._random.choice(divisors(extent // innerpart_factor))
            if partition_pos == 0:
                inner = extent
            outer = self._spread(extent // inner, partition_pos) if partition_pos else []
            factors = [*outer, *self._spread(inner, n - partition_pos)]
        _check_tile(factors, extent, n)
        if prod(factors[partition_pos:]) % innerpart_factor:
            raise fail(
                BAD_USAGE, f"the decision {factors} has no multiple of {innerpart_factor} from {partition_pos} on"
            )
        options = {"n": n, "partition_pos": partition_pos, "innerpart_factor": innerpart_factor, DECISION: factors}
        return self._drawn("sample_partitioned_tile", (loop,), options, factors)

    def sample_categorical(
        self, candidates: Sequence[int], probs: Sequence[float], decision: int | None = None
    ) -> ExprRV:
        """Draw one of the candidates; `decision` is its place among them. Fails: RM112."""
        if not candidates or len(candidates) != len(probs) or min(probs) < 0 or not sum(probs):
            raise fail(BAD_USAGE, "each candidate has a probability, and they are not all 0")
        at = self._random.choices(range(len(candidates)), probs)[0] if decision is None else decision
        if not 0 <= at < len(candidates):
            raise fail(BAD_USAGE, f"there is no candidate {at} of {len(candidates)}")
        options = {"candidates": list(candidates), "probs": list(probs), DECISION: at}
        return self._drawn("sample_categorical", (), options, [candidates[at]])[0]

    def sample_compute_location(self, block: BlockRV | str, decision: int | None = None) -> LoopRV:
        """Draw a loop that the block may be moved into, by its place in the text (-1: it stays, -2: inlined).

        `compute_at` and `reverse_compute_at` do what was drawn. Fails: RM112.
        """
        target = self._block_handle(block)
        func = self._function(target.func)
        loops = loops_of(func)
        possible = [STAYS]
        if _legal(lambda: compute_inline(func, target.name)):
            possible.append(INLINED)
        possible += [at for at, loop in enumerate(loops) if _movable_into(func, target.name, loop.loop_var)]
        at = self._random.choice(possible) if decision is None else decision
        if at not in possible:
            raise fail(BAD_USAGE, f"`{target.name}` may not be computed at the decision {at}")
        if at < 0:
            handle = LoopRV(tir.Var("inlined" if at == INLINED else "root", INT32), target.func, self._label("l"), at)
        else:
            handle = self._loop(target.func, loops[at].loop_var)
        self.trace.steps.append(Step("sample_compute_location", (target,), {DECISION: at}, (handle,)))
        return handle

    def _extent(self, loop: LoopRV, n: int) -> int:
        extent = get_loop(self._function(loop.func), loop.var).extent
        if n < 1 or not isinstance(extent, tir.IntImm) or extent.value < 1:
            raise fail(BAD_USAGE, f"`{loop.var.name}` has no constant extent to be the product of {n} factors")
        return extent.value

    def _tile(self, extent: int, n: int, most: int) -> list[int]:
        if n == 1:
            return [extent]
        last = self._random.choice([divisor for divisor in divisors(extent) if most == -1 or divisor <= most])
        return [*self._spread(extent // last, n - 1), last]

    def _spread(self, extent: int, n: int) -> list[int]:
        """Factors whose product is the extent: each of its primes goes to one of them."""
        factors = [1] * n
        for prime in primes(extent):
            factors[self._random.randrange(n)] *= prime
        return factors

    def _drawn(
        self, name: str, args: tuple[object, ...], options: dict[str, object], values: Sequence[int]
    ) -> list[ExprRV]:
        handles = [ExprRV(value, self._label("v")) for value in values]
        self.trace.steps.append(Step(name, args, options, tuple(handles)))
        return handles


def _check_tile(factors: Sequence[int], extent: int, n: int) -> None:
    if len(factors) != n or any(factor < 1 for factor in factors) or prod(factors) != extent:
        raise fail(BAD_USAGE, f"the decision {list(factors)} is not {n} factors of {extent}")


def _movable_into(func: tir.PrimFunc, block: str, loop: tir.Var) -> bool:
    return _legal(lambda: compute_at(func, block, loop)) or _legal(lambda: reverse_compute_at(func, block, loop))


def _legal(step: Callable[[], object]) -> bool:
    try:
        step()
    except RefmlcError:
        return False
    return True
