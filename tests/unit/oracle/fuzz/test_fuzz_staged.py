"""Traces of a schedule: what is wrong, whose fault it is, which cause that is, and with how few steps it is shown."""

import json
import re
from collections import Counter
from importlib.resources import files

import jsonschema
import needs
import pytest
from click.testing import CliRunner

from refmlc.cli import main
from refmlc.diag import RefmlcError
from refmlc.lang.script import read, show
from refmlc.oracle.fuzz.exclusions import NOT_SENT_TO_TVM, is_excluded
from refmlc.oracle.fuzz.finding_file import finding_text
from refmlc.oracle.fuzz.result import FindingRecord
from refmlc.oracle.fuzz.settings import CampaignSettings
from refmlc.oracle.fuzz.subjects.primitives import staged
from refmlc.oracle.fuzz.subjects.replayed_trace import replayed
from refmlc.oracle.fuzz.subjects.stage_tally import base_of
from refmlc.oracle.outcome import Kind
from refmlc.oracle.passes.run import TvmPrimitives
from refmlc.oracle.passes.stages import PassTrace, Stage, StageRow, StageVerdict, TraceCheck
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


FILLED = """from tvm.script import tirx as T
@T.prim_func(s_tir=True)
def main(A: T.Buffer((8,), "int32"), B: T.Buffer((8,), "int32")):
    for i in range(8):
        with T.sblock("B"):
            v = T.axis.spatial(8, i)
            GUARD
            B[v] = A[v] + 1
"""
HALF_FILLED = FILLED.replace("GUARD", "T.where(i < 5)")


@pytest.mark.parametrize("guard", ["T.where(i < 8)", "T.where(i < 6)"])
def test_a_step_that_writes_what_the_program_leaves_alone_is_wrong(guard):
    checked, finding = staged.finding_of(trace(HALF_FILLED, FILLED.replace("GUARD", guard)))
    assert finding.cause[:2] == ("split", "wrong")
    assert "another `B`: [5] is " in checked.broken.diagnostic.message


def test_a_step_that_reads_an_output_before_it_is_written_is_judged_by_that():
    """With values in the output it has the bits of the program: it is called with an empty one too."""
    reads = FILLED.replace("GUARD", "T.where(i < 5)").replace("A[v] + 1", "A[v] + 1 + 0 * B[v]")
    checked, finding = staged.finding_of(trace(HALF_FILLED, reads))
    assert finding.cause[:3] == ("split", "undefined", "RM305")
    assert [row.calls for row in checked.rows] == [1]


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
    assert set(causes) == {
        f"blockize-{name}"
        for name in (
            "begin",
            "beside",
            "condition",
            "constant",
            "drops-init",
            "if",
            "init-reads",
            "no-axis",
            "one-block",
            "order",
            "repeated",
            "thread",
            "variable",
        )
    }
    assert causes["blockize-begin"] == (
        "blockize",
        "wrong",
        "",
        "begin",
    )  # it copies `A[vj]`: wrong as the row says
    for row, pattern in (("blockize-condition", "guarded"), ("blockize-if", "branch"), ("blockize-order", "order")):
        assert causes[row][3] == pattern
        assert staged.known_row(tvm, causes[row]) == row
    assert staged.known_row(tvm, ("blockize", *causes["blockize-if"][1:3], "shared")) == ""
    assert staged.known_row(tvm, ("reorder", "wrong", "", "")) == ""
    assert scheduled_rows({"name": "tvm 9.9"}) == []


