"""Bad input to the command: one message on standard error, the exit status of its kind."""

import json
import pickle

import pytest
from click.testing import CliRunner

from refmlc.cli import main

ADD = """\
from tvm.script import tirx as T


@T.prim_func
def main(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
    {body}
"""
RELAX = """\
from tvm.script import relax as R


@R.function
def main(x: R.Tensor((4,), "float32")):
    {body}
    return y
"""


def prim(body):
    return ADD.format(body=body)


def relax(body):
    return RELAX.format(body=body)


def refmlc(*arguments):
    result = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    assert "Traceback" not in result.output
    return result


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("text", "more", "code", "status"),
    [
        ("A[0 = 1", (), "RM101", 2),
        (prim("A[0] = A[k]"), (), "RM104", 2),
        (prim("A[0, 0] = B[0]"), (), "RM208", 2),
        (prim("A[0] = B[0]"), ("--input", "C=zeros"), "RM111", 2),
        (prim("A[0] = B[0]"), ("--input", "A=missing.npy"), "RM109", 2),
        (prim("A[0] = B[0]"), ("--params", "missing.npz"), "RM109", 2),
        (prim("A[0] = B[0]"), ("--func", "other"), "RM112", 2),
        (prim("A[5] = B[0]"), ("--input", "B=zeros"), "RM304", 1),
        (prim("A[0] = B[0]"), ("--input", "A=zeros"), "RM305", 1),
        (prim('assert A[0] > T.float32(1), "small"'), ("--input", "A=zeros"), "RM401", 1),
        (relax('y = R.call_pure_packed("f", x, ty_args=R.Any)'), ("--input", "x=ones"), "RM402", 1),
        (relax("y = R.ccl.allreduce(x)"), ("--input", "x=ones"), "RM501", 3),
        (
            prim("for i in T.serial(T.int64(1000000000000)): A[0] = B[0]"),
            ("--input", "B=ones", "--max-steps", 1000),
            "RM601",
            4,
        ),
        (prim('S = T.alloc_buffer((1099511627776, 10), "int8")'), ("--input", "B=ones"), "RM603", 4),
    ],
    ids=lambda value: value if isinstance(value, str) and value.startswith("RM") else None,
)
def test_run_ends_in_one_message_and_its_status(tmp_path, text, more, code, status):
    (tmp_path / "case.py").write_text(text, encoding="utf-8")
    result = refmlc("run", "case.py", *more)
    assert (result.exit_code, result.stderr.split("]")[0]) == (status, f"error[{code}")
    assert result.stderr.count("error[") == 1
    assert result.stdout == ""


@pytest.mark.parametrize(
    ("arguments", "code", "status"),
    [
        (("run", "missing.py"), "RM109", 2),
        (("show", "."), "RM109", 2),
        (("explain", "RM999"), "RM112", 2),
        (("spec", "TIR-000"), "RM112", 2),
    ],
)
def test_other_commands(arguments, code, status):
    result = refmlc(*arguments)
    assert (result.exit_code, result.stderr.split("]")[0]) == (status, f"error[{code}")


def test_binary_file(tmp_path):
    (tmp_path / "case.py").write_bytes(bytes(range(256)))
    result = refmlc("run", "case.py")
    assert (result.exit_code, result.stderr.split("]")[0]) == (2, "error[RM102")


class Unwanted:
    def __reduce__(self):
        return (print, ("executed",))


def test_pickle_that_holds_more_than_arrays(tmp_path):
    (tmp_path / "case.py").write_text(prim("A[0] = B[0]"), encoding="utf-8")
    (tmp_path / "p.pkl").write_bytes(pickle.dumps({"A": Unwanted()}))
    result = refmlc("run", "case.py", "--params", "p.pkl")
    assert (result.exit_code, result.stderr.split("]")[0]) == (2, "error[RM110")
    assert "executed" not in result.output


def test_json(tmp_path, monkeypatch):
    monkeypatch.setattr("sys.argv", ["refmlc", "run", "case.py", "--json"])
    (tmp_path / "case.py").write_text("A[0 = 1", encoding="utf-8")
    result = refmlc("run", "case.py", "--json")
    assert result.exit_code == 2
    assert json.loads(result.stdout)["error"]["code"] == "RM101"


def test_usage():
    assert refmlc("run").exit_code == 2
    assert refmlc("frobnicate").exit_code == 2
