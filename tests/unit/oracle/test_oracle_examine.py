"""Examination: the verdict on each kind of answer, all results and arguments compared, findings with their codes."""

import numpy as np
import pytest
from wrapped import Given, Wrapped, empty, floats, honest, last, stops

from refmlc.diag import Diagnostic
from refmlc.diag.catalogue import CODES, OUT_OF_BOUNDS
from refmlc.oracle.examine import examine
from refmlc.oracle.implementations.implementation import Ended, Limits, Stop, Stopped
from refmlc.oracle.implementations.native import Native
from refmlc.oracle.outcome import Kind
from refmlc.run.memory.tensor import Tensor

SUM = """
@T.prim_func
def main(A: T.Buffer((4, 8), "float32"), B: T.Buffer((4,), "float32")):
    for i, k in T.grid(4, 8):
        with T.block("B"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                B[vi] = T.float32(0)
            B[vi] += A[vi, vk] / T.float32(3)
"""
COPY = """
@T.prim_func
def main(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
    for i in range(4):
        B[i] = A[i + SHIFT]
"""
TRAP = """
@T.prim_func
def main(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
    assert A[0] > T.float32(5), "small"
    B[0] = A[0]
"""
HALF = """
@T.prim_func
def main(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
    for i in range(2):
        B[i * 2] = A[i]
"""
DOUBLE = """
@T.prim_func
def main(A: T.Buffer((2,), "int32"), B: T.Buffer((2,), "int32")):
    for i in range(2):
        B[i] = A[i] + A[i]
"""
RACE = """
@T.prim_func
def main(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
    for i in T.parallel(4):
        B[0] = A[i]
"""


def total():
    return Given(SUM, lambda _number: [floats(4, 8), empty(4)])


def copy(shift=0):
    return Given(COPY.replace("SHIFT", str(shift)), lambda _number: [floats(4), empty(4)])


def examined(program, implementation, **options):
    return examine([program], [implementation], **options)[0]


def verdict(program, implementation):
    found = examined(program, implementation)
    codes = [finding.code.id for finding in found.findings]
    return found.verdicts[implementation.name][0].kind, codes


def test_an_honest_one_is_equal_and_told_so_without_a_certificate(monkeypatch):
    monkeypatch.setattr("refmlc.oracle.agreement.certify", None)
    assert verdict(total(), Wrapped(honest)) == (Kind.EQUAL, [])


def test_another_rounding_is_permitted_by_the_bound():
    assert verdict(total(), Wrapped(last(lambda a: np.nextafter(a, np.float32(9))))) == (Kind.PERMITTED, [])


def test_beyond_the_bound_is_wrong():
    assert verdict(total(), Wrapped(last(lambda a: a * np.float32(1.001)))) == (Kind.WRONG, ["RM701"])


def test_the_bound_of_a_result_without_dimensions_decides_too():
    text = """# from tvm.script import tirx as T
@T.prim_func(s_tir=True)
def main(A: T.Buffer((32,), "float32"), B: T.Buffer((), "float32")):
    for k in range(32):
        with T.sblock("B"):
            vk = T.axis.reduce(32, k)
            with T.init():
                B[()] = T.float32(0)
            B[()] = B[()] + A[vk] / T.float32(3)
"""
    program = Given(text, lambda _number: [floats(32), empty()])
    assert verdict(program, Wrapped(last(lambda a: np.nextafter(a, np.float32(9))))) == (Kind.PERMITTED, [])
    assert verdict(program, Wrapped(last(lambda a: a + np.float32(1)))) == (Kind.WRONG, ["RM701"])


def test_a_program_that_copies_permits_its_bits_only():
    assert verdict(copy(), Wrapped(last(lambda a: np.nextafter(a, np.float32(9))))) == (Kind.WRONG, ["RM701"])


def test_who_promises_bits_is_held_to_them():
    nearly = Wrapped(last(lambda a: np.nextafter(a, np.float32(9))), promises_verdicts=True)
    assert verdict(total(), nearly) == (Kind.WRONG, ["RM701"])


def test_an_argument_that_is_not_written_must_stay_as_it_was():
    def spoils(answer, _module):
        answer.args[0].numpy()[1, 2] += 1
        return answer

    found = examined(total(), Wrapped(spoils))
    assert found.verdicts["mine"][0].kind is Kind.WRONG
    (finding,) = found.findings
    assert (finding.code.id, finding.part) == ("RM701", "`A`")
    assert finding.verdict.difference.index == (1, 2)


