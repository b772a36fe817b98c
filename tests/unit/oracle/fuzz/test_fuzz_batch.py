"""A batch is a pure function of the settings and its numbers; what occurs in programs; which C is worth a compiler."""

import pytest

from refmlc.lang.script import show
from refmlc.lang.wellformed.reader_checks import read
from refmlc.oracle.examine import examine
from refmlc.oracle.fuzz import batch
from refmlc.oracle.fuzz.batch import describe, implementations_in, program, rewrites, run_batch, spec_and_interval
from refmlc.oracle.fuzz.coverage import all_parts, covered, there_is
from refmlc.oracle.fuzz.finding_pattern import Pattern
from refmlc.oracle.fuzz.reordered_loops import ReorderedLoops
from refmlc.oracle.fuzz.result import BatchResult, together
from refmlc.oracle.fuzz.settings import KINDS, CampaignSettings
from refmlc.oracle.fuzz.subjects.blamed_pipeline import BlamedPass
from refmlc.oracle.fuzz.subjects.builds import PLANTED, PlantedBuild
from refmlc.oracle.implementations.implementation import Stop, Stopped
from refmlc.strategies.case import Case
from refmlc.strategies.inputs import rolled_inputs

INTERP = CampaignSettings(implementations=("interp",), kinds=KINDS, size=6, sanitize=2)
PLUS = """
@T.prim_func
def main(A: T.Buffer((64,), "float32"), B: T.Buffer((64,), "float32")):
    for i in range(64):
        with T.block("B"):
            vi = T.axis.spatial(64, i)
            B[vi] = T.sqrt(A[vi])
"""
ONE = """
@T.prim_func
def main(A: T.Buffer((1,), "int8"), n: T.int32):
    if n > 3:
        A[0] = T.int8(1)
"""


def test_a_batch_is_the_same_each_time():
    assert run_batch(INTERP.to_json(), 2, INTERP.programs(2)) == run_batch(INTERP.to_json(), 2, INTERP.programs(2))


def test_programs_alone_come_to_what_they_come_to_together():
    whole = BatchResult.from_json(run_batch(INTERP.to_json(), 4, INTERP.programs(4)))
    alone = [BatchResult.from_json(run_batch(INTERP.to_json(), 4, [one])) for one in INTERP.programs(4)]
    assert together(4, alone).verdicts == whole.verdicts
    assert together(4, alone).coverage == {family: tuple(sorted(names)) for family, names in whole.coverage.items()}
    assert sum(whole.verdicts["interp"].values()) >= 6


def test_other_seeds_are_other_programs():
    texts = {show(program(CampaignSettings(seed=seed), number).module) for seed in range(3) for number in range(10)}
    assert len(texts) > 24  # two seeds are one for Python


def test_a_described_program_is_the_program():
    assert describe(INTERP.to_json(), 7)["text"] == show(program(INTERP, 7).module)


def test_schedules_have_rewrites_and_the_others_have_none():
    settings = CampaignSettings(kinds=("functions", "schedules"))
    made = [(number % 2, rewrites(settings, number, program(settings, number))) for number in range(24)]
    assert not any(found for kind, found in made if kind == 0)
    changed = [found[0] for kind, found in made if kind == 1 and found]
    assert len(changed) > 6
    assert all(show(one.module) != show(one.base.module) for one in changed)


@pytest.mark.parametrize(
    ("spec", "means"),
    [("native", ("native", 1)), ("native@8", ("native", 8)), ("cmd:a@b", ("cmd:a@b", 1)), ("x@0", ("x@0", 1))],
)
def test_in_one_batch_of_so_many(spec, means):
    assert spec_and_interval(spec) == means


def test_who_is_asked_in_a_batch():
    settings = CampaignSettings(implementations=("native", "moved@3"))
    assert [implementations_in(settings, batch) for batch in range(4)] == [
        ["native", "moved"],
        ["native"],
        ["native"],
        ["native", "moved"],
    ]


def test_what_occurs():
    found = covered([read(PLUS, "a.py"), read(ONE, "b.py")], ["RM304", "defined", "unsupported"])
    assert {"tir.SBlock", "tir.For", "tir.IfThenElse", "tir.BufferLoad", "tir.BufferStore"} <= set(found["kinds"])
    assert "tir.While" not in found["kinds"]
    assert set(found["operators"]) == {"sqrt", "gt"}
    assert {"float32", "int8", "int32"} <= set(found["dtypes"])
    assert len(found["clauses"]) == 3
    assert found["outcomes"] == ("RM304", "defined")
    assert all(set(names) <= all_parts()[family] for family, names in found.items())
    assert all(len(found[family]) <= count for family, count in there_is().items())


@pytest.mark.needs("compiler")
def test_only_programs_with_reordered_loops_are_compiled_for_it():
    taken, left = ReorderedLoops().prepare_all([read(PLUS, "a.py"), read(ONE, "b.py")])
    assert not isinstance(taken, Stopped)
    assert isinstance(left, Stopped)
    assert left.why is Stop.UNSUPPORTED


@pytest.mark.parametrize(
    ("name", "build"), [("tvm:p", ""), ("tvm:p,opt=0", "opt=0"), ("interp", None), ("cmd:p", None)]
)
def test_another_result_of_tvm_has_a_guilty_pass(monkeypatch, name, build):
    module, other = (read(PLANTED.replace("TERM", term), "planted.py") for term in ("1", "2"))
    case = Case(module, "main", (rolled_inputs(module, "main", 1),))
    (examination,) = examine([case], [PlantedBuild(other, name)])
    asked = []
    monkeypatch.setattr(batch, "passes_of", lambda *words: asked.append(words[:2]))
    monkeypatch.setattr(batch, "blamed", lambda _compiler, _finding: BlamedPass("tirx.Odd", "it is `tirx.Odd`"))
    (finding,) = examination.findings
    blame = batch.blame_for(CampaignSettings(), finding)
    assert (blame.name, asked) == (("", []) if build is None else ("tirx.Odd", [("p", build)]))
    lines = batch.message_of(CampaignSettings(), finding, Pattern("int value"), blame).splitlines()
    assert ("it is `tirx.Odd`" in lines) == (build is not None)
