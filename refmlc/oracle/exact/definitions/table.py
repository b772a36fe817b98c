"""All exact references by the name of the operator, and the reasons of the operators that have none."""

from collections.abc import Mapping
from types import MappingProxyType

from refmlc.oracle.exact.definitions.attention import ATTENTION
from refmlc.oracle.exact.definitions.binary import BINARY
from refmlc.oracle.exact.definitions.creation import CREATION
from refmlc.oracle.exact.definitions.definition import ExactDefinition
from refmlc.oracle.exact.definitions.elementwise import ELEMENTWISE
from refmlc.oracle.exact.definitions.images import IMAGES
from refmlc.oracle.exact.definitions.indexing import INDEXING
from refmlc.oracle.exact.definitions.linear import LINEAR
from refmlc.oracle.exact.definitions.losses import LOSSES
from refmlc.oracle.exact.definitions.movement import MOVEMENT
from refmlc.oracle.exact.definitions.normalization import NORMALIZATION
from refmlc.oracle.exact.definitions.ordering import ORDERING
from refmlc.oracle.exact.definitions.pooling import POOLING
from refmlc.oracle.exact.definitions.reduction import REDUCTION
from refmlc.oracle.exact.definitions.vision import VISION

DEFINITIONS: Mapping[str, ExactDefinition] = MappingProxyType(
    {
        row.name: row
        for row in (
            *ELEMENTWISE,
            *BINARY,
            *CREATION,
            *REDUCTION,
            *NORMALIZATION,
            *LINEAR,
            *POOLING,
            *MOVEMENT,
            *INDEXING,
            *ORDERING,
            *LOSSES,
            *ATTENTION,
            *IMAGES,
            *VISION,
        )
    }
)

OWN_ROWS = "its packed rows of -1 are TVM's own convention (MXNet's once): nobody else defines them"
WITHOUT: Mapping[str, str] = MappingProxyType(
    dict.fromkeys(("vision.get_valid_counts", "vision.non_max_suppression"), OWN_ROWS)
)
"""Operators with a meaning but without an exact reference, each with the reason."""
