"""Reasons of surviving mutants: they hold whatever is renamed or moved, and lapse where the code changes."""

import ast
import builtins
import json
import re
from pathlib import Path

import pytest
from c_mutations import mutants_of as mutants_of_header
from python_mutations import mutants_of
from reasons import Reasons, refreshed

ROOT = Path(__file__).parents[2]
READ_BY_RULES = {"low", "high", "strict", "min", "max", "add_up", "mul_up", "join", "united", "structural_equal"}
MODULE = '''"""A module."""

import math

LIMIT = 3


class Square:
    """A shape."""

    def __init__(self, side: int) -> None:
        self.side = side

    def area(self, rate=2):
        """Its size."""
        if self.side < LIMIT:
            raise ValueError(f"the side {self.side} is too small")
        return math.floor(rate * self.side)
'''
ELSEWHERE = """LEAST = 3


class Quad:
    def __init__(self, edge):
        self.edge = edge

    def size(self, factor=2):
        from math import floor
        import math

        if self.edge < LEAST:
            raise ValueError(f"an edge of {self.edge} does not do")
        return math.floor(factor * self.edge)
"""
HEADER = """static inline int rm_twice(int a) {
    int b = a << 1; /* doubled */
    return b < a ? 0 : b;
}
"""


def tree_of(tmp_path, **modules):
    """A tree with these modules and headers."""
    for name, text in modules.items():
        path = tmp_path / ("kernels_c" if name.startswith("rm_") else "refmlc") / name.replace("__", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


def reasons_for(tree, tmp_path, *names):
    """Reasons for mutants, as a person copies them."""
    file = tmp_path / "reasons.toml"
    file.write_text("".join(f'[[survivor]]\nwhy = "so"\nmutants = [{json.dumps(name)}]\n' for name in names))
    return Reasons(tree, [file])


def named(mutants, *texts):
    """What is printed of the mutants whose description holds one of the texts."""
    return [mutant.name for mutant in mutants if any(text in mutant.name for text in texts)]


@pytest.fixture
def copied(tmp_path):
    """Every mutant of the module and of the header, each with a reason."""
    return [each.name for each in (*mutants_of("small", MODULE), *mutants_of_header("rm_small.h", HEADER))]


def test_reasons_survive_every_rename(tmp_path, copied):
    header = HEADER.replace("rm_twice", "rm_doubled").replace("b", "result").replace("doubled */", "two */")
    reasons = reasons_for(tree_of(tmp_path, other__py=ELSEWHERE, rm_else__h=header), tmp_path, *copied)
    assert reasons.lapsed() == {}
    explained = reasons.explained()
    assert set(explained) == set(copied)
    assert all(len(names) == 1 for names in explained.values())


@pytest.mark.parametrize(
    ("old", "new", "lapse"),
    [
        ("LIMIT = 3", "LIMIT = 4", {" small  `"}),
        ("rate * self.side", "rate + self.side", {"area", " small  `"}),  # and the constant, which it reads
        ("rate=2", "rate=3", {"area", " small  `"}),  # and the constant, which it reads
        ("math.floor", "math.ceil", {"area", " small  `"}),  # and the constant, which it reads
        ("rate * self.side", "self.side * rate", {"area", " small  `"}),  # and the constant, which it reads
        ("a << 1", "a << 2", {"rm_small.h"}),
    ],
)
def test_reasons_lapse_where_the_code_changes(tmp_path, copied, old, new, lapse):
    assert old in MODULE + HEADER
    tree = tree_of(tmp_path, small__py=MODULE.replace(old, new), rm_small__h=HEADER.replace(old, new))
    lapsed = reasons_for(tree, tmp_path, *copied).lapsed()
    assert set(lapsed) == {name for name in copied if any(text in name for text in lapse)}
    assert set(lapsed.values()) == {"no code has this digest"}


def test_units_that_are_alike_need_their_context(tmp_path):
    alike = "def first(a):\n    return a + 1\n"
    tree = tree_of(tmp_path, a__py=alike, b__py=alike.replace("first", "second") + "X = 5\n")
    [name] = named(mutants_of("a", alike), "`(a - 1)`")
    [other] = named(mutants_of("b", (tree / "refmlc" / "b.py").read_text()), "`(a - 1)`")
    reasons = reasons_for(tree, tmp_path, name)
    assert (reasons.row_of(name), reasons.row_of(other)) == (name, None)
    bare = re.sub("~[0-9a-f]+", "", name)
    reasons = reasons_for(tree, tmp_path, bare)
    assert reasons.row_of(name) is reasons.row_of(other) is None
    assert reasons.lapsed() == {bare: "not clear which is meant: refmlc/a.py, refmlc/b.py"}
    (tree / "refmlc" / "b.py").unlink()
    assert reasons_for(tree, tmp_path, bare).row_of(name) == bare


def test_a_star_is_all_of_a_unit_or_of_a_rule(tmp_path):
    tree, made = tree_of(tmp_path, a__py=MODULE), mutants_of("refmlc.a", MODULE)
    area = [name for name in named(made, "area") if "constant" not in name]
    unit = area[0].split(" ")[0]
    assert sorted(reasons_for(tree, tmp_path, f"{unit} *").explained()[f"{unit} *"]) == sorted(named(made, "area"))
    reasons = reasons_for(tree, tmp_path, f"{unit} condition *", f"{unit} condition 99.1")
    assert reasons.explained() == {f"{unit} condition *": named(made, "condition")}
    assert reasons.lapsed() == {f"{unit} condition 99.1": "no such mutant in refmlc/a.py"}


def test_what_is_no_key_is_refused(tmp_path):
    with pytest.raises(ValueError, match="no key of a mutant: refmlc"):
        reasons_for(tmp_path, tmp_path, "refmlc.a area compare `<` -> `<=`")


def test_what_people_read_is_written_anew(tmp_path):
    [name] = named(mutants_of("small", MODULE), "<= LIMIT")
    tree = tree_of(tmp_path, other__py=ELSEWHERE)
    reasons = reasons_for(tree, tmp_path, name)
    text = refreshed((tmp_path / "reasons.toml").read_text(), reasons.explained())
    assert f"{name.split(' | ')[0]} | refmlc.other size `self.edge < LEAST` -> `self.edge <= LEAST`" in text


def test_every_reason_is_about_a_mutant_that_is_made():
    assert Reasons().lapsed() == {}


def test_reasons_hold_when_everything_has_another_name(tmp_path):
    """A copy of the tree in which every file, function, local, attribute and class has another name."""
    reasons = Reasons()
    paths = {path for digest in reasons.digests for path in reasons.files[digest]}
    (tmp_path / "refmlc" / "elsewhere").mkdir(parents=True)
    (tmp_path / "kernels_c").mkdir()
    for number, path in enumerate(sorted(paths)):
        text = path.read_text("utf-8")
        if path.suffix == ".h":
            (tmp_path / "kernels_c" / f"rm_{number}.h").write_text(re.sub(r"\brm_(\w)", r"rm_other_\1", text))
        else:
            (tmp_path / "refmlc" / "elsewhere" / f"file{number}.py").write_text(renamed(text))
    elsewhere = Reasons(tmp_path)
    assert {row: len(names) for row, names in elsewhere.explained().items()} == {
        row: len(names) for row, names in reasons.explained().items()
    }


def renamed(text):
    """A module each of whose own names is another one; docstrings and comments are gone."""
    tree, outside = ast.parse(text), set(dir(builtins)) | READ_BY_RULES
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom) and not getattr(node, "module", "").startswith("refmlc"):
            outside |= {(each.asname or each.name).split(".")[0] for each in node.names}
    for node in ast.walk(tree):
        of_others = isinstance(node, ast.Attribute) and ast.unparse(node.value).split(".")[0] in outside
        if isinstance(node, ast.Import | ast.ImportFrom | ast.Constant) or of_others:
            continue
        for field, value in ast.iter_fields(node):
            if isinstance(value, str) and value not in outside:
                setattr(node, field, f"{value}_elsewhere")
            elif isinstance(value, list) and value and isinstance(value[0], str):
                setattr(node, field, [f"{each}_elsewhere" for each in value])
    return ast.unparse(tree)
