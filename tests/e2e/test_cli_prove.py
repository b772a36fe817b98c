"""`refmlc prove`: what it prints, and its exit status."""

import hashlib
import json
import os
import tomllib

import pytest
from click.testing import CliRunner
from needs import imported

from refmlc.cli import main

SUM = """
@T.prim_func
def dot(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32"), C: T.Buffer((1,), "float32")):
    C[0] = T.float32(0)
    for i in range(4):
        C[0] = C[0] + A[i] * B[i]
"""
SWAPPED = SUM.replace("A[i] * B[i]", "B[i] * A[i]")
BACKWARDS = SUM.replace("[i]", "[3 - i]")
SHORT = SUM.replace("range(4)", "range(3)")
LOOP = SUM.replace("for i in range(4)", "while A[0] > T.float32(0)").replace("[i]", "[0]")


@pytest.fixture
def prove(tmp_path):
    def run(before, after, *options):
        for name, text in (("before.py", before), ("after.py", after)):
            (tmp_path / name).write_text(text, encoding="utf-8")
        return CliRunner().invoke(main, ["prove", str(tmp_path / "before.py"), str(tmp_path / "after.py"), *options])

    return run


def test_a_proof(prove):
    result = prove(SUM, SWAPPED)
    assert result.exit_code == 0
    assert result.stdout.splitlines() == [
        "`dot`: proved: wherever BEFORE is defined, AFTER is defined and leaves the same bits",
        "  tensors of the arguments do not overlap",
        "  elements compared: 1; terms: 16",
    ]


def test_another_order_is_accepted_only_if_asked_for(prove):
    assert prove(SUM, BACKWARDS).exit_code == 3
    result = prove(SUM, BACKWARDS, "--up-to-rounding")
    assert result.exit_code == 0
    assert "equal over the reals" in result.stdout


def test_a_refutation_has_a_call(prove):
    result = prove(SUM, SHORT)
    assert result.exit_code == 1
    assert "`C[0]` is `" in result.stdout
    assert "error[RM705]" in result.stdout
    assert prove(SUM, SHORT, "--calls", "0").exit_code == 3


def test_a_page_shows_the_two_terms(prove, tmp_path):
    page = tmp_path / "proof.html"
    assert prove(SUM, SHORT, "--report", str(page)).exit_code == 1
    assert "The first element that differs: <code>C[0]</code>" in page.read_text()
    alone = CliRunner().invoke(main, ["prove", str(tmp_path / "before.py"), "--report", str(page)])
    assert alone.exit_code == 2
    assert "`--report` shows two programs" in alone.stderr


def test_data(prove):
    data = json.loads(prove(SUM, SHORT, "--json").stdout)
    assert (data["verdict"], data["counterexample"]["code"]) == ("refuted", "RM705")
    assert json.loads(prove(SUM, SWAPPED, "--json").stdout) == {
        "func": "dot",
        "verdict": "proved",
        "reason": "",
        "differs": [],
        "open": [],
        "assumptions": ["tensors of the arguments do not overlap"],
        "elements": 1,
        "terms": 16,
        "limit": 0,
        "counterexample": None,
    }


def test_what_is_not_decided_says_where(prove):
    result = prove(LOOP, LOOP, "--calls", "0")
    assert result.exit_code == 3
    assert "before.py:5" in result.stdout
    assert "control, an index or a size depends on the values of an argument" in result.stdout


def test_a_function_that_is_not_there(prove):
    result = prove(SUM, SWAPPED, "--func", "nothing")
    assert result.exit_code == 2
    assert "RM112" in result.stderr


# ------------------------------------------------------------------------------------------ certificates

INDEXED = """
@T.prim_func
def take(I: T.Buffer(("n",), "int64"), A: T.Buffer(("m",), "float32"), C: T.Buffer(("n",), "float32")):
    n = T.int64()
    m = T.int64()
    for i in range(n):
        C[i] = A[I[i]]
"""


def invoke(*words):
    return CliRunner().invoke(main, ["prove", *map(str, words)])


@pytest.fixture
def certificate(prove, tmp_path):
    assert prove(SUM, SWAPPED, "--certificate", str(tmp_path / "proof.toml")).exit_code == 0
    return tmp_path / "proof.toml"


def test_a_certificate_comes_out_again(certificate, tmp_path):
    result = invoke("--replay", certificate)
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.splitlines() == [
        "`dot`: the certificate comes out again: proved",
        "  tensors of the arguments do not overlap",
        "  obligations: 9",  # four elements of A, four of B, and that C may be written
    ]
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    moved = certificate.rename(elsewhere / "proof.toml")
    assert invoke("--replay", moved).exit_code == 2
    data = json.loads(invoke(tmp_path / "before.py", tmp_path / "after.py", "--replay", moved, "--json").stdout)
    assert (data["holds"], data["verdict"], data["obligations"], data["differences"]) == (True, "proved", 9, [])


