"""RM320: a reduction folds a term twice, or starts again before it is complete (TIR-223).

For each value of the axes that do not reduce, the values of the reduce axes since the init form a round. In a block
with an init:

| an instance                                 | verdict                              |
|---------------------------------------------|--------------------------------------|
| that runs the init, the round is complete   | fine: the element is computed anew   |
| that runs the init, the round is incomplete | RM320: the init drops folded terms   |
| whose values are already in the round       | RM320: the term counts twice         |

Blocks without an init have no rounds, as the beginning of a round is unknown (see `stale`).
"""

from math import prod
from typing import TypeAlias

from refmlc.diag import Diagnostic
from refmlc.diag.catalogue import REPEATED_TERM
from refmlc.lang.ir.kinds import IterKind
from refmlc.observe.sanitize.detector import Reach
from refmlc.observe.sanitize.executions import ExecutionDetector
from refmlc.observe.sanitize.facts import FactTable
from refmlc.run.interp.tensorir.block_sites import BlockSite
from refmlc.run.interp.tensorir.frame import Frame

Point: TypeAlias = "tuple[int, ...]"


Rounds: TypeAlias = "dict[Point, set[Point]]"
"""The terms folded since the init, by the values of the axes that do not reduce."""


class Reductions(ExecutionDetector[Rounds]):
    """Counts the terms of reductions."""

    code = REPEATED_TERM
    reach = Reach.NOT_PLAIN

    def __init__(self, facts: FactTable) -> None:
        super().__init__(facts, dict)

    def enter_block(self, site: BlockSite, frame: Frame) -> None:
        rounds = self.enter_execution(site, frame)
        axes = site.node.block.iter_vars
        if rounds is None or site.node.block.init is None or all(axis.kind is not IterKind.REDUCE for axis in axes):
            return
        domains = [domain(frame) for domain in site.domains]
        values = site.values(frame)
        reduce_axes = [number for number, axis in enumerate(axes) if axis.kind is IterKind.REDUCE]
        spaces = [space for number in reduce_axes if (space := domains[number]) is not None]
        if len(spaces) < len(reduce_axes):
            return
        term = tuple([values[number] for number in reduce_axes])
        point = tuple([value for number, value in enumerate(values) if number not in reduce_axes])
        terms = rounds.setdefault(point, set())
        total = prod(extent for _, extent in spaces)
        begins = term == tuple([low for low, _ in spaces])
        if not terms or (begins and len(terms) >= total):
            rounds[point] = {term}
        elif begins:
            raise self._wrong(site, frame, values, f"runs its init again after {len(terms)} of {total} terms")
        elif term in terms:
            raise self._wrong(site, frame, values, f"counts a term twice, {len(terms)} of {total} are folded")
        else:
            terms.add(term)

    def _wrong(self, site: BlockSite, frame: Frame, values: Point, fault: str) -> Exception:
        block = site.node.block
        instance = ", ".join(f"{axis.var.name} = {value}" for axis, value in zip(block.iter_vars, values, strict=True))
        message = f"block `{block.name}` {fault}"
        label = f"the instance {instance}"
        return self.undefined(Diagnostic(REPEATED_TERM, message, block.span, label), site.node, frame)
