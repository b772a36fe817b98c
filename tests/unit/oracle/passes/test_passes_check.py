"""Stages written by hand: what stays, what a pass breaks, what is not known."""

import json
from ast import literal_eval

import numpy as np
import pytest
from click.testing import CliRunner

import refmlc
from refmlc.cli import main
from refmlc.diag import RefmlcError
from refmlc.lang.wellformed.reader_checks import read
from refmlc.oracle.contracts.assumptions import assumed
from refmlc.oracle.passes import PassTrace, Stage, check, markdown, read_trace, shrunk
from refmlc.oracle.passes.baseline import lifted
from refmlc.oracle.passes.check import Permissions, Shrunk
from refmlc.oracle.passes.report import TvmRequest, tvm_script
from refmlc.oracle.passes.stages import ORDER, WITHIN, StageVerdict

ADD = """
@T.prim_func(s_tir=True)
def main(A: T.Buffer((8,), "int32"), B: T.Buffer((8,), "int32")):
    for i in range({extent}):
        with T.sblock("B"):
            v = T.axis.spatial({extent}, i)
            {predicate}
            B[v] = A[v] {op} 3
"""
LOWERED = """
@T.prim_func(s_tir=True)
def main(A: T.Buffer((8,), "int32"), B: T.Buffer((8,), "int32")):
    for i in T.serial({extent}):
        if i < {bound}:
            B[i] = A[i] {op} 3
"""


def module(op="+", extent=8, predicate="T.where(i < 8)"):
    return ADD.format(op=op, extent=extent, predicate=predicate)


def lowered(op="+", extent=8, bound=8):
    return LOWERED.format(op=op, extent=extent, bound=bound)


def trace(*texts):
    return PassTrace(tuple(Stage(f"pass {number}", text) for number, text in enumerate(texts)))


def test_stages_that_mean_the_same():
    found = check(trace(module(), lowered(), lowered(extent=10)))
    assert [(row.name, row.verdict) for row in found.rows] == [
        ("pass 1", StageVerdict.SAME),
        ("pass 2", StageVerdict.SAME),
    ]
    assert found.rows[0].calls == found.rows[1].calls >= 9  # a call for each purpose that applies
    assert found.broken is None


def test_a_stage_that_is_ill_formed_after_one_that_is_not_is_broken_by_its_pass():
    found = check(trace(module(), lowered(), lowered().replace("A[i]", "A[i, 0]"), lowered("-")))
    assert [row.verdict for row in found.rows] == [StageVerdict.SAME, StageVerdict.BROKEN]
    assert (found.broken.name, found.broken.func, found.broken.diagnostic.code.id) == ("pass 2", "", "RM208")
    assert found.broken.headline == "`pass 2` breaks the module"
    assert "the stage before, `pass 1`, is well-formed" in found.broken.diagnostic.notes
    assert "# `pass 2` breaks the module" in markdown(found, compiler="mine", command="$ mine")


IMPURE = """
# from tvm.script import ir as I, relax as R
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
        y = R.call_packed("of.others", x, ty_args=R.Tensor((2,), "float32"))
        return x
"""


@pytest.mark.parametrize("text", [IMPURE, "not a module"])
def test_a_stage_that_breaks_a_rule_of_refmlc_alone_is_unsupported(text):
    found = check(trace(module(), text, lowered()))
    assert [row.verdict for row in found.rows] == [StageVerdict.UNSUPPORTED, StageVerdict.SAME]


def test_an_ill_formed_stage_after_one_that_nobody_reads_is_unsupported():
    found = check(trace(module(), "not a module", lowered().replace("A[i]", "A[i, 0]")))
    assert [row.verdict for row in found.rows] == [StageVerdict.UNSUPPORTED] * 2


ARGMAX = """
@T.prim_func(s_tir=True)
def main(A: T.Buffer((4,), "float32"), I: T.Buffer((1,), "int32"), V: T.Buffer((1,), "float32")):
    for k in range(4):
        with T.sblock("B"):
            v = T.axis.reduce(4, ORDER)
            with T.init():
                I[0] = -1
                V[0] = T.float32(-1e30)
            i: T.let[T.int32] = T.Select(V[0] > TERM, I[0], INDEX)
            x: T.let[T.float32] = T.Select(V[0] > TERM, V[0], TERM)
            I[0] = i
            V[0] = x
"""


