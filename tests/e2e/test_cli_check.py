"""`refmlc check`: the table, findings, exit status, for modules and implementations that are right and wrong."""

import json
import re
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from refmlc.cli import main
from refmlc.run.memory.registry import DEFAULT

ANSWERS = str(Path(__file__).parent / "check_answers.py")
COPY = """
@T.prim_func
def copy(A: T.Buffer((3, 3), "float32"), B: T.Buffer((3, 3), "float32")):
    for i, j in T.grid(3, 3):
        B[i, j] = A[i, j]
"""
SYMBOLIC = """
@T.prim_func
def flip(a: T.handle, b: T.handle):
    n = T.int32()
    m = T.int32()
    A = T.match_buffer(a, (n, m), "float32")
    B = T.match_buffer(b, (m, n), "float32")
    for i, j in T.grid(m, n):
        B[i, j] = A[j, i]
"""
BRANCHES = """
@T.prim_func
def pick(A: T.Buffer((4,), "float32"), n: T.int32, B: T.Buffer((4,), "float32")):
    for i in range(4):
        if n > 100:
            B[i] = A[i]
        else:
            B[i] = T.float32(0)
"""
LINT = """
@T.prim_func
def total(A: T.Buffer((8,), "float32"), B: T.Buffer((1,), "float32")):
    for k in range(7):
        with T.block("B"):
            vk = T.axis.reduce(8, k)
            with T.init():
                B[0] = T.float32(0)
            B[0] += A[vk]
"""
OVERFLOW = """
@T.prim_func
def add(A: T.Buffer((4,), "int32"), B: T.Buffer((4,), "int32")):
    for i in range(4):
        B[i] = A[i] + T.int32(2147483600)
"""
PACKED = """
from tvm.script import ir as I, relax as R, tirx as T
@I.ir_module
class Module:
    @T.prim_func(private=True)
    def double(A: T.Buffer((2,), "float32"), B: T.Buffer((2,), "float32")):
        for i in range(2):
            B[i] = A[i] * T.float32(2)

    @R.function
    def main(x: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
        cls = Module
        y = R.call_dps_packed("mine.twice", (x,), out_sinfo=R.Tensor((2,), "float32"))
        z = R.call_tir(cls.double, (y,), out_sinfo=R.Tensor((2,), "float32"))
        return z
"""
TWICE = """
import refmlc
@refmlc.register_func("mine.twice")
def twice(x, out):
    out.numpy()[...] = x.numpy() + x.numpy()
"""
FUNCTIONS = """
from tvm.script import ir as I, tirx as T
@I.ir_module
class Module:
    @T.prim_func
    def good(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
        for i in range(4):
            B[i] = A[i]

    @T.prim_func
    def bad(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
        for i in range(4):
            B[i] = A[i + 1]

    @T.prim_func(private=True)
    def hidden(A: T.Buffer((4,), "float32")):
        A[5] = T.float32(0)
"""


def command(way):
    return f"cmd:{sys.executable} {ANSWERS} {way}"


@pytest.fixture
def check(tmp_path):
    """Runs `refmlc check` on a text."""

    def checked(text, *options):
        path = tmp_path / "case.py"
        path.write_text(text)
        return CliRunner().invoke(main, ["check", str(path), *options])

    return checked


@pytest.mark.needs("compiler")
def test_a_right_module_in_right_implementations(check):
    told = check(COPY, "--impl", "native:tiny", "--impl", "interp", "--impl", command("copies"))
    assert told.exit_code == 0, told.output
    lines = told.stdout.splitlines()
    (meaning,) = [line for line in lines if "meaning" in line and " defined" in line and "nothing" in line]
    calls = re.search(r"(\d+) defined", meaning)[1]
    assert int(calls) >= 14
    assert sum(f"{calls} equal" in line for line in lines) == 3
    assert "  nan first: NaN comes first: what is compared with it later decides" in lines
    assert lines[-1].endswith("no findings")
    assert max(len(line) for line in lines if not line.startswith("  ")) <= 80
    assert "\x1b" not in told.stdout


def test_a_wrong_implementation_is_found_with_its_code(check):
    told = check(COPY, "--impl", command("transposes"))
    assert told.exit_code == 1
    assert "error[RM701]" in told.stdout
    assert "axes 0 and 1 are transposed" in told.stdout
    assert "calls have this finding" in told.stdout
    assert "call 1, ordinary: " in told.stdout
    assert told.stdout.splitlines()[-1].endswith("(RM701)")


