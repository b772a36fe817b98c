import inspect

import pytest

from refmlc.lang.wellformed.reader_checks import read
from refmlc.observe.sanitize import kinds
from refmlc.observe.sanitize.detector import Detector, Reach
from refmlc.observe.sanitize.sanitizer import Sanitizer
from refmlc.run.interp.hooks import Hooks
from refmlc.run.interp.relay import Relay

EVENTS = sorted(
    name
    for name in vars(Hooks)
    if not name.startswith("_") and name not in ("watches", "is_quiet", "around", "around_binding")
)
PLAIN = """
from tvm.script import tirx as T


@T.prim_func
def main(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
    for i in range(4):
        B[i] = A[i]
"""


def listening(name, seen, mark):
    return type("Part", (Hooks,), {name: lambda _self, *args: seen.append((mark, args))})()


@pytest.mark.parametrize("name", EVENTS)
def test_every_event_reaches_those_that_watch_for_it_in_order(name):
    seen, words = [], tuple(object() for _ in list(inspect.signature(getattr(Hooks, name)).parameters)[1:])
    relay = Relay([listening(name, seen, "first"), Hooks(), listening(name, seen, "last")])
    assert [event for event in EVENTS if relay.watches(event)] == [name]
    getattr(relay, name)(*words)
    assert seen == [("first", words), ("last", words)]


@pytest.mark.parametrize(("name", "words"), [("around", ("scope", "stmt")), ("around_binding", ("binding",))])
def test_what_replaces_a_statement_goes_through_all(name, words):
    doubling = type("Doubling", (Hooks,), {name: lambda _self, *args: args[-1] * 2})()
    adding = type("Adding", (Hooks,), {name: lambda _self, *args: args[-1] + 1})()
    assert getattr(Relay([doubling, Hooks(), adding]), name)(*words, 5) == 11


def test_a_relay_of_nothing_watches_nothing():
    relay = Relay([Hooks()])
    assert [event for event in (*EVENTS, "around", "around_binding", "is_quiet") if relay.watches(event)] == []


@pytest.mark.parametrize(("reach", "quiet"), [(Reach.EVERYWHERE, False), (Reach.NOT_PLAIN, True)])
def test_a_detector_that_may_report_everywhere_leaves_no_call_unwatched(monkeypatch, reach, quiet):
    kind = type("Another", (Detector,), {"code": kinds.DETECTORS[0].code, "reach": reach})
    monkeypatch.setattr(kinds, "DETECTORS", (*kinds.DETECTORS, kind))
    assert Sanitizer(read(PLAIN, "case.py")).is_quiet("main", ()) is quiet


def test_a_new_detector_is_watched_everywhere():
    assert Detector.reach is Reach.EVERYWHERE