def argmax(order="k", index="v"):
    """All terms are equal, whatever `A` holds."""
    term = "T.min(T.max(A[v], T.float32(3)), T.float32(3))"
    return ARGMAX.replace("ORDER", order).replace("INDEX", index).replace("TERM", term)


def test_an_order_that_a_step_permits_shows_in_ties_and_is_no_change():
    ties = trace(argmax(), argmax("k * 3 % 4"))
    permitted = check(ties, permissions=Permissions(reordering=("pass 1",)))
    assert [(row.verdict, row.why) for row in permitted.rows] == [(StageVerdict.SAME, ORDER)]
    assert check(ties).broken is not None
    wrong = trace(argmax(), argmax("k * 3 % 4"), argmax("k * 3 % 4", "v + 4"))
    found = check(wrong, permissions=Permissions(reordering=("pass 1",)))
    assert found.broken.name == "pass 2"


LARGE_TERMS = """
@T.prim_func(s_tir=True)
def main(R: T.Buffer((1,), "int32")):
    for k in range(3):
        with T.sblock("R"):
            v = T.axis.reduce(3, k)
            with T.init():
                R[0] = 0
            R[0] = R[0] + T.Select(v == 0, FIRST, T.Select(v == 1, 2147483647, LAST))
"""


def test_a_part_of_a_sum_may_overflow_in_an_order_that_a_step_permits():
    """1 comes to the largest number first, or last, after -5."""
    late, early = (
        LARGE_TERMS.replace("FIRST", one).replace("LAST", other) for one, other in (("-5", "1"), ("1", "-5"))
    )
    permitted = check(trace(late, early), permissions=Permissions(reordering=("pass 1",)))
    assert [(row.verdict, row.why) for row in permitted.rows] == [(StageVerdict.SAME, ORDER)]
    assert "RM306" in check(trace(late, early)).broken.diagnostic.message
    for other in (late, early):  # another sum, which overflows or not
        wrong = trace(late, other.replace("-5", "-6"))
        assert check(wrong, permissions=Permissions(reordering=("pass 1",))).broken.name == "pass 1"


def test_a_documented_change_is_the_module_from_there_on():
    stages = trace(module(), lowered("-"), lowered("-", extent=10), lowered())
    found = check(stages, permissions=Permissions({"pass 1": "it says so"}))
    assert [(row.verdict.value, row.why) for row in found.rows[:2]] == [("documented", "it says so"), ("same", "")]
    assert (found.rows[2].verdict, found.broken.name) == (StageVerdict.BROKEN, "pass 3")


@pytest.mark.parametrize(
    ("fault", "code", "message"),
    [
        (lowered(op="-"), "RM705", "another `B`"),
        (lowered(bound=7), "RM705", "`B`"),
        (lowered(extent=10, bound=10), "RM705", "is not"),
    ],
    ids=["swapped operator", "an iteration less", "dropped predicate"],
)
def test_the_first_stage_that_differs_is_named(fault, code, message):
    found = check(trace(module(), lowered(), fault, module("*")))
    assert [row.verdict for row in found.rows] == [
        StageVerdict.SAME,
        StageVerdict.BROKEN,
    ]  # what comes after is not looked at
    broken = found.broken
    assert (broken.name, broken.func, broken.before.name, broken.after.name) == ("pass 2", "main", "pass 1", "pass 2")
    assert broken.diagnostic.code.id == code
    assert message in broken.diagnostic.message


def test_the_call_is_small():
    fault = LOWERED.format(op="+", extent=8, bound=8).replace("A[i] + 3", "T.if_then_else(A[i] > 5, 0, A[i] + 3)")
    call = check(trace(module(), fault)).broken.call
    given = call[0].numpy()
    assert np.count_nonzero(given) == 1
    assert given.max() > 5


def test_a_later_stage_may_be_more_defined_never_less():
    outside = lowered(extent=9, bound=9)
    assert [row.verdict for row in check(trace(outside, lowered())).rows] == [StageVerdict.NO_CALL]
    less = check(trace(lowered(), outside))
    assert less.broken.diagnostic.message.startswith("the program before is defined, the program after is not")