@pytest.mark.needs("compiler")
def test_every_public_function_is_looked_at_and_what_is_undefined_is_a_finding(check):
    told = check(FUNCTIONS, "--impl", "native:tiny", "--json")
    assert told.exit_code == 1
    data = json.loads(told.stdout)
    assert [row["name"] for row in data["functions"]] == ["good", "bad"]
    good, bad = data["functions"]
    assert {call["meaning"] for call in good["calls"]} == {"defined"}
    assert {call["counts"]["RM304"] for call in bad["calls"]} == {1}
    assert {call["verdicts"]["native:tiny"] for call in bad["calls"]} == {"undefined"}
    assert [one["code"] for one in data["findings"]] == ["RM304"]
    assert check(FUNCTIONS, "--impl", "native:tiny", "--func", "good").exit_code == 0


@pytest.mark.needs("compiler")
def test_symbolic_dimensions_get_one_and_zero(check):
    told = check(SYMBOLIC, "--impl", "native:tiny", "--json")
    assert told.exit_code == 0, told.output
    sizes = [call["sizes"] for call in json.loads(told.stdout)["functions"][0]["calls"]]
    usual = {"n": 3, "m": 4}  # with an output that is empty, and one that holds values
    assert sizes[:5] == [usual, usual, {"n": 1, "m": 1}, {"n": 0, "m": 2}, usual]
    assert {"n": 2, "m": 0} in sizes
    given = check(SYMBOLIC, "--impl", "native:tiny", "--func", "flip", "--dim", "n=5", "--json")
    assert {call["sizes"]["n"] for call in json.loads(given.stdout)["functions"][0]["calls"]} == {5}


def test_inputs_that_are_given_are_used(check):
    told = check(BRANCHES, "--impl", "interp", "--func", "pick", "--input", "n=101", "--input", "A=ones", "--json")
    assert told.exit_code == 0, told.output
    function = json.loads(told.stdout)["functions"][0]
    assert "[1, 1, 1, 1], 101," in function["calls"][0]["arguments"]
    assert len(function["unreached"]) == 1
    assert "false" in function["unreached"][0]


def test_a_value_that_makes_a_condition_true_is_solved(check):
    told = check(BRANCHES, "--impl", "interp", "--json")
    function = json.loads(told.stdout)["functions"][0]
    assert (function["branches"], function["unreached"]) == (2, [])


def test_branches_that_no_call_reaches_are_told(check):
    told = check(BRANCHES.replace("n > 100", "n > 100 and n < 50"), "--impl", "interp")
    assert told.exit_code == 0
    assert "case.py:5:9: no call makes this condition true" in told.stdout.replace("\n", "")


def test_lints_are_findings_only_if_asked_for(check):
    told = check(LINT, "--impl", "interp")
    assert (told.exit_code, "lint: RM325" in told.stdout) == (0, True)
    strict = check(LINT, "--impl", "interp", "--strict")
    assert (strict.exit_code, "error[RM325]" in strict.stdout) == (1, True)
    without = check(LINT, "--impl", "interp", "--kinds", "RM321")
    assert "RM325" not in without.stdout


@pytest.mark.needs("compiler")
def test_what_is_allowed_is_no_finding(check):
    assert check(OVERFLOW, "--impl", "native:tiny").exit_code == 1
    told = check(OVERFLOW, "--impl", "native:tiny", "--allow", "RM306", "--json")
    assert told.exit_code == 0, told.output
    assert {call["meaning"] for call in json.loads(told.stdout)["functions"][0]["calls"]} == {"defined"}


@pytest.mark.needs("compiler")
def test_registered_functions_are_called(check, tmp_path, monkeypatch):
    monkeypatch.setattr(DEFAULT, "_functions", {})
    assert check(PACKED, "--impl", "native:tiny").exit_code == 3
    functions = tmp_path / "functions.py"
    functions.write_text(TWICE)
    told = check(PACKED, "--impl", "native:tiny", "--register", str(functions))
    assert told.exit_code == 0, told.output
    assert " equal" in told.stdout
    path = str(tmp_path / "case.py")
    assert CliRunner().invoke(main, ["run", path, "--input", "x=ones", "--register", str(functions)]).exit_code == 2
    monkeypatch.setattr(DEFAULT, "_functions", {})
    ran = CliRunner().invoke(main, ["run", path, "--input", "x=ones", "--register", str(functions)])
    assert "4.0, 4.0" in ran.stdout


