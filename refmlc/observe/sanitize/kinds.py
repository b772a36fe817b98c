"""The kinds of findings that can be switched: the code of each, and the detector that reports it.

| code  | finding                                             | ends the run |
|-------|-----------------------------------------------------|--------------|
| RM305 | uninitialised read: says where it comes from        | yes          |
| RM318 | access beyond `T.reads` and `T.writes`              | yes          |
| RM319 | instances along a spatial axis depend on each other | yes          |
| RM320 | a term is folded twice, an init runs again          | yes          |
| RM321 | race                                                | yes          |
| RM322 | arguments overlap against `noalias`                 | yes          |
| RM323 | a called function writes to an input                | yes          |
| RM324 | an output is not all written                        | lint         |
| RM325 | points of a domain are not executed                 | lint         |
| RM326 | a reduction starts from a stale value               | lint         |
| RM328 | a tensor is used after a call in place consumed it  | yes          |

The other codes of RM3xx are the interpreter's own (`CHECKED`): it checks them in every run, with or without detectors.
Leaving RM305 out of `kinds` leaves the verdict and drops what `origin` adds to it; `without` switches any of them off.
"""

from collections.abc import Collection

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_USAGE, CODES, UNINITIALISED
from refmlc.observe.sanitize.aliasing import NoAlias
from refmlc.observe.sanitize.consumed import UsesAfterInplace
from refmlc.observe.sanitize.coverage import Coverage
from refmlc.observe.sanitize.detector import Detector
from refmlc.observe.sanitize.effects import HiddenEffects
from refmlc.observe.sanitize.facts import FactTable
from refmlc.observe.sanitize.origin import Origin
from refmlc.observe.sanitize.outputs import Outputs
from refmlc.observe.sanitize.races import Races
from refmlc.observe.sanitize.reductions import Reductions
from refmlc.observe.sanitize.regions import DeclaredRegions
from refmlc.observe.sanitize.spatial import SpatialAxes
from refmlc.observe.sanitize.stale import StaleStart

DETECTORS: tuple[type[Detector], ...] = (
    Origin,
    DeclaredRegions,
    SpatialAxes,
    Reductions,
    Races,
    NoAlias,
    HiddenEffects,
    Outputs,
    Coverage,
    StaleStart,
    UsesAfterInplace,
)
ALL = frozenset(detector.code.id for detector in DETECTORS)
CHECKED = frozenset(code for code in CODES if code.startswith("RM3")) - ALL | {UNINITIALISED.id}
LINTS = frozenset(detector.code.id for detector in DETECTORS if detector.is_lint)


def detectors(facts: FactTable, kinds: Collection[str]) -> tuple[Detector, ...]:
    """The detectors that report `kinds`, new ones. Fails: RM112 for a kind that none reports."""
    unknown = sorted(set(kinds) - ALL)
    if unknown:
        raise fail(BAD_USAGE, f"no detector reports {', '.join(unknown)}", None, f"the kinds: {', '.join(sorted(ALL))}")
    return tuple(detector(facts) for detector in DETECTORS if detector.code.id in kinds)
