"""The verdict on a function for all sizes, and on each of its obligations."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cached_property

from refmlc.diag.source import Span


class SizedKind(Enum):
    """The verdict on an obligation."""

    PROVED = "proved"
    INFERRED = "proved under inferred contracts"
    REFUTED = "refuted"
    UNDECIDED = "undecided"


@dataclass(frozen=True)
class SizedVerdict:
    """An obligation with its verdict. `sizes` refute it; `code` is what the interpreter reports at these sizes."""

    kind: str
    verdict: SizedKind
    text: str
    span: Span | None
    reason: str = ""
    sizes: Mapping[str, int] | None = None
    code: str = ""


@dataclass(frozen=True)
class Definedness:
    """The obligations of a function for all sizes up to `limit`. `reason`: why there are none.

    `contracts`: the written ones that hold for every call; `inferred`: those that some obligation needs.
    """

    func: str
    verdicts: tuple[SizedVerdict, ...]
    limit: int
    reason: str = ""
    span: Span | None = None
    contracts: tuple[str, ...] = ()
    inferred: tuple[str, ...] = ()

    @cached_property
    def kind(self) -> SizedKind:
        """Proved if every obligation is, refuted if any is, else undecided; the weakest kind of proof counts."""
        kinds = {each.verdict for each in self.verdicts}
        if SizedKind.REFUTED in kinds:
            return SizedKind.REFUTED
        if self.reason or SizedKind.UNDECIDED in kinds:
            return SizedKind.UNDECIDED
        return SizedKind.INFERRED if SizedKind.INFERRED in kinds else SizedKind.PROVED
