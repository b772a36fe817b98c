"""Orders of passes: which are drawn, what is wrong, whose fault it is, and with how little it is shown."""

import re
from dataclasses import replace
from importlib.resources import files

import pytest
from click.testing import CliRunner

from refmlc.cli import main
from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_FILE
from refmlc.lang.wellformed.reader_checks import read
from refmlc.oracle.fuzz.exclusions import NOT_SENT_TO_TVM, is_excluded
from refmlc.oracle.fuzz.settings import CampaignSettings
from refmlc.oracle.fuzz.subjects.passes import pass_orders, pass_runs, pass_table, programs
from refmlc.oracle.outcome import Kind
from refmlc.oracle.passes.stages import PassTrace, Stage
from refmlc.oracle.record import known_passes, most_alike
from refmlc.strategies.choices import SeededChoices

SETTINGS = CampaignSettings(kinds=(pass_runs.KIND,), implementations=("tvm:/usr/bin/python3",))
ROWS = [(family, row) for family in pass_table.FAMILIES for row in family.passes]
STEPS = ("tirx.UnrollLoop()", "tirx.StmtSimplify()", "tirx.RemoveNoOp()")
PROGRAM = """from tvm.script import tirx as T
@T.prim_func(s_tir=True)
def main(A: T.Buffer((4,), "int32"), B: T.Buffer((4,), "int32")):
    for i in range(4):
        B[i] = A[{index}] {operation}
"""


def text(index="i", operation="+ 1"):
    return PROGRAM.format(index=index, operation=operation)


def trace(*texts, names=STEPS, stopped="", kind=Kind.UNSUPPORTED):
    pairs = zip(("input", *names), texts, strict=False)
    return PassTrace(tuple(Stage(*pair) for pair in pairs), stopped, kind)


def test_an_order_that_keeps_the_meaning_has_no_finding():
    checked, finding = pass_runs.finding_of(trace(text(), text(operation="+ 2 - 1")), STEPS)
    assert finding is None
    assert [row.verdict.value for row in checked.rows] == ["same"]


def test_a_pass_that_writes_what_the_program_leaves_alone_is_guilty():
    guarded = text().replace("        B[i]", "        if i < 2:\n            B[i]")
    _, finding = pass_runs.finding_of(trace(guarded, guarded, text()), STEPS)
    assert finding.cause == ("tirx.StmtSimplify", "wrong", "")
    assert "[2] is " in finding.message


def test_the_first_wrong_pass_is_guilty_not_the_last():
    _, finding = pass_runs.finding_of(trace(text(), text(), text(operation="+ 2"), text(operation="+ 2 + 0")), STEPS)
    assert finding.cause == ("tirx.StmtSimplify", "wrong", "")
    assert finding.steps == STEPS[:2]


def test_a_pass_that_changes_nothing_has_no_stage_and_is_kept_in_the_order():
    changed = trace(text(), text(operation="+ 2"), names=STEPS[1:])
    _, finding = pass_runs.finding_of(changed, STEPS)
    assert finding.steps == STEPS[:2]


def test_a_program_that_is_undefined_afterwards_says_by_which_code():
    _, finding = pass_runs.finding_of(trace(text(), text(index="i + 1")), STEPS)
    assert finding.cause == ("tirx.UnrollLoop", "undefined", "RM304")


def test_a_stage_that_breaks_a_static_rule_says_which():
    _, finding = pass_runs.finding_of(trace(text(), text(index="i, 0")), STEPS)
    assert finding.cause == ("tirx.UnrollLoop", "ill-formed", "RM208")


def test_a_pass_that_fails_its_own_check_is_guilty_and_numbers_do_not_tell_causes_apart():
    stopped = "in `tirx.StmtSimplify()`: InternalError: Check failed: (3 < 2) is false"
    _, finding = pass_runs.finding_of(trace(text(), stopped=stopped, kind=Kind.COMPILER_ERROR), STEPS)
    assert finding.cause == ("tirx.StmtSimplify", "compiler error", "InternalError: Check failed: (# < #) is false")
    assert finding.steps == STEPS[:2]


def test_what_a_pass_refuses_in_words_is_no_finding():
    stopped = "in `tirx.StmtSimplify()`: NotImplementedError: no such loop"
    assert pass_runs.finding_of(trace(text(), stopped=stopped, kind=Kind.REFUSED), STEPS)[1] is None


def test_the_planted_fault_is_found_each_time_a_process_begins(monkeypatch):
    pass_runs.prove_power.cache_clear()
    pass_runs.prove_power()
    pass_runs.prove_power.cache_clear()
    monkeypatch.setattr(pass_runs, "finding_of", lambda _trace, _steps: (None, None))
    with pytest.raises(RuntimeError, match="planted"):
        pass_runs.prove_power()


