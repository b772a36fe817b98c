"""`refmlc.check` as a function: what the command does, as an object."""

import json

import numpy as np
import pytest

import refmlc
from refmlc.lang.dtypes import FLOAT32
from refmlc.oracle.check.causes import FunctionResult, causes_of
from refmlc.oracle.check.run import shown_names
from refmlc.oracle.examine import examine
from refmlc.oracle.implementations.implementation import Ended, Stop, Stopped
from refmlc.oracle.implementations.interp import Interp
from refmlc.run.memory.tensor import Tensor

COPY = """
@T.prim_func
def copy(A: T.Buffer((3,), "float32"), n: T.int32, B: T.Buffer((3,), "float32")):
    for i in range(3):
        B[i] = A[i]
"""
BEYOND = COPY.replace("A[i]", "A[i + n]")
SYMBOLIC = """
@T.prim_func
def copy(a: T.handle, b: T.handle):
    n = T.int32()
    A = T.match_buffer(a, (n,), "float32")
    B = T.match_buffer(b, (n,), "float32")
    for i in range(n):
        B[i] = A[i]
"""


def test_a_right_module():
    report = refmlc.check(COPY, implementations=["interp"])
    assert report.ok
    assert report.findings == ()
    assert report.status == 0
    few = refmlc.check(COPY, implementations=["interp"], calls=3)
    assert repr(few) == "<Report Module: 1 function, 3 calls, 1 implementation, 3 variants: no findings>"
    assert str(few).splitlines() == [
        "Module",
        "function  path      calls       proof          sanitizer",
        "copy      meaning   3 defined                  nothing",
        "          interp    3 equal     tested",
        "          variants  3 compared  3 these sizes",
        "purposes                  meaning  interp",
        "ordinary, held, specials  defined  equal",
        "  ordinary: random values of usual size",
        "  held: outputs hold values before the call: what the program does not write must stay",
        "  specials: NaN, infinities, both zeros, subnormals and the greatest float meet each other; integers around 0",
        "",
        "1 function, 3 calls, 1 implementation, 3 variants: no findings",
    ]


def test_a_call_for_every_purpose_and_a_seed_only_adds():
    calls = refmlc.check(COPY, implementations=["interp"]).rows[0].program.calls
    purposes = [call.purpose for call in calls]
    assert {"nan first", "nan last", "all nan", "equal", "-inf", "+inf", "-0", "subnormals", "greatest"} < set(purposes)
    assert 8 <= len(calls) <= 24
    seeded = refmlc.check(COPY, implementations=["interp"], seed=5).rows[0].program.calls
    assert seeded[: len(calls)] == calls
    assert {call.purpose for call in seeded[len(calls) :]} == {"random"}


def test_a_budget_leaves_out_purposes_and_names_them():
    text = COPY.replace("range(3)", "range(300)").replace("(3,)", "(300,)")
    report = refmlc.check(text, implementations=["interp"], budget=0.01)
    assert report.summary.startswith("1 function, 3 calls")
    assert any("the budget left out" in remark and "nan first" in remark for remark in report.remarks)


def test_variants_have_as_many_calls_as_the_steps_allow(monkeypatch):
    steps = refmlc.check(COPY, implementations=["interp"], calls=1).rows[0].examination.reference[0].steps
    monkeypatch.setattr("refmlc.oracle.examine.most_steps", lambda _case: steps)
    examination = refmlc.check(COPY, implementations=["interp"], calls=3).rows[0].examination
    assert examination.pairs
    assert examination.unvaried.startswith("variants have the first 1 calls")


def test_undefined_behaviour():
    report = refmlc.check(BEYOND, "copy", inputs={"n": 2}, implementations=["interp"], calls=2)
    assert not report.ok
    assert [one.code.id for one in report.findings] == ["RM304"]
    assert "2 calls have this finding; this is the first" in report.findings[0].notes
    assert "index 0 is 3, extent is 3" in str(report)
    assert "<td" in report._repr_html_()
    assert "RM304" in report._repr_html_()
    data = json.loads(json.dumps(report.to_json()))
    assert [one["code"] for one in data["findings"]] == ["RM304"]
    assert refmlc.check(BEYOND, "copy", inputs={"n": 0}, implementations=["interp"]).ok