def test_results_within_the_certified_bound_are_no_finding():
    text = """
@T.prim_func(s_tir=True)
def main(A: T.Buffer((16,), "float32"), B: T.Buffer((1,), "float32")):
    for i in range(16):
        with T.sblock("B"):
            v = T.axis.reduce(16, i)
            with T.init():
                B[0] = T.float32(0)
            B[0] = B[0] + A[{index}]
"""
    found = check(trace(text.format(index="v"), text.format(index="15 - v")))
    assert [row.verdict for row in found.rows] == [StageVerdict.SAME]
    assert check(trace(text.format(index="v"), text.format(index="0"))).broken is not None


def test_what_is_not_read_is_unsupported_and_the_rest_goes_on():
    found = check(trace(module(), "not a module", lowered("-")))
    assert [row.verdict for row in found.rows] == [StageVerdict.UNSUPPORTED, StageVerdict.BROKEN]
    assert found.rows[0].why.startswith("RM1")
    assert found.broken.before.name == "pass 0"
    assert found.broken.unread == ("pass 1",)  # it may have been this one
    assert markdown(found, compiler="c", command="").startswith("# `pass 1` or `pass 2` changes")


def test_what_calls_a_function_of_another_runtime_is_unsupported():
    called = lowered().replace("B[i] = A[i] + 3", 'T.call_packed("some.runtime.add", A[i])')
    found = check(trace(module(), called, lowered("-")))
    assert [row.verdict for row in found.rows] == [StageVerdict.UNSUPPORTED, StageVerdict.BROKEN]
    assert found.rows[0].why == "`main`: RM504: no packed function `some.runtime.add` is registered"
    assert [row.verdict for row in check(trace(called, lowered())).rows] == [StageVerdict.UNSUPPORTED]


def test_why_nothing_was_compared_is_told():
    (row,) = check(trace(lowered(extent=9, bound=9), lowered())).rows
    assert row.why.startswith("`main` itself: RM304")


def test_other_functions_begin_anew():
    other = lowered().replace("main", "other")
    found = check(trace(module(), other, other.replace("+", "*")))
    assert [row.verdict for row in found.rows] == [StageVerdict.NO_CALL, StageVerdict.BROKEN]
    assert found.broken.func == "other"


WITH_CONSTANT = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
        return R.add(x, R.const([1, 2], "float32"))
"""


def test_constants_become_parameters_with_their_values():
    before = refmlc.read(WITH_CONSTANT)
    after, constants = lifted(before)
    assert [tensor.numpy().tolist() for tensor in constants["main"]] == [[1.0, 2.0]]
    assert [param.name for param in after["main"].params] == ["x", "constant_0"]
    x = np.array([5, 7], "float32")
    result = refmlc.VirtualMachine(refmlc.build(after))["main"](x, *constants["main"])
    assert result.numpy().tolist() == [6.0, 9.0]
    wrong = refmlc.show(after).replace("R.add", "R.subtract")
    found = check(trace(refmlc.show(after), wrong), constants=constants)
    assert found.broken is not None


def test_snapshots_as_lines():
    lines = [json.dumps({"name": "input", "text": "a"}), "", json.dumps({"name": "p", "text": "b"})]
    assert read_trace([*lines, '{"done": true}']) == PassTrace((Stage("input", "a"), Stage("p", "b")))
    assert read_trace([*lines, '{"refused": "no"}']).stopped == "no"
    assert read_trace(lines).stopped == "the compiler ended before its passes did"
    for bad in ("rubbish", "[]", '{"name": 1, "text": "x"}'):
        with pytest.raises(RefmlcError) as caught:
            read_trace([*lines, bad])
        assert caught.value.code.id == "RM109"
    with pytest.raises(RefmlcError) as caught:
        read_trace(['{"done": true}'])
    assert caught.value.code.id == "RM109"


def compiler(text):
    """A compiler whose second pass takes + for -."""
    return trace(text, text, text.replace(" + ", " - "))


def test_the_module_is_made_small():
    text = module().replace("B[v] = A[v] + 3", "B[v] = (A[v] + 3) * 5")
    broken = check(compiler(text)).broken
    small = shrunk(refmlc.read(text), broken, compiler, seconds=20, tries=60)
    assert small.broken.name == broken.name == "pass 2"
    assert small.text.count("        T.evaluate(A[()] + 1)\n") == 1  # `A - 1` overflows where A is the least integer


def test_the_report_has_all_that_one_needs():
    found = check(trace(module(), lowered(), lowered("-")))
    text = markdown(found, compiler="TVM 0.27", command="$ refmlc passes m.py")
    for part in ("# `pass 2` changes what `main` computes", "TVM 0.27", "error[RM705]", "+            B[i] = A[i] - 3"):
        assert part in text
    assert "No pass changes the meaning" in markdown(check(trace(module())), compiler="c", command="")


def test_a_program_for_who_has_tvm_alone():
    broken = check(trace(module(), lowered("-"))).broken
    program = tvm_script(module(), broken)
    compile(program, "<program>", "exec")
    assert "tvm.compile(module, target)['main'](*args)" in program
    assert "if info.name == 'pass 1':" in program
    meant = program[program.index('print("meant:", ') :].splitlines()[0]
    x = literal_eval(program.split("np.array(")[1].split(', "int32"')[0])
    assert meant == f'print("meant:", {[x, [each + 3 for each in x]]})'
    assert program.count("    tvm.runtime.tensor(np.") == 2
    assert 'np.zeros((8,), "int32")' in program  # what the function writes
    graph = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
        return R.add(x, {other})
"""
    wrong = trace(graph.format(other="x"), graph.format(other="R.const(3, 'float32')"))
    program = tvm_script(wrong.stages[0].text, check(wrong).broken)
    assert "tvm.relax.VirtualMachine(tvm.compile(module, target), tvm.cpu())['main'](*made())" in program
    large = [text.replace("8", "512") for text in (module(), lowered("-"))]
    assert tvm_script(large[0], check(trace(*large), small=False).broken) is None
    assert tvm_script(module().replace("main", "other"), broken) is None