@pytest.mark.parametrize("text", ["1 / 0", "raise SystemExit(3)", "x ="])
def test_a_file_that_registers_nothing_but_raises_is_told(check, tmp_path, text):
    (tmp_path / "functions.py").write_text(text)
    told = check(COPY, "--register", str(tmp_path / "functions.py"))
    assert told.exit_code == 2
    assert "error[RM109]" in told.stderr


def test_long_programs_say_that_they_have_no_variants(check, monkeypatch):
    monkeypatch.setattr("refmlc.oracle.examine.most_steps", lambda _case: 10)
    told = check(COPY, "--impl", "interp")
    assert "copy: no variants: the calls take" in told.stdout
    assert "variant" not in check(COPY, "--impl", "interp", "--no-pairs").stdout


def test_an_implementation_that_is_named_and_takes_nothing_is_no_success(check):
    told = check(COPY, "--impl", command("nothing"))
    assert told.exit_code == 3
    assert "nothing at all" in told.stdout
    assert "copy: only the meaning was executed" in told.stdout
    assert told.stdout.splitlines()[-1].endswith("nothing was compared")


def test_a_missing_compiler_is_unsupported(check, monkeypatch, tmp_path):
    monkeypatch.setenv("REFMLC_CC", str(tmp_path / "cc"))
    told = check(COPY, "--impl", "native:guarded")
    assert told.exit_code == 3
    assert "only the meaning was executed" in told.stdout
    assert "no C compiler is found" in told.stdout.replace("\n", " ")


def test_arguments_that_cannot_be_made(check):
    text = '@T.prim_func\ndef f(p: T.handle, A: T.Buffer((1,), "float32")):\n    A[0] = T.float32(1)\n'
    told = check(text, "--impl", "interp")
    assert told.exit_code == 3
    assert "no arguments" in told.stdout
    assert "`p` of `f`" in told.stdout


def test_a_finding_is_written_as_a_case_and_a_page(check, tmp_path):
    case, page = tmp_path / "found.toml", tmp_path / "found.html"
    told = check(COPY, "--impl", command("transposes"), "--case", str(case), "--report", str(page))
    assert told.exit_code == 1, told.output
    assert "def copy" in case.read_text(encoding="utf-8")
    assert "RM701" in page.read_text(encoding="utf-8")
    assert check(COPY, "--impl", "interp", "--case", str(tmp_path / "none.toml")).exit_code == 0
    assert not (tmp_path / "none.toml").exists()


def test_undefined_behaviour_is_written_and_made_again(check, tmp_path):
    case, page = tmp_path / "found.toml", tmp_path / "found.html"
    told = check(FUNCTIONS, "--impl", "interp", "--case", str(case), "--report", str(page))
    assert told.exit_code == 1, told.output
    assert "load from `A` is out of bounds" in page.read_text(encoding="utf-8")
    assert "--impl" not in page.read_text(encoding="utf-8")
    assert 'kind = "undefined"' in case.read_text(encoding="utf-8")
    again = CliRunner().invoke(main, ["replay", str(case)])
    assert again.exit_code == 1
    assert "error[RM304]: load from `A` is out of bounds" in again.stderr
    assert CliRunner().invoke(main, ["replay", str(case), "--impl", "native:tiny"]).exit_code == 0


def test_each_finding_has_a_file(check, tmp_path):
    text = FUNCTIONS.replace("private=True", "")
    told = check(text, "--impl", "interp", "--case", str(tmp_path / "found.toml"))
    assert sorted(path.name for path in tmp_path.glob("*.toml")) == ["found-2.toml", "found.toml"]
    assert "found-2.toml: RM304: store to `A` is out of bounds" in told.stderr.replace("\n", " ")


