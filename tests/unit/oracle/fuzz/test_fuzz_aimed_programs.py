"""Programs that are aimed at preconditions of primitives: each is in the table, defined, and compared with itself."""

import re

import pytest

from refmlc.oracle.fuzz.subjects.primitives import aimed_programs, overlooked_programs, staged
from refmlc.oracle.passes.stages import PassTrace, Stage

NAMES = list(aimed_programs.PROGRAMS)


def test_the_tables_list_them_in_their_order():
    texts = aimed_programs.__doc__ + overlooked_programs.__doc__
    assert re.findall(r"^\| `([a-z ]+)`", texts, re.MULTILINE) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_each_is_defined_so_that_what_a_primitive_leaves_is_held_to_it(name):
    text = aimed_programs.aimed_program(NAMES.index(name))
    checked, finding = staged.finding_of(PassTrace((Stage("input", text), Stage("split('B', 0, (None, 2))", text))))
    assert finding is None
    assert [row.verdict.value for row in checked.rows] == ["same"]


def test_a_change_of_each_is_found():
    missed = []
    for name in NAMES:
        text = aimed_programs.aimed_program(NAMES.index(name))
        stores = [line for line in text.splitlines() if re.match(r"\s+[A-Z]\[.*\] = ", line)]
        changed = text.replace(stores[-1], f"{stores[-1]} + 1")
        _, finding = staged.finding_of(PassTrace((Stage("input", text), Stage("split('B', 0, (None, 2))", changed))))
        if finding is None:
            missed.append(name)
    assert missed == []
