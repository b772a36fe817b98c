"""What judges mutants by the suite: code that is swapped, verdicts that are kept, places that no case can see."""

import pytest
from python_mutations import mutants_of
from suite_alone import interval
from suite_results import Results
from suite_swaps import functions, run_at_loading, swap, swaps
from suite_unseen import unseen

MODULE = """
LIMIT = 3


def outer(a):
    def inner(b):
        return a + b

    return inner(LIMIT)


def told(a, by=2):
    raise ValueError(f"{a * by}")
"""


def changes():
    return {f"{one.owner} {one.what}": one for one in mutants_of("small", MODULE)}


@pytest.fixture
def loaded(tmp_path):
    path = tmp_path / "small.py"
    names = {}
    exec(compile(MODULE, str(path), "exec"), names)  # noqa: S102 - the module above
    return path, names


def test_the_code_of_an_inner_function_is_swapped(loaded):
    path, names = loaded
    wrong = changes()["inner `a + b` -> `(a - b)`"].source
    assert names["outer"](1) == 4
    assert swap(functions(path.parent), swaps(path, MODULE, wrong)) == 1
    assert names["outer"](1) == -2


def test_what_runs_at_loading_is_not_swapped(loaded):
    path, _ = loaded
    for name in (" `3` -> `4`", "told `2` -> `3`"):
        assert swaps(path, MODULE, changes()[name].source) is None


def test_functions_that_run_at_loading_are_known():
    text = "def a(n):\n    def f(by=1):\n        return c()\n    return b(n)\n"
    text += "def b(n):\n    return n\ndef c():\n    return 1\n"
    assert run_at_loading(f"{text}X = (a(1), c)\n") == {1, 2, 4, 5, 6}
    assert run_at_loading(f"{text}@c()\ndef d():\n    return a(2)\n") == {7, 8}


def test_words_of_messages_are_not_seen():
    hidden = [name for name, one in changes().items() if any(one.within(*span) for span in unseen(MODULE))]
    assert hidden == ["told `a * by` -> `(a + by)`"]


def test_predicates_of_rows_are_not_seen():
    bad, both = (f"def {name}(a):\n    return a < {at}\n" for at, name in enumerate(("_bad", "_both")))
    text = f"{bad}{both}ROW = Row(undefined=(_bad, _both), value=_both)\n"
    hidden = {one.line for one in mutants_of("small", text) if any(one.within(*span) for span in unseen(text))}
    assert hidden == {2}


class Suite:
    """Two cases."""

    whole, digests = "now", {"a.one": "1", "a.two": "2"}


def test_verdicts_are_kept_as_long_as_their_cases(tmp_path):
    path, mutant = tmp_path / "suite.jsonl", changes()["inner `a + b` -> `(a - b)`"]
    results = Results(path)
    results.keep_suite("now", Suite.digests.values())
    results.put("k", Suite, mutant, "killed", "a.one", "wrong")
    results.put("s", Suite, mutant, "survived", "", "")
    with path.open("a") as file:
        file.write('{"key": "cut')
    again = Results(path)
    assert again.get("k", Suite.digests, "other")["case"] == "a.one"
    assert again.get("k", {"a.one": "changed"}, "other") is None
    assert again.get("s", Suite.digests, "now")["state"] == "survived"
    assert again.get("s", Suite.digests, "other") is None
    assert again.cases_before("s") == {"1", "2"}


def test_the_interval_is_that_of_wilson():
    low, high = interval(95, 100)  # by hand: 0.93335 - 0.0451, 0.93335 + 0.0451
    assert (round(low, 2), round(high, 2)) == (88.82, 97.85)
    assert interval(10, 10)[1] == pytest.approx(100)
