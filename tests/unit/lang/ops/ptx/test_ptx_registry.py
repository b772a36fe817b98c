"""How many of the operators that TVM registers for PTX have a clause and a meaning; the test writes the count."""

import sys

from refmlc.lang.ops.intrinsics.device import PTX_FAMILIES
from refmlc.lang.ops.ptx.forms import forms
from refmlc.lang.ops.ptx.meaning import CLAUSES, MEANINGS, MEMORY, MISSING
from refmlc.lang.ops.ptx.registry import executed, reasons, registered
from refmlc.lang.spec import clauses

REGISTERED, EXECUTED = 507, 161


def test_the_operators_and_how_many_are_executed(capsys):
    with capsys.disabled():
        sys.stdout.write(f"\n{len(executed())} of {len(registered())} PTX operators are executed as values\n")
    assert (len(registered()), len(executed())) == (REGISTERED, EXECUTED)


def test_each_form_that_is_executed_has_a_clause():
    assert set(CLAUSES) == {name for name in forms() if name in MEANINGS or name in MEMORY}
    assert set(CLAUSES.values()) <= set(clauses())


def test_each_form_is_registered_under_its_family():
    families = {family.removesuffix("_") for family in PTX_FAMILIES}
    assert {form.family for form in forms().values()} <= families
    assert all(registered()[name] == form.family for name, form in forms().items())


def test_all_forms_of_a_family_are_known():
    families = {form.family for form in forms().values()}
    assert {name for name, family in registered().items() if family in families} == set(forms())


def test_a_form_is_executed_or_has_a_reason():
    assert set(MISSING) <= set(reasons())
    assert set(reasons()) == set(forms()) - executed()
