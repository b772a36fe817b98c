"""How a campaign moves away from the causes that it meets, and to what did not occur: epoch by epoch.

A cause that is met again in every minute crowds out the others. It becomes an exclusion where the generator can express
one (`exclusions`), and is not shrunk again in any case.

| a cause                                     | is excluded after            | by                                      |
|---------------------------------------------|------------------------------|-----------------------------------------|
| of a known row, or of the ledger            | one program                  | the name below                          |
| new                                         | `MET` programs               | the name below                          |
| … of a subject: the last of its steps       |                              | the name of that step, where it has one |
| … of a program                              | … and enough to be no chance | the rarest name that all programs share |

A name is no chance if, drawn at random, all those programs would have it in one campaign of a thousand; a name that
more than a quarter of all programs have excludes too much. A name whose cause is met again in spite of it was the wrong
one: it is taken back, and the cause has no name.

What did not occur in the batches whose coverage is counted is preferred: some programs are the first of a few draws
that have such an operator, dtype or kind of node (`batch.drawn`), and one batch in `SEEK` draws traces of those steps
of a subject that never changed a program.

Decision: a batch stays a pure function. What a batch of epoch e leaves out and prefers follows from the results of all
batches up to epoch e - 2, whatever machine they ran on and in whatever order they ended; a batch is not begun before
these are there. The lag of an epoch keeps the workers busy meanwhile. Each epoch has a line of the journal. So a
campaign that is resumed, or repeated with the same settings and the same causes of the ledger (a line of its journal),
has the same findings. The batches whose number `LOOK_BACK` divides are drawn without these exclusions: another cause
may hide behind a name.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache

from refmlc.diag import RefmlcError
from refmlc.lang.script import read
from refmlc.oracle.fuzz.batch import drawn
from refmlc.oracle.fuzz.coverage import all_parts
from refmlc.oracle.fuzz.exclusions import PREFERRED, names_in
from refmlc.oracle.fuzz.result import BatchResult, FindingRecord, cause_of, known_row_of
from refmlc.oracle.fuzz.settings import CampaignSettings
from refmlc.oracle.fuzz.subjects.table import SUBJECTS

EPOCH = 4  # batches
LAG = 2  # epochs
MET = 3  # programs
LOOK_BACK = 64
SEEK, SOUGHT = 8, 3  # the batches whose number is 3 modulo 8
SAMPLE = 160  # programs that show how often a name occurs
CHANCE = 1e-3
COMMON = 0.25  # of the programs: what more of them have is no exclusion, it would leave too little


@dataclass
class MetCause:
    """A cause, as far as it was met. `witnesses` are the programs that `shared` names occur in; `name` excludes it."""

    programs: int = 0
    witnesses: int = 0
    shared: frozenset[str] | None = None
    name: str = ""
    unnamed: bool = False

    def meets(self, finding: FindingRecord, names: frozenset[str]) -> None:
        self.programs += finding.count
        self.witnesses += 1
        self.shared = names if self.shared is None else self.shared & names


@dataclass
class Avoidance:
    """The exclusions of a campaign, epoch by epoch. `ledger`: the causes that it began with."""

    settings: CampaignSettings
    ledger: Mapping[str, str]
    decided: dict[int, tuple[str, ...]] = field(default_factory=dict)
    preferred: dict[int, tuple[str, ...]] = field(default_factory=dict)
    causes: dict[str, MetCause] = field(default_factory=dict)
    covered: dict[str, set[str]] = field(default_factory=dict)
    _results: dict[int, dict[int, BatchResult]] = field(default_factory=dict)
    _folded: int = 0

    def epoch_of(self, batch: int) -> int:
        return batch // self.settings.epoch

    def exclusions(self, batch: int) -> tuple[str, ...] | None:
        """What batch number `batch` is drawn without, besides the settings'; None: it is not decided yet."""
        epoch = self.epoch_of(batch)
        grown = () if epoch < LAG else self.decided.get(epoch)
        return () if grown is not None and batch % LOOK_BACK == 0 else grown

    def data_of(self, batch: int) -> dict[str, object] | None:
        """The settings of batch number `batch` as data; None: they are not decided yet."""
        exclude = self.exclusions(batch)
        if exclude is None:
            return None
        prefer = self.preferred.get(self.epoch_of(batch), ())
        names = {*prefer}
        changed = [
            name
            for kind in self.settings.kinds
            if kind in SUBJECTS and batch % SEEK == SOUGHT and not names.isdisjoint(SUBJECTS[kind].names)
            for name in sorted(set(SUBJECTS[kind].names) - names)
        ]
        return {**without(self.settings, (*exclude, *changed)), "prefer": list(prefer)}

    def add(self, result: BatchResult) -> list[int]:
        """Take a result; the epochs whose exclusions follow from it."""
        epoch = self.epoch_of(result.batch)
        self._results.setdefault(epoch, {})[result.batch] = result
        new = []
        while len(self._results.get(self._folded, ())) == self.settings.epoch:
            batches = self._results.pop(self._folded)
            self._fold(batches)
            new.append(self._folded + LAG)
            self.decided.setdefault(new[-1], tuple(sorted({met.name for met in self.causes.values()} - {""})))
            self.preferred.setdefault(new[-1], self._missing())
            self._folded += 1
        return new

    def _missing(self) -> tuple[str, ...]:
        """What did not occur yet, of what programs may be drawn for; nothing before a batch was counted."""
        every = {family: all_parts()[family] for family in PREFERRED}
        every |= {kind: frozenset(SUBJECTS[kind].names) for kind in self.settings.kinds if kind in SUBJECTS}
        missing = (names - self.covered[family] for family, names in every.items() if family in self.covered)
        return tuple(sorted(frozenset[str]().union(*missing) - {*self.settings.exclude}))

    def _fold(self, batches: Mapping[int, BatchResult]) -> None:
        """Count an epoch, in the order of its batches; name the causes that are due."""
        for batch, result in sorted(batches.items()):
            in_force = self.exclusions(batch) or ()
            for family, names in result.coverage.items():
                self.covered.setdefault(family, set()).update(names)
            for finding in result.findings:
                met = self.causes.setdefault(cause_of(finding.signature), MetCause())
                met.meets(finding, _names_of(finding))
                if met.name in in_force:  # it was drawn without that, and is met all the same
                    met.name, met.unnamed = "", True
        for cause, met in sorted(self.causes.items()):
            if not met.name and not met.unnamed:
                met.name = self._name_for(cause, met, batches)

    def _name_for(self, cause: str, met: MetCause, batches: Mapping[int, BatchResult]) -> str:
        findings = [
            each for result in batches.values() for each in result.findings if cause_of(each.signature) == cause
        ]
        if not findings or met.shared is None:
            return ""
        finding = findings[0]
        is_met_before = cause in self.ledger or known_row_of(finding) != ""
        if met.programs < (1 if is_met_before else MET):
            return ""
        if finding.kind in SUBJECTS:
            return next(iter(met.shared), "") if len(met.shared) == 1 else ""
        often = frequencies(self.settings, finding.kind)
        rare = sorted((often.get(name, 1 / SAMPLE), name) for name in met.shared)
        return next((name for part, name in rare if part <= COMMON and part**met.witnesses <= CHANCE), "")