@pytest.mark.parametrize(
    ("recorded", "cause", "alike"),
    [
        (("undefined", "RM305", "guarded"), ("undefined", "RM305", "guarded, shared"), True),
        (("undefined", "RM305", "guarded"), ("undefined", "RM304", "guarded, shared"), False),
        (("undefined", "RM305", "guarded"), ("wrong", "", "guarded"), True),  # undefined code gives anything
        (("undefined", "RM305", "guarded"), ("wrong", "", "guarded, shared"), False),
        (("undefined", "RM312", "guarded"), ("undefined", "RM312", "guarded, shared"), True),  # and of the other side
        (("undefined", "RM318", "guarded"), ("wrong", "", "guarded"), False),  # it is what a block declares
        (("undefined", "RM318", "guarded"), ("undefined", "RM305", "guarded"), False),
        (("undefined", "RM304", ""), ("undefined", "RM304", "rewritten"), True),
        (("undefined", "RM305", "guarded, affine"), ("undefined", "RM305", "guarded, constant"), True),
        (("undefined", "RM305", "begin, affine"), ("undefined", "RM305", "begin, constant"), True),  # the first one
        (("undefined", "RM305", "begin, affine"), ("undefined", "RM305", "affine, constant"), False),
        (("undefined", "RM304", ""), ("undefined", "RM304", "guarded"), False),
        (("undefined", "RM304", ""), ("undefined", "RM305", ""), False),
        (("wrong", "", "repeated, constant"), ("wrong", "", "repeated"), True),
        (("wrong", "", "by max"), ("wrong", "", "by mul"), False),
        (("wrong", "", "siblings, turned"), ("wrong", "", "siblings"), False),
        (("wrong", "", ""), ("wrong", "", "guarded"), False),  # nothing is unusual in the row's block
        (("wrong", "", "guarded, shared"), ("wrong", "", "guarded"), False),
        (("ill-formed", "RM207 Variable", "in place"), ("ill-formed", "RM207 Variable", "reduction"), True),
        (("ill-formed", "RM207 Variable", "in place"), ("ill-formed", "RM206 Buffer", "in place"), False),
        (("compiler error", "", "Check failed: a : [v]"), ("compiler error", "", "Check failed: a : [x, y]"), True),
        (("compiler error", "", "Check failed: a : [v]"), ("compiler error", "", "Check failed: b : [v]"), False),
        (("compiler error", "", "guarded"), ("compiler error", "", "guarded, shared"), True),  # both end TVM
        (("compiler error", "", "guarded"), ("compiler error", "", "branch"), False),
    ],
)
def test_a_finding_is_like_a_recorded_deviation_with_the_same_code_and_less_traits(recorded, cause, alike):
    assert staged.is_like(("cache_inplace", *recorded), ("cache_inplace", *cause)) == alike
    assert not staged.is_like(("cache_inplace", *recorded), ("cache_write", *cause))
    sides = alike and (recorded[0] == "ill-formed" or recorded[1] == "RM312")
    assert staged.is_like(("cache_read", *recorded), ("cache_write", *cause)) == sides


@pytest.mark.parametrize(
    ("recorded", "cause", "alike"),
    [
        (("cache_read", "undefined", "RM305", "plain"), ("reindex_cache_read", "undefined", "RM305", "plain"), True),
        (("cache_read", "undefined", "RM305", "parts"), ("reindex_cache_read", "undefined", "RM305", "parts"), True),
        (("cache_read", "undefined", "RM305", "parts"), ("reindex_cache_write", "undefined", "RM305", "parts"), False),
        (("cache_read", "undefined", "RM305", "parts"), ("reindex_cache_read", "undefined", "RM305", "affine"), False),
        (("cache_read", "undefined", "RM305", ""), ("reindex_cache_read", "undefined", "RM305", ""), False),
        (("cache_read", "undefined", "RM305", "parts"), ("reindex", "undefined", "RM305", "parts"), False),
        (("cache_write", "wrong", "", "return"), ("reindex_cache_write", "wrong", "", "return, scalar"), True),
        (("read_at", "undefined", "RM304", "guarded"), ("write_at", "undefined", "RM304", "view, guarded"), True),
        (
            ("cache_write", "undefined", "RM305", "updating"),
            ("reindex_cache_write", "undefined", "RM305", "in place"),
            True,
        ),
        (
            ("cache_write", "undefined", "RM305", "updating"),
            ("reindex_cache_read", "undefined", "RM305", "in place"),
            False,
        ),
        (
            ("reindex_cache_read", "undefined", "RM304", "shifted"),
            ("cache_write", "undefined", "RM304", "shifted"),
            True,
        ),
        (("parallel", "undefined", "RM321", "siblings"), ("vectorize", "undefined", "RM321", "begin, siblings"), True),
        (("parallel", "undefined", "RM321", "siblings"), ("unroll", "undefined", "RM321", "siblings"), False),
        (("read_at", "undefined", "RM304", "guarded"), ("write_at", "undefined", "RM305", "view, guarded"), False),
        (("read_at", "undefined", "RM304", "guarded"), ("cache_write", "undefined", "RM304", "guarded"), False),
        (("blockize", "undefined", "RM318", ""), ("blockize", "undefined", "RM318", "constant, a list"), False),
        (("blockize", "undefined", "RM318", "a list"), ("blockize", "undefined", "RM318", "constant, a list"), True),
    ],
)
def test_primitives_that_are_implemented_together_share_causes(recorded, cause, alike):
    assert staged.is_like(recorded, cause) == alike