def test_a_recorded_deviation_is_known_by_pass_and_pattern(monkeypatch):
    rows = [
        {"action": "pass", "steps": ["relax.FuseOps(0)"], "got": "RM304", "id": "a"},
        {"action": "pass-run", "steps": ["relax.LegalizeOps()", "relax.FuseOps()"], "got": ["int32", [1]], "id": "b"},
        {"action": "pass", "steps": ["relax.FuseOps()"], "got": "InternalError: Check failed: (3 < 2)", "id": "c"},
        {"got": ["int32", [1]], "id": "d", "kind": "wrong result", "why": "FuseTIR loses it."},
        {"got": ["int32", [1]], "id": "e", "kind": "wrong result", "why": "It is not FuseTIR."},
        {"got": "InternalError: Check failed: n >= 0 (-1 vs. 0) : no", "id": "f", "kind": "internal error", "why": "w"},
        {"got": "InternalError: std::bad_alloc", "id": "g", "kind": "internal error", "why": "It says too little."},
    ]
    monkeypatch.setattr("refmlc.oracle.record._tables", lambda _name, _version: rows)
    says = {"name": "tvm 0.27.0.post1"}
    assert known_passes(says, "relax.FuseOps", "undefined", "RM304") == ["a", "b"]
    assert known_passes(says, "relax.FuseOps", "undefined", "RM322") == ["b"]
    assert known_passes(says, "relax.FuseOps", "wrong", "") == ["b"]
    assert known_passes(says, "relax.FuseOps", "compiler error", "InternalError: Check failed: (# < #) is false") == [
        "c"
    ]
    assert known_passes(says, "relax.FuseTIR", "wrong", "") == ["d"]
    assert known_passes(says, "relax.FuseTIR", "compiler error", "") == []
    check = "InternalError: Check failed: n >= # (# vs. #) : no"
    assert known_passes(says, "tirx.UnrollLoop", "compiler error", check) == ["f"]  # a build stops there too
    assert known_passes(says, "tirx.UnrollLoop", "wrong", check) == []
    assert known_passes(says, "tirx.UnrollLoop", "compiler error", "InternalError: std::bad_alloc") == []
    assert known_passes({"name": "tvm"}, "relax.FuseTIR", "wrong", "") == []


GRAPH = """@R.function
def main(x: R.Tensor((4,), "float32")):
    return R.{}(R.exp(x))
"""


def test_of_recorded_deviations_of_a_pass_the_one_on_the_same_operators_is_named(monkeypatch):
    rows = [
        {"id": "a", "module": GRAPH.format("exp")},
        {"id": "b", "module": GRAPH.format("tanh")},
        {"id": "c", "module": text()},
        {"id": "d", "module": GRAPH.format("tanh")},
        {"id": "e", "module": "no program"},
        {"id": "f", "module": GRAPH.format("cos"), "got": "RM322"},
    ]
    monkeypatch.setattr("refmlc.oracle.record._tables", lambda _name, _version: rows)
    says = {"name": "tvm 0.27.0.post1"}
    assert most_alike(says, ["a", "b"], GRAPH.format("tanh")) == "b"
    assert most_alike(says, ["a"], GRAPH.format("tanh")) == "a"
    assert most_alike(says, ["b"], GRAPH.format("sin").replace("exp", "cos")) == ""
    assert most_alike(says, ["b", "c"], text()) == "c"  # a row without operators
    tanh = GRAPH.format("tanh")
    assert [most_alike(says, ["b", "f"], tanh, pattern) for pattern in ("RM322", "RM304", "")] == ["f", "b", "b"]
    assert most_alike(says, ["e"], text()) == most_alike(says, [], text()) == ""


class OnePass:
    """TVM, in which each order of passes leaves one text, or does not end."""

    name = "tvm 0.27.0.post1"

    def __init__(self, after):
        self.after = after

    def __call__(self, before, steps, *, whole):
        assert whole
        if not self.after:
            raise fail(BAD_FILE, "TVM does not take it")
        return trace(before, self.after, names=steps[-1:])


def test_a_finding_names_the_row_that_it_is_like(monkeypatch):
    row = {"action": "pass-run", "steps": ["tirx.StmtSimplify()"], "got": ["int32", [1]], "id": "a", "module": text()}
    monkeypatch.setattr("refmlc.oracle.record._tables", lambda _name, _version: [row])
    _, finding = pass_runs.finding_of(trace(text(), text(), text(operation="+ 2")), STEPS)
    tvm = OnePass(text(operation="+ 3"))
    lines = pass_runs.message_of(tvm, finding)
    assert lines[1:] == ["it is like the known row a", "perhaps as the known row a"]
    other = replace(finding, steps=STEPS[:1])  # another pass is guilty
    assert pass_runs.message_of(tvm, other) == [lines[0].replace("StmtSimplify", "UnrollLoop")]


