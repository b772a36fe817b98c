"""Builds of one program: which are wrong, and what tells causes apart."""

import pytest
from click.testing import CliRunner

from refmlc.cli import main
from refmlc.diag import Malformed
from refmlc.lang.wellformed.reader_checks import read
from refmlc.oracle.fuzz.exclusions import NOT_SENT_TO_TVM, is_excluded
from refmlc.oracle.fuzz.finding_pattern import Pattern, pattern_of
from refmlc.oracle.fuzz.settings import CampaignSettings
from refmlc.oracle.fuzz.subjects import builds
from refmlc.oracle.implementations.implementation import Limits, Stop, Stopped
from refmlc.oracle.implementations.interp import Interp
from refmlc.oracle.implementations.real_tvm import options_of
from refmlc.oracle.issue.script import ScriptBuild
from refmlc.strategies.case import Case
from refmlc.strategies.inputs import rolled_inputs

SETTINGS = CampaignSettings(kinds=(builds.KIND,), implementations=("tvm:/usr/bin/python3",))
PROGRAM = """# from tvm.script import tirx as T
@T.prim_func(s_tir=True)
def main(A: T.Buffer((3,), "{dtype}"), B: T.Buffer((3,), "{dtype}")):
    for i in range(3):
        B[i] = A[i] {operation}
"""


def case_of(operation="+ A[i]", dtype="int32"):
    module = read(PROGRAM.format(operation=operation, dtype=dtype), "program.py")
    return Case(module, "main", (rolled_inputs(module, "main", 1),))


def ways_of(**operations):
    return [
        (name.replace("_", "-"), builds.PlantedBuild(case_of(text).module, name)) for name, text in operations.items()
    ]


def wrong_of(ways):
    examination, taken = builds.examined(case_of(), ways, Limits())
    return builds.wrong_builds(examination, ways, len(taken))


def test_builds_that_agree_with_the_meaning_are_no_finding():
    assert wrong_of(ways_of(a="* 2", b="+ A[i]")) == ()


PATTERN = Pattern("int value", operators=frozenset({"exp"}))


def test_the_wrong_builds_are_named_in_order():
    (wrong,) = wrong_of(ways_of(a="* 2", b="+ 7", c="- 5"))
    assert wrong.builds == ("b", "c")
    assert wrong.cause(PATTERN) == ("RM701", "wrong", "int value", "", "exp", "b", "c")


def test_one_fault_of_all_builds_is_another_cause_than_one_of_some():
    ((every,), (some,)) = wrong_of(ways_of(a="+ 7", b="+ 7")), wrong_of(ways_of(a="+ 7", b="* 2"))
    assert every.cause(PATTERN)[-1] == "all"
    assert some.cause(PATTERN)[-1] == "a"


def test_a_known_row_is_a_cause_whatever_builds_have_it():
    ((every,), (some,)) = wrong_of(ways_of(a="+ 7", b="+ 7")), wrong_of(ways_of(a="+ 7", b="* 2"))
    known = Pattern("int value", row="some-row")
    assert every.cause(known) == some.cause(known) == ("RM701", "wrong", "", "some-row")


class FailingBuild(builds.PlantedBuild):
    """A build that stops with a message."""

    def __init__(self, message, name):
        super().__init__(case_of().module, name)
        self.message = message

    def prepare(self, _module):
        return Stopped(Stop.REJECTED, self.message, fault=True)


def test_builds_that_stop_with_other_messages_are_findings_of_their_own():
    c_compiler = "RuntimeError: Compilation error: /tmp/{}.c:1:2: error: ‘{}’ was not declared in this scope 1 | A"
    failing = {
        "opt=0": "InternalError: Unresolved call",
        "target=c": c_compiler.format("a", "half"),
        "target=c,opt=0": c_compiler.format("b", "half"),
        "target=c,opt=1": c_compiler.format("c", "inff"),
    }
    wrongs = wrong_of([(build, FailingBuild(message, build)) for build, message in failing.items()])
    assert [wrong.builds for wrong in wrongs] == [("opt=0",), ("target=c", "target=c,opt=0"), ("target=c,opt=1",)]
    causes = [wrong.cause(pattern_of(wrong.finding, None, Interp())) for wrong in wrongs]
    assert causes[1] == ("RM708", "compiler error", "the C compiler: half is undeclared", "")
    assert causes[2][2] == "the C compiler: inff is undeclared"


