"""The harness of `tests/fuzz` without Atheris, and what ClusterFuzzLite builds of it."""

import importlib.util
import random
from pathlib import Path

import pytest

from refmlc.diag import Diagnostic, Internal
from refmlc.diag.catalogue import BUG

ROOT = Path(__file__).parents[2]
SEEDS = sorted((ROOT / "tests" / "programs").glob("*.py"))


@pytest.fixture(scope="module")
def harness():
    spec = importlib.util.spec_from_file_location("read_module", ROOT / "tests" / "fuzz" / "read_module.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("path", SEEDS, ids=lambda path: path.stem)
def test_seeds_are_read(harness, path):
    assert harness.one_input(path.read_bytes()) == "read"


def test_mutated_bytes_end_in_a_code(harness):
    rng = random.Random(7)  # noqa: S311 - reproducible, not secret
    ends = set()
    for path in SEEDS[:4]:
        data = bytearray(path.read_bytes()[:2000])
        for _ in range(40):
            mutated = bytearray(data)
            for _ in range(rng.randrange(1, 6)):
                mutated[rng.randrange(len(mutated))] = rng.randrange(256)
            ends.add(harness.one_input(bytes(mutated)))
    assert all(end == "read" or end.startswith("RM") for end in ends)
    assert len(ends) > 1


def test_a_bug_is_no_refusal(harness, monkeypatch):
    def broken(*_):
        raise Internal(Diagnostic(BUG, "oh"))

    monkeypatch.setattr(harness, "read", broken)
    with pytest.raises(Internal):
        harness.one_input(b"x = 1")


def test_a_text_that_is_not_read_back_equal_is_a_finding(harness, monkeypatch):
    monkeypatch.setattr(harness, "structural_equal", lambda *_: False)
    text = b'@T.prim_func\ndef f(A: T.Buffer((2,), "float32")):\n    A[0] = T.float32(1)\n'
    with pytest.raises(AssertionError, match="another module"):
        harness.one_input(text)


def test_what_clusterfuzzlite_builds_exists():
    script = (ROOT / "tests" / "fuzz" / "build.sh").read_text()
    assert (ROOT / script.split("compile_python_fuzzer ")[1].split()[0]).is_file()
    assert SEEDS
    assert "tests/programs/*.py" in script
