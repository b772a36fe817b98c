"""The parts of a report: what a file records, neighbours, bisection, the script, similar rows."""

import math

import numpy as np
import pytest

from refmlc.diag import Malformed
from refmlc.lang.dtypes import FLOAT32, INT32
from refmlc.lang.script import read
from refmlc.oracle.difference import Difference
from refmlc.oracle.evidence.case_file import CaseCall, CaseFile
from refmlc.oracle.evidence.literals import arguments_data
from refmlc.oracle.issue.neighbours import neighbours
from refmlc.oracle.issue.script import ScriptBuild, WrongElement, tvm_script
from refmlc.oracle.issue.subject import read_subject
from refmlc.oracle.issue.versions import in_order, verdicts
from refmlc.oracle.record import similar_rows
from refmlc.run.memory.tensor import Tensor
from refmlc.run.memory.values import Shape
from refmlc.strategies.arguments import Array, Number, ShapeOf
from refmlc.strategies.case import Case

TEXT = """
@T.prim_func
def main(A: T.Buffer((6,), "float32"), n: T.int32, B: T.Buffer((6,), "float32")):
    for i in range(6):
        B[i] = A[i] * T.float32(2) + T.Cast("float32", n)
"""
VALUES = [1.5, -0.0, math.inf, 3.0, 1e-45, 0.1]


def case_text(code="rm701", args=None):
    tensor = Tensor.from_numpy(np.array(VALUES, "float32"), FLOAT32)
    data = arguments_data(args or [tensor, 7, Tensor.empty((6,), FLOAT32)])
    return CaseFile(f"{code}-0", (), (), "0.27", "", "tvm:/opt/python", TEXT, "main", (CaseCall(tuple(data)),)).toml()


# ------------------------------------------------------------------------------------------ subjects


def test_a_case_is_read_with_its_values_bit_by_bit():
    subject = read_subject(case_text(), "case.toml")
    assert (subject.code, subject.specs, subject.id) == ("RM701", ("tvm:/opt/python",), "rm701-0")
    first, number, out = subject.case.arguments()
    assert first.array.tobytes() == np.array(VALUES, "float32").tobytes()
    assert number == 7
    assert subject.case.calls[0][1] == Number(INT32, 7)
    assert not out.written.any()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (case_text("rm304"), "records RM304: a report is about RM701, RM703"),
        (case_text(args=[(1, 2)]), "argument 0 of the case has no recipe"),
        ('signature = "x"\npath = "tvm"\ncode = "RM701"\n[case]\n', "has no program"),
        ("x = 1", "RM109"),
    ],
)
def test_what_is_no_subject_is_refused(text, message):
    with pytest.raises(Malformed) as caught:
        read_subject(text, "case.toml")
    assert message in f"{caught.value.code.id} {caught.value.diagnostic.message}"


def test_a_finding_of_a_campaign_is_read_with_its_recipes():
    text = (
        'signature = "s"\npath = "tvm:/opt/python"\ncode = "RM703"\nimplementations = ["tvm:/opt/python"]\n[case]\n'
        f"text = '''\n{TEXT}'''\nfunc = \"main\"\ncalls = [[{{array = \"float32\", shape = [6], way = \"steps\"}}, "
        '{number = "int32", value = 1}, {array = "float32", shape = [6], form = "fresh"}]]\n'
    )
    subject = read_subject(text, "finding.toml")
    assert (subject.code, subject.specs) == ("RM703", ("tvm:/opt/python",))
    assert subject.case.calls[0][1] == Number(INT32, 1)


# ------------------------------------------------------------------------------------------ neighbours


def test_neighbours_differ_in_one_size_a_dtype_or_an_option():
    case = Case(
        read(TEXT), "main", ((Array(FLOAT32, (6,), "cycle", pool=(1.0, 2.0)), Number(INT32, 1), Array(FLOAT32, (6,))),)
    )
    found = {each.name: each for each in neighbours(case, options=("opt=0",))}
    names = ["1 for 6", "3 for 6", "4 for 6", "5 for 6", "7 for 6", "8 for 6", "16 for 6"]
    assert [*found] == [*(name for name in names if name != "3 for 6"), "float16", "float64", "opt=0"]
    seven = found["7 for 6"].case
    first, _, out = seven.arguments()
    assert (first.shape, out.shape) == ((7,), (7,))
    assert first.array.tolist() == [1.0, 2.0, 1.0, 2.0, 1.0, 2.0, 1.0]
    half = found["float16"].case
    assert str(half.arguments()[0].dtype) == "float16"
    assert found["opt=0"].case is case