WRONG, OUTSIDE, NO_RULE = text(operation="+ 2"), text(index="i + 1"), text(index="i, 0")


@pytest.mark.parametrize(
    ("left", "got", "alike"),
    [
        (WRONG, ["int32", [1]], [WRONG]),
        (OUTSIDE, ["int32", [1]], [OUTSIDE]),  # once compiled it has other values
        (NO_RULE, ["int32", [1]], [NO_RULE]),
        (OUTSIDE, "RM304", [OUTSIDE]),
        (text(), ["int32", [1]], [WRONG]),  # drawn arguments do not show it
        (text(), "RM304", [OUTSIDE]),
        ("", ["int32", [1]], [WRONG]),
    ],
)
def test_a_row_answers_for_the_difference_that_its_own_program_has(monkeypatch, left, got, alike):
    row = {"action": "pass-run", "steps": [STEPS[1]], "got": got, "id": "a", "module": text()}
    monkeypatch.setattr("refmlc.oracle.record._tables", lambda _name, _version: [row])
    findings = {
        after: pass_runs.finding_of(trace(text(), text(), after), STEPS)[1] for after in (WRONG, OUTSIDE, NO_RULE)
    }
    tvm = OnePass(left)
    assert [after for after, finding in findings.items() if pass_runs.rows_of(tvm, finding)] == alike


def test_a_row_of_a_compiled_program_answers_as_before(monkeypatch):
    row = {"got": ["int32", [1]], "id": "d", "kind": "wrong result", "why": "StmtSimplify loses it.", "module": text()}
    monkeypatch.setattr("refmlc.oracle.record._tables", lambda _name, _version: [row])
    _, finding = pass_runs.finding_of(trace(text(), text(), OUTSIDE), STEPS)
    assert pass_runs.rows_of(OnePass(""), finding) == ["d"]


def test_every_program_is_read_and_is_some_pass_s():
    for head, table in (
        (programs.FUNCTION, programs.TENSORIR),
        (programs.MODULE, programs.RELAX),
    ):
        family = pass_table.RELAX if table is programs.RELAX else pass_table.TENSORIR
        aims = tuple(aim for row in family.passes for aim in row.aims)
        for name, body in table.items():
            read(head + body.lstrip("\n"), f"{name}.py")
            assert name.startswith(aims), name
        for row in family.passes:
            unmet = [aim for aim in row.aims if not any(name.startswith(aim) for name in table)]
            assert not unmet, row.name


@pytest.mark.parametrize(("family", "focus"), ROWS, ids=[row.name for _, row in ROWS])
def test_orders_are_legal_and_have_their_focus(family, focus):
    for number in range(40):
        steps = pass_orders.order(SeededChoices(number), family, focus, number % 5)
        assert pass_orders.is_legal(steps), steps
        assert focus.name in map(pass_orders.name_of, steps)
        assert number % 5 or pass_orders.name_of(steps[-1]) == focus.name


def test_a_pass_before_what_it_needs_or_behind_what_it_must_precede_is_not_legal():
    assert not pass_orders.is_legal(("relax.LegalizeOps()", "relax.FuseOps()"))
    assert not pass_orders.is_legal(("relax.LegalizeOps()", "relax.LambdaLift()"))
    assert not pass_orders.is_legal(("tirx.VectorizeLoop(True)",))
    assert not pass_orders.is_legal(("relax.Unheard()",))
    assert pass_orders.is_legal(("relax.LegalizeOps()", "relax.AnnotateTIROpPattern()", "relax.FuseOps(1)"))


def test_programs_and_orders_are_a_function_of_the_number_and_rows_take_turns():
    drawn = [pass_orders.drawn_order(SETTINGS, number, number) for number in range(len(ROWS))]
    assert drawn == [pass_orders.drawn_order(SETTINGS, number, number) for number in range(len(ROWS))]
    assert [order.focus for order in drawn] == [row.name for _, row in ROWS]
    later = [pass_orders.drawn_order(SETTINGS, number, len(ROWS) + number) for number in range(len(ROWS))]
    assert sum(len(order.steps) for order in later) > sum(len(order.steps) for order in drawn)


def test_generated_programs_have_nothing_that_tvm_does_not_read():
    exclude = (*pass_orders.UNREAD, *NOT_SENT_TO_TVM)
    for family in pass_table.FAMILIES:
        texts = {pass_orders.generated(SETTINGS, number, family) for number in range(12)}
        assert len(texts) > 6
        assert not any(is_excluded(read(each, "g.py"), exclude) for each in texts)