@pytest.mark.parametrize(
    ("cause", "row"),
    [
        (("cache_write", "ill-formed", "RM203 buffer", "view, siblings"), "cache-of-view"),
        (("cache_read", "ill-formed", "RM203 buffer", "plain, allocated"), "cache-of-allocation"),
        (("reindex_cache_read", "undefined", "RM305", "plain"), "cache-read-plain-store"),
        (("reindex_cache_read", "undefined", "RM305", "parts"), ""),
    ],
)
def test_of_rows_of_one_family_it_is_the_one_with_the_traits(monkeypatch, cause, row):
    causes = {
        "cache-of-view": ("reindex_cache_write", "ill-formed", "RM203 buffer", "view"),
        "cache-of-allocation": ("cache_write", "ill-formed", "RM203 buffer", "allocated"),
        "reindex-cache-of-allocation": ("reindex_cache_write", "ill-formed", "RM203 buffer", "allocated"),
        "cache-read-plain-store": ("cache_read", "undefined", "RM305", "plain"),
        "reindex-cache-plain-store": ("reindex_cache_write", "ill-formed", "RM203 variable", "plain"),
    }
    monkeypatch.setattr(
        staged,
        "causes_of_rows",
        lambda _tvm, primitive: {name: each for name, each in causes.items() if each[0] == primitive},
    )
    assert staged.like_row(CompilerOfRows(), cause) == row


@pytest.mark.parametrize(
    ("primitive", "recorded", "cause", "alike"),
    [
        ("read_at", ("RM304", "guarded"), ("RM304", "condition"), True),
        ("read_at", ("RM304", "guarded"), ("RM304", "in place"), False),
        ("read_at", ("RM305", "guarded"), ("RM305", "condition"), False),
        ("cache_write", ("RM305", "updating"), ("RM305", "in place"), True),
        ("reindex", ("RM305", "updating, a write"), ("RM305", "in place, rewritten, a write"), True),
        ("reindex_cache_write", ("RM305", "updating"), ("RM305", "in place"), True),
        ("pad_einsum", ("RM305", "guarded"), ("RM305", "branch"), True),
        ("pad_einsum", ("RM305", "guarded"), ("RM305", "condition"), False),
        ("loop_partition", ("", "begin, in place"), ("RM312", "begin"), True),
        ("loop_partition", ("", "reduction"), ("RM312", "reduction"), False),
        ("pad_einsum", ("RM319", "siblings"), ("RM312", "siblings"), True),
        ("cache_index", ("RM318", ""), ("RM318", "condition"), True),
        ("cache_index", ("RM305", ""), ("RM305", "condition"), False),
        ("read_at", ("RM304", "guarded, in place"), ("RM304", "condition"), False),
        ("reindex", ("RM304", "guarded"), ("RM304", "condition"), False),
    ],
)
def test_a_copy_is_wrong_alike_whatever_guards_a_part_and_whatever_adds(primitive, recorded, cause, alike):
    assert staged.is_like((primitive, "undefined", *recorded), (primitive, "undefined", *cause)) == alike


def test_a_finding_says_which_recorded_deviation_it_is_like():
    tvm = CompilerOfRows()
    staged.causes_of_rows.cache_clear()
    cause = staged.causes_of_rows(tvm, "blockize")["blockize-if"]
    assert staged.like_row(tvm, (*cause[:3], "branch, affine")) == "blockize-if"
    assert staged.like_row(tvm, (*cause[:3], "affine")) == ""
    finding = staged.TracedFinding(
        text(), ("blockize('B')",), "RM700", "another result", cause[1], "branch, affine", None
    )
    assert finding.cause[:3] == cause[:3]
    assert staged.message_of(tvm, finding).endswith("\nit is like the known row blockize-if")


