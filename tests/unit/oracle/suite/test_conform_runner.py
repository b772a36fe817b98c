"""A suite asked of implementations: which cases, in this process, over lines, in workers; interrupts and features."""

import signal
import sys
import time
from dataclasses import replace

import pytest
from hand_made import hand_folder, hand_suite, verdicts
from mutations import LINE_ADAPTER, Mutant, over_lines, right_verdicts

from refmlc.diag import RefmlcError
from refmlc.lang.wellformed.reader_checks import read
from refmlc.oracle.evidence.case_file import read_cases
from refmlc.oracle.implementations.implementation import Ended, Stop, Stopped
from refmlc.oracle.implementations.interp import Interp
from refmlc.oracle.implementations.lookup import implementation
from refmlc.oracle.implementations.native import Native
from refmlc.oracle.suite import Nonconformant, run_conformance_test
from refmlc.oracle.suite.expectations import Expectations
from refmlc.oracle.suite.runner import at_once, run_suite
from refmlc.oracle.suite.runner_workers import RunRequest, run_named
from refmlc.oracle.suite.suite import Suite, freeze, load_suite

SUITE = hand_suite()


def plain(report):
    """The report without what is measured."""
    cases = [replace(result, seconds=0.0) for result in report.results]
    return (report.suite, cases, report.problems, report.ok, report.counts)


def test_a_suite_without_cases_is_an_error():
    with pytest.raises(RefmlcError) as caught:
        run_suite(Suite("0", (), {}), Interp())
    assert caught.value.code.id == "RM109"


def test_a_pattern_that_no_case_fits_is_an_error():
    with pytest.raises(RefmlcError) as caught:
        run_suite(SUITE, Interp(), only=["hand.add", "hand.nothing*"])
    assert caught.value.code.id == "RM112"
    assert "hand.nothing*" in caught.value.diagnostic.message


def test_only_the_cases_that_are_wanted_are_asked():
    report = run_suite(SUITE, Interp(), only=["hand.a*-*", "hand.xor"])
    assert list(verdicts(report)) == ["hand.at-most", "hand.at-least", "hand.xor", "hand.any-order"]


@pytest.mark.needs("compiler")
def test_c_is_asked_in_batches_and_is_right():
    report = run_suite(SUITE, Native("guarded"))
    assert verdicts(report) == right_verdicts()
    assert report.ok


def test_over_lines_and_in_this_process_the_reports_are_the_same():
    made = over_lines("right", seconds=20.0)()
    try:
        there = run_suite(SUITE, made)
    finally:
        made.close()
    assert plain(there) == plain(run_suite(SUITE, Interp()))
    assert (there.implementation, there.version) == ("lines", "1.0")


def test_over_lines_and_in_this_process_faults_are_told_the_same():
    """The fault is in the module that is run, on both sides: the text over the line is the same."""
    broken = tuple(replace(case, text=case.text.replace("A[i] + B[i]", "A[i] - B[i]")) for case in SUITE.cases[:8])
    suite = Suite("broken", broken, {})
    made = over_lines("right", seconds=20.0)()
    try:
        there = run_suite(suite, made)
    finally:
        made.close()
    here = run_suite(suite, Interp())
    assert plain(there) == plain(here)
    assert verdicts(here)["hand.add"] == "fail"


def test_undefined_cases_are_not_asked_of_who_promises_nothing():
    asked = []

    class Plain(Interp):
        def prepare(self, module):
            asked.append(module)
            return super().prepare(module)

    report = run_suite(SUITE, Plain(promises_verdicts=False), only=["hand.outside", "hand.open", "hand.trap"])
    assert verdicts(report) == {"hand.trap": "pass", "hand.outside": "not scored", "hand.open": "not scored"}
    assert len(asked) == 1