def test_the_program_takes_the_passes_that_were_named():
    broken = check(trace(module(), lowered("-"))).broken
    far = "9" * 5000  # Python makes no number of it
    target = f"llvm -mcpu=haswell -opt -opt-level=0 -far={far}"
    asked = TvmRequest(["relax.LegalizeOps", "NarrowDataType(32)"], target, 3)
    program = tvm_script(module(), broken, asked)
    compile(program, "<program>", "exec")
    for part in (
        f"tvm.target.Target({{'kind': 'llvm', 'mcpu': 'haswell', 'opt': True, 'opt-level': 0, 'far': '{far}'}})",
        "PassContext(opt_level=3, instruments=[Seen()])",
        "for each in [relax.transform.LegalizeOps(), tirx.transform.NarrowDataType(32)]:",
        'print("without the passes:", run(module))',
    ):
        assert part in program


def test_the_program_names_the_pipeline():
    asked = TvmRequest(target="cuda", pipelines={"tir_pipeline": "tirx"})
    program = tvm_script(module(), check(trace(module(), lowered("-"))).broken, asked)
    assert "tvm.compile(module, target, tir_pipeline='tirx')" in program


def test_constants_are_arguments_of_the_program():
    bare, constants = lifted(refmlc.read(WITH_CONSTANT))
    wrong = trace(refmlc.show(bare), refmlc.show(bare).replace("R.add", "R.subtract"))
    text = refmlc.show(refmlc.read(WITH_CONSTANT), show_meta=True)
    program = tvm_script(text, check(wrong, constants=constants).broken)
    assert 'np.array([1.0, 2.0], "float32")' in program
    assert "metadata" not in program


def test_no_program_of_tvm_for_another_compiler():
    found = check(trace(module(), lowered("-")))
    small = Shrunk(module(), found.broken, finished=True)
    assert "TVM alone" not in markdown(found, compiler="mine", command="", small=small)
    assert "TVM alone" in markdown(found, compiler="TVM", command="", small=small, tvm=TvmRequest())


def test_what_the_reader_makes_of_the_text_is_a_stage():
    found = check(trace(lowered("-"), lowered("-")), given=module())
    assert [(row.name, row.verdict) for row in found.rows] == [("the reader", StageVerdict.BROKEN)]
    assert found.broken.before == Stage("the module", module())
    program = tvm_script(module(), found.broken)
    assert "print(module.script())" in program
    assert "instrument" not in program
    same = check(trace(lowered(), lowered()), given=module())
    assert [row.name for row in same.rows] == ["pass 1"]
    assert check(trace("no module", lowered("-")), given=module()).broken.unread == ("the reader",)


