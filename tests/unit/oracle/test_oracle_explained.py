"""Wrong results on record: a row explains one where the program that it stands for gives it, and nothing else does."""

import json
import tomllib
from importlib.resources import files

import ml_dtypes
import numpy as np
import pytest

import refmlc
from refmlc.lang.dtypes import dtype
from refmlc.oracle.explained import rewritten
from refmlc.oracle.fuzz.subjects.imports.torch_operators import TorchCall, TorchProgram
from refmlc.oracle.implementations.implementation import Stop, Stopped
from refmlc.oracle.implementations.interp import Interp
from refmlc.oracle.record import known_rows
from refmlc.run.memory.tensor import Tensor

TVM = {"name": "tvm 0.27.0.post1"}
FILE = files("refmlc.oracle.suite") / "data" / "known" / "tvm-0.27.toml"
RECORDED = {row["id"]: row for row in tomllib.loads(FILE.read_text(encoding="utf-8"))["deviation"]}
ROWS = {row.id: row for row in known_rows(TVM)}
CHOICE = """
@T.prim_func
def main(A: T.Buffer((3,), "float32"), B: T.Buffer((3,), "float32")):
    for i in range(3):
        B[i] = VALUE
"""
GUARD = """
@T.prim_func
def main(A: T.Buffer((3,), "int32"), B: T.Buffer((3,), "bool")):
    for i in range(3):
        B[i] = A[i] != 0 and 12 // A[i] > 3
"""
SORT = """
@R.function
def main(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
    y = R.add(x, x)
    z = R.sort(y)
    return z
"""


class Another:
    """It says that it is TVM, and runs what `take` makes of a module, or answers what `answer` says."""

    name, promises_verdicts, says = "tvm:/python", False, TVM

    def __init__(self, take=lambda module: module, answer=lambda answer, _module: answer):
        self.take, self.answer = take, answer

    def prepare(self, module):
        return Ready(Interp(check=False).prepare(self.take(module)), module, self.answer)

    def close(self):
        """Nothing is held."""


class Ready:
    def __init__(self, inner, module, answer):
        self.inner, self.module, self.answer = inner, module, answer

    def run(self, func, args):
        return self.answer(self.inner.run(func, args), self.module)

    def close(self):
        """Nothing is held."""


def reads(value, other):
    """An implementation that stores another value."""

    def taken(module):
        text = module.source.text
        assert value in text
        return refmlc.read(text.replace(value, other))

    return Another(taken)


def array(typed):
    name, values = typed
    return np.array(values, np.dtype(getattr(ml_dtypes, name, None) or name)), dtype(name)


@pytest.mark.parametrize("name", [name for name, row in ROWS.items() if row.takes])
def test_a_row_gives_what_tvm_was_seen_to_give(name):
    """The witness of the row, taken as the row says, gives the result that the row records of TVM."""
    row = RECORDED[name]
    module = rewritten(refmlc.read(row["module"]), [ROWS[name]])
    arguments = [array(each) for each in row["input"]]
    answer = (
        Interp(check=False).prepare(module).run("main", [Tensor.from_numpy(each, kind) for each, kind in arguments])
    )
    if isinstance(row["got"], str):  # a signal: the program as TVM takes it is undefined
        assert answer.why is Stop.UNDEFINED
    else:
        np.testing.assert_array_equal(answer.args[-1].array, array(row["got"])[0])


@pytest.mark.needs("torch")
def test_softshrink_of_pytorch_becomes_what_tvm_gives_where_times_zero_is_folded():
    from refmlc.oracle.fuzz.subjects.imports import torch_modules  # noqa: PLC0415 - PyTorch is optional

    row = RECORDED["torch-softshrink-nan"]
    argument, _ = array(row["input"][0])
    program = TorchProgram((TorchCall("F.softshrink", ("x",)),), {}, {"x": argument})
    text = torch_modules.imported(program).script(show_meta=True)
    product = 'R.multiply(arguments_0, R.const(0.0, "float32"))'
    assert text.count(product) == 1
    for form, key in ((text, "expected"), (text.replace(product, "R.zeros_like(arguments_0)"), "got")):
        answer = Interp().prepare(refmlc.read(form)).run("main", [Tensor.from_numpy(argument)])
        np.testing.assert_array_equal(answer.value.array, array(row[key])[0])


