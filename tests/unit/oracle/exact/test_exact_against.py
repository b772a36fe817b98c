"""`check(..., against="reference")`: which implementation is inaccurate, where, by what definition."""

import sys

import numpy as np
import pytest

import refmlc
from refmlc.diag.errors import RefmlcError
from refmlc.oracle.check.run import check
from refmlc.oracle.evidence import case_text, read_case
from refmlc.oracle.evidence.replay import replay
from refmlc.oracle.exact.against import shown_path
from refmlc.oracle.exact.definitions import functions
from refmlc.oracle.exact.definitions.table import DEFINITIONS
from refmlc.oracle.implementations.implementation import Ended, Stop, Stopped
from refmlc.oracle.implementations.interp import Interp
from refmlc.oracle.outcome import Kind
from refmlc.run.memory.tensor import Tensor

NORM = """
@R.function
def main(x: R.Tensor((1, 2, 2), "float32"), g: R.Tensor((2,), "float32"), b: R.Tensor((2,), "float32")):
    with R.dataflow():
        y = R.nn.group_norm(x, g, b, num_groups=1, channel_axis=1, axes=[2])
        z = R.multiply(y, y)
        R.output(z)
    return z
"""


def verdicts(report):
    (row,) = report.rows
    return {name: [verdict.kind for verdict in each] for name, each in row.examination.verdicts.items()}


def checked(text, implementations=("interp",), func="main", **inputs):
    module = refmlc.read(text, "model.py")
    return check(
        module, func, inputs=inputs, implementations=implementations, calls=1, pairs=False, against="reference"
    )


def normed(*values):
    x = np.array(values, "float32").reshape(1, 2, 2)
    return checked(NORM, ("interp", "native"), x=x, g=np.ones(2, "float32"), b=np.zeros(2, "float32"))


def test_cancellation_in_a_norm_is_a_finding_on_each_implementation():
    report = normed(80000, 80001, 80002, 80003)
    assert report.status == 1
    assert {finding.code.id for finding in report.findings} == {"RM709"}
    assert verdicts(report) == {
        "interp": [Kind.EQUAL],
        "native": [Kind.EQUAL],
        "interp against reference": [Kind.WRONG],
        "native against reference": [Kind.WRONG],
    }
    first = report.findings[0]
    assert first.span.line == 5
    # (80000 - 80001.5) / sqrt(1.25 + 1e-5)
    assert first.notes[0] == "the result[0, 0, 0] is nan, the definition gives -1.34163541997"
    assert first.notes[3] == "definition: PyTorch 2.13 torch.nn.GroupNorm"


def test_the_finding_names_the_operator_and_not_those_that_use_its_result():
    report = normed(80000, 80001, 80002, 80003)
    assert all("`nn.group_norm`" in finding.message for finding in report.findings)


def test_without_cancellation_there_is_no_finding():
    report = normed(-1, 0, 1, 2)
    assert report.findings == ()
    assert verdicts(report)["interp against reference"] in ([Kind.EQUAL], [Kind.PERMITTED])


def test_the_finding_is_a_program_of_one_operator_on_the_inputs_of_the_call():
    (row,) = normed(80000, 80001, 80002, 80003).rows
    finding = row.examination.findings[0]
    assert [arg.array.reshape(-1).tolist() for arg in finding.case.arguments()] == [
        [80000.0, 80001.0, 80002.0, 80003.0],
        [1.0, 1.0],
        [0.0, 0.0],
    ]
    assert "R.nn.group_norm(x0, x1, x2" in refmlc.show(finding.case.module)
    # (x - 80001.5) / sqrt(1.25 + 1e-5), to float32
    assert np.allclose(finding.expected.array.reshape(-1), [-1.3416354, -0.4472118, 0.4472118, 1.3416354], rtol=1e-7)