BRANCH = """
@I.ir_module
class Module:
    @R.function
    def main(c: R.Tensor((), "bool"), x: R.Tensor((2,), "int32")) -> R.Tensor((2,), "int32"):
        if c:
            y = R.add(x, x)
        else:
            y = {other}(x)
        return y
"""
CLAMPED = """
@T.prim_func(s_tir=True)
def main(A: T.Buffer((4,), "int32"), I: T.Buffer((3,), "int32"), B: T.Buffer((3,), "int32")):
    for i in range(3):
        B[i] = A[{index}]
"""
ROWS = """
@T.prim_func(s_tir=True)
def main(a: T.handle, b: T.handle):
    n = T.int64()
    A = T.match_buffer(a, (n, 2), "float32")
    B = T.match_buffer(b, (n, 2), "bool")
    for i, j in T.grid(n, 2):
        B[i, j] = {value}
"""


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        (BRANCH.format(other="R.negative"), BRANCH.format(other="R.abs")),
        (CLAMPED.format(index="T.max(T.min(I[i], 3), 0)"), CLAMPED.format(index="T.max(I[i], 0)")),
        (CLAMPED.format(index="T.max(T.min(I[i], 3), 0)"), CLAMPED.format(index="T.min(I[i], 3)")),
        (ROWS.format(value="A[i, j] == A[i, j]"), ROWS.format(value="T.bool(True)")),
    ],
    ids=["a branch", "a bound above", "a bound below", "NaN where extents have names"],
)
def test_what_few_usual_calls_do_not_reach(right, wrong):
    assert check(trace(right, wrong), small=False).broken is not None


def test_the_command_reads_snapshots(tmp_path):
    file = tmp_path / "run.jsonl"
    rows = [{"name": "input", "text": module()}, {"name": "Bad", "text": lowered("-")}, {"done": True}]
    file.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    report = tmp_path / "report.md"
    done = CliRunner().invoke(main, ["passes", str(file), "--json", "--report", str(report)])
    said = json.loads(done.stdout)
    assert done.exit_code == 1
    assert (said["broken"]["pass"], said["broken"]["func"]) == ("Bad", "main")
    assert [(row["pass"], row["verdict"]) for row in said["stages"]] == [("Bad", "broken")]
    assert report.read_text(encoding="utf-8").startswith("# `Bad` changes")
    rows[1]["text"] = lowered()
    file.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    assert CliRunner().invoke(main, ["passes", str(file)]).exit_code == 0
    rows[1]["text"] = "no module"
    file.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    assert CliRunner().invoke(main, ["passes", str(file)]).exit_code == 3  # nothing was compared
    assert CliRunner().invoke(main, ["passes", str(tmp_path / "none.jsonl")]).exit_code == 2
    assert CliRunner().invoke(main, ["passes", str(tmp_path / "none.py")]).exit_code == 2


def test_names_that_look_like_markup_and_strings_that_look_like_lines(tmp_path):
    lines = [("[/]input", module()), ("[/x]\ud800", "# \u2028 one line\n" + lowered("-"))]
    text = "\n".join(json.dumps({"name": name, "text": body}) for name, body in lines)
    file = tmp_path / "stages.jsonl"
    file.write_text(text.replace("\\u2028", "\u2028"), encoding="utf-8")
    found = CliRunner().invoke(main, ["passes", str(file)])
    assert (found.exit_code, found.exception.__class__) == (1, SystemExit)
    assert "[/x]" in found.stdout


SUM = """# from tvm.script import tirx as T
@T.prim_func(s_tir=True)
def main(A: T.Buffer((64,), "float32"), X: T.Buffer((1,), "float32")):
    for LOOPS:
        with T.sblock("s"):
            vk = T.axis.reduce(64, INDEX)
            with T.init():
                X[0] = T.float32(0)
            X[0] = X[0] + A[vk]
"""


@pytest.mark.parametrize(
    ("loops", "index", "why"),
    [("k0, k1 in T.grid(8, 8)", "k0 * 8 + k1", ""), ("k1, k0 in T.grid(8, 8)", "k0 * 8 + k1", WITHIN)],
)
def test_a_sum_in_another_order_is_equal_within_the_certified_bound(loops, index, why):
    before = SUM.replace("LOOPS", "k in range(64)").replace("INDEX", "k")
    after = SUM.replace("LOOPS", loops).replace("INDEX", index)
    checked = check(PassTrace((Stage("input", before), Stage("1: reorder", after))))
    assert [(row.verdict, row.why) for row in checked.rows] == [(StageVerdict.SAME, why)]
    assert ("equal within the certified bound" in str(checked)) is bool(why)


