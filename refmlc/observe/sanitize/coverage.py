"""RM325, a lint: points of a block's domain are never executed (TIR-224).

| axes                             | checked                                                                    |
|----------------------------------|----------------------------------------------------------------------------|
| reduce, in an instance that runs | always: a reduction that lacks terms                                       |
| all                              | if the block writes to a parameter: the rest keeps the values of the caller |

A block that fills memory of the function itself may leave points out: schedules compute only the elements that are
used. The check comes at the end of the scope of the block; domains that change from instance to instance are not
checked. A block without axes is not a scope: TVM puts such blocks around statements that allocate together.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod
from typing import TypeAlias, cast

from refmlc.diag import Diagnostic
from refmlc.diag.catalogue import NOT_COVERED
from refmlc.lang.ir import tir
from refmlc.lang.ir.kinds import IterKind
from refmlc.observe.sanitize.detector import Detector, Reach
from refmlc.observe.sanitize.facts import Facts, FactTable
from refmlc.run.interp.tensorir.block_sites import BlockSite, Extent
from refmlc.run.interp.tensorir.frame import Frame

Point: TypeAlias = "tuple[int, ...]"
MOST_POINTS = 1_000_000  # of a block; larger domains are not checked


@dataclass(slots=True)
class ExecutedPoints:
    """The points of a block that were executed in one scope; `domains` None: they changed, or are too many."""

    domains: tuple[Extent, ...] | None
    facts: Facts
    points: set[Point] = field(default_factory=set)


class Coverage(Detector):
    """Counts the points of the domains of blocks."""

    code = NOT_COVERED
    is_lint = True
    reach = Reach.NOT_PLAIN

    def __init__(self, facts: FactTable) -> None:
        super().__init__(facts)
        self._scopes: list[dict[BlockSite, ExecutedPoints]] = [{}]

    def place(self) -> tuple[object, ...]:
        return (list(self._scopes),)

    def go_to(self, place: tuple[object, ...]) -> None:
        self._scopes = list(cast("list[dict[BlockSite, ExecutedPoints]]", place[0]))

    def enter_function(self, name: str, args: Sequence[object]) -> None:
        del name, args
        self._scopes.append({})

    def leave_function(self, name: str, result: object) -> None:
        del name, result
        self._close()

    def enter_block(self, site: BlockSite, frame: Frame) -> None:
        domains = tuple([domain(frame) for domain in site.domains])
        executed = self._scopes[-1].get(site)
        if executed is None:
            executed = self._scopes[-1][site] = ExecutedPoints(domains, self.facts.at(frame))
        if executed.domains != domains:
            executed.domains = None
        if len(executed.points) >= MOST_POINTS:
            executed.domains = None
            executed.points.clear()
        executed.points.add(site.values(frame))
        self._scopes.append({} if site.axes else self._scopes[-1])

    def leave_block(self, site: BlockSite, frame: Frame) -> None:
        del frame
        if site.axes:
            self._close()
        else:
            self._scopes.pop()

    def _close(self) -> None:
        for site, executed in self._scopes.pop().items():
            domains = [domain for domain in executed.domains or () if domain is not None]
            if len(domains) == len(site.axes) and domains:
                self._count(site, executed, domains)

    def _count(self, site: BlockSite, executed: ExecutedPoints, domains: list[tuple[int, int]]) -> None:
        axes, points = site.node.block.iter_vars, executed.points
        reduce_axes = [number for number, axis in enumerate(axes) if axis.kind is IterKind.REDUCE]
        terms = prod(domains[number][1] for number in reduce_axes)
        spatial_points = {tuple([v for number, v in enumerate(point) if number not in reduce_axes]) for point in points}
        size = prod(extent for _, extent in domains)
        if len(points) != len(spatial_points) * terms:
            fault = f"{len(points)} of {len(spatial_points) * terms} terms of its reductions"
        elif len(points) != size and _writes_parameter(executed.facts, site.node):
            fault = f"{len(points)} of {size} points of its domain"
        else:
            return
        block = site.node.block
        message = f"block `{block.name}` executes {fault}"
        self.lint(Diagnostic(NOT_COVERED, message, block.span), site)


def _writes_parameter(facts: Facts, node: tir.SBlockRealize) -> bool:
    """True if a store in the block writes to a parameter of the function."""
    parameters = set(facts.func.buffer_map.values())
    stores = [store for buffer in parameters for store in facts.stores.get(buffer, ())]
    return any(node in facts.around[store] for store in stores)
