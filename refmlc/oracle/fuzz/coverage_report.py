"""The coverage of a campaign, with what is not covered by name.

| family                  | all there are                                                                |
|-------------------------|------------------------------------------------------------------------------|
| those of `coverage`     | see there                                                                    |
| a kind of subjects      | its names: primitives, passes; covered is one that changed a program         |
| `verdicts`              | the kinds of verdicts on an implementation (`refmlc.oracle.outcome`)         |

The parts of a family that only other kinds of programs have are not covered by this campaign either, and are named.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from refmlc.oracle.fuzz.batch import REFERENCE
from refmlc.oracle.fuzz.coverage import all_parts
from refmlc.oracle.fuzz.exclusions import exclusions
from refmlc.oracle.fuzz.proofs import PATH
from refmlc.oracle.fuzz.result import Progress
from refmlc.oracle.fuzz.subjects.table import SUBJECTS
from refmlc.oracle.outcome import Kind


@dataclass(frozen=True)
class FamilyCoverage:
    """A family: what is covered, and what is not; `excluded`: what the campaign leaves out of generation."""

    covered: tuple[str, ...]
    missing: tuple[str, ...]
    excluded: tuple[str, ...]

    @property
    def count(self) -> int:
        """How many parts there are."""
        return len(self.covered) + len(self.missing) + len(self.excluded)

    def to_json(self) -> dict[str, object]:
        """The family as data."""
        return {
            "there_are": self.count,
            "covered": list(self.covered),
            "missing": list(self.missing),
            "excluded": list(self.excluded),
        }


def coverage_of(progress: Progress) -> Mapping[str, FamilyCoverage]:
    """What a campaign covered, by family."""
    every = dict(all_parts())
    every |= {kind: frozenset(SUBJECTS[kind].names) for kind in progress.settings.kinds if kind in SUBJECTS}
    covered: dict[str, set[str]] = {**progress.coverage}
    for family in covered.keys() - every.keys():
        every[family] = frozenset(covered[family])
    every["verdicts"] = frozenset(kind.value for kind in Kind)
    paths = progress.verdicts.keys() - {REFERENCE, PATH}
    covered["verdicts"] = {verdict for path in paths for verdict in progress.verdicts[path]}
    exclude = exclusions(progress.settings.exclude, progress.settings.implementations)
    return {
        family: FamilyCoverage(
            tuple(sorted(names & covered.get(family, set()))),
            tuple(sorted(names - covered.get(family, set()) - exclude)),
            tuple(sorted(names & exclude - covered.get(family, set()))),
        )
        for family, names in every.items()
    }