def test_features_that_are_not_offered_are_not_asked():
    mutant = Mutant()
    mutant.features = ("tensorir", "int32", "uint8")
    report = run_suite(SUITE, mutant, only=["hand.floor", "hand.and", "hand.add"])
    assert verdicts(report) == {"hand.add": "unsupported", "hand.floor": "pass", "hand.and": "pass"}
    assert report.results[0].why == "the implementation does not support float32"


def test_an_interrupt_leaves_what_was_done():
    calls = []

    def answer(found, *_):
        calls.append(found)
        if len(calls) == 4:
            signal.raise_signal(signal.SIGINT)  # Ctrl-C
        return found

    report = run_suite(SUITE, Mutant(answer=answer))
    assert list(verdicts(report)) == ["hand.add", "hand.sub", "hand.mul"]
    assert report.interrupted
    assert not report.ok


@pytest.mark.parametrize(
    "raised", [RecursionError("deep"), MemoryError(), SystemExit(0), KeyboardInterrupt()], ids=repr
)
@pytest.mark.parametrize("where", ["answer", "prepare"])
def test_what_is_raised_is_a_crash_of_that_case(raised, where):
    """An interrupt too, where the user pressed nothing: it was made up."""

    def broken(*_):
        raise raised

    report = run_suite(SUITE, Mutant(**{where: broken}), only=["hand.add", "hand.no-text"])
    assert verdicts(report) == {"hand.add": "crash", "hand.no-text": "pass"}
    assert report.results[0].why == f"{type(raised).__name__}{': ' if str(raised) else ''}{raised}"
    assert not report.interrupted


def test_values_that_cannot_be_looked_at_are_a_crash():
    class Odd(int):
        def __eq__(self, other):
            raise SystemError("not comparable")

        __hash__ = None

    def answer(found, *_):
        return Ended(Odd(3), found.args) if isinstance(found, Ended) else found

    report = run_suite(SUITE, Mutant(answer=answer), only=["hand.add", "hand.sub"])
    assert set(verdicts(report).values()) <= {"crash", "fail"}
    assert list(verdicts(report)) == ["hand.add", "hand.sub"]


# ------------------------------------------------------------------------------------------ batches


@pytest.mark.parametrize("batch", [2, 5, 48])
def test_in_batches_the_report_is_the_same(batch):
    made = over_lines("right", seconds=20.0, batch=batch)()
    try:
        there = run_suite(SUITE, made)
    finally:
        made.close()
    assert at_once(made) == batch
    assert plain(there) == plain(run_suite(SUITE, Interp()))


def test_a_batch_whose_program_ends_in_the_middle_loses_nothing():
    """The one that it ends on is a crash, those before and after have their answers, and no other is asked twice."""
    made = over_lines("run:SIGSEGV", seconds=20.0, batch=48)()
    asked = []
    ask = made.ask
    made.ask = lambda request, seconds, places=False: (
        asked.append(request["do"]) or ask(request, seconds, places=places)
    )
    try:
        report = run_suite(SUITE, made)
    finally:
        made.close()
    assert verdicts(report) == {**right_verdicts(), "hand.two": "crash"}
    assert "SIGSEGV" in next(result.why for result in report.results if result.id == "hand.two")
    assert asked == ["prepare", "run"]


def test_what_is_refused_in_a_batch_is_asked_as_it_is_written():
    """Modules come as refmlc shows them; the author's text is the second form, and comes in a batch too."""

    class Choosy:
        name, promises_verdicts, batch = "choosy", False, 8
        asked = ()

        def prepare(self, module):
            raise AssertionError("it takes batches")

        prepare_text = prepare

        def answer_all(self, asked):
            self.asked += tuple(type(ask.module).__name__ for ask in asked)
            for ask in asked:
                prepared = Interp().prepare(read(ask.module)) if isinstance(ask.module, str) else None
                refused = Stopped(Stop.REJECTED, "not as shown")
                yield refused if prepared is None else tuple(prepared.run(*call) for call in ask.calls)

        def close(self):
            pass

    made = Choosy()
    report = run_suite(SUITE, made, only=["hand.add", "hand.pair"])
    assert verdicts(report) == {"hand.add": "pass", "hand.pair": "pass"}
    assert made.asked == ("IRModule", "IRModule", "str", "str")