def test_a_build_for_a_processor_has_no_floats():
    ways = [
        ("opt=0", builds.PlantedBuild(case_of().module, "a")),
        ("x -mcpu=y", builds.PlantedBuild(case_of().module, "b")),
    ]
    assert builds.examined(case_of(), ways, Limits())[1] == ["opt=0", "x -mcpu=y"]
    assert builds.examined(case_of(dtype="float32"), ways, Limits())[1] == ["opt=0"]


def test_a_pipeline_has_the_programs_that_it_takes():
    graph = builds.program(SETTINGS, 1).module
    flat = builds.program(SETTINGS, builds.FLAT).module
    blocks = builds.program(SETTINGS, 0).module
    names = ("opt=0", builds.TIRX, builds.UNFUSED)
    assert builds.builds_of(graph, names) == ["opt=0", builds.UNFUSED]
    assert builds.builds_of(flat, names) == ["opt=0", builds.TIRX]
    assert builds.builds_of(blocks, names) == ["opt=0"]
    assert set(names) <= set(builds.builds(""))


@pytest.mark.parametrize("option", [builds.TIRX, builds.UNFUSED])
def test_a_pipeline_is_an_option_of_tvm_and_of_the_script(option):
    key, _, value = option.partition("=")
    assert options_of([option]) == {key: value}
    build = ScriptBuild.of(options_of([option, "mode=compiled"]))
    assert f", {key}={value!r})" in build.expression(graph=True)
    with pytest.raises(Malformed, match="has no option"):
        options_of([f"{key}=quantum"])


@pytest.mark.parametrize(
    ("flags", "processor"),
    [
        ("flags : sse4_2 popcnt", "nehalem"),
        ("flags : avx2 bmi2 fma sse4_2 popcnt", "haswell"),
        ("flags : avx2 bmi2 fma avx512f avx512bw avx512cd avx512dq avx512vl", "skylake-avx512"),
        ("flags : avx2 bmi2 fma avx512f", "haswell"),
    ],
)
def test_code_is_made_for_a_processor_that_this_machine_can_execute(flags, processor):
    assert builds.builds(flags)[len(builds.PLAIN_BUILDS) :] == (f"target=llvm -mcpu={processor}",)


def test_a_machine_that_says_nothing_has_the_plain_builds():
    assert builds.builds("") == builds.PLAIN_BUILDS


def test_the_builds_of_batches_take_turns(monkeypatch):
    monkeypatch.setattr(builds, "compiler", lambda _python, build, _limits: build)
    asked = [build for batch in range(4) for build, _ in builds.implementations("p", Limits(), batch)]
    assert asked == [builds.builds()[place % len(builds.builds())] for place in range(8)]
    assert [build for build, _ in builds.implementations("p", Limits())] == list(builds.builds())


def test_the_planted_fault_is_found_each_time_a_process_begins(monkeypatch):
    builds.prove_power.cache_clear()
    builds.prove_power()
    builds.prove_power.cache_clear()
    monkeypatch.setattr(builds, "wrong_builds", lambda _examination, _ways, _of: ())
    with pytest.raises(RuntimeError, match="planted"):
        builds.prove_power()


def test_programs_are_functions_and_graphs_that_tvm_takes_and_a_function_of_the_number():
    cases = [builds.program(SETTINGS, number) for number in range(10)]
    assert [case.to_json() for case in cases] == [builds.program(SETTINGS, number).to_json() for number in range(10)]
    assert not any(is_excluded(case.module, NOT_SENT_TO_TVM) for case in cases)
    kinds = {type(case.module.functions[case.func]).__name__ for case in cases}
    assert kinds == {"PrimFunc", "Function"}


def test_a_campaign_of_builds_needs_real_tvm(tmp_path):
    arguments = ["fuzz", "--programs", "1", "--dir", str(tmp_path), "--kinds", "builds", "--impl", "native:tiny"]
    done = CliRunner().invoke(main, arguments)
    assert done.exit_code == 2
    assert "need real TVM" in done.output
