"""How large a constant or a result may be that a number in a model asks for: models are hostile."""

from collections.abc import Sequence
from math import prod

from refmlc.diag import fail
from refmlc.diag.catalogue import UNSUPPORTED_OP

MOST_ELEMENTS = 1 << 22
"""The most elements of a table of places or of weights that an import writes."""


MOST_PLACES = 1 << 48
"""The greatest product of extents above 0: NumPy has no array of more, with elements or without."""


def check_extents(op: str, sizes: Sequence[object]) -> None:
    """Fails: RM501 where a result has extents that no array can have, even if it has no elements."""
    if prod(size for size in sizes if isinstance(size, int) and size > 0) > MOST_PLACES:
        raise fail(UNSUPPORTED_OP, f"`{op}` to extents of {list(sizes)[:8]} is not supported")


def check_size(op: str, *extents: int) -> None:
    """Fails: RM501 where a table of these extents has more elements than `MOST_ELEMENTS`."""
    if prod(extents) > MOST_ELEMENTS:
        raise fail(UNSUPPORTED_OP, f"`{op}` needs a table of {list(extents)} elements: {MOST_ELEMENTS} are supported")
