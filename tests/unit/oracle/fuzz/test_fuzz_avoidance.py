"""A campaign moves away from the causes that it meets, and comes to the same findings however it is run."""

import json
from collections import Counter
from dataclasses import replace

import pytest

from refmlc.lang.script import read, show
from refmlc.oracle.fuzz.avoidance import LAG, MET, Avoidance, frequencies, without
from refmlc.oracle.fuzz.batch import GUIDED, LOOKS, drawn, generated
from refmlc.oracle.fuzz.campaign import Campaign
from refmlc.oracle.fuzz.coverage import all_parts
from refmlc.oracle.fuzz.exclusions import has_any, names_in
from refmlc.oracle.fuzz.result import BatchResult, FindingRecord
from refmlc.oracle.fuzz.settings import CampaignSettings, RunOptions
from refmlc.oracle.fuzz.store import JOURNAL, open_store, progress_in
from refmlc.oracle.fuzz.subjects.primitives.staged import PRIMITIVES

EPOCH = 2
TEXT = """
@T.prim_func
def main(A: T.Buffer((4,), "float32")):
    for i in range(4):
        A[i] = T.{operator}(A[i])
"""


def met(number, name, *, count=1, step="", operator="", message="it is wrong"):
    kind = "primitives" if step else "functions"
    case = {"steps": ["annotate('B')", f"{step}('B')"]} if step else {"text": TEXT.format(operator=operator)}
    return FindingRecord(name, "RM705", "x", "wrong", message, number, number, kind, case, count)


def avoidance(ledger=()):
    return Avoidance(CampaignSettings(epoch=EPOCH), dict(ledger))


def add(subject, *batches, first=0):
    """Add the batches with these findings, from number `first` on."""
    for number, findings in enumerate(batches, first):
        subject.add(BatchResult(number, 8, findings=tuple(findings)))


def after(subject):
    """What is excluded in the last epoch that is decided."""
    return subject.decided[max(subject.decided)]


def test_a_new_cause_is_excluded_once_it_was_met_often_enough():
    subject = avoidance()
    add(subject, [met(1, "a", step="split", count=MET - 1)], [])
    assert after(subject) == ()
    add(subject, [met(20, "a", step="split")], [], first=2)
    assert after(subject) == ("split",)


@pytest.mark.parametrize(
    ("ledger", "message"),
    [((("a", "earlier"),), "it is wrong"), ((), "as the known row reindex-guarded")],
)
def test_a_cause_on_record_is_excluded_at_once(ledger, message):
    subject = avoidance(ledger)
    add(subject, [met(1, "a-1", step="split", message=message)], [])
    assert after(subject) == ("split",)


def test_exclusions_hold_an_epoch_later_and_are_not_known_before():
    subject = avoidance((("a", "earlier"),))
    assert [subject.exclusions(batch) for batch in range(2 * EPOCH)] == [(), (), (), ()]
    assert subject.exclusions(LAG * EPOCH) is None
    subject.add(BatchResult(1, 8))
    assert subject.exclusions(LAG * EPOCH) is None  # batch 0 is not there yet
    subject.add(BatchResult(0, 8, findings=(met(1, "a", step="split"),)))
    assert subject.exclusions(LAG * EPOCH) == subject.exclusions(LAG * EPOCH + 1) == ("split",)


def test_some_batches_look_back():
    subject = avoidance((("a", "earlier"),))
    add(subject, [met(1, "a", step="split")], *[[] for _ in range(65)])
    assert subject.exclusions(64) == ()
    assert subject.exclusions(65) == ("split",)


def test_a_step_that_nothing_leaves_out_is_no_name():
    subject = avoidance((("a", "earlier"),))
    add(subject, [met(1, "a", step="an unknown step")], [])
    assert after(subject) == ()


def test_the_rarest_shared_operator_is_the_name_once_it_is_no_chance():
    subject = avoidance()
    add(subject, [met(1, "a", operator="tan")], [met(9, "a", operator="tan")], [met(17, "a", operator="tan")], [])
    assert frequencies(subject.settings, "functions").get("tan", 0) < 0.1
    assert after(subject) == ("tan",)
    other = avoidance()
    add(other, [met(1, "a", operator="tan")], [met(9, "a", operator="erf")], [met(17, "a", operator="tan")], [])
    assert after(other) == ()  # what they share has every other program too


def test_a_name_whose_cause_is_met_in_spite_of_it_is_taken_back_for_good():
    subject = avoidance()
    add(subject, [met(1, "a", operator="tan", count=MET)], [met(9, "a", operator="tan")], [], [])
    assert after(subject) == ("tan",)
    add(subject, [met(33, "a", operator="erf")], [], first=4)
    assert subject.exclusions(6) == ("tan",)  # epoch 3 was decided by epoch 1
    assert after(subject) == ()
    add(subject, *[[met(at, "a", operator="erf", count=9)] for at in range(50, 60)], first=6)
    assert after(subject) == ()


