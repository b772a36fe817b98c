"""What is shown is read back as the same: random IR, in the three generations of the language."""

import pytest
from hypothesis import assume, given, note
from ir_programs import prim_funcs

from refmlc.diag import Unsupported
from refmlc.ir.equal import first_difference
from refmlc.ir.module import IRModule
from refmlc.script import read, show


def round_trip(module, dialect):
    text = show(module, dialect=dialect, show_meta=True)
    note(text)
    difference = first_difference(read(text, "shown.py"), module)
    assert difference is None, str(difference)
    return text


@given(prim_funcs())
def test_functions_of_tensorir_are_read_back(func):
    round_trip(IRModule({"main": func}), "0.27")


@pytest.mark.parametrize("dialect", ["2023", "2022"])
@given(func=prim_funcs())
def test_functions_of_tensorir_are_read_back_in_older_language(dialect, func):
    try:
        round_trip(IRModule({"main": func}), dialect)
    except Unsupported:
        assume(False)
