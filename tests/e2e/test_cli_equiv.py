"""`refmlc equiv`, and what the command says of names that it does not know."""

import json
from importlib.metadata import version

import pytest
from click.testing import CliRunner

import refmlc
from refmlc.cli import main

COPY = """
@T.prim_func
def copy(A: T.Buffer((3,), "float32"), B: T.Buffer((3,), "float32")):
    for i in range(3):
        B[i] = A[i]
"""
RENAMED = COPY.replace("for i in range(3)", "for k in T.serial(0, 3)").replace("[i]", "[k]")
NEGATED = COPY.replace("= A[i]", "= T.float32(0) - A[i]")
UNDEFINED = COPY.replace("A[i]", "A[i + 1]")


@pytest.fixture
def equiv(tmp_path):
    def run(before, after, *options):
        for name, text in (("before.py", before), ("after.py", after)):
            (tmp_path / name).write_text(text, encoding="utf-8")
        return CliRunner().invoke(main, ["equiv", str(tmp_path / "before.py"), str(tmp_path / "after.py"), *options])

    return run


def test_equal_programs(equiv):
    told = equiv(COPY, RENAMED, "--calls", "5")
    assert (told.exit_code, told.stdout) == (0, "`copy`: no difference on 5 calls\n")
    data = json.loads(equiv(COPY, RENAMED, "--calls", "5", "--json", "--func", "copy").stdout)
    assert data == {"func": "copy", "equivalent": True, "calls": 5, "notes": [], "finding": None}


def test_a_difference_is_a_small_counterexample(equiv, tmp_path):
    page = tmp_path / "found.html"
    told = equiv(COPY, NEGATED, "--report", str(page))
    assert told.exit_code == 1
    assert "error[RM705]: the program after gives another `B`" in told.stdout
    assert "`A` is float32[3] [" in told.stdout.replace("\n", "")
    text = page.read_text(encoding="utf-8")
    assert "The equivalent program" in text
    assert "the program after gives" in text
    assert "RM705" in json.loads(equiv(COPY, NEGATED, "--json").stdout)["finding"]["code"]


def test_less_defined_is_a_counterexample(equiv, tmp_path):
    told = equiv(COPY, UNDEFINED, "--report", str(tmp_path / "found.html"))
    assert told.exit_code == 1
    assert "the program before is defined, the program after is not: RM304" in told.stdout
    assert (tmp_path / "found.html").exists()


def test_more_defined_says_nothing(equiv):
    told = equiv(UNDEFINED, COPY)
    assert told.exit_code == 1
    assert "nothing was compared" in told.stderr
    assert "error[RM304]" in told.stderr


@pytest.mark.parametrize(
    ("after", "options", "code", "words"),
    [
        ("def f(:", (), 2, "error[RM101]"),
        (COPY.replace("def copy", "def other"), ("--func", "copy"), 2, "has no function `copy`"),
        (COPY, ("--impl", "numpi"), 2, "no implementation is named"),
        (COPY.replace("A[i]", 'T.call_extern("float32", "strange", A[i])'), (), 3, "RM5"),
    ],
)
def test_what_cannot_be_compared(equiv, after, options, code, words):
    told = equiv(COPY, after, *options)
    assert (told.exit_code, words in told.stderr) == (code, True), told.output


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["chek"], "Did you mean 'check'?"),
        (["chek", "gemm.py"], "Did you mean 'check'?"),
        (["gemm.py"], "refmlc check gemm.py"),
        (["my gemm.py"], "refmlc check 'my gemm.py'"),
        (["conform", "exprot"], "Did you mean 'export'?"),
        (["zzzzzz"], "No such command 'zzzzzz'."),
        (["RM304"], "refmlc explain RM304"),
        (["tir-201"], "refmlc spec tir-201"),
        (["model.onnx"], "refmlc import model.onnx"),
        (["finding.toml"], "refmlc replay finding.toml"),
        (["chapter.md"], "refmlc course chapter.md"),
        (["/"], "refmlc check /"),
        (["shrink"], "Did you mean 'reduce'?"),
        (["help"], "refmlc --help"),
    ],
)
def test_a_mistyped_command_says_which(words, said):
    told = CliRunner().invoke(main, words)
    assert told.exit_code == 2
    assert said in told.stderr
    assert "RM9" not in told.output


def test_the_version():
    assert refmlc.__version__ == version("refmlc")
    assert CliRunner().invoke(main, ["--version"]).stdout.strip().endswith(refmlc.__version__)
