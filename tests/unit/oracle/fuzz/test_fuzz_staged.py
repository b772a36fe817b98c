"""Traces of a schedule: what is wrong, whose fault it is, which cause that is, and with how few steps it is shown."""

import re
from collections import Counter
from importlib.resources import files

import needs
import pytest
from click.testing import CliRunner

from refmlc.cli import main
from refmlc.lang.script import read, show
from refmlc.oracle.fuzz import staged
from refmlc.oracle.fuzz.exclusions import NOT_SENT_TO_TVM, is_excluded
from refmlc.oracle.fuzz.settings import CampaignSettings
from refmlc.oracle.outcome import Kind
from refmlc.oracle.passes.run import TvmPrimitives
from refmlc.oracle.passes.stages import PassTrace, Stage
from refmlc.oracle.record import scheduled_rows
from refmlc.strategies.functions import rolled

PROGRAM = """from tvm.script import tirx as T
@T.prim_func(s_tir=True)
def main(A: T.Buffer((4,), "int32"), B: T.Buffer((4,), "int32")):
    for i in range({extent}):
        with T.sblock("B"):
            v = T.axis.spatial(4, i)
            B[v] = A[{index}] {operation}
"""


def text(extent=4, index="v", operation="+ 1"):
    return PROGRAM.format(extent=extent, index=index, operation=operation)


def trace(*texts, stopped="", kind=Kind.UNSUPPORTED):
    names = ["input", "split('B', 0, (None, 2))", "unroll('B', 1)", "bind('B', 0, 'threadIdx.x')"]
    return PassTrace(tuple(Stage(*pair) for pair in zip(names, texts, strict=False)), stopped, kind)


def test_a_trace_that_keeps_the_meaning_has_no_finding():
    checked, finding = staged.finding_of(trace(text(), text(operation="+ 2 - 1")))
    assert finding is None
    assert [row.verdict.value for row in checked.rows] == ["same"]


def test_the_first_wrong_primitive_is_guilty_not_the_last():
    _, finding = staged.finding_of(trace(text(), text(), text(operation="+ 2"), text(operation="+ 2 + 0")))
    assert finding.cause == ("unroll", "wrong", "", "")
    assert finding.steps == ("split('B', 0, (None, 2))", "unroll('B', 1)")


def test_a_program_that_is_undefined_afterwards_says_by_which_code():
    _, finding = staged.finding_of(trace(text(), text(index="v + 1")))
    assert finding.cause == ("split", "undefined", "RM304", "")


def test_a_step_that_ends_the_compiler_is_guilty():
    stopped = "in `unroll('B', 1)`: the compiler ended before its passes did: the process was killed by SIGSEGV"
    _, finding = staged.finding_of(trace(text(), text(operation="+ 2 - 1"), stopped=stopped, kind=Kind.COMPILER_ERROR))
    assert finding.cause == ("unroll", "compiler error", "", "")
    assert finding.code == "RM708"


def test_the_planted_fault_is_found_each_time_a_process_begins(monkeypatch):
    staged.prove_power.cache_clear()
    staged.prove_power()
    staged.prove_power.cache_clear()
    monkeypatch.setattr(staged, "finding_of", lambda _trace: (None, None))
    with pytest.raises(RuntimeError, match="planted"):
        staged.prove_power()


def test_steps_that_the_fault_does_not_need_are_taken_out_and_the_last_stays():
    tried = Counter()

    def keeps(steps):
        tried[steps] += 1
        return "b" in steps and steps[-1] == "e"

    assert staged.fewer(("a", "b", "c", "d", "e"), keeps) == ("b", "e")
    assert max(tried.values()) <= 2


def test_a_wrong_step_that_a_later_one_takes_back_is_found():
    _, finding = staged.finding_of(trace(text(), text(), text(operation="+ 2"), text(operation="+ 3 - 2")))
    assert finding.cause == ("unroll", "wrong", "", "")
    assert finding.steps == ("split('B', 0, (None, 2))", "unroll('B', 1)")


def test_the_last_stage_has_all_calls_although_the_one_before_had_its_structure():
    """Negative numbers are in no first call."""
    wrong = text(operation="+ T.Select(A[v] < -100, 2, 1)")
    checked, finding = staged.finding_of(trace(text(), wrong, wrong))
    assert checked.broken.name == "split('B', 0, (None, 2))"
    assert finding.cause == ("split", "wrong", "", "")