def _names_of(finding: FindingRecord) -> frozenset[str]:
    """The names that may exclude a finding: the last step of a subject's trace, else what its program has."""
    subject = SUBJECTS.get(finding.kind)
    if subject is not None:
        match finding.case:
            case {"steps": [*_, str(step)]} if step.partition("(")[0] in subject.names:
                return frozenset((step.partition("(")[0],))
        return frozenset()
    try:
        return names_in(read(str(finding.case.get("text", "")), "the program"))
    except RefmlcError:
        return frozenset()


@cache
def frequencies(settings: CampaignSettings, kind: str) -> Mapping[str, float]:
    """The part of a campaign's programs of this kind that have a name, by a sample of them."""
    numbers = _first_numbers(settings, kind)
    counts: dict[str, int] = {}
    for number in numbers:
        for name in names_in(drawn(settings, number)[1].module):
            counts[name] = counts.get(name, 0) + 1
    return {name: count / SAMPLE for name, count in counts.items()}


def _first_numbers(settings: CampaignSettings, kind: str) -> Iterator[int]:
    place = settings.kinds.index(kind)
    yield from range(place, place + SAMPLE * len(settings.kinds), len(settings.kinds))


def without(settings: CampaignSettings, names: Iterable[str]) -> dict[str, object]:
    """The settings as data, with these exclusions too."""
    data = settings.to_json()
    return {**data, "exclude": [*settings.exclude, *(name for name in names if name not in settings.exclude)]}
