"""The operators of Relax, each one definition: a function in tensor expressions and a row (`definition.Operator`).

From a row follow: how the text is read, the type of a call on symbolic shapes, the TensorIR function that computes it
(`lowering`), `topi`'s functions, the table of operators. A family is a file; `OPERATORS` is their sum.
"""

from collections.abc import Mapping
from types import MappingProxyType

from refmlc.library.activation import ACTIVATION
from refmlc.library.attention import ATTENTION
from refmlc.library.attention_var_len import ATTENTION_VAR_LEN
from refmlc.library.batch_norm import BATCH_NORM
from refmlc.library.binary import BINARY
from refmlc.library.choice import CHOICE
from refmlc.library.class_suppression import CLASS_SUPPRESSION
from refmlc.library.convolution import CONVOLUTION
from refmlc.library.counting import COUNTING
from refmlc.library.creation import CREATION
from refmlc.library.definition import Operator
from refmlc.library.distributed import DISTRIBUTED
from refmlc.library.einsum import EINSUM
from refmlc.library.elementwise import ELEMENTWISE
from refmlc.library.former import FORMER
from refmlc.library.gathering import GATHERING
from refmlc.library.gradients import GRADIENTS
from refmlc.library.layout_transform import LAYOUT_TRANSFORM
from refmlc.library.linear import LINEAR
from refmlc.library.losses import LOSSES
from refmlc.library.lowering import Lowered, lowered, type_of
from refmlc.library.movement import MOVEMENT
from refmlc.library.normalization import NORMALIZATION
from refmlc.library.padding import PADDING
from refmlc.library.pooling import POOLING
from refmlc.library.reduction import REDUCTION
from refmlc.library.resizing import RESIZING
from refmlc.library.sampling import SAMPLING
from refmlc.library.scanning import SCANNING
from refmlc.library.scattering import SCATTERING
from refmlc.library.slicing import SLICING
from refmlc.library.sorting import SORTING
from refmlc.library.suppression import SUPPRESSION
from refmlc.library.vision import VISION

OPERATORS: Mapping[str, Operator] = MappingProxyType(
    {
        row.name: row
        for row in (
            *ELEMENTWISE,
            *BINARY,
            *CREATION,
            *CHOICE,
            *ACTIVATION,
            *REDUCTION,
            *NORMALIZATION,
            *LINEAR,
            *FORMER,
            *MOVEMENT,
            *LAYOUT_TRANSFORM,
            *EINSUM,
            *SCATTERING,
            *SLICING,
            *GATHERING,
            *SCANNING,
            *SORTING,
            *COUNTING,
            *CONVOLUTION,
            *POOLING,
            *PADDING,
            *BATCH_NORM,
            *ATTENTION,
            *ATTENTION_VAR_LEN,
            *LOSSES,
            *GRADIENTS,
            *RESIZING,
            *DISTRIBUTED,
            *SAMPLING,
            *VISION,
            *SUPPRESSION,
            *CLASS_SUPPRESSION,
        )
    }
)

__all__ = ["OPERATORS", "Lowered", "Operator", "lowered", "type_of"]