def test_a_mean_of_int8_that_wraps_is_a_finding():
    text = '@R.function\ndef main(x: R.Tensor((1, 1, 2), "int8")):\n    return R.nn.avg_pool1d(x, pool_size=[2])\n'
    report = checked(text, x=np.full((1, 1, 2), 100, "int8"))
    assert report.findings[0].notes[0] == "the result[0, 0, 0] is -28, the definition gives 100"


def test_a_function_without_operators_is_unsupported_by_name():
    text = """
@T.prim_func(s_tir=True)
def main(A: T.Buffer((2,), "float32"), B: T.Buffer((2,), "float32")):
    for i in range(2):
        B[i] = A[i]
"""
    report = checked(text)
    assert verdicts(report)["interp against reference"] == [Kind.UNSUPPORTED]
    assert any("no operator of Relax is called" in remark for remark in report.remarks)


def test_an_implementation_that_does_not_take_an_operator_is_not_accused():
    class Refusing:
        name, promises_verdicts = "mine", False

        def prepare(self, module):
            return Stopped(Stop.UNSUPPORTED, "no float32 here")

        def close(self):
            pass

    report = checked(NORM, (Refusing(),))
    assert verdicts(report)["mine against reference"] == [Kind.NOT_TAKEN]
    assert report.findings == ()


def test_another_word_than_reference_is_refused():
    with pytest.raises(RefmlcError, match="`against` is `reference`, not `truth`"):
        check(refmlc.read(NORM), against="truth")


def test_a_missing_mpmath_is_one_message_that_names_the_extra(monkeypatch):
    text = '@R.function\ndef main(x: R.Tensor((2,), "float32")):\n    return R.exp(x)\n'
    functions._mpmath.cache_clear()
    monkeypatch.setitem(sys.modules, "mpmath", None)
    with pytest.raises(RefmlcError) as caught:
        checked(text)
    functions._mpmath.cache_clear()
    assert caught.value.diagnostic.message == "`mpmath` is not installed; the exact reference of `exp` needs it"
    assert caught.value.diagnostic.notes == ("pip install 'refmlc[reference]'",)


def test_norms_need_no_mpmath(monkeypatch):
    functions._mpmath.cache_clear()
    monkeypatch.setitem(sys.modules, "mpmath", None)
    report = normed(80000, 80001, 80002, 80003)
    functions._mpmath.cache_clear()
    assert report.findings


def test_a_finding_is_written_as_a_case_that_replays(tmp_path):
    (row,) = normed(80000, 80001, 80002, 80003).rows
    case = read_case(case_text(row.examination.findings[0]), "case.toml")
    again = replay(case, [Interp()])
    assert again.broken == ()
    assert [finding.code.id for finding in again.examination.findings] == ["RM709"]


def test_the_table_has_the_short_name_of_an_implementation():
    shown = {"tvm:/path/to/python": "tvm 0.27"}
    assert shown_path("tvm:/path/to/python against reference", shown) == "tvm 0.27 against reference"
    assert shown_path("tvm:/path/to/python", shown) == "tvm 0.27"


def test_a_result_of_another_shape_is_not_compared_and_no_error_of_ours():
    class Flat:
        name, promises_verdicts = "mine", False

        def prepare(self, module):
            return self

        def run(self, func, args):
            return Ended(Tensor.from_numpy(np.zeros(3, "float32")), tuple(args))

        def close(self):
            pass

    text = '@R.function\ndef main(x: R.Tensor((2, 3), "float32")):\n    return R.negative(x)\n'
    report = checked(text, (Flat(),))
    assert verdicts(report)["mine against reference"] == [Kind.UNSUPPORTED]
    assert any("the result has the shape (3,), the definition gives (2, 3)" in remark for remark in report.remarks)


def test_what_is_no_probability_has_no_definition():
    args = np.array([[0.5, -0.25, 0.75]], "float32"), np.array([[0.6]], "float32"), np.array([[0]])
    assert DEFINITIONS["multinomial_from_uniform"].compute(*args)[0, 0].error == float("inf")