def test_what_did_not_occur_is_preferred_once_a_batch_was_counted():
    subject = Avoidance(CampaignSettings(epoch=EPOCH, kinds=("functions", "primitives")), {})
    add(subject, [], [])
    assert subject.preferred[LAG] == ()
    every = all_parts()
    for number, coverage in enumerate([{"operators": ("exp",), "dtypes": ()}, {"primitives": ("split", "fuse")}], 2):
        subject.add(BatchResult(number, 8, coverage=coverage))
    preferred = {*subject.preferred[LAG + 1]}
    assert preferred == every["operators"] - {"exp"} | every["dtypes"] | {*PRIMITIVES} - {"split", "fuse"}
    add(subject, [], [], first=4)
    assert [set(subject.data_of(batch)["prefer"]) == preferred for batch in (3, 5, 6, 7)] == [False, False, True, True]


def test_one_batch_of_several_seeks_the_steps_that_changed_nothing():
    subject = Avoidance(CampaignSettings(epoch=EPOCH, kinds=("primitives",)), {})
    for number in range(12):
        subject.add(BatchResult(number, 8, coverage={"primitives": ("split", "fuse")}))
    assert [subject.data_of(batch)["exclude"] for batch in (3, 10, 11, 12)] == [[], [], ["fuse", "split"], []]


def test_a_guided_program_is_the_first_with_something_new():
    plain = CampaignSettings(seed=5)
    guided = replace(plain, prefer=("tan", "tir.While"))
    counts = Counter[bool]()
    for number in range(60):
        seed, case = drawn(guided, number)
        assert (seed, show(case.module)) == (drawn(guided, number)[0], show(generated(guided, number, seed).module))
        has = has_any(case.module, frozenset(guided.prefer))
        if number % GUIDED == 0:
            counts[has] += 1
            tries = [generated(guided, number, guided.seed_of(number, attempt)).module for attempt in range(LOOKS)]
            assert has == any(has_any(module, frozenset(guided.prefer)) for module in tries)
        else:
            assert seed == drawn(plain, number)[0]
    assert counts[True] > 2 < counts[False]


def test_names_of_a_program_are_those_that_leave_it_out():
    assert names_in(read(TEXT.format(operator="tan"), "t.py")) == {"tan", "float32", "int32", "handle"}


def test_the_settings_of_a_batch_have_the_names_too():
    data = without(CampaignSettings(exclude=("exp",)), ("exp", "tan"))
    assert CampaignSettings.from_json(json.loads(json.dumps(data))).exclude == ("exp", "tan")


# ------------------------------------------------------------------------------------------- campaigns


def run(path, settings, ways, ledger=None):
    store = open_store(path, settings)
    try:
        store.begin({"stand-in": "1"}, ledger or {})
        Campaign(store, ways).run()
    finally:
        store.close()
    return progress_in(path)


def outcome(progress):
    findings = {
        one.signature: (one.number, one.count, progress.state(one.signature)) for one in progress.findings.values()
    }
    return progress.done, findings, progress.verdicts, progress.excluded, progress.coverage


def test_a_campaign_has_the_same_findings_however_often_it_stops_and_with_however_many_workers(tmp_path, stand_in):
    settings = stand_in("step=2", "wrong=5", size=4, epoch=EPOCH, kinds=("functions", "primitives"))
    expected = outcome(run(tmp_path / "whole", settings, RunOptions(programs=80, jobs=1, shrink=0)))
    several = outcome(run(tmp_path / "several", settings, RunOptions(programs=80, jobs=3, shrink=0)))
    for programs in (4, 20, 44, 80):
        stopped = outcome(run(tmp_path / "parts", settings, RunOptions(programs=programs, shrink=0)))
    assert expected == several == stopped
    assert expected[3] == ("loop_partition", "split")
    counts = {number: count for number, count, _ in expected[1].values()}
    plain = run(tmp_path / "plain", stand_in("step=2", "wrong=5", size=4), RunOptions(programs=80, jobs=1, shrink=0))
    assert sum(counts.values()) < sum(one.count for one in plain.findings.values())


def test_the_journal_says_what_each_epoch_was_drawn_without(tmp_path, stand_in):
    settings = stand_in("step=1", size=4, epoch=EPOCH)
    ledger = {"0" * 12: "earlier"}
    run(tmp_path, settings, RunOptions(programs=48, jobs=1, shrink=0), ledger)
    entries = [json.loads(line) for line in (tmp_path / JOURNAL).read_text().splitlines()]
    assert entries[0] == {"versions": {"stand-in": "1"}}
    assert entries[1] == {"ledger": ledger}
    epochs = [entry for entry in entries if "epoch" in entry]
    assert [entry["epoch"] for entry in epochs] == [2, 3, 4, 5, 6, 7]
    run(tmp_path, settings, RunOptions(programs=56, jobs=1, shrink=0), {"f" * 12: "earlier"})
    assert progress_in(tmp_path).ledger == ledger  # what it began with


def test_a_cause_on_record_is_not_shrunk(tmp_path, stand_in):
    settings = stand_in("wrong=3", size=4, epoch=EPOCH)
    first = run(tmp_path / "first", settings, RunOptions(programs=16, jobs=1, shrink=0))
    ledger = dict.fromkeys(first.findings, "earlier")
    states = Counter(map(first.state, first.findings))
    assert states == {"new": 1}
    store = open_store(tmp_path / "second", settings)
    try:
        store.begin({}, ledger)
        campaign = Campaign(store, RunOptions(programs=16, jobs=1, shrink=5.0))
        campaign.run()
        assert (dict(store.progress.shrunk), set(map(store.progress.state, store.progress.findings))) == (
            {},
            {"earlier"},
        )
    finally:
        store.close()