def test_nothing_is_certified_that_is_not_proved(prove, tmp_path):
    file = tmp_path / "proof.toml"
    for after, options, verdict in ((SHORT, (), "refuted"), (BACKWARDS, (), "equal over the reals")):
        result = prove(SUM, after, *options, "--certificate", str(file))
        assert result.exit_code != 0
        assert f"no certificate: the verdict is `{verdict}`" in result.stderr
        assert not file.exists()


def test_equality_over_the_reals_is_certified_where_it_is_accepted(prove, tmp_path):
    file = tmp_path / "proof.toml"
    assert prove(SUM, BACKWARDS, "--up-to-rounding", "--certificate", str(file)).exit_code == 0
    result = invoke("--replay", file)
    assert result.exit_code == 0
    assert "equal over the reals" in result.stdout


def test_definedness_is_certified_with_its_contracts(tmp_path):
    imported("z3")
    program, file = tmp_path / "take.py", tmp_path / "proof.toml"
    program.write_text(INDEXED)
    words = ("--assume", "0 <= I", "--assume", "I < m", "--limit", "100")
    assert invoke(program, *words, "--certificate", file).exit_code == 0
    data = tomllib.loads(file.read_text())
    assert (data["domain"], data["limit"], data["assume"]) == ("integers", 100, ["0 <= I", "I < m"])
    result = invoke("--replay", file)
    assert result.exit_code == 0
    assert "comes out again: proved, for all sizes up to 100" in result.stdout
    file.write_text(file.read_text().replace(', "I < m"', ""))
    result = invoke("--replay", file)
    assert result.exit_code == 1
    assert "`proved under inferred contracts`, the certificate `proved`" in result.stdout
    file.write_text(file.read_text().replace("0 <= I", "0 <= X"))
    assert "RM112" in invoke("--replay", file).stderr


SIZED = """
@T.prim_func
def twice(A: T.Buffer(("n",), "float32"), C: T.Buffer(("n",), "float32")):
    n = T.int64()
    for i in range(n):
        C[i] = A[i] + A[i]
"""
FROM_THE_END = SIZED.replace("[i]", "[n - 1 - i]")
SCANNED = SIZED.replace("A[i] + A[i]", "T.if_then_else(i > 0, C[i - 1], A[i])")


def test_sizes_that_the_call_decides_are_all_tried_at_once(prove, tmp_path):
    imported("z3")
    result = prove(SIZED, FROM_THE_END, "--certificate", str(tmp_path / "proof.toml"))
    assert result.exit_code == 0
    assert "`twice`: proved for all sizes up to 32,768: wherever BEFORE is defined" in result.stdout
    data = tomllib.loads((tmp_path / "proof.toml").read_text())
    assert (data["domain"], data["limit"], len(data["program"])) == ("integers", 32768, 2)
    assert invoke("--replay", tmp_path / "proof.toml").exit_code == 0
    assert "for all sizes" not in prove(SIZED, FROM_THE_END, "--dim", "n=3").stdout


def test_what_is_not_shown_for_all_sizes_is_shown_for_some(prove, tmp_path):
    imported("z3")
    result = prove(SCANNED, SCANNED)
    assert result.exit_code == 0
    assert "`twice`: proved: " in result.stdout
    assert "for n = 5" in result.stdout
    assert "not for all sizes: " in result.stdout
    # nor does a certificate for all sizes follow from a proof at some
    file = tmp_path / "proof.toml"
    prove(SIZED, FROM_THE_END, "--certificate", str(file))
    digests = [hashlib.sha256(text.encode()).hexdigest() for text in (SIZED, FROM_THE_END)]
    text = file.read_text()
    for digest in digests:
        text = text.replace(digest, hashlib.sha256(SCANNED.encode()).hexdigest())
    file.write_text(text)
    for name in ("before.py", "after.py"):
        (tmp_path / name).write_text(SCANNED)
    result = invoke("--replay", file)
    assert result.exit_code == 1
    assert "the derivation says `undecided`, the certificate `proved`" in result.stdout


