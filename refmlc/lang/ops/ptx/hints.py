"""Hints of PTX on ranges of memory and on tensors, which have no effect on values (PTX-021).

| words                                                          | operands                                       |
|----------------------------------------------------------------|------------------------------------------------|
| `applypriority.L2::evict_normal`                               | an address                                     |
| `applypriority.async.bulk…`, `cp.async.bulk.prefetch…`         | an address, a size                             |
| `applypriority.async.bulk.tensor.2d…`,                         | a tensor map, what takes the place of a part   |
| `cp.async.bulk.prefetch.tensor.2d…`                            | of it, coordinates, offsets of im2col          |
| `L2::cache_hint`                                               | a policy more                                  |

No operand is evaluated: an address may be of no memory.
"""

import re
from collections.abc import Sequence

MODE = r"(?P<mode>\.tile|\.tile::gather4|\.im2col|\.im2col::w|\.im2col::w::128)?"
OVERRIDE = r"(?P<address>\.override::global_address(?P<attribute>\.override::global_dim(_stride)?)?)?"
POLICY = r"(?P<policy>\.L2::cache_hint|\.L2::evict_last)?"
RANGES = {
    r"applypriority(\.global)?\.L2::evict_normal": 1,
    r"applypriority\.async\.bulk(\.global)?\.bulk_group\.L2::evict_normal": 2,
    rf"cp\.async\.bulk\.prefetch\.L2\.global{POLICY}": 2,
}
"""The hints on ranges, with the number of their operands."""
TENSORS = (
    rf"applypriority\.async\.bulk\.tensor\.(?P<dim>[1-5])d(\.global)?\.bulk_group{MODE}\.L2::evict_normal{OVERRIDE}",
    rf"cp\.async\.bulk\.prefetch\.tensor\.(?P<dim>[1-5])d\.L2\.global{MODE}{POLICY}{OVERRIDE}",
)
GATHERED = 5  # coordinates: a column and four rows


def operands_of_hint(words: Sequence[str]) -> int | None:
    """How many operands the hint of these words takes; None: they are no hint."""
    name = ".".join(words)
    for pattern, count in RANGES.items():
        match = re.fullmatch(pattern, name)
        if match is not None:
            return count + (match.groupdict().get("policy") == ".L2::cache_hint")
    match = next((found for pattern in TENSORS if (found := re.fullmatch(pattern, name)) is not None), None)
    return None if match is None else _of_tensor(match.groupdict())


def _of_tensor(parts: dict[str, str | None]) -> int | None:
    dim, mode = int(parts["dim"] or 0), parts["mode"] or ".tile"
    least = 2 if "gather4" in mode else 3 if "im2col" in mode else 1
    if dim < least or ("gather4" in mode and dim > least):
        return None
    coordinates = GATHERED if "gather4" in mode else dim
    offsets = 2 if "::w" in mode else dim - 2 if "im2col" in mode else 0
    overridden = 0 if parts["address"] is None else 1
    match parts["attribute"]:
        case None:
            pass
        case _ if mode != ".tile":
            return None
        case ".override::global_dim" if dim == 1:
            overridden += 1
        case ".override::global_dim_stride" if dim > 1:
            overridden += 2 * dim
        case _:
            return None
    return 1 + overridden + coordinates + offsets + (parts.get("policy") == ".L2::cache_hint")
