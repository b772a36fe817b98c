"""Rules of a simplifier: right ones are proved, wrong ones are refuted by a point that is executed."""

import re
from collections import Counter
from itertools import product
from pathlib import Path

import pytest
from needs import imported

from refmlc.lang.dtypes import dtype
from refmlc.prove.rules import rules, rules_of
from refmlc.prove.rules.instance import RuleInstance, same

z3 = imported("z3")

from refmlc.prove.rules.encode import Bits, Encoder, ExactIntegers  # noqa: E402 - needs z3
from refmlc.prove.rules.verdict import RuleKind, decide  # noqa: E402 - the same

PROVED, REFUTED, NO_OVERFLOW = RuleKind.PROVED, RuleKind.REFUTED, RuleKind.NO_OVERFLOW
PAGE = Path(__file__).parents[3] / "docs" / "reference" / "simplifier-rules.md"
SITES = {"Add": 39, "Sub": 74, "Mul": 10, "Div": 21, "Mod": 6, "FloorDiv": 27, "FloorMod": 15, "Min": 20, "Max": 20}
SITES |= {"EQ": 8, "LT": 51, "Not": 10, "And": 25, "Or": 23, "Select": 1}


def rule(left, right, when="", **fields):
    row = {"place": "Add 1", "left": left, "right": right, "of": "any", **({"when": when} if when else {}), **fields}
    lines = "\n".join(f"{key} = {value!r}" for key, value in row.items())
    return rules_of(f'file = "f.cc"\n[[rule]]\n{lines}')[0]


def test_every_site_has_a_row():
    numbers = {name: set() for name in SITES}
    for each in rules():
        operator, _, number = each.place.partition(" ")
        if each.file == "rewrite_simplify.cc" and number.isdigit():
            numbers[operator].add(int(number))
    assert numbers == {name: set(range(1, count + 1)) for name, count in SITES.items()}
    assert sum(SITES.values()) == 350


@pytest.mark.parametrize(
    ("left", "right", "when", "name", "kind"),
    [
        ("x - T.floordiv(x, c1) * c1", "T.floormod(x, c1)", "c1 != 0", "int32", PROVED),
        ("x - T.floordiv(x, c1) * c1", "T.truncmod(x, c1)", "c1 != 0", "int32", REFUTED),
        ("T.floordiv(x, y)", "T.truncdiv(x, y)", "", "uint32", PROVED),
        ("T.floordiv(x, y)", "T.truncdiv(x, y)", "", "int32", REFUTED),
        ("T.floordiv(x, c1) < c2", "x < c1 * c2", "", "int64", REFUTED),
        ("x * c1 < y * c1", "x < y", "c1 > 0", "int64", PROVED),
        ("x * c1 < y * c1", "x < y", "c1 >= 0", "int64", REFUTED),
        ("T.floordiv(x * c1, c2)", "x * T.floordiv(c1, c2)", "c2 > 0 and T.floormod(c1, c2) == 0", "int32", PROVED),
        ("T.floordiv(x * c1, c2)", "x * T.floordiv(c1, c2)", "c2 > 0", "int32", REFUTED),
        ("T.min(x, y) + T.max(x, y)", "x + x", "", "int32", REFUTED),
        ("x - x", "0", "", "int8", PROVED),
        ("x", "T.truncdiv(x * y, y)", "", "int32", REFUTED),
        ("x < x + 1", "T.bool(True)", "", "int32", PROVED),
        ("x < x + 1", "T.bool(True)", "", "int8", REFUTED),
        ("x < x + 1", "T.bool(True)", "", "uint16", REFUTED),
        ("x + c1 + c2", "x + (c1 + c2)", "", "int32", NO_OVERFLOW),
        ("x + c1 + c2", "x + (c1 + c2)", "", "int16", PROVED),
        ("x * 1", "x", "", "float32", PROVED),
        ("x * 0", "0", "", "float32", REFUTED),
        ("x + y - y", "x", "", "float16", REFUTED),
        ("not (x < y)", "y <= x", "", "float64", REFUTED),
        ("T.Ramp(x, y, lanes) + T.Broadcast(z, lanes)", "T.Ramp(x + z, y, lanes)", "", "int32", PROVED),
        ("T.Ramp(x, y, lanes) + T.Broadcast(z, lanes)", "T.Ramp(x, y + z, lanes)", "", "int32", REFUTED),
    ],
)
def test_rules_are_proved_or_refuted(left, right, when, name, kind):
    verdict = decide(rule(left, right, when), name)
    assert verdict.kind is kind, (verdict.reason, str(verdict.example))
    assert (verdict.example is None) == (kind is PROVED)