def test_a_sum_that_leaves_a_term_out_is_broken():
    before = SUM.replace("LOOPS", "k in range(64)").replace("INDEX", "k")
    after = SUM.replace("LOOPS", "k in range(63)").replace("INDEX", "k")
    checked = check(PassTrace((Stage("input", before), Stage("1: split", after))))
    assert [row.verdict for row in checked.rows] == [StageVerdict.BROKEN]


MAGIC = lowered().replace("A[i] + 3", "T.if_then_else(A[i] == 12345678, 4, A[i] + 3)")


def test_a_constant_of_a_stage_is_tried():
    found = check(trace(module(), MAGIC), small=False)
    assert (found.broken.name, found.broken.diagnostic.code.id) == ("pass 1", "RM705")


def test_inputs_are_arguments_of_every_call(tmp_path):
    file = tmp_path / "stages.jsonl"
    lines = [{"name": name, "text": text} for name, text in (("input", module()), ("p", lowered("-")))]
    file.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    np.save(tmp_path / "a.npy", np.full(8, 5, "int32"))
    result = CliRunner().invoke(main, ["passes", str(file), "--input", f"A={tmp_path / 'a.npy'}", "--json"])
    assert result.exit_code == 1
    assert "[0] is 2, expected 8" in json.loads(result.stdout)["stages"][0]["why"]  # 5 - 3, 5 + 3
    wrong = CliRunner().invoke(main, ["passes", str(file), "--input", "Q=ones"])
    assert (wrong.exit_code, "no function has a parameter" in wrong.output) == (2, True)
    np.savez(tmp_path / "p.npz", A=np.full(8, 5, "int32"), other=np.ones(3))
    params = CliRunner().invoke(main, ["passes", str(file), "--params", str(tmp_path / "p.npz")])
    assert params.exit_code == 1


CHOICE = """
@T.prim_func(s_tir=True)
def main(n: T.int32, A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
    for i in range(4):
        B[i] = VALUE
"""
TWICE = CHOICE.replace("VALUE", "A[i] * T.float32(2)")
THRICE_FROM_5 = CHOICE.replace("VALUE", "T.if_then_else(n >= 5, A[i] * T.float32(3), A[i] * T.float32(2))")


def test_the_calls_and_the_small_call_keep_what_is_assumed():
    assert check(trace(TWICE, THRICE_FROM_5), assume=assumed("n < 5")).broken is None
    broken = check(trace(TWICE, THRICE_FROM_5), assume=assumed("6 <= n < 9")).broken
    assert 6 <= broken.call[0] < 9


def test_the_module_that_is_made_smaller_keeps_what_is_assumed():
    """The pass is wrong outside of the contract too, where a smaller module would show it."""
    found = check(trace(TWICE, THRICE_FROM_5), assume=assumed("6 <= n < 9")).broken
    small = shrunk(read(TWICE), found, lambda _text: trace(TWICE, THRICE_FROM_5), tries=3, assume=assumed("6 <= n < 9"))
    assert 6 <= small.broken.call[0] < 9


def test_notes_on_the_calls_are_shown(tmp_path):
    """An infinity of finite arguments is noted with its place; so is what the calls could not have."""
    infinite = TWICE.replace("A[i] * T.float32(2)", "T.float32(1) / T.abs(T.float32(n - n))")
    found = check(trace(infinite, infinite.replace("1)", "2)")))
    assert any(
        "makes inf from finite arguments in `B[0]`" in note and note.startswith("`main`: ") for note in found.notes
    )
    assert "makes inf from finite arguments" in str(found)
    stages = [{"name": "input", "text": infinite}, {"name": "second", "text": infinite.replace("1)", "2)")}]
    file = tmp_path / "stages.jsonl"
    file.write_text("".join(json.dumps(stage) + "\n" for stage in stages), encoding="utf-8")
    shown = CliRunner().invoke(main, ["passes", str(file)])
    assert "makes inf from finite arguments" in " ".join(shown.output.split())
    data = json.loads(CliRunner().invoke(main, ["passes", str(file), "--json"]).stdout)
    assert any("makes inf" in note for note in data["notes"])
