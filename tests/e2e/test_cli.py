"""The command line as users meet it: output, exit status, `--json`, one message per failure."""

import json
import os
import pickle
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from refmlc.cli import main

GEMM = """
@T.prim_func
def gemm(A: T.Buffer((4, 8), "float32"), B: T.Buffer((8, 4), "float32"), C: T.Buffer((4, 4), "float32")):
    for i, j, k in T.grid(4, 4, 8):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
"""
TWICE = """
@I.ir_module
class Module:
    @T.prim_func(private=True)
    def twice(x: T.Buffer(("n",), "float32"), y: T.Buffer(("n",), "float32")):
        n = T.int64()
        for i in range(n):
            with T.block("y"):
                vi = T.axis.spatial(n, i)
                y[vi] = x[vi] * T.float32(2)

    @R.function
    def main(x: R.Tensor(("n",), "float32")) -> R.Tuple(R.Tensor(("n",), "float32"), R.Shape(["n"])):
        n = T.int64()
        cls = Module
        y = R.call_tir(cls.twice, (x,), out_sinfo=R.Tensor((n,), "float32"))
        return (y, R.shape([n]))
"""
SCALARS = """
@T.prim_func
def main(n: T.int32, x: T.float32, C: T.Buffer((4,), "float32")):
    for i in range(4):
        C[i] = x * T.Cast("float32", n + i)
"""
COPY = """
@T.prim_func
def main(A: T.Buffer((2, 3), "DTYPE"), B: T.Buffer((2, 3), "DTYPE")):
    for i, j in T.grid(2, 3):
        B[i, j] = A[i, j]
"""
HALF = """
@T.prim_func(s_tir=True)
def main(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
    for i in range(2):
        B[i] = A[i]
"""
ENDLESS = """
@T.prim_func
def main(A: T.Buffer((1,), "int32")):
    for i in range(1000000000000):
        A[0] = 1
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "gemm.py").write_text(GEMM)
    (tmp_path / "twice.py").write_text(TWICE)
    return tmp_path


def refmlc(*arguments):
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def test_run_writes_results_that_numpy_agrees_with(folder):
    a = np.arange(32, dtype="float32").reshape(4, 8)
    np.save(folder / "a.npy", a)
    done = refmlc("run", folder / "gemm.py", "--func", "gemm", "--input", f"A={folder / 'a.npy'}", "--input", "B=ones",
                  "--out", folder / "out", "--json")  # fmt: skip
    assert done.exit_code == 0, done.output
    (result,) = json.loads(done.stdout)["results"]
    expected = a.sum(axis=1, keepdims=True) @ np.ones((1, 4), "float32")
    assert (result["name"], result["shape"], result["dtype"]) == ("C", [4, 4], "float32")
    assert result["values"] == expected.reshape(-1).tolist()
    assert np.array_equal(np.load(folder / "out" / "C.npy"), expected)


def test_run_of_a_relax_function_with_a_generated_symbolic_input(folder):
    done = refmlc("run", folder / "twice.py", "--input", "x=iota", "--dim", "n=5", "--json")
    assert done.exit_code == 0, done.output
    (result,) = json.loads(done.stdout)["results"]
    assert result["name"] == "result.0"
    assert result["values"] == [0.0, 2.0, 4.0, 6.0, 8.0]


def test_run_for_people_is_a_table(folder):
    done = refmlc("run", folder / "twice.py", "--input", "x=ones", "--dim", "n=3")
    assert done.exit_code == 0
    assert "2.0, 2.0, 2.0" in done.stdout


def test_parameters_from_one_file_and_from_a_pickle(folder):
    np.savez(folder / "p.npz", A=np.ones((4, 8), "float32"), B=np.ones((8, 4), "float32"))
    with np.load(folder / "p.npz") as arrays:
        (folder / "p.pkl").write_bytes(pickle.dumps(dict(arrays)))
    for name in ("p.npz", "p.pkl"):
        done = refmlc("run", folder / "gemm.py", "--func", "gemm", "--params", folder / name, "--json")
        assert done.exit_code == 0, done.output
        assert set(json.loads(done.stdout)["results"][0]["values"]) == {8.0}


@pytest.mark.parametrize(
    ("arguments", "status", "code"),
    [
        (("run", "nothing.py"), 2, "RM109"),
        (("run", "gemm.py"), 1, "RM305"),
        (("run", "gemm.py", "--func", "main"), 2, "RM112"),
        (("run", "gemm.py", "--func", "gemm", "--input", "Q=ones"), 2, "RM111"),
        (("run", "gemm.py", "--func", "gemm", "--input", "A"), 2, "RM112"),
        (("run", "gemm.py", "--func", "gemm", "--dim", "n=x"), 2, "RM112"),
        (("run", "gemm.py", "--func", "gemm", "--dim", "n=4"), 2, "RM112"),
        (("run", "gemm.py", "--func", "gemm", "--input", "A=normal(-1)"), 2, "RM109"),
        (("run", "gemm.py", "--func", "gemm", "--input", "A=missing.npy"), 2, "RM109"),
        (("run", "gemm.py", "--func", "gemm", "--input", "A=7"), 2, "RM111"),
        (("run", "gemm.py", "--func", "gemm", "--input", "A=ones"), 1, "RM305"),
        (
            ("run", "gemm.py", "--func", "gemm", "--input", "A=ones", "--input", "B=ones", "--max-steps", "9"),
            4,
            "RM601",
        ),
        (("run", "twice.py"), 2, "RM111"),
        (("run", "twice.py", "--input", "x=ones"), 2, "RM111"),
        (("run", "scalars.py", "--input", "n=1e5", "--input", "x=1"), 2, "RM111"),
        (("run", "scalars.py", "--input", "n=inf", "--input", "x=1"), 2, "RM111"),
        (("run", "scalars.py", "--input", "n=" + "9" * 6000, "--input", "x=1"), 2, "RM111"),
        (("run", "scalars.py", "--input", "n=99999999999", "--input", "x=1"), 2, "RM111"),
        (("show", "/dev/zero"), 4, "RM604"),
        (("explain", "RM000"), 2, "RM112"),
        (("spec", "TIR-000"), 2, "RM112"),
        (("show", "binary.py"), 2, "RM102"),
        (("run", "evil.py", "--params", "evil.pkl"), 2, "RM110"),
    ],
)
def test_failures_are_one_message_with_code_and_status(folder, monkeypatch, arguments, status, code):
    monkeypatch.chdir(folder)
    (folder / "binary.py").write_bytes(b"\xff\xfe\x00")
    (folder / "evil.py").write_text(TWICE)
    (folder / "scalars.py").write_text(SCALARS)
    (folder / "evil.pkl").write_bytes(pickle.dumps(os.getcwd))
    done = refmlc(*arguments)
    assert done.exit_code == status, done.output
    assert done.stderr.startswith(f"error[{code}]: ")
    assert "Traceback" not in done.output
    data = refmlc(*arguments, "--json")
    assert data.exit_code == status
    assert json.loads(data.stdout)["error"]["code"] == code


def test_generated_scalars_are_numbers(folder):
    (folder / "scalars.py").write_text(SCALARS)
    done = refmlc("run", folder / "scalars.py", "--input", "n=ones", "--input", "x=ones", "--json")
    assert json.loads(done.stdout)["results"][0]["values"] == [1.0, 2.0, 3.0, 4.0]


@pytest.mark.parametrize("dtype", ["bfloat16", "float8_e4m3fn", "int4", "float4_e2m1fn", "bool", "float16"])
def test_results_of_every_dtype_are_inputs_again(folder, dtype):
    (folder / "copy.py").write_text(COPY.replace("DTYPE", dtype))
    done = refmlc("run", folder / "copy.py", "--input", "A=iota", "--out", folder / "out", "--json")
    again = refmlc("run", folder / "copy.py", "--input", f"A={folder / 'out' / 'B.npy'}", "--json")
    first, second = (json.loads(run.stdout)["results"][0] for run in (done, again))
    assert (first["sha256"], first["values"]) == (second["sha256"], second["values"])
    assert first["dtype"] == second["dtype"] == dtype


@pytest.mark.parametrize("stored", [">f4", "<f4", "fortran"])
def test_how_a_file_orders_its_elements_does_not_matter(folder, stored):
    (folder / "copy.py").write_text(COPY.replace("DTYPE", "float32"))
    values = np.arange(6, dtype="float32").reshape(2, 3)
    np.save(folder / "a.npy", np.asfortranarray(values) if stored == "fortran" else values.astype(stored))
    done = refmlc("run", folder / "copy.py", "--input", f"A={folder / 'a.npy'}", "--json")
    assert json.loads(done.stdout)["results"][0]["values"] == values.reshape(-1).tolist()


@pytest.mark.parametrize("arguments", [("run",), ("run", "gemm.py", "--max-steps", "0"), ("show", "--dialect", "1")])
def test_wrong_usage_is_json_too(arguments):
    done = refmlc(*arguments, "--json")
    assert done.exit_code == 2
    assert json.loads(done.stdout)["error"]["code"] == "RM112"


def test_an_interrupted_run_says_so_in_one_word(folder):
    (folder / "endless.py").write_text(ENDLESS)
    command = [sys.executable, "-m", "refmlc", "run", "--tier", "interp", str(folder / "endless.py")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as run:
        with pytest.raises(subprocess.TimeoutExpired):
            run.wait(6)
        run.send_signal(signal.SIGINT)
        assert run.communicate() == (b"", b"interrupted\n")
    assert run.returncode == 130


def test_a_closed_pipe_is_no_finding(folder):
    with subprocess.Popen([sys.executable, "-m", "refmlc", "explain"], stdout=subprocess.PIPE) as run:
        run.stdout.close()
    assert run.returncode == 0


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no device that is full")
@pytest.mark.parametrize("more", [(), ("--json",)])
def test_a_full_device_is_no_traceback(folder, more):
    command = [sys.executable, "-m", "refmlc", "explain", *more]
    buffered = {name: text for name, text in os.environ.items() if name != "PYTHONUNBUFFERED"}
    for environment in (buffered, {**buffered, "PYTHONUNBUFFERED": "1"}):
        with Path("/dev/full").open("w") as full:
            done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False, env=environment)
        assert done.returncode == 2
        assert done.stderr.startswith("error[RM109]: output: No space left on device")
        assert done.stderr.count("No space left on device") == 1


@pytest.mark.parametrize(
    ("closed", "command", "status", "told"),
    [
        (">&-", "explain", 2, "error[RM109]: standard output is closed\n  = help: `refmlc explain RM109`\n"),
        ("<&-", "debug gemm.py", 0, ""),
        ("2>&-", "nonsense", 2, ""),
    ],
)
def test_a_closed_stream_is_no_bug(folder, closed, command, status, told):
    line = f"{sys.executable} -m refmlc {command} {closed}"
    done = subprocess.run(["/bin/sh", "-c", line], cwd=folder, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (status, told)


def test_a_warning_is_one_line(folder):
    inputs = ["--input", "A=ones", "--input", "B=ones"]
    command = [sys.executable, "-m", "refmlc", "run", str(folder / "gemm.py"), "--tier", "native", *inputs]
    surroundings = {**os.environ, "REFMLC_CC": "/nowhere/cc"}
    done = subprocess.run(command, env=surroundings, capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert done.stderr.startswith("warning: no C compiler is found: there is no /nowhere/cc")
    assert "compiled.py" not in done.stderr


@pytest.mark.parametrize("as_json", [False, True])
def test_a_result_that_is_not_all_written_says_so(folder, as_json):
    (folder / "half.py").write_text(HALF)
    command = [sys.executable, "-m", "refmlc", "run", str(folder / "half.py"), "--input", "A=ones"]
    done = subprocess.run([*command, *["--json"][:as_json]], capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert "warning: 2 of the 4 elements of `B` were never written\n" in done.stderr
    if as_json:
        (result,) = json.loads(done.stdout)["results"]
        assert (result["values"], result["unwritten"], result["initialised"]) == ([1.0, 1.0, None, None], 2, False)
    else:
        assert "1.0, 1.0, ?, ?" in done.stdout


def test_more_results_than_can_be_told_are_a_finding(folder):
    pairs = "".join(f"    y{k + 1} = (y{k}, y{k})\n" for k in range(60))
    text = f'@R.function\ndef main(x: R.Tensor((1,), "int8")):\n    y0 = x\n{pairs}    return y60\n'
    (folder / "pairs.py").write_text(text)
    done = refmlc("run", folder / "pairs.py", "--input", "x=ones")
    assert done.exit_code == 4
    assert done.stderr.startswith("error[RM603]: the function returns more than 10000 tensors")


def test_a_bug_of_ours_is_one_message_and_status_70(folder, monkeypatch):
    monkeypatch.setattr("refmlc.cli.sources.read_parts", lambda *_, **__: 1 // 0)
    done = refmlc("show", folder / "gemm.py")
    assert done.exit_code == 70
    assert done.stderr.startswith("error[RM901]: ZeroDivisionError")


def test_show_prints_in_the_dialect_of_the_environment(folder, monkeypatch):
    monkeypatch.setenv("REFMLC_DIALECT", "2022")
    assert "T.Buffer[(" in refmlc("show", folder / "gemm.py").output
    assert "T.Buffer((" in refmlc("show", folder / "gemm.py", "--dialect", "2023").output


def test_show_prints_what_reads_back(folder):
    done = refmlc("show", folder / "twice.py")
    assert done.exit_code == 0, done.output
    again = folder / "again.py"
    again.write_text(done.stdout)
    assert refmlc("show", again).stdout == done.stdout


@pytest.mark.parametrize("dialect", ["2022", "2023", "0.27"])
def test_show_in_every_dialect(folder, dialect):
    done = refmlc("show", folder / "gemm.py", "--dialect", dialect, "--json")
    assert done.exit_code == 0, done.output
    assert ("T.sblock" in json.loads(done.stdout)["text"]) == (dialect == "0.27")


def test_explain_and_spec_list_and_say(folder):
    assert "RM304" in refmlc("explain").stdout
    assert "out of bounds" in refmlc("explain", "rm304").stdout
    assert json.loads(refmlc("explain", "RM304", "--json").stdout)["exit_code"] == 1
    assert "RM304" in json.loads(refmlc("explain", "--json").stdout)
    assert "TIR-201" in refmlc("spec").stdout
    assert json.loads(refmlc("spec", "TIR-201", "--json").stdout)["title"] == "Bind"
    assert refmlc("spec", "tir-201").exit_code == 0
    assert "TIR-201" in json.loads(refmlc("spec", "--json").stdout)


def test_the_module_runs_as_a_command():
    done = subprocess.run([sys.executable, "-m", "refmlc", "--help"], capture_output=True, text=True, check=True)
    for command in ("show", "run", "explain", "spec", "demo", "bench"):
        assert command in done.stdout


def test_bench_interp_prints_ratios():
    done = refmlc("bench", "interp", "--rounds", "1", "--json")
    rows = json.loads(done.stdout)["rows"]
    candidates = {}
    for row in rows:
        candidates.setdefault(row["kernel"], {})[row["candidate"]] = row["ratio"]
    assert set(candidates.pop("linear0")) == {"low-level NumPy", "interpreter", "before each", "before and after"}
    assert len(candidates) == 10
    for kernel, ratios in candidates.items():
        assert set(ratios) == {"low-level NumPy", "interpreter"}, kernel
    assert all(row["ratio"] == 1.0 for row in rows if row["candidate"] == "low-level NumPy")
    assert all(row["ratio"] > 0 for row in rows)
    assert len(rows) == 24