def test_unsigned_integers_are_exact_or_wrap():
    scaled = rule("T.floordiv(x * c1, c2)", "x * T.floordiv(c1, c2)", "c2 > 0 and T.floormod(c1, c2) == 0")
    assert decide(scaled, "uint32").kind is PROVED
    wrapping = decide(scaled, "uint32", wraps=True)
    assert wrapping.kind is REFUTED
    point = wrapping.example.point
    x, a, b = (point[name] for name in ("x", "c1", "c2"))
    assert x * a % 2**32 // b != x * (a // b) % 2**32


def test_conditions_of_bools():
    bools = {"bools": ["x", "y"]}
    assert decide(rule("not (x and y)", "not x or not y", **bools), "bool").kind is PROVED
    wrong = decide(rule("not (x and y)", "not x and not y", **bools), "bool")
    assert wrong.kind is REFUTED
    assert wrong.example.point["x"] != wrong.example.point["y"]


def test_a_precondition_is_proved_and_needed():
    row = rule("T.floordiv(x, c1) < c2", "x < c1 * c2", needs="c1 > 0")
    verdict = decide(row, "int32")
    assert verdict.kind is RuleKind.WITH_PRECONDITION
    assert verdict.example is not None
    other = rule("T.floordiv(x, c1) < c2", "x < c1 * c2", needs="c1 > -5")
    assert decide(other, "int32").kind is REFUTED


def test_folded_constants_wrap():
    row = rule("T.floordiv(T.floordiv(x, c1), c2)", "T.floordiv(x, c1 * c2)", "c1 > 0 and c2 > 0")
    verdict = decide(row, "int32")
    assert verdict.kind is NO_OVERFLOW
    x, a, b = (verdict.example.point[name] for name in ("x", "c1", "c2"))
    folded = (a * b + 2**31) % 2**32 - 2**31
    assert verdict.example.left == str(x // a // b)
    assert folded == 0 or x // a // b != x // folded


def test_what_z3_cannot_say_is_undecided():
    fermat = rule("x * x * x + y * y * y == z * z * z", "T.bool(False)", "x > 3 and y > 3 and z > 9")
    assert decide(fermat, "int64", effort=200_000).kind is RuleKind.UNDECIDED


OPERATORS = ("floordiv", "floormod", "truncdiv", "truncmod", "min", "max")
EDGES = (-128, -7, -1, 0, 2, 3, 127)


@pytest.mark.parametrize("op", OPERATORS)
def test_both_encodings_compute_what_the_interpreter_does(op):
    instance = RuleInstance(rule(f"T.{op}(x, y)", "x"), f"T.{op}(x, y)", dtype("int8"))
    for numbers in (ExactIntegers(), Bits(8, is_signed=True)):
        encoder = Encoder(numbers)
        value = encoder.number(instance.left)
        for x, y in product(EDGES, EDGES):
            expected = instance.value((instance.left,), {"x": x, "y": y})
            solver = z3.Solver()
            solver.add(encoder.variables["x"] == x, encoder.variables["y"] == y, *encoder.conditions.facts)
            assert solver.check(encoder.conditions.defined) == (z3.unsat if isinstance(expected, str) else z3.sat)
            if not isinstance(expected, str):
                assert solver.check(value != expected[0]) == z3.unsat, (x, y, expected)


def test_values_are_compared_with_their_signs():
    nan = float("nan")
    assert same((nan,), (nan,))
    assert not same((0.0,), (-0.0,))
    assert not same("RM306", "RM306")


def stated():
    """What the page says of each rule."""
    rows = [
        line.split(" | ")
        for line in PAGE.read_text(encoding="utf-8").splitlines()
        if re.match(r"\| \w+ \w+ \| `", line)
    ]
    return {(row[0].removeprefix("| "), row[1]): row[4] for row in rows}


SAMPLE = rules()[::28]


@pytest.mark.parametrize("row", SAMPLE, ids=lambda row: row.place)
def test_a_sample_is_what_the_page_says(row):
    name = row.applied[0]
    said = stated()[row.place, ", ".join(f"`{left}`" for left in row.lefts)]
    groups = dict(text.rsplit(": ", 1)[::-1] for text in said.split("; ")) if ": " in said else {said: name}
    expected = [kind for kind, names in groups.items() if name in names.split(", ")]
    verdict = decide(row, name)
    assert [verdict.kind.value] == [kind.partition(" `")[0] for kind in expected]


def test_the_sample_has_each_kind_of_operator():
    assert Counter(each.place.split()[0] for each in SAMPLE).keys() >= {"Add", "Sub", "FloorDiv", "LT"}