def test_excluded_passes_are_not_drawn():
    settings = replace(SETTINGS, exclude=("tirx.UnrollLoop", "relax.FuseOps"))
    steps = {step for number in range(300) for step in pass_orders.drawn_order(settings, number, number).steps}
    assert {pass_orders.name_of(step) for step in steps}.isdisjoint(settings.exclude)


def test_passes_that_are_left_out_have_a_reason_and_are_not_drawn():
    assert not set(pass_table.LEFT_OUT) & set(pass_table.NAMES)
    assert all(pass_table.LEFT_OUT.values())


def test_steps_are_literals_that_tvm_s_side_can_read():
    side = files("refmlc.oracle.implementations.tvm_side") / "run_passes.py"
    assert "literal_eval" in side.read_text(encoding="utf-8")
    for _, row in ROWS:
        for option in row.options:
            assert re.fullmatch(r"[\w.]+\(.*\)", f"{row.name}({option})")
            compile(f"made({option})", "step", "eval")


def test_a_campaign_of_passes_needs_real_tvm(tmp_path):
    arguments = ["fuzz", "--programs", "1", "--dir", str(tmp_path), "--kinds", "passes", "--impl", "native:tiny"]
    done = CliRunner().invoke(main, arguments)
    assert done.exit_code == 2
    assert "need real TVM" in done.output


PRODUCT = """from tvm.script import ir as I, relax as R
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "{dtype}"), w: R.Tensor((3, 2), "{dtype}")):
        with R.dataflow():
{lines}
            R.output(o)
        return o
"""
LOWERED = (
    'a = R.astype({x}, "float16")',
    'b = R.astype(w, "float16")',
    'c = R.matmul(a, b, out_dtype="{accumulated}")',
    'o = R.astype(c, "float32")',
)


def product(*lines, dtype="float32", x="x", accumulated="float16"):
    made = (f"            {line}".format(x=x, accumulated=accumulated) for line in lines)
    return PRODUCT.format(dtype=dtype, lines="\n".join(made))


def lowered(*lines, dtype="float32", step="relax.ToMixedPrecision('float16')", **names):
    before = product("o = R.matmul(x, w)", dtype=dtype)
    return pass_runs.finding_of(trace(before, product(*lines, dtype=dtype, **names), names=(step,)), (step,))


@pytest.mark.parametrize("accumulated", ["float16", "float32"])
def test_a_pass_that_is_documented_to_lower_the_precision_may_round_to_its_dtype(accumulated):
    checked, finding = lowered(*LOWERED, accumulated=accumulated)
    assert finding is None
    assert [row.why for row in checked.rows] == ["equal within the certified bound"]


def test_another_pass_may_not_lower_the_precision():
    _, finding = lowered(*LOWERED, step="relax.FoldConstant()")
    assert finding.cause == ("relax.FoldConstant", "wrong", "")


@pytest.mark.parametrize(
    "x", ['R.add(x, R.const(0.01, "float32"))', "R.negative(x)", 'R.multiply(x, R.const(1.01, "float32"))']
)
def test_what_the_narrower_dtype_does_not_explain_is_wrong(x):
    _, finding = lowered(*LOWERED, x=x)
    assert finding.cause == ("relax.ToMixedPrecision", "wrong", "")


def test_integers_have_no_precision_to_lower():
    _, finding = lowered('c = R.matmul(x, w, out_dtype="float32")', 'o = R.astype(c, "int32")', dtype="int32")
    assert finding.cause == ("relax.ToMixedPrecision", "wrong", "")


def test_what_the_narrower_dtype_holds_exactly_has_no_freedom():
    step = "relax.ToMixedPrecision('float16')"
    head = ('a = R.astype(x, "float32")', 'b = R.astype(w, "float32")')
    before = product(*head, "o = R.matmul(a, b)", dtype="bool")
    after = product(*head, "c = R.matmul(a, b)", 'o = R.add(c, R.const(0.0009765625, "float32"))', dtype="bool")
    _, finding = pass_runs.finding_of(trace(before, after, names=(step,)), (step,))
    assert finding.cause == ("relax.ToMixedPrecision", "wrong", "")


def test_the_passes_after_it_are_held_to_the_same_bound():
    steps = ("relax.ToMixedPrecision('float16')", "relax.FoldConstant()")
    before, after = product("o = R.matmul(x, w)"), product(*LOWERED)
    assert pass_runs.finding_of(trace(before, after, after, names=steps), steps)[1] is None
    wrong = product(*LOWERED, x="R.negative(x)")
    assert (
        pass_runs.finding_of(trace(before, after, wrong, names=steps), steps)[1].cause[0] == steps[1].partition("(")[0]
    )


def test_only_one_pass_is_documented_to_lower_the_precision():
    assert pass_table.NARROWS == {"relax.ToMixedPrecision": "float16"}
