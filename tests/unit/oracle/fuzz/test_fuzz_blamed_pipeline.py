"""The guilty pass of a build: the first stage that is not what the program means, with the call that showed it."""

import pytest

from refmlc.lang.script import show
from refmlc.lang.wellformed.reader_checks import read
from refmlc.oracle.examine import examine
from refmlc.oracle.fuzz.row_looks import AFTER_PASSES
from refmlc.oracle.fuzz.subjects import blamed_pipeline
from refmlc.oracle.fuzz.subjects.blamed_pipeline import NO_PASS, UNKNOWN, BlamedPass, blamed, passes_of
from refmlc.oracle.fuzz.subjects.builds import PlantedBuild
from refmlc.oracle.outcome import Kind
from refmlc.oracle.passes.stages import PassTrace, Stage
from refmlc.strategies.case import Case
from refmlc.strategies.inputs import rolled_inputs

TEXT = """# from tvm.script import tirx as T
@T.prim_func(s_tir=True)
def main(A: T.Buffer((3,), "int32"), n: T.int32, B: T.Buffer((3,), "int32")):
    for i in range(3):
        B[i] = A[i] * n + TERM
"""


def text_of(term):
    return show(read(TEXT.replace("TERM", term), "p.py"), show_meta=True)


def finding(term="2"):
    module, other = read(text_of("1"), "p.py"), read(text_of(term), "p.py")
    case = Case(module, "main", (rolled_inputs(module, "main", 1),))
    (examined,) = examine([case], [PlantedBuild(other, "wrong")])
    return examined.findings[0]


def compiler(*stages, stopped="", kind=Kind.UNSUPPORTED):
    return lambda text: PassTrace((Stage("input", text), *stages), stopped, kind)


SAME = Stage("tirx.UnrollLoop", text_of("(2 - 1)"))
WRONG = Stage("tirx.StmtSimplify", text_of("2"))
UNREAD = Stage("tirx.LowerIntrin", "this is no program")


def test_the_first_pass_whose_stage_is_wrong_is_guilty():
    blame = blamed(compiler(SAME, WRONG, Stage("tirx.Simplify", text_of("3"))), finding())
    assert blame == BlamedPass("tirx.StmtSimplify", "pass by pass: `tirx.StmtSimplify` changes what `main` computes")


def test_a_stage_that_is_not_read_may_be_guilty_too():
    line = "pass by pass: `tirx.LowerIntrin` or `tirx.StmtSimplify` changes what `main` computes"
    assert blamed(compiler(SAME, UNREAD, WRONG), finding()) == BlamedPass("", line)


@pytest.mark.parametrize("name", NO_PASS)
def test_what_runs_the_work_of_passes_is_no_guilty_one(name):
    blame = blamed(compiler(SAME, Stage(name, text_of("2"))), finding())
    assert blame == BlamedPass("", f"pass by pass: `{name}` changes what `main` computes")


def test_the_pass_in_which_the_compiler_stops_is_named():
    stopped = compiler(SAME, stopped="in `tirx.LowerIntrin`: InternalError: a check", kind=Kind.COMPILER_ERROR)
    assert blamed(stopped, finding()) == BlamedPass("tirx.LowerIntrin", "pass by pass: TVM stops in `tirx.LowerIntrin`")
    assert blamed(compiler(SAME, stopped="no place", kind=Kind.COMPILER_ERROR), finding()) == UNKNOWN


def test_where_each_stage_is_right_what_follows_is_wrong():
    assert blamed(compiler(SAME), finding()) == BlamedPass(
        AFTER_PASSES, "pass by pass: what follows the passes is wrong"
    )
    assert blamed(compiler(SAME, UNREAD), finding()) == UNKNOWN  # nobody knows
    assert blamed(compiler(), finding()) == UNKNOWN


def test_the_call_is_the_one_that_was_wrong():
    """Only where n is what it was in the call, the stage differs."""
    (_, n, _) = finding().case.arguments(0)
    special = TEXT.replace("TERM", f"T.Select(n == {n}, 2, 1)")
    assert blamed(compiler(Stage("tirx.Odd", special)), finding()).name == "tirx.Odd"


def test_the_passes_are_those_of_the_build(monkeypatch):
    monkeypatch.setattr(blamed_pipeline, "kept", lambda _make, *args: args)
    assert passes_of("p", "opt=0", 3.0) == ("p", "llvm", 0, (), 3.0)
    assert passes_of("p", "", 3.0) == ("p", "llvm", 2, (), 3.0)
    assert passes_of("p", "target=c", 3.0) == ("p", "c", 2, (), 3.0)
    named = passes_of("p", "tir_pipeline=tirx", 3.0)
    assert named == ("p", "llvm", 2, (("tir_pipeline", "tirx"),), 3.0)


@pytest.mark.parametrize("text", ["no program", ""])
def test_a_compiler_whose_reader_leaves_nothing_is_blamed_for_nothing(text):
    assert blamed(lambda _: PassTrace((Stage("input", text),)), finding()) == UNKNOWN