def test_a_certificate_of_something_else_does_not_come_out(certificate, tmp_path):
    text = certificate.read_text()
    digest = tomllib.loads(text)["program"][1]["sha256"]
    (tmp_path / "after.py").write_text(SHORT)
    result = invoke("--replay", certificate)
    assert (result.exit_code, "RM109" in result.stderr) == (2, True)
    assert f"the certificate's {digest}" in result.stderr
    certificate.write_text(text.replace(digest, hashlib.sha256(SHORT.encode()).hexdigest()))
    result = invoke("--replay", certificate)
    assert result.exit_code == 1
    assert "the derivation says `undecided`, the certificate `proved`: the terms differ" in result.stdout


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("elements = 1", "elements = 2", "the derivation compares 1 elements, the certificate says 2"),
        ('"tensors of the arguments do not overlap"', "", "the certificate says no condition"),
        ("count = 4", "count = 5", "4 times in the derivation, 5 in the certificate"),
        ('place = "6:', 'place = "7:', "0 times in the derivation, 4 in the certificate"),
    ],
)
def test_every_line_must_come_out_again(certificate, old, new, line):
    text = certificate.read_text()
    assert old in text
    certificate.write_text(text.replace(old, new, 1))
    result = invoke("--replay", certificate)
    assert result.exit_code == 1
    assert line in result.stdout


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("format = 1", "format = 2", "is version 2 of the format of a certificate: a newer refmlc wrote it"),
        ("format = 1", "format = true", "has no `format`, a whole number: it is no certificate"),
        ("format = 1", "format = " + "1" * 5000, "is not TOML"),
        ("format = 1", "format = 1\nx = " + "[" * 100_000 + "]" * 100_000, "is not TOML"),
        ("format = 1", "format = 1\ncommand = 'x'", "unknown key `command`"),
        ("elements = 1\n", "", "the key `elements` is missing"),
        ("elements = 1", "elements = 1.5", "`elements` is not an integer"),
        ("elements = 1", "elements = true", "`elements` is not an integer"),
        ("elements = 1", "elements = 1\nlimit = 5", "unknown key `limit`"),
        ('func = "dot"', "func = 3", "`func` is not a string"),
        ('func = "dot"', 'func = "nothing"', "no function `nothing`"),
        ('domain = "terms"', 'domain = "fields"', "`domain` is none of"),
        ('domain = "terms"', 'domain = "integers"', "unknown key"),
        ('verdict = "proved"', 'verdict = "undecided"', "`verdict` is none of"),
        ("dims = {  }", "dims = 3", "`dims` is not a table"),
        ("dims = {  }", "dims = { n = -1 }", "`n` is not an integer"),
        ("conditions = [", "conditions = [3, ", "is not a list of strings"),
        ('file = "before.py"', 'file = "../before.py"', "in the same folder"),
        ('file = "before.py"', 'file = "/etc/passwd"', "in the same folder"),
        ('file = "before.py"', 'file = ".."', "in the same folder"),
        ('file = "before.py"', 'file = "a\\u0000b"', "in the same folder"),
        ('file = "before.py"', 'file = "pipe"', "it is a pipe"),
        ('file = "before.py"', 'file = "nowhere"', "No such file"),
        ('file = "before.py"', 'path = "before.py"', "unknown key `path`"),
        ('sha256 = "', 'sha256 = "x', "no digest"),
        ("count = 4", "count = 0", "`count` is not an integer of at least 1"),
        ('kind = "argument"', "kind = []", "`kind` is not a string"),
    ],
)
def test_a_hostile_certificate_is_refused(certificate, tmp_path, old, new, message):
    os.mkfifo(tmp_path / "pipe")
    text = certificate.read_text()
    assert old in text
    certificate.write_text(text.replace(old, new, 1))
    result = invoke("--replay", certificate)
    assert result.exit_code == 2, result.output
    assert message in result.stderr
    assert "RM109" in result.stderr or "RM112" in result.stderr


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("--replay", "nothing.toml"),
        ("--replay", "proof.toml", "--dim", "n=3"),
        ("before.py", "--replay", "proof.toml"),
        ("-", "before.py", "--certificate", "other.toml"),
        ("before.py", "after.py", "--certificate", "no/such/folder.toml"),
    ],
)
def test_a_command_that_does_not_fit_is_refused(certificate, monkeypatch, words):
    monkeypatch.chdir(certificate.parent)
    result = invoke(*words)
    assert result.exit_code == 2, result.output


def test_a_model_is_what_its_frontend_imports(tmp_path):
    onnx = imported("onnx")
    helper, kind = onnx.helper, onnx.TensorProto.FLOAT
    tensors = [helper.make_tensor_value_info(name, kind, [4]) for name in "abc"]
    for name, operands in (("first", "ab"), ("second", "ba")):
        graph = helper.make_graph([helper.make_node("Add", list(operands), ["c"])], "g", tensors[:2], tensors[2:])
        versions = [helper.make_opsetid("", 17)]
        onnx.save(helper.make_model(graph, opset_imports=versions, ir_version=8), tmp_path / f"{name}.onnx")
    done = CliRunner().invoke(main, ["prove", str(tmp_path / "first.onnx"), str(tmp_path / "second.onnx")])
    assert done.exit_code == 0, done.output
    done = CliRunner().invoke(main, ["prove", str(tmp_path / "first.onnx")])
    assert done.exit_code == 2, done.output
    assert "RM112" in done.output
