"""The detectors, one row each: a new one is registered here. Its `code` is a kind that can be switched on and off.

The other codes of RM3xx belong to the interpreter (`CHECKED`): it checks them in every run, with or without detectors.
Without RM305 in `kinds` the verdict stays, without the details of `origin`; `without` switches any of them off.
"""

from collections.abc import Collection

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_USAGE, CODES, UNINITIALISED
from refmlc.observe.sanitize.aliasing import NoAlias
from refmlc.observe.sanitize.consumed import UsesAfterInplace
from refmlc.observe.sanitize.coverage import Coverage
from refmlc.observe.sanitize.detector import Detector, Reach
from refmlc.observe.sanitize.effects import HiddenEffects
from refmlc.observe.sanitize.facts import FactTable
from refmlc.observe.sanitize.lifetimes import Lifetimes
from refmlc.observe.sanitize.origin import Origin
from refmlc.observe.sanitize.outputs import Outputs
from refmlc.observe.sanitize.proxies import Proxies
from refmlc.observe.sanitize.races import Races
from refmlc.observe.sanitize.reductions import Reductions
from refmlc.observe.sanitize.regions import DeclaredRegions
from refmlc.observe.sanitize.register_fences import RegisterFences
from refmlc.observe.sanitize.spatial import SpatialAxes
from refmlc.observe.sanitize.stale import StaleStart

DETECTORS: tuple[type[Detector], ...] = (
    Origin,
    DeclaredRegions,
    SpatialAxes,
    Reductions,
    Races,
    Lifetimes,
    Proxies,
    RegisterFences,
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
DETECTED = ALL - LINTS - {UNINITIALISED.id}
"""Undefined behaviour that only a detector finds: the plain interpreter continues."""


def within(*reaches: Reach) -> frozenset[str]:
    """The kinds of the detectors with one of these reaches."""
    return frozenset(detector.code.id for detector in DETECTORS if detector.reach in reaches)


def detectors(facts: FactTable, kinds: Collection[str]) -> tuple[Detector, ...]:
    """New detectors that report `kinds`, as far as they apply. Fails: RM112 for a kind that no detector reports."""
    unknown = sorted(set(kinds) - ALL)
    if unknown:
        raise fail(BAD_USAGE, f"no detector reports {', '.join(unknown)}", None, f"the kinds: {', '.join(sorted(ALL))}")
    asked = (detector for detector in DETECTORS if detector.code.id in kinds)
    return tuple(detector(facts) for detector in asked if detector.applies(facts))