def checked(text, implementation, **options):
    return refmlc.check(text, implementations=[implementation], pairs=False, **options)


def test_a_wrong_result_of_a_row_says_which():
    report = checked(CHOICE.replace("VALUE", "A[i] * T.float32(0)"), reads("A[i] * T.float32(0)", "T.float32(0)"))
    (finding,) = report.findings
    assert finding.code.id == "RM701"
    assert any(note.startswith("known row times-zero gives this result: ") for note in finding.notes)
    label = "wrong (known row times-zero)"
    assert label in str(report)
    assert label in report._repr_html_()
    (function,) = report.to_json()["functions"]
    assert label in {call["verdicts"]["tvm:/python"] for call in function["calls"]}
    assert report.status == 1


def test_another_wrong_result_of_the_same_program_is_news():
    """The program has the expression of the row; what is answered is not what the row gives."""
    other = reads("A[i] * T.float32(0)", "T.float32(1)")
    report = checked(CHOICE.replace("VALUE", "A[i] * T.float32(0)"), other)
    assert report.findings
    assert "known row" not in str(report)


def test_a_known_and_a_new_fault_in_one_program_are_news():
    text = CHOICE.replace("VALUE", "A[i] * T.float32(0) + T.float32(3)")
    other = reads("A[i] * T.float32(0) + T.float32(3)", "T.float32(0) + T.float32(4)")
    assert "known row" not in str(checked(text, other))


def test_rows_explain_together():
    text = CHOICE.replace("VALUE", "A[i] * T.float32(0) + (A[i] - A[i])")
    report = checked(text, reads("A[i] * T.float32(0) + (A[i] - A[i])", "T.float32(0) + T.float32(0)"))
    assert "wrong (known row times-zero, minus-self)" in str(report)


def test_what_is_decided_here_is_listed_and_no_finding():
    """TVM evaluates both operands of `and`; what divides by 0 there may do anything."""

    def killed(answer, _module):
        return Stopped(Stop.CRASHED, "SIGFPE")

    report = checked(GUARD, Another(answer=killed), func="main", inputs={"A": np.array([0, 1, 2], "int32")})
    assert (report.findings, report.status) == ((), 0)
    assert "1 decided here" in str(report) or "decided here" in str(report)
    (decided,) = report.decided
    assert decided.why.startswith("row and-eager: ")
    assert any("decided here: row and-eager: " in remark for remark in report.remarks)
    data = json.loads(json.dumps(report.to_json()))
    assert data["decided"][0]["kind"] == "decided here"
    fine = checked(GUARD, Another(answer=killed), func="main", inputs={"A": np.array([3, 1, 2], "int32")})
    assert [finding.code.id for finding in fine.findings] == ["RM703"]


def unsorted(answer, module):
    """`sort` leaves everything where it is, if there is a NaN."""
    if "R.sort" in refmlc.show(module) and np.isnan(answer.value.array).any():
        answer.value.array[...] = answer.value.array[::-1].copy()
    return answer


NANS = {"func": "main", "inputs": {"x": np.array([3, np.nan, 1, 2], "float32")}}


def test_an_operator_that_is_wrong_alone_on_such_operands_is_decided_here():
    report = checked(SORT, Another(answer=unsorted), **NANS)
    assert report.findings == ()
    assert "decided here" in str(report)


def test_another_operator_that_is_wrong_too_is_news():
    def both(answer, module):
        answer = unsorted(answer, module)
        if "R.add" in refmlc.show(module):
            answer.value.array[0] = 77
        return answer

    report = checked(SORT, Another(answer=both), **NANS)
    assert [finding.code.id for finding in report.findings] == ["RM701"]
    assert "known row" not in str(report)


def test_without_nan_the_operator_is_wrong():
    def reversed_(answer, module):
        answer.value.array[...] = answer.value.array[::-1].copy()
        return answer

    inputs = {"x": np.array([3, 4, 1, 2], "float32")}
    report = checked(SORT, Another(answer=reversed_), func="main", inputs=inputs)
    assert [finding.code.id for finding in report.findings] == ["RM701"]


def test_other_implementations_have_no_rows():
    other = reads("A[i] * T.float32(0)", "T.float32(0)")
    other.says = {"name": "mine 0.27.0.post1"}
    assert "known row" not in str(checked(CHOICE.replace("VALUE", "A[i] * T.float32(0)"), other))