def test_elements_that_the_program_does_not_write_are_not_compared():
    program = Given(HALF, lambda _number: [floats(4), empty(4)])

    def others(array):
        array[1], array[3] = 77, np.nan
        return array

    assert verdict(program, Wrapped(last(others))) == (Kind.EQUAL, [])


def test_who_promises_verdicts_writes_what_the_program_writes():
    program = Given(HALF, lambda _number: [floats(4), empty(4)])

    def all_of_it(answer, _module):
        answer.args[1].mark_initialised()
        return answer

    assert verdict(program, Wrapped(all_of_it, promises_verdicts=True)) == (Kind.WRONG, ["RM701"])


@pytest.mark.parametrize(
    ("why", "kind", "codes"),
    [
        (Stop.UNSUPPORTED, Kind.NOT_TAKEN, []),
        (Stop.REJECTED, Kind.REFUSED, ["RM707"]),
        (Stop.EXHAUSTED, Kind.TIMED_OUT, []),
        (Stop.UNDEFINED, Kind.NOT_TAKEN, []),
        (Stop.CRASHED, Kind.CRASHED, ["RM703"]),
        (Stop.TRAP, Kind.CRASHED, ["RM703"]),
        (Stop.TIMED_OUT, Kind.HUNG, ["RM704"]),
    ],
)
def test_no_result_is_never_agreement(why, kind, codes):
    assert verdict(total(), Wrapped(stops(why))) == (kind, codes)


@pytest.mark.parametrize(
    ("answer", "kind", "codes"),
    [
        (Stopped(Stop.TRAP, "TypeError: Expected 2 arguments", refused=True), Kind.REFUSED, ["RM707"]),
        (Stopped(Stop.REJECTED, "InternalError: Check failed", fault=True), Kind.COMPILER_ERROR, ["RM708"]),
        (Stopped(Stop.CRASHED, "killed by SIGABRT", building=True), Kind.COMPILER_ERROR, ["RM708"]),
        (Stopped(Stop.TIMED_OUT, "no answer", building=True), Kind.HUNG, ["RM704"]),
    ],
)
def test_a_refusal_a_failed_build_and_a_late_one_are_findings_of_their_own(answer, kind, codes):
    assert verdict(total(), Wrapped(lambda _answer, _module: answer)) == (kind, codes)


def test_a_program_whose_end_is_not_known_is_given_to_nobody():
    mine = Wrapped(honest, promises_verdicts=True)
    found = examined(total(), mine, limits=Limits(steps=3))
    assert [verdict.kind for verdict in found.verdicts["mine"]] == [Kind.TIMED_OUT]
    assert mine.asked == []


def test_what_is_allowed_goes_on_and_who_stops_there_is_unsupported():
    program = Given(
        DOUBLE, lambda _number: [Tensor.from_numpy(np.array([1, 1 << 30], "int32")), empty(2, kind="int32")]
    )
    found = examined(program, Native("tiny"), allow=frozenset({"RM306"}))
    (reference,) = found.reference
    assert reference.answer.args[1].numpy().tolist() == [2, -(1 << 31)]
    assert [verdict.kind for verdict in found.verdicts["native:tiny"]] == [Kind.NOT_TAKEN]
    assert found.findings == ()


def test_a_long_program_says_why_it_has_no_variants(monkeypatch):
    assert examined(total(), Wrapped(honest), pairs=True).unvaried == ""
    monkeypatch.setattr("refmlc.oracle.examine.most_steps", lambda _case: 10)
    found = examined(total(), Wrapped(honest), pairs=True)
    assert found.pairs == ()
    assert found.unvaried.startswith("no variants: the calls take")


def test_an_undefined_program_is_not_given_to_others():
    other = Wrapped(honest)
    found = examined(copy(1), other)
    assert found.verdicts["mine"][0].kind is Kind.UNDEFINED
    assert found.verdicts["mine"][0].report.code is OUT_OF_BOUNDS
    assert (other.prepared, found.findings) == (0, ())
    assert found.reference[0].report.counts["RM304"] == 1


