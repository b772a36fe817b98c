"""The operators of Relax, each one definition: a function in tensor expressions and a row (`definition.Operator`).

From a row follow: how the text is read, the type of a call on symbolic shapes, the TensorIR function that computes it
(`lowering`), `topi`'s functions, the table of operators. A family is a file; `OPERATORS` is their sum.
"""

from collections.abc import Mapping
from types import MappingProxyType

from refmlc.lang.library.activation import ACTIVATION
from refmlc.lang.library.attention import ATTENTION
from refmlc.lang.library.attention_var_len import ATTENTION_VAR_LEN
from refmlc.lang.library.batch_norm import BATCH_NORM
from refmlc.lang.library.binary import BINARY
from refmlc.lang.library.choice import CHOICE
from refmlc.lang.library.class_suppression import CLASS_SUPPRESSION
from refmlc.lang.library.convolution import CONVOLUTION
from refmlc.lang.library.counting import COUNTING
from refmlc.lang.library.creation import CREATION
from refmlc.lang.library.definition import Operator
from refmlc.lang.library.distributed import DISTRIBUTED
from refmlc.lang.library.einsum import EINSUM
from refmlc.lang.library.elementwise import ELEMENTWISE
from refmlc.lang.library.former import FORMER
from refmlc.lang.library.gathering import GATHERING
from refmlc.lang.library.gradients import GRADIENTS
from refmlc.lang.library.layout_transform import LAYOUT_TRANSFORM
from refmlc.lang.library.linear import LINEAR
from refmlc.lang.library.losses import LOSSES
from refmlc.lang.library.lowering import Lowered, lowered, type_of
from refmlc.lang.library.movement import MOVEMENT
from refmlc.lang.library.normalization import NORMALIZATION
from refmlc.lang.library.padding import PADDING
from refmlc.lang.library.pooling import POOLING
from refmlc.lang.library.reduction import REDUCTION
from refmlc.lang.library.resizing import RESIZING
from refmlc.lang.library.sampling import SAMPLING
from refmlc.lang.library.scanning import SCANNING
from refmlc.lang.library.scattering import SCATTERING
from refmlc.lang.library.slicing import SLICING
from refmlc.lang.library.sorting import SORTING
from refmlc.lang.library.suppression import SUPPRESSION
from refmlc.lang.library.vision import VISION

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
