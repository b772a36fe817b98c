"""The templates for newcomers: they build without a warning, what they take passes, and the rest is unsupported."""

import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from needs import COMPILERS, need

import refmlc
from refmlc.oracle.evidence.case_file import read_cases
from refmlc.oracle.implementations.implementation import Ended, Stop
from refmlc.oracle.implementations.lookup import implementation
from refmlc.oracle.suite.result import CaseVerdict
from refmlc.oracle.suite.runner import run_suite
from refmlc.oracle.suite.suite import Suite
from refmlc.run.memory.tensor import Tensor

ROOT = Path(__file__).parents[4]
TEMPLATES = ROOT / "conformance" / "adapters"
MOST_LINES = 150
BINARY = """
# from tvm.script import ir as I, tirx as T
@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def f(A: T.Buffer((3,), "float32"), B: T.Buffer((3,), "float32"), R: T.Buffer((3,), "float32")):
        for i in range(3):
            R[i] = A[i] + B[i]
"""


@pytest.fixture(scope="module")
def template(tmp_path_factory):
    """The C template, built as the README says, with every warning an error."""
    need("compiler")
    compiler = next(filter(None, map(shutil.which, COMPILERS)))
    made = tmp_path_factory.mktemp("c") / "template"
    flags = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-O1"]
    subprocess.run([compiler, *flags, "-o", made, TEMPLATES / "template.c", "-lm"], check=True)
    return f"cmd:{made}"


@pytest.fixture(scope="module")
def python():
    return f"cmd:{sys.executable} {TEMPLATES / 'template.py'}"


@pytest.fixture(params=["template", "python"])
def spec(request):
    return request.getfixturevalue(request.param)


def cases(*patterns):
    """Cases of the suite by the names of their files."""
    files = sorted(path for pattern in patterns for path in (ROOT / "conformance" / "cases").glob(pattern))
    return tuple(case for path in files for case in read_cases(path.read_text(encoding="utf-8"), path.name))


def test_they_are_small_enough_to_copy():
    for name in ("template.c", "template.py"):
        assert len((TEMPLATES / name).read_text(encoding="utf-8").splitlines()) < MOST_LINES


def test_what_they_take_passes_and_all_else_is_unsupported(spec):
    suite = Suite("1", cases("scalar/add-floats-*.toml", "scalar/mul-floats-01.toml", "trap/*-01.toml"))
    made = implementation(spec)
    report = run_suite(suite, made)
    made.close()
    found = Counter(result.verdict for result in report.results)
    assert set(found) == {CaseVerdict.PASS, CaseVerdict.UNSUPPORTED}
    passed = {result.id for result in report.results if result.verdict is CaseVerdict.PASS}
    assert passed == {"scalar.add.float32", "scalar.mul.float32"}


def called(spec, text, *arrays):
    made = implementation(spec)
    try:
        prepared = made.prepare_text(text)
        return prepared.run("f", list(map(Tensor.from_numpy, arrays))) if hasattr(prepared, "run") else prepared
    finally:
        made.close()


def test_what_they_compute_comes_back_in_the_arguments(spec):
    answer = called(
        spec,
        BINARY,
        np.array([1, 2, np.inf], "f4"),
        np.array([0.5, 3e38, -np.inf], "f4"),
        np.zeros(3, "f4"),
    )
    assert isinstance(answer, Ended)
    assert answer.value is None
    assert answer.args[2].numpy().tolist()[0] == 1.5
    assert answer.args[2].numpy()[1] == np.float32(3e38)
    assert np.isnan(answer.args[2].numpy()[2])
    assert answer.args[0].numpy().tolist()[:2] == [1, 2]


@pytest.mark.parametrize(
    "change",
    [
        ("A[i] + B[i]", "B[i] + A[i]"),
        ("A[i] + B[i]", "A[i] + B[2 - i]"),
        ("A[i] + B[i]", "A[i] % B[i]"),
        ("A[i] + B[i]", "A[i] + B[i] + A[i]"),
        ("range(3)", "range(2)"),
        ("R[i] =", "A[i] ="),
        ('B: T.Buffer((3,), "float32")', 'B: T.Buffer((3,), "float16")'),
        ("R[i] = A[i] + B[i]\n", "R[i] = A[i] + B[i]\n            R[i] = R[i] + A[i]\n"),
    ],
)
def test_what_looks_like_it_and_is_another_function_is_not_taken(spec, change):
    three = [np.ones(3, "f4")] * 3
    text = BINARY.replace(*change)
    assert text != BINARY
    assert called(spec, text, *three).why is Stop.UNSUPPORTED


def test_the_readme_says_how():
    words = (TEMPLATES / "README.md").read_text(encoding="utf-8")
    assert "cc -O1 -o template template.c -lm" in words
    assert "refmlc conform --impl 'cmd:./template'" in words
    assert refmlc.read(BINARY) is not None