@pytest.fixture
def folder(tmp_path):
    """Files of each sort."""
    for name, text in {
        "good.py": COPY,
        "below/bad.py": FUNCTIONS,
        "below/rubbish.py": "@T.prim_func\ndef f(:\n",
        "plain.py": "print(1)\n",
        ".hidden/bad.py": FUNCTIONS,
        "note.md": COPY,
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def test_a_folder_is_all_its_modules(folder):
    told = CliRunner().invoke(main, ["check", "--impl", "interp", str(folder)])
    assert told.exit_code == 1, told.output
    assert told.stdout.splitlines()[-1] == (
        "3 files: 1 without a finding, 1 with findings, 1 not read; 1 file without TVMScript skipped"
    )
    assert told.stdout.count("error[RM304]") == 1
    assert "error[RM101]" in told.stderr


def test_several_files_are_an_object_each(folder):
    files = [str(folder / name) for name in ("good.py", "below/rubbish.py", "good.py")]
    told = CliRunner().invoke(main, ["check", "--impl", "interp", "--json", *files])
    assert told.exit_code == 2
    data = json.loads(told.stdout)
    assert [one["file"] for one in data["files"]] == files[:2]
    assert data["files"][0]["findings"] == []
    assert data["files"][1]["error"]["code"] == "RM101"
    assert data["skipped"] == 0


def test_a_folder_without_modules(tmp_path):
    told = CliRunner().invoke(main, ["check", "--impl", "interp", str(tmp_path)])
    assert (told.exit_code, told.stdout.strip()) == (0, "0 files: nothing to check")


def test_the_standard_input_is_a_module():
    told = CliRunner().invoke(main, ["check", "--impl", "interp", "-"], input=COPY)
    assert told.exit_code == 0, told.output
    assert "<stdin>" in told.stdout
    wrong = CliRunner().invoke(main, ["check", "-"], input=b"\xff")
    assert (wrong.exit_code, "error[RM102]" in wrong.stderr) == (2, True)


def test_parameters_come_from_a_file(check, tmp_path):
    np.savez(tmp_path / "params.npz", A=np.full((3, 3), 7, "float32"), other=np.ones(2))
    np.savez(tmp_path / "two.npz", A=np.array([[7, 8]], "float32"))
    told = check(COPY, "--impl", "interp", "--params", str(tmp_path / "params.npz"), "--json")
    assert told.exit_code == 0, told.output
    calls = json.loads(told.stdout)["functions"][0]["calls"]
    assert len(calls) >= 3  # where nothing is left to choose, calls differ in what the output holds
    seven = check(COPY.replace("3, 3", "1, 2"), "--impl", "interp", "--params", str(tmp_path / "two.npz"), "--json")
    assert "[[7, 8]]" in json.loads(seven.stdout)["functions"][0]["calls"][0]["arguments"]
    shown = check(COPY.replace("3, 3", "2, 2"), "--impl", "interp", "--params", str(tmp_path / "params.npz"))
    assert (shown.exit_code, "has shape (2, 2), shape (3, 3) is given" in shown.stdout) == (3, True), shown.output
    np.savez(tmp_path / "other.npz", other=np.ones(2))
    none = check(COPY, "--impl", "interp", "--params", str(tmp_path / "other.npz"))
    assert (none.exit_code, "no function has a parameter" in none.stderr) == (2, True)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--impl", "numpi"], "no implementation is named"),
        (["--impl", "cmd:/nowhere/at/all"], "does not start"),
        (["--impl", command("mute")], "no licence today"),
        (["--func", "other"], "has no function `other`"),
        (["--input", "A=ones"], "give `--func` too"),
        (["--func", "copy", "--input", "A"], "is not NAME=VALUE"),
        (["--func", "copy", "--input", "Q=ones"], "has no parameter `Q`"),
        (["--func", "copy", "--dim", "n=3"], "no symbolic dimension `n`"),
        (["--kinds", "RM999"], "no detector reports RM999"),
        (["--calls", "0"], "Invalid value"),
    ],
)
def test_bad_usage_is_one_message(check, options, words):
    told = check(COPY, *options)
    assert told.exit_code == 2
    assert words in told.stderr
    assert "Traceback" not in told.output


def test_rubbish_is_not_read(check):
    told = check("hello, world")
    assert (told.exit_code, "error[RM1" in told.stderr) == (2, True)
    missing = CliRunner().invoke(main, ["check", "no-such-file.py"])
    assert (missing.exit_code, "RM109" in missing.stderr) == (2, True)


def test_an_input_that_does_not_fit_is_bad_input(check):
    told = check(BRANCHES, "--func", "pick", "--input", "n=abc")
    assert (told.exit_code, "in place of a file: a number" in told.stderr) == (2, True)


def test_as_written(check):
    kernel = """
@T.prim_func
def reverse(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
    S = T.alloc_buffer((4,), "float32", scope="shared")
    for tx in T.thread_binding(4, thread="threadIdx.x"):
        S[tx] = A[tx]
        B[tx] = S[3 - tx]
"""
    told = check(kernel, "--calls", "1")
    assert (told.exit_code, "TIR-229" in told.stdout) == (0, True), told.output
    assert told.stdout.splitlines()[-1].endswith("no findings")
    written = check(kernel, "--calls", "1", "--as-written")
    assert (written.exit_code, "error[RM321]" in written.stdout) == (1, True), written.output