def test_the_program_of_a_trace_counts_once_a_stage_was_compared():
    compared, other = trace(text(), text(operation="+ 2 - 1")), trace(text(), text(extent=3))
    digests = {base_of(each, staged.finding_of(each)[0]) for each in (compared, other)}
    assert len(digests) == 1  # they begin with one program
    assert len(*digests) == 1
    assert base_of(trace(text(operation="+ 3")), staged.finding_of(trace(text(operation="+ 3")))[0]) == ()


def test_steps_of_rows_are_spelled_for_tvm():
    assert staged.step_of_row(["split", "sum", 1, [1, 2]]) == "split('sum', 1, (1, 2))"
    assert staged.step_of_row(["cache_write", "R", "global"]) == "cache_write('R', 0, 'global')"
    at = staged.step_of_row(["reverse_compute_at", "R", "B", 0])
    assert at == "reverse_compute_at('R', 'B', 0, False, -1)"
    assert staged.step_of_row(["transform_block_layout", "R", 3]) == "transform_block_layout('R', 'thirds')"


@pytest.mark.needs("tvm")
def test_recorded_traces_have_causes_of_their_own_in_tvm():
    """Of 56 rows two pairs have one cause: what tells them apart is no trait of the block."""
    with TvmPrimitives(needs.TVM_PYTHON) as tvm:
        names = {
            staged.primitive_of(staged.step_of_row(steps[-1])) for _, _, steps, _ in scheduled_rows({"name": tvm.name})
        }
        causes = {row: cause for name in names for row, cause in staged.causes_of_rows(tvm, name).items()}
    assert len(causes) >= 28
    assert len({*causes.values()}) >= len(causes) * 15 // 16


def test_a_cause_may_lose_traits_and_gain_none():
    cause = ("reindex", "wrong", "", "guarded, in place")
    assert staged.is_within(cause, cause)
    assert staged.is_within((*cause[:3], "in place"), cause)
    assert staged.is_within((*cause[:3], ""), cause)
    assert not staged.is_within((*cause[:3], "in place, diagonal"), cause)
    assert not staged.is_within(("reindex", "undefined", "RM304", "guarded"), cause)


def test_a_smaller_program_has_the_same_cause():
    """The compiler is wrong only of a block with a predicate: it stays."""
    guarded = text().replace("v = T.axis.spatial(4, i)", "v = T.axis.spatial(4, i)\n            T.where(i < 3)")

    class Compiler:
        def __call__(self, program, steps):
            is_wrong = "T.where(i < 3)" in program and 'T.sblock("B")' in program
            wrong = program.replace("+ 1", "+ 2") if is_wrong else program
            return PassTrace((Stage("input", program), *(Stage(step, wrong) for step in steps)))

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


# --------------------------------------------------------------------------------- files of findings, replayed

GUARDED = """@T.prim_func(s_tir=True)
def main(A: T.Buffer((3,), "int32"), R: T.Buffer((5,), "int32")):
    for i in range(5):
        with T.sblock("pad"):
            v = T.axis.spatial(5, i)
            R[v] = T.if_then_else(1 <= v and v < 4, A[v - 1], 7)
"""


def finding_file(folder, steps, program=GUARDED, spec=f"tvm:{needs.TVM_PYTHON}", kind=staged.KIND):
    """A finding as a campaign writes it, with another program of it that was there first."""
    settings = CampaignSettings(kinds=(staged.KIND,), implementations=(f"{spec}@2",))
    record = FindingRecord(
        "0123456789ab", "RM705", spec, "undefined", "raw words", 3, 4, kind, {"text": text(), "steps": ["x"]}
    )
    shrunk = {"case": {"text": program, "steps": list(steps)}, "message": "words of the small one"}
    file = folder / "finding.toml"
    file.write_text(finding_text(settings, record, shrunk), encoding="utf-8")
    return file


def replay(*words):
    return CliRunner().invoke(main, ["replay", *map(str, words)])


@pytest.mark.needs("tvm")
def test_steps_that_are_wrong_in_tvm_are_replayed(tmp_path):
    file = finding_file(tmp_path, ["reindex('pad', ('read', 0))"])
    done = replay(file, "--trust", "--json")
    assert done.exit_code == 1
    data = json.loads(done.stdout)
    (lines,) = data["verdicts"].values()
    assert lines[0].startswith("reindex('pad', ('read', 0)): broken")
    assert data["findings"][0]["code"] == "RM705"
    assert "changes the meaning" in data["findings"][0]["message"]
    schema = json.loads((files("refmlc.cli") / "schema.json").read_text(encoding="utf-8"))
    jsonschema.validate(data, {"$ref": "#/$defs/replay", "$defs": schema["$defs"]})


