"""RM320: a reduction folds a term twice, or starts again before it is complete (TIR-223).

For each value of the axes that do not reduce, the values of the reduce axes since the init form a round. In a block
with an init:

| an instance comes                            | verdict                               |
|----------------------------------------------|---------------------------------------|
| where the init runs, the round is complete   | fine: the element is computed anew    |
| where the init runs, the round is incomplete | RM320: the init drops what was folded |
| whose values are in the round already        | RM320: the term counts twice          |

Blocks without an init have no rounds: where they begin is not known (see `stale`).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod
from typing import TypeAlias, cast

from refmlc.diag import Diagnostic
from refmlc.diag.catalogue import REPEATED_TERM
from refmlc.lang.ir.kinds import IterKind
from refmlc.observe.sanitize.detector import Detector, Reach
from refmlc.observe.sanitize.executions import Executions, ScopeOfBlocks
from refmlc.observe.sanitize.facts import FactTable
from refmlc.run.interp.tensorir.block_sites import BlockSite
from refmlc.run.interp.tensorir.frame import Frame

Point: TypeAlias = "tuple[int, ...]"


@dataclass(slots=True)
class Rounds:
    """The terms folded since the init, by the values of the axes that do not reduce."""

    folded: dict[Point, set[Point]] = field(default_factory=dict)


class Reductions(Detector):
    """Counts the terms of reductions."""

    code = REPEATED_TERM
    reach = Reach.NOT_PLAIN

    def __init__(self, facts: FactTable) -> None:
        super().__init__(facts)
        self._executions: Executions[Rounds] = Executions(facts, Rounds)

    def place(self) -> tuple[object, ...]:
        """The executions that are open."""
        return (self._executions.place(),)

    def go_to(self, place: tuple[object, ...]) -> None:
        """Go on there."""
        self._executions.go_to(cast("list[ScopeOfBlocks[Rounds]]", place[0]))

    def enter_function(self, name: str, args: Sequence[object]) -> None:
        """A call is a scope of blocks."""
        del name, args
        self._executions.enter()

    def leave_function(self, name: str, result: object) -> None:
        """The scope is over."""
        del name, result
        self._executions.leave()

    def leave_block(self, site: BlockSite, frame: Frame) -> None:
        """The instance is over."""
        del site, frame
        self._executions.leave()

    def enter_block(self, site: BlockSite, frame: Frame) -> None:
        """Fails: RM320."""
        rounds = self._executions.enter_block(site, frame)
        axes = site.node.block.iter_vars
        if rounds is None or site.node.block.init is None or all(axis.kind is not IterKind.REDUCE for axis in axes):
            return
        domains = [domain(frame) for domain in site.domains]
        values = site.values(frame)
        reduced = [number for number, axis in enumerate(axes) if axis.kind is IterKind.REDUCE]
        spaces = [space for number in reduced if (space := domains[number]) is not None]
        if len(spaces) < len(reduced):
            return
        term = tuple([values[number] for number in reduced])
        point = tuple([value for number, value in enumerate(values) if number not in reduced])
        folded = rounds.folded.setdefault(point, set())
        total = prod(extent for _, extent in spaces)
        begins = term == tuple([least for least, _ in spaces])
        if not folded or (begins and len(folded) >= total):
            rounds.folded[point] = {term}
        elif begins:
            raise self._wrong(site, frame, values, f"runs its init again after {len(folded)} of {total} terms")
        elif term in folded:
            raise self._wrong(site, frame, values, f"counts a term twice, {len(folded)} of {total} are folded")
        else:
            folded.add(term)

    def _wrong(self, site: BlockSite, frame: Frame, values: Point, what: str) -> Exception:
        block = site.node.block
        where = ", ".join(f"{axis.var.name} = {value}" for axis, value in zip(block.iter_vars, values, strict=True))
        message = f"block `{block.name}` {what}"
        label = f"the instance {where}"
        return self.undefined(Diagnostic(REPEATED_TERM, message, block.span, label), site.node, frame)
