"""Where boxes stand: in layers, each above those that use it; within a layer in the order that crosses few arrows.

1. A box is one layer below the lowest that it uses; one that uses nothing stands just above its first user.
2. In a few sweeps, down and up, each layer is ordered by the mean place of the neighbours.
3. Boxes of a layer stand side by side, each as near to the middle of its neighbours as the others let it.

Units: pixels.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

SWEEPS = 4
GAP, RISE, MARGIN = 24, 44, 12


@dataclass(frozen=True)
class Placed:
    """A box: its left and upper corner, its width and height."""

    x: float
    y: float
    width: float
    height: float


def layers_of(count: int, arrows: Sequence[tuple[int, int]]) -> list[int]:
    """The layer of each box. The arrows go from earlier boxes to later ones."""
    layer = [0] * count
    users = defaultdict(list)
    has_source = [False] * count
    for source, target in sorted(arrows, key=lambda number: number[1]):
        layer[target] = max(layer[target], layer[source] + 1)
        users[source].append(target)
        has_source[target] = True
    for box in range(count):
        if not has_source[box] and users[box]:
            layer[box] = min(layer[target] for target in users[box]) - 1
    least = min(layer, default=0)
    return [number - least for number in layer]


def ordered(layer: Sequence[int], arrows: Sequence[tuple[int, int]]) -> list[list[int]]:
    """The boxes of each layer in their order."""
    rows: list[list[int]] = [[] for _ in range(max(layer, default=-1) + 1)]
    for box, number in enumerate(layer):
        rows[number].append(box)
    above, below = defaultdict(list), defaultdict(list)
    for source, target in arrows:
        below[source].append(target)
        above[target].append(source)
    for sweep in range(SWEEPS):
        for row in rows if sweep % 2 == 0 else reversed(rows):
            near = above if sweep % 2 == 0 else below
            place = {box: number / len(level) for level in rows for number, box in enumerate(level)}
            row.sort(key=lambda box: _mean([place[other] for other in near[box]], place[box]))
    return rows


def _mean(numbers: Sequence[float], otherwise: float) -> float:
    return sum(numbers) / len(numbers) if numbers else otherwise


def placed(
    sizes: Sequence[tuple[float, float]], arrows: Sequence[tuple[int, int]]
) -> tuple[list[Placed], float, float]:
    """Where each box of these widths and heights stands, and the width and height of all."""
    rows = ordered(layers_of(len(sizes), arrows), arrows)
    middle: dict[int, float] = {}
    above = defaultdict(list)
    for source, target in arrows:
        above[target].append(source)
    tops: dict[int, float] = {}
    y = float(MARGIN)
    for row in rows:
        _set_row(row, sizes, middle, above)
        tops |= dict.fromkeys(row, y)
        y += max(sizes[box][1] for box in row) + RISE
    left = min((middle[box] - sizes[box][0] / 2 for box in middle), default=0.0)
    placements = [
        Placed(middle[box] - width / 2 - left + MARGIN, tops[box], width, height)
        for box, (width, height) in enumerate(sizes)
    ]
    right = max((placement.x + placement.width for placement in placements), default=0.0)
    return placements, right + MARGIN, y - RISE + MARGIN if rows else 2.0 * MARGIN


def _set_row(
    row: Sequence[int],
    sizes: Sequence[tuple[float, float]],
    middle: dict[int, float],
    above: Mapping[int, Sequence[int]],
) -> None:
    """Put the boxes of a layer in their places, from the left, then as a whole under their neighbours."""
    edge, offsets = None, []
    for box in row:
        near = [middle[neighbour] for neighbour in above[box]]
        width = sizes[box][0]
        best = _mean(near, width / 2 if edge is None else edge + GAP + width / 2)
        least = best if edge is None else edge + GAP + width / 2
        middle[box] = max(best, least)
        edge = middle[box] + width / 2
        offsets.extend([neighbour - middle[box] for neighbour in near])
    shift = _mean(offsets, 0.0)
    for box in row:
        middle[box] += shift
