"""What is shown is read back as the same: random IR, in the three generations of the language."""

from collections import Counter

import pytest
from graph_programs import modules
from hypothesis import given, note
from ir_programs import prim_funcs

from refmlc.diag import Unsupported
from refmlc.lang.ir.equal import first_difference
from refmlc.lang.ir.module import IRModule
from refmlc.lang.script import read, show


def round_trip(module, dialect):
    text = show(module, dialect=dialect, show_meta=True)
    note(text)
    difference = first_difference(read(text, "shown.py"), module)
    assert difference is None, str(difference)


@given(prim_funcs())
def test_functions_of_tensorir_are_read_back(func):
    round_trip(IRModule({"main": func}), "0.27")


@given(modules())
def test_modules_are_read_back(module):
    round_trip(module, "0.27")


@pytest.mark.parametrize(
    "programs", [prim_funcs(old=True).map(lambda func: IRModule({"main": func})), modules(old=True)]
)
@pytest.mark.parametrize("dialect", ["2023", "2022"])
def test_what_older_language_can_say_is_read_back(dialect, programs):
    said = Counter()

    @given(programs)
    def check(module):
        try:
            round_trip(module, dialect)
        except Unsupported:
            said["not"] += 1
        else:
            said["yes"] += 1

    check()
    assert said["yes"] > said["not"]