@pytest.mark.parametrize("answers", [3, [], [None], [(), ()], ["no"]], ids=repr)
def test_what_is_no_batch_is_asked_one_by_one(answers):
    class Batched(Mutant):
        batch = 8

        def answer_all(self, _asked):
            return answers

    report = run_suite(SUITE, Batched(), only=["hand.add", "hand.two"])
    assert verdicts(report) == {"hand.add": "pass", "hand.two": "pass"}


# ------------------------------------------------------------------------------------------ broken cases


def test_a_broken_value_is_told_with_its_place(tmp_path):
    folder = hand_folder(tmp_path / "suite")
    path = folder / "cases" / "hand" / "arith.toml"
    text = path.read_text()
    at = text.index('id = "hand.mul"')
    path.write_text(text[:at] + text[at:].replace("0x1", "0xg", 1))
    freeze(folder)
    line = text.count("\n", 0, at) + 1
    with pytest.raises(RefmlcError) as caught:
        run_named(load_suite(folder), RunRequest("interp", str(folder)), Expectations(), ["hand.mul"])
    assert caught.value.code.id == "RM109"
    words = caught.value.diagnostic.message
    assert words.startswith(f"`cases/hand/arith.toml`, line {line}, `hand.mul`, call 1: ")
    assert "0xg" in words


# ------------------------------------------------------------------------------------------ workers

FAULTY = """
import ctypes, os, time
from refmlc.oracle.implementations.interp import Interp
from refmlc.oracle.implementations.lookup import implementation

class Faulty(Interp):
    def prepare(self, module):
        text = module.source.text
        if "A[i] * B[i]" in text:
            ctypes.string_at(0)
        if "A[i] / B[i]" in text:
            time.sleep(1000)
        return super().prepare(module)

def faulty(limits):
    return Faulty(limits)
"""


def test_in_workers_what_crashes_or_hangs_ends_alone(tmp_path, monkeypatch):
    (tmp_path / "faulty_here.py").write_text(FAULTY)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    folder = hand_folder(tmp_path / "suite")
    asked = RunRequest("py:faulty_here:faulty", str(folder), seconds=0.5, prepare=0.5, jobs=2, slack=1.5)
    only = ["hand.add", "hand.mul", "hand.tiny", "hand.div", "hand.wrap", "hand.no-text"]
    report = run_named(SUITE, asked, Expectations(), only)
    assert verdicts(report) == {
        "hand.add": "pass",
        "hand.mul": "crash",
        "hand.tiny": "crash",
        "hand.div": "timeout",
        "hand.wrap": "pass",
        "hand.no-text": "pass",
    }
    assert "SIGSEGV" in report.results[1].why


def test_an_implementation_that_is_none_is_told(tmp_path, monkeypatch):
    (tmp_path / "none_here.py").write_text("def raising(limits):\n    raise ValueError('not today')\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    for spec, words in (
        ("nothing", "no implementation is named"),
        ("py:no.such:thing", "no implementation is named `py:no.such:thing`"),
        ("py:none_here:raising", "does not start: ValueError: not today"),
    ):
        with pytest.raises(RefmlcError) as caught:
            run_named(SUITE, RunRequest(spec), Expectations())
        assert caught.value.code.id == "RM112"
        assert words in caught.value.diagnostic.message


# ------------------------------------------------------------------------------------------ three lines


def test_three_lines_in_a_test(tmp_path):
    folder = hand_folder(tmp_path / "suite")
    command = [sys.executable, LINE_ADAPTER, "right"]
    for adapter in (Interp(), command):
        report = run_conformance_test(adapter, suite=folder, cases=["hand.add", "hand.trap"])
        assert verdicts(report) == {"hand.add": "pass", "hand.trap": "pass"}