def test_a_neighbour_that_breaks_a_rule_is_left_out():
    text = '@T.prim_func\ndef main(A: T.Buffer((2,), "float32")):\n    A[0] = T.float32(65504)\n'
    case = Case(read(text), "main", ((Array(FLOAT32, (2,)),),))
    assert {each.name for each in neighbours(case)} >= {"1 for 2", "3 for 2"}
    one = Case(read(text.replace("(2,)", "(1,)")), "main", ((Array(FLOAT32, (1,)),),))
    assert all("for" not in each.name for each in neighbours(one))


# ------------------------------------------------------------------------------------------ versions


def test_up_to_four_versions_are_all_run():
    runs = []
    rows = verdicts(["1", "2", "3", "4"], lambda number: (runs.append(number), (number % 2 == 1, str(number)))[1])
    assert [row.affected for row in rows] == [False, True, False, True]
    assert not any(row.inferred for row in rows)


def test_more_are_bisected():
    for first in range(1, 20):
        runs = []
        rows = verdicts([str(each) for each in range(20)], lambda n, f=first, r=runs: (r.append(n), (n >= f, "x"))[1])
        assert [row.affected for row in rows] == [number >= first for number in range(20)]
        assert len(runs) == len({*runs}) <= 2 + 5
        assert [row.inferred for row in rows] == [number not in runs for number in range(20)]


def test_equal_ends_infer_what_is_between():
    rows = verdicts(list("abcdef"), lambda _number: (True, "wrong"))
    assert [row.inferred for row in rows] == [False, True, True, True, True, False]
    assert {row.word for row in rows} == {"wrong"}


def test_versions_are_ordered_by_time():
    versions = ["0.27.0.post1", "0.9.0", "0.27.0", "0.26.0", "0.27.0.dev3"]
    expected = ["0.9.0", "0.26.0", "0.27.0.dev3", "0.27.0", "0.27.0.post1"]
    assert [versions[number] for number in in_order(versions)] == expected


# ------------------------------------------------------------------------------------------ the script


@pytest.mark.parametrize(
    ("expected", "bound", "condition"),
    [
        (2.0, None, "actual == expected and np.signbit(actual) == np.signbit(expected)"),
        (2, None, "actual == expected"),
        (2.0, 0.5, "abs(actual - expected) <= 0.5"),
        (math.nan, None, "np.isnan(actual)"),
    ],
)
def test_the_script_compares_by_the_rule(expected, bound, condition):
    case = read_subject(case_text(), "case.toml").case
    wrong = WrongElement(Difference((3,), 1.0, expected, None, bound, 1, 6), 2)
    text = tvm_script(case, wrong, ScriptBuild("llvm -mcpu=haswell", 0))
    assert f"\nright = {condition}\n" in text
    assert "return args[2]" in text
    assert "run().numpy()[3].item()" in text
    assert "opt_level=0" in text
    assert "'mcpu': 'haswell'" in text
    assert "refmlc" not in text
    compile(text, "script.py", "exec")


def test_there_is_no_script_for_what_cannot_be_written():
    large = Case(
        read(TEXT.replace("6", "600")), "main", ((Array(FLOAT32, (600,)), Number(INT32, 1), Array(FLOAT32, (600,))),)
    )
    assert tvm_script(large, None, ScriptBuild()) is None


def test_shapes_have_recipes():
    shapes = read_subject(case_text(args=[Shape((2, 3))]), "x").case.calls[0]
    assert shapes == (ShapeOf((2, 3)),)


# ------------------------------------------------------------------------------------------ similar rows


def test_rows_that_share_operators_or_the_pass_are_similar():
    text = '@T.prim_func\ndef main(A: T.Buffer((2,), "float32"), R: T.Buffer((2,), "bool")):\n    R[0] = A[0] != A[1]\n'
    says = {"name": "tvm 0.27.0.post1"}
    assert similar_rows(says, read(text), "")[0].id == "ne-nan"
    assert similar_rows({"name": "other"}, read(text), "") == []
    plain = '@T.prim_func\ndef main(A: T.Buffer((2,), "float32")):\n    A[0] = A[1]\n'
    assert similar_rows(says, read(plain), "") == []
    assert "reversed-modulo" in [row.id for row in similar_rows(says, read(plain), "FlattenBuffer")]
