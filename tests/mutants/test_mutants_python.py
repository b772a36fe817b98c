"""Mutants of Python: what the rules make of a small module, and how tests are asked about them."""

from pathlib import Path

from families import FAMILIES, found
from matrix import Results, Server
from python_mutations import mutants_of, sample

HERE = Path(__file__).parent
MODULE = '''"""A module."""

FACTOR = 2


def scaled(a, b):
    """A text."""
    if a < b:
        raise ValueError("small")
    return power(a, b) * FACTOR


def power(a, b):
    return a**b


def unused(a):
    return a + 1
'''
TESTS = """
import pytest
from small_module import scaled

def test_small():
    with pytest.raises(ValueError):
        scaled(1, 2)

def test_scaled():
    assert scaled(3, 2) == 18

def test_slowly():
    assert scaled(4, 1) == 8
"""


def changes():
    return {mutant.name.removeprefix("small_module "): mutant for mutant in mutants_of("small_module", MODULE)}


def test_rules():
    assert set(changes()) == {
        " constant `2` -> `3` #1",
        " constant `2` -> `1` #1",
        "scaled compare `a < b` -> `a <= b` #1",
        "scaled condition `a < b` -> `True` #1",
        "scaled condition `a < b` -> `False` #1",
        'scaled statement `raise ValueError("small")` -> `pass` #1',
        "scaled operator `power(a, b) * FACTOR` -> `(power(a, b) + FACTOR)` #1",
        "scaled arguments `power(a, b)` -> `power(b, a)` #1",
        "unused operator `a + 1` -> `(a - 1)` #1",
        "unused constant `1` -> `2` #1",
        "unused constant `1` -> `0` #1",
    }


def test_a_sample_is_the_same_each_time():
    mutants = list(changes().values())
    assert sample(mutants, 5) == sample(mutants[::-1], 5)
    assert sample(mutants, 5, seed=1) != sample(mutants, 5)


def test_tests_are_asked(tmp_path):
    (tmp_path / "small_module.py").write_text(MODULE)
    (tmp_path / "test_small_module.py").write_text(TESTS)
    server = Server(HERE / "asked_tests.py", tmp_path)
    noted = server.ask(reach=["test_small_module.py"], source=["small_module.py"])
    raising, returning = (noted["lines"]["small_module.py"][str(line)] for line in (9, 10))
    assert raising == ["test_small_module.py::test_small"]
    assert set(returning) == {"test_small_module.py::test_scaled", "test_small_module.py::test_slowly"}
    assert set(noted["times"]) == {*raising, *returning}
    ends = {
        name: server.ask(module="small_module.py", text=mutant.source, tests=sorted(noted["times"]), seconds=60)
        for name, mutant in changes().items()
        if name.startswith(("unused operator", "scaled condition `a < b` -> `True`"))
    }
    server.close()
    assert {name: end["state"] for name, end in ends.items()} == {
        "scaled condition `a < b` -> `True` #1": "killed",
        "unused operator `a + 1` -> `(a - 1)` #1": "survived",
    }
    assert ends["scaled condition `a < b` -> `True` #1"]["why"] == "test_small_module.py::test_scaled"


def test_results_are_kept(tmp_path):
    path = tmp_path / "kept" / "results.json"
    results = Results(path)
    results.put("a", {"state": "killed", "tests": "old"})
    results.put("b", {"state": "survived", "tests": "old"})
    again = Results(path)
    assert again.get("a", "new")["state"] == "killed"
    assert again.get("b", "old")["state"] == "survived"
    assert again.get("b", "new") is None  # with another test it is judged once more


def test_families_are_of_files_that_are_there():
    root = HERE.parents[1]
    for name, family in FAMILIES.items():
        for pattern in (*family.modules, *family.tests):
            assert found(root, (pattern,)), (name, pattern)
