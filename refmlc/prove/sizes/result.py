"""The verdict on a function for all sizes, and on each of its obligations."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cached_property

from refmlc.diag.source import Span


class SizedKind(Enum):
    """The verdict on an obligation."""

    PROVED = "proved"
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
    """The obligations of a function for all sizes up to `limit`. `reason`: why there are none."""

    func: str
    verdicts: tuple[SizedVerdict, ...]
    limit: int
    reason: str = ""
    span: Span | None = None

    @cached_property
    def kind(self) -> SizedKind:
        """Proved if every obligation is, refuted if any is, else undecided."""
        kinds = {each.verdict for each in self.verdicts}
        if SizedKind.REFUTED in kinds:
            return SizedKind.REFUTED
        return SizedKind.UNDECIDED if self.reason or SizedKind.UNDECIDED in kinds else SizedKind.PROVED