def test_arguments_are_arrays_numbers_and_generators():
    a = np.full(3, 7, "float32")
    report = refmlc.check(COPY, "copy", inputs={"A": a[::-1], "n": 1}, implementations=["interp"], calls=1)
    assert "[7, 7, 7], 1," in report.to_json()["functions"][0]["calls"][0]["arguments"]
    ones = refmlc.check(COPY, "copy", inputs={"A": "ones"}, implementations=["interp"], calls=1)
    assert "[1, 1, 1]" in ones.to_json()["functions"][0]["calls"][0]["arguments"]
    sized = refmlc.check(SYMBOLIC, "copy", dims={"n": 5}, implementations=["interp"], calls=1)
    assert "n = 5" in str(sized)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"func": "other"}, "has no function `other`"),
        ({"inputs": {"A": "ones"}}, "give `func` too"),
        ({"func": "copy", "inputs": {"Q": 1}}, "has no parameter `Q`"),
        ({"func": "copy", "inputs": {"A": "a.npy"}}, "is the text `a.npy`, which is not a generator"),
        ({"func": "copy", "inputs": {"n": np.ones(3)}}, "is a number"),
        ({"func": "copy", "dims": {"n": 1}}, "no symbolic dimension `n`"),
        ({"allow": ["RM101"]}, "not a code of undefined behaviour"),
        ({"implementations": ["numpi"]}, "no implementation is named"),
    ],
)
def test_what_does_not_fit_is_one_message(options, words):
    with pytest.raises(refmlc.Malformed, match=words):
        refmlc.check(COPY, **{"implementations": ["interp"], **options})


def test_programs_are_whatever_is_one(tmp_path):
    path = tmp_path / "copy.py"
    path.write_text(COPY, encoding="utf-8")
    assert repr(refmlc.check(path, implementations=["interp"])).startswith("<Report copy.py: 1 function")
    assert refmlc.check(refmlc.read(COPY)["copy"], implementations=["interp"]).ok
    with pytest.raises(refmlc.Malformed, match="this is int"):
        refmlc.check(3)


class Named:
    def __init__(self, name, **says):
        self.name, self.says = name, {("name" if key == "own" else key): value for key, value in says.items()}


@pytest.mark.parametrize(
    ("paths", "shown"),
    [
        ([Named("tvm:/a/python", version="0.26")], ["tvm"]),
        (
            [Named("tvm:/a/python", own="tvm 0.26"), Named("tvm:/b/python", own="tvm 0.27"), Named("native")],
            ["tvm 0.26", "tvm 0.27", "native"],
        ),
        (
            [Named("tvm:/a/python", version="0.27"), Named("tvm:/b/python", version="0.27")],
            ["tvm (/a/python)", "tvm (/b/python)"],
        ),
        ([Named("cmd:/a/mine"), Named("cmd:/b/mine")], ["cmd:mine (/a/mine)", "cmd:mine (/b/mine)"]),
        ([Named("cmd:/a/x", version="1"), Named("cmd:/b/x", version="2")], ["cmd:x 1", "cmd:x 2"]),
        ([Named("cmd:/a/mine"), Named("cmd:/b/other")], ["cmd:mine", "cmd:other"]),
    ],
)
def test_two_of_a_kind_have_two_names(paths, shown):
    assert list(shown_names(paths).values()) == shown


KERNEL = """
@T.prim_func
def reverse(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
    S = T.alloc_buffer((8,), "float32", scope="shared")
    for tx in T.thread_binding(8, thread="threadIdx.x"):
        S[tx] = A[tx]
        T.tvm_storage_sync("shared")
        B[tx] = S[7 - tx]
"""
UNCOMPILED = KERNEL.replace("        S[tx]", "        v: T.let = T.Broadcast(A[tx], 2)\n        S[tx]")
NO_BARRIER = KERNEL.replace('        T.tvm_storage_sync("shared")\n', "")
FOLDED = """
@T.prim_func
def total(A: T.Buffer((8,), "float32"), B: T.Buffer((1,), "float32")):
    for tx in T.thread_binding(8, thread="threadIdx.x"):
        with T.sblock("B"):
            v = T.axis.reduce(8, tx)
            with T.init():
                B[0] = T.float32(0)
            B[0] = B[0] + A[v]
"""


def test_a_meaning_that_nothing_is_compared_with_is_told():
    report = refmlc.check(UNCOMPILED, calls=1)
    assert (report.status, report.ok, report.compared) == (0, True, False)
    assert report.remarks[0] == ("reverse: only the meaning was executed: no other implementation takes this function")
    assert report.summary.endswith("no findings, only the meaning was executed")
    assert report.to_json()["functions"][0]["notes"] == [report.remarks[0].removeprefix("reverse: ")]


def test_an_implementation_that_is_named_has_to_take_part():
    report = refmlc.check(UNCOMPILED, implementations=["native"], calls=1)
    assert (report.status, report.ok) == (3, True)
    assert report.summary.endswith("nothing was compared")


def test_a_function_that_is_not_executed_is_no_success():
    report = refmlc.check(COPY.replace("A[i]", 'T.call_extern("float32", "nobody", A[i])'), implementations=["native"])
    assert (report.status, report.summary.endswith("nothing was compared")) == (3, True)


