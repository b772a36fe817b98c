"""Mutants of Python: what the rules make of a small module, and how tests are asked about them."""

from contextlib import contextmanager
from pathlib import Path

import pytest
from biting import raising, raising_at_loading
from families import FAMILIES, found
from matrix import Results, Server, _Tests
from python_mutations import mutants_of
from units import sample

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
    made = mutants_of("small_module", MODULE)
    return {f"{mutant.key.split(' ')[1]} {mutant.owner} {mutant.what}": mutant for mutant in made}


def test_rules():
    assert set(changes()) == {
        "constant  `2` -> `3`",
        "constant  `2` -> `1`",
        "compare scaled `a < b` -> `a <= b`",
        "condition scaled `a < b` -> `True`",
        "condition scaled `a < b` -> `False`",
        'statement scaled `raise ValueError("small")` -> `pass`',
        "operator scaled `power(a, b) * FACTOR` -> `(power(a, b) + FACTOR)`",
        "arguments scaled `power(a, b)` -> `power(b, a)`",
        "operator unused `a + 1` -> `(a - 1)`",
        "constant unused `1` -> `2`",
        "constant unused `1` -> `0`",
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
        if name.startswith(("operator unused", "condition scaled `a < b` -> `True`"))
    }
    server.close()
    assert {name: end["state"] for name, end in ends.items()} == {
        "condition scaled `a < b` -> `True`": "killed",
        "operator unused `a + 1` -> `(a - 1)`": "survived",
    }
    assert ends["condition scaled `a < b` -> `True`"]["why"] == "test_small_module.py::test_scaled"


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


def test_lines_are_noted_whatever_the_project_wants_covered(tmp_path):
    (tmp_path / "setup.cfg").write_text("[coverage:run]\nsource_pkgs = json\n")
    (tmp_path / "small_module.py").write_text(MODULE)
    (tmp_path / "test_small_module.py").write_text(TESTS)
    server = Server(HERE / "asked_tests.py", tmp_path)
    noted = server.ask(reach=["test_small_module.py"], source=["small_module.py"])
    server.close()
    assert len(noted["lines"]["small_module.py"]["10"]) == 2


def test_whoever_loads_a_module_loads_the_wrong_text(tmp_path):
    """Pytest too, which rewrites modules that its plugins stand in: it is in front of any finder that came before."""
    (tmp_path / "small_module.py").write_text(MODULE)
    (tmp_path / "small_plugin.py").write_text("import pytest\npytest.register_assert_rewrite('small_module')\n")
    (tmp_path / "conftest.py").write_text("pytest_plugins = ['small_plugin']\n")
    (tmp_path / "test_small_module.py").write_text(TESTS)
    server = Server(HERE / "asked_tests.py", tmp_path)
    tests = [f"test_small_module.py::test_{name}" for name in ("small", "scaled", "slowly")]
    ends = [
        server.ask(module="small_module.py", text=text, tests=tests, seconds=60)["state"]
        for text in (MODULE, raising(MODULE), MODULE, raising_at_loading(MODULE), MODULE)
    ]
    server.close()
    assert ends == ["survived", "killed", "survived", "killed", "survived"]
    assert (tmp_path / "small_module.py").read_text() == MODULE


class Asked:
    """Tests that are always of this end, and the server of a matrix that asks them."""

    def __init__(self, root, *states):
        self.root, self.states = root, list(states)

    def ask(self, **question):
        return {"state": self.states.pop(0), "why": ""}

    @contextmanager
    def server(self):
        yield self

    def noted(self, family):
        return {"lines": {"small_module.py": {"9": ["t"]}}, "times": {"t": 1.0}}


@pytest.mark.parametrize(
    ("states", "word"), [(("survived", "survived"), "cannot fail"), (("killed", "killed"), "cannot pass")]
)
def test_a_matrix_that_cannot_judge_ends_before_it_counts(tmp_path, states, word):
    (tmp_path / "small_module.py").write_text(MODULE)
    mutants = list(changes().values())
    _Tests(Asked(tmp_path, "killed", "survived"), "f").prove("the judge", mutants)
    with pytest.raises(SystemExit, match=word):
        _Tests(Asked(tmp_path, *states), "f").prove("the judge", mutants)