class CompilerOfRows:
    """A compiler each of whose steps adds one to what is copied."""

    name = "tvm 0.27.0.post1"

    def __call__(self, program, steps):
        stages = [
            Stage("input", program),
            *(Stage(step, program.replace("= A[v]", "= A[v] + T.float32(1)")) for step in steps),
        ]
        return PassTrace(tuple(stages))


def test_a_finding_is_the_recorded_deviation_whose_cause_it_has():
    tvm = CompilerOfRows()
    staged.causes_of_rows.cache_clear()
    causes = staged.causes_of_rows(tvm, "blockize")
    assert set(causes) == {"blockize-condition", "blockize-if"}  # another one copies `A[vj]`
    for row, pattern in (("blockize-condition", "guarded"), ("blockize-if", "branch")):
        assert causes[row][3] == pattern
        assert staged.known_row(tvm, causes[row]) == row
    assert staged.known_row(tvm, ("blockize", *causes["blockize-if"][1:3], "constant")) == ""
    assert staged.known_row(tvm, ("reorder", "wrong", "", "")) == ""
    assert scheduled_rows({"name": "tvm 9.9"}) == []


def test_steps_of_rows_are_spelled_for_tvm():
    assert staged.step_of_row(["split", "sum", 1, [1, 2]]) == "split('sum', 1, (1, 2))"
    assert staged.step_of_row(["cache_write", "R", "global"]) == "cache_write('R', 0, 'global')"
    at = staged.step_of_row(["reverse_compute_at", "R", "B", 0])
    assert at == "reverse_compute_at('R', 'B', 0, False, -1)"
    assert staged.step_of_row(["transform_block_layout", "R", 3]) == "transform_block_layout('R', 'thirds')"


@pytest.mark.needs("tvm")
def test_each_recorded_trace_has_a_cause_of_its_own_in_tvm():
    with TvmPrimitives(needs.TVM_PYTHON) as tvm:
        names = {
            staged.primitive_of(staged.step_of_row(steps[-1])) for _, _, steps in scheduled_rows({"name": tvm.name})
        }
        causes = {row: cause for name in names for row, cause in staged.causes_of_rows(tvm, name).items()}
    assert len(causes) >= 28
    assert len({*causes.values()}) == len(causes)


def test_a_smaller_program_has_the_same_cause():
    """The first half of the program is wrong for another cause: it is no way out."""
    guarded = text().replace("v = T.axis.spatial(4, i)", "v = T.axis.spatial(4, i)\n            T.where(i < 3)")

    class Compiler:
        def __call__(self, program, steps):
            return PassTrace((Stage("input", program), *(Stage(step, program.replace("+ 1", "+ 2")) for step in steps)))

    step = "blockize('B', 0)"
    finding = staged.finding_of(Compiler()(guarded, [step]))[1]
    assert finding.pattern == "guarded"
    small = staged.smaller_program(Compiler(), finding, 20.0)
    assert small.cause == finding.cause
    assert len(small.text) < len(finding.text)


def test_the_names_of_primitives_are_those_that_tvm_is_asked_for():
    side = files("refmlc.oracle.implementations.tvm_side") / "run_primitives.py"
    table = side.read_text(encoding="utf-8").partition("PRIMITIVES = {")[2].partition("\n}")[0]
    assert sorted(re.findall(r'^    "(\w+)": \(', table, re.MULTILINE)) == sorted(staged.PRIMITIVES)


def test_a_campaign_of_traces_needs_real_tvm(tmp_path):
    arguments = ["fuzz", "--programs", "1", "--dir", str(tmp_path), "--kinds", "primitives", "--impl", "native:tiny"]
    done = CliRunner().invoke(main, arguments)
    assert done.exit_code == 2
    assert "need real TVM" in done.output


def test_programs_of_traces_take_turns_and_have_nothing_that_tvm_does_not_read():
    settings = CampaignSettings(kinds=(staged.KIND,), implementations=("tvm:/usr/bin/python3",))
    texts = [staged.text_of(settings, number) for number in range(30)]
    assert not any(texts[0::3])
    assert len(set(texts[2::3])) == len(texts[2::3])
    exclude = (*staged.UNREAD, *NOT_SENT_TO_TVM)
    assert not any(is_excluded(read(text, "f.py"), exclude) for text in texts[1::3])
    first = [show(rolled(settings.seed_of(number), "").module, show_meta=True) for number in range(1, 30, 3)]
    assert texts[1::3] != first