def test_a_kernel_whose_only_barrier_is_missing():
    report = refmlc.check(NO_BARRIER, calls=1)
    assert report.status == 0
    assert report.remarks[0].startswith("reverse: the text has no barrier")
    assert "TIR-229" in report.remarks[0]
    written = refmlc.check(NO_BARRIER, calls=1, as_written=True)
    assert [one.code.id for one in written.findings] == ["RM321"]
    assert not any("TIR-229" in remark for remark in written.remarks)


@pytest.mark.parametrize("program", [KERNEL, FOLDED])
def test_as_written_takes_nothing_from_barriers_that_stand_there(program):
    report = refmlc.check(program, implementations=["native"], calls=1, as_written=True)
    assert report.ok
    assert not any("TIR-229" in remark for remark in refmlc.check(program, implementations=["native"], calls=1).remarks)


TWO = """
@I.ir_module
class Module:
    @T.prim_func
    def copy(A: T.Buffer((3,), "float32"), B: T.Buffer((3,), "float32")):
        for i in range(3):
            B[i] = A[i]

    @T.prim_func
    def zero(A: T.Buffer((3,), "float32")):
        for i in range(3):
            A[i] = T.float32(0)
"""


class Reluctant:
    """The interpreter; `stop` is its answer to a module with a function `zero`."""

    name, promises_verdicts = "reluctant", False

    def __init__(self, stop):
        self.stop = stop

    def prepare(self, module):
        return self.stop if "zero" in module.functions else Interp().prepare(module)

    def close(self):
        """Nothing is held."""


def test_the_reasons_for_calls_that_are_not_taken_are_counted_by_reason():
    report = refmlc.check(TWO, implementations=[Reluctant(Stopped(Stop.UNSUPPORTED, "no zeros here"))], calls=2)
    assert "reluctant: 2 calls of zero not taken: no zeros here" in report.remarks
    assert report.ok
    (reason,) = report.to_json()["uncompared"]
    assert reason == {
        "path": "reluctant",
        "kind": "not taken",
        "why": "no zeros here",
        "functions": ["zero"],
        "calls": 2,
    }


def test_a_function_is_not_accused_of_what_another_one_of_its_module_breaks():
    report = refmlc.check(TWO, implementations=[Reluctant(Stopped(Stop.REJECTED, "zeros", fault=True))], calls=2)
    assert [finding.message for finding in report.findings] == ["`reluctant` fails to compile `zero`"]
    assert report.status == 1


class Faulty:
    """The interpreter, whose results `fault` changes; it promises nothing."""

    promises_verdicts = False

    def __init__(self, name, fault):
        self.name, self._fault, self._inner = name, fault, Interp()

    def prepare(self, module):
        inner, fault = self._inner.prepare(module), self._fault

        class Prepared:
            def run(self, func, args):
                return fault(inner.run(func, args))

            def close(self):
                inner.close()

        return Prepared()

    def close(self):
        """Nothing is held."""


def zeroed_and_negated(answer):
    """Wrong in two ways that look different: all elements 0, or the other sign."""
    result = answer.args[-1].array
    if isinstance(answer, Ended):
        result[...] = 0 if (result > 0).all() else -result
    return answer


class HandMade:
    """Calls by hand; an output is fresh memory."""

    name = ""

    def __init__(self, module, func, calls):
        self.module, self.func, self.calls = module, func, calls

    def arguments(self, number=0):
        fresh = (Tensor.empty((3,), FLOAT32) if value is None else value for value in self.calls[number])
        return [Tensor.from_numpy(value.copy()) if isinstance(value, np.ndarray) else value for value in fresh]


def test_one_fault_that_looks_different_in_each_call_is_one_finding():
    inputs = [[1, 2, 3], [-1, 2, 4], [5, 7, 9]]
    program = HandMade(refmlc.read(COPY), "copy", [[np.array(row, "float32"), 0, None] for row in inputs])
    (examination,) = examine([program], [Faulty("mine", zeroed_and_negated)])
    guesses = {finding.verdict.difference.guess for finding in examination.findings}
    assert (len(examination.findings), len(guesses)) == (3, 2)
    assert len({finding.signature for finding in examination.findings}) == 1
    (cause,) = causes_of([FunctionResult("copy", program, examination)], strict=False)
    assert cause.count == 3
    assert any(note.startswith("in others: ") for note in cause.diagnostic.notes)


def test_what_fails_before_it_runs_is_told_before_what_is_wrong():
    def fails(_answer):
        return Stopped(Stop.CRASHED, "Check failed: 3 == 4", building=True)

    report = refmlc.check(COPY, implementations=[Faulty("a", zeroed_and_negated), Faulty("b", fails)], pairs=False)
    assert [finding.code.id for finding in report.findings] == ["RM708", "RM701"]
