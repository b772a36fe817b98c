"""The operators of PyTorch (ATen, and what `torch.fx` calls by the same names), each written in operators of Relax.

A rule is a function of the emitter and the operator's own arguments, a few lines each; a family is a file; `RULES` is
their sum. `add.Tensor` is looked up as `aten` names it, then as `add`. In-place operators (`add_`) are the others.
"""

from collections.abc import Mapping
from types import MappingProxyType

from refmlc.frontends.aten.arithmetic import ARITHMETIC
from refmlc.frontends.aten.attention import LOOKUP
from refmlc.frontends.aten.convolution import CONVOLUTION
from refmlc.frontends.aten.creation import CREATION
from refmlc.frontends.aten.elementwise import ELEMENTWISE
from refmlc.frontends.aten.linear import LINEAR
from refmlc.frontends.aten.movement import MOVEMENT
from refmlc.frontends.aten.normalization import NORMALIZATION
from refmlc.frontends.aten.quantized import QUANTIZED
from refmlc.frontends.aten.recurrent import RECURRENT
from refmlc.frontends.aten.reduction import REDUCTION
from refmlc.frontends.aten.resampling import RESAMPLING
from refmlc.frontends.aten.sorting import SORTING
from refmlc.frontends.aten.writing import WRITING
from refmlc.frontends.rule import Rule

RULES: Mapping[str, Rule] = MappingProxyType(
    {
        **ARITHMETIC,
        **ELEMENTWISE,
        **CREATION,
        **MOVEMENT,
        **LINEAR,
        **CONVOLUTION,
        **NORMALIZATION,
        **REDUCTION,
        **LOOKUP,
        **RECURRENT,
        **RESAMPLING,
        **QUANTIZED,
        **SORTING,
        **WRITING,
    }
)


def rule_of(name: str) -> Rule | None:
    """The rule for an operator by its name: `add`, `add.Tensor`, `add_.Tensor`; `prims.iota.default`."""
    for stem in (name, name.rpartition(".")[0]):
        if stem in RULES:
            return RULES[stem]
        if stem.endswith("_") and not stem.endswith("__") and stem.rstrip("_") in RULES:
            return RULES[stem.rstrip("_")]
    return None


__all__ = ["RULES", "rule_of"]