def test_who_promises_verdicts_must_stop_where_the_program_does():
    assert verdict(copy(1), Wrapped(honest, promises_verdicts=True)) == (Kind.UNDEFINED, [])
    goes_on = Wrapped(lambda _answer, _module: Ended(None, tuple(copy().arguments())), promises_verdicts=True)
    assert verdict(copy(1), goes_on) == (Kind.WRONG, ["RM702"])
    other = Wrapped(
        lambda _answer, _module: Stopped(Stop.UNDEFINED, "x", Diagnostic(CODES["RM305"], "x")), promises_verdicts=True
    )
    assert verdict(copy(1), other) == (Kind.WRONG, ["RM702"])
    assert verdict(copy(), other) == (Kind.WRONG, ["RM702"])


@pytest.mark.needs("compiler")
def test_what_only_a_detector_finds_is_undefined_and_no_fault_of_the_tiers():
    program = Given(RACE, lambda _number: [floats(4), empty(4)])
    found = examined(program, Native("tiny"))
    assert found.reference[0].verdict == "undefined"
    assert found.verdicts["native:tiny"][0].report.code.id == "RM321"
    assert found.findings == ()
    unwatched = examined(program, Native("tiny"), sanitize=False)
    assert (unwatched.reference[0].verdict, unwatched.verdicts["native:tiny"][0].kind) == ("defined", Kind.EQUAL)


def test_a_trap_is_compared_with_those_that_promise_it():
    program = Given(TRAP, lambda _number: [floats(4), empty(4)])
    assert verdict(program, Native("tiny")) == (Kind.UNSUPPORTED, [])
    assert verdict(
        program, Wrapped(lambda _a, _m: Ended(None, tuple(program.arguments())), promises_verdicts=True)
    ) == (
        Kind.WRONG,
        ["RM702"],
    )


def test_another_shape_or_count_is_wrong_and_not_an_error():
    longer = Wrapped(lambda answer, _module: Ended(answer.value, (answer.args[0], floats(5))))
    assert verdict(copy(), longer) == (Kind.WRONG, ["RM701"])
    fewer = Wrapped(lambda answer, _module: Ended(answer.value, answer.args[:1]))
    assert verdict(copy(), fewer) == (Kind.WRONG, ["RM701"])
    returned = Wrapped(lambda answer, _module: Ended(floats(1), answer.args))
    assert verdict(copy(), returned) == (Kind.WRONG, ["RM701"])


@pytest.mark.needs("compiler")
def test_programs_of_a_batch_keep_their_verdicts_apart():
    cases = [copy(), copy(1), total(), copy(2)]
    kinds = [found.verdicts["native:tiny"][0].kind for found in examine(cases, [Native("tiny")])]
    assert kinds == [Kind.EQUAL, Kind.UNDEFINED, Kind.EQUAL, Kind.UNDEFINED]


def test_nan_is_one_class_and_the_sign_of_zero_is_kept():
    values = np.array([np.nan, -0.0, 1, 2], "float32")
    program = Given(COPY.replace("SHIFT", "0"), lambda _number: [Tensor.from_numpy(values.copy()), empty(4)])
    other_nan = np.array([0x7FC12345], "uint32").view("float32")[0]

    def payload(array):
        array[0] = other_nan
        return array

    assert verdict(program, Wrapped(last(payload))) == (Kind.EQUAL, [])
    assert verdict(program, Wrapped(last(np.abs))) == (Kind.WRONG, ["RM701"])


def test_a_bug_of_the_interpreter_is_a_finding(monkeypatch):
    def broken(*_args, **_named):
        raise ZeroDivisionError("oh")

    monkeypatch.setattr("refmlc.run.interp.machine.Machine.call", broken)
    found = examined(copy(), Wrapped(honest))
    assert [(one.code.id, one.implementation) for one in found.findings] == [("RM703", "interp")]
    assert found.verdicts["mine"][0].kind is Kind.UNSUPPORTED


def test_a_number_in_the_place_of_an_infinity_is_no_sign():
    wide = np.array([np.inf, 1, 2, 3], "float32")
    program = Given(COPY.replace("SHIFT", "0"), lambda _number: [Tensor.from_numpy(wide.copy()), empty(4)])
    found = examined(program, Wrapped(last(lambda a: np.where(np.isinf(a), np.float32(256), a))))
    assert "sign" not in found.findings[0].verdict.difference.guess