@pytest.mark.needs("tvm")
def test_steps_that_are_right_now_are_no_finding(tmp_path):
    spec = f"tvm:{needs.TVM_PYTHON}"
    done = replay(finding_file(tmp_path, ["split('pad', 0, (None, 2))"]), "--impl", spec)
    assert (done.exit_code, "split('pad', 0, (None, 2)): same" in done.stdout) == (0, True)
    refused = replay(finding_file(tmp_path, ["split('nobody', 0, (None, 2))"]), "--impl", spec)
    assert (refused.exit_code, "stopped" in refused.stdout) == (0, True)


def test_the_tvm_that_only_a_file_names_is_not_started(tmp_path):
    marker = tmp_path / "started"
    program = tmp_path / "python"
    program.write_text(f"#!/bin/sh\ntouch {marker}\n")
    program.chmod(0o755)
    file = finding_file(tmp_path, ["split('pad', 0, (None, 2))"], spec=f"tvm:{program}")
    done = replay(file)
    assert (done.exit_code, "--trust" in done.stderr, marker.exists()) == (2, True, False)
    assert replay(file, "--trust").exit_code == 2  # it does not speak the protocol
    assert marker.exists()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (('kind = "primitives"', 'kind = "rituals"'), "of the kind `rituals`"),
        (('"steps" = [', '"steps" = [1, '), "no `text` and `steps`"),
    ],
)
def test_a_file_that_is_no_trace_is_refused(tmp_path, change, message):
    file = finding_file(tmp_path, ["split('pad', 0, (None, 2))"], spec="tvm:/nowhere")
    file.write_text(file.read_text().replace(*change))
    done = replay(file, "--trust")
    assert (done.exit_code, message in done.stderr) == (2, True)


def test_a_trace_needs_tvm(tmp_path):
    done = replay(finding_file(tmp_path, ["x"]), "--impl", "native")
    assert (done.exit_code, "`--impl tvm:PYTHON`" in done.stderr) == (2, True)


def test_the_file_has_the_message_of_the_small_program(tmp_path):
    assert "words of the small one" in finding_file(tmp_path, ["x"]).read_text()


def test_stages_that_are_not_executed_are_no_agreement():
    row = StageRow("split('B', 0, (2, 2))", StageVerdict.UNSUPPORTED, 0, "RM504: a tensor core")
    with pytest.raises(RefmlcError, match="nothing was compared: RM504") as caught:
        replayed("tvm", ["split('B', 0, (2, 2))"], TraceCheck((row,), None))
    assert caught.value.exit_code == 3


LAUNCHES = """from tvm.script import tirx as T
@T.prim_func(s_tir=True)
def main(A: T.Buffer((4,), "int32"), B: T.Buffer((4,), "int32")):
    P = T.sblock_alloc_buffer((4,), "int32", scope="SCOPE")
    for i in FIRST:
        with T.sblock("P"):
            v = T.axis.spatial(4, i)
            P[v] = A[v]
    for i in T.thread_binding(4, thread="blockIdx.x"):
        with T.sblock("B"):
            v = T.axis.spatial(4, i)
            B[v] = P[v]
"""


LOCAL = '    Q = T.sblock_alloc_buffer((4,), "int32", scope="local")\n'


@pytest.mark.parametrize("beside", ["", LOCAL])
@pytest.mark.parametrize(("scope", "found"), [("local", False), ("shared", False), ("global", True)])
def test_memory_of_a_thread_that_two_launches_use_accuses_nobody(scope, found, beside):
    """TVM makes it global. What nothing writes is found where it is global anyway, whatever other memory there is."""
    bound = LAUNCHES.replace("FIRST", 'T.thread_binding(4, thread="blockIdx.x")')
    before = LAUNCHES.replace("FIRST", "range(4)").replace("SCOPE", "global")
    after = bound.replace("SCOPE", scope).replace("    for i in", f"{beside}    for i in", 1)
    if scope == "global":
        after = after.replace("            P[v] = A[v]", "            T.evaluate(A[v])")
    stages = (Stage("input", before), Stage("bind('P', 0, 'blockIdx.x')", after))
    assert (staged.finding_of(PassTrace(stages))[1] is not None) == found