def test_three_lines_tell_what_is_wrong(tmp_path):
    folder = hand_folder(tmp_path / "suite")

    def answer(found, *_):
        return Stopped(Stop.TRAP, "not today") if isinstance(found, Ended) else found

    with pytest.raises(Nonconformant) as caught:
        run_conformance_test(Mutant(answer=answer), suite=folder, cases=["hand.add", "hand.trap"])
    assert str(caught.value) == (
        "mutant: 1 over-strict, 1 pass: 1 not as expected\nover-strict: hand.add: trap: not today"
    )
    assert [each.id for each in caught.value.report.unexpected] == ["hand.add"]


def test_what_is_no_adapter_is_told():
    with pytest.raises(RefmlcError, match="int is not an implementation: it lacks name") as caught:
        run_conformance_test(3)
    assert caught.traceback[-1].name == "run_conformance_test"  # and nothing of refmlc's inside


def test_ctrl_c_ends_more_than_the_test(tmp_path):
    def answer(_found, *_):
        signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt, match="mutant: nothing: interrupted"):
        run_conformance_test(Mutant(answer=answer), suite=hand_folder(tmp_path / "suite"), cases=["hand.add"])


def test_an_interrupt_ends_the_workers_and_leaves_what_was_done(tmp_path):
    folder = hand_folder(tmp_path / "suite")
    asked = RunRequest(f"cmd:{sys.executable} {LINE_ADAPTER} run:hang", str(folder), seconds=60.0)

    def tick(done, of):
        assert (done, of) == (1, 3)
        raise KeyboardInterrupt

    begin = time.monotonic()
    report = run_named(SUITE, asked, Expectations(), ["hand.product", "hand.two", "hand.again"], tick)
    assert verdicts(report) == {"hand.product": "pass"}
    assert report.interrupted
    assert time.monotonic() - begin < 55.0


# ------------------------------------------------------------------------------------------ detectors

RACE = """
[[case]]
id = "hand.race"
clauses = ["TIR-303"]
features = ["detectors", "int32", "tensorir"]
func = "main"
module = '''
@T.prim_func(s_tir=True)
def main(A: T.Buffer((1,), "int32")):
    for i in T.parallel(2):
        A[0] = i
'''

[[case.calls]]
args = [{ dtype = "int32", shape = [1], values = [0] }]

[case.calls.assert]
kind = "undefined"
code = "RM321"
place = "4:9"
"""


def test_what_only_detectors_find_is_asked_of_who_has_them():
    suite = Suite("race", read_cases(RACE), {})
    assert verdicts(run_suite(suite, Interp())) == {"hand.race": "not scored"}
    assert verdicts(run_suite(suite, implementation("interp:sanitized"))) == {"hand.race": "pass"}


class Told:
    """Answers everything with the same thing."""

    name = "told"
    promises_verdicts = False

    def __init__(self, answer):
        self.answer = answer

    def prepare(self, _module):
        return self

    def run(self, _func, _args):
        return self.answer

    def close(self):
        pass


class Batched(Told):
    """Makes no modules ready together, though it says so."""

    def prepare_all(self, _modules):
        return self.answer


class Unprepared(Told):
    """Makes a module ready as what is no such thing."""

    def prepare(self, _module):
        return 3


@pytest.mark.parametrize(
    "made",
    [
        Unprepared(None),
        Told(None),
        Told(Ended(None, None)),
        Told(Stopped("trap", "")),
        Told(Stopped(Stop.TRAP, 3)),
        Batched([]),
        Batched(3),
    ],
    ids=["nothing prepared", "None", "no arguments", "no stop", "no message", "a short batch", "no batch"],
)
def test_what_is_no_answer_is_a_crash_and_the_run_goes_on(made):
    report = run_suite(SUITE, made, only=["hand.add", "hand.two"])
    assert verdicts(report) == {"hand.add": "crash", "hand.two": "crash"}
