"""The forms of PTX instructions, and the rules on their modifiers, are those of the TVM at hand."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from refmlc.lang.dtypes import dtype
from refmlc.lang.ops.ptx.calls import carries, type_of
from refmlc.lang.ops.ptx.forms import forms
from refmlc.lang.ops.ptx.registry import registered
from refmlc.lang.ops.ptx.rules import problem

SIDE = Path(__file__).parent / "tvm_side" / "ptx_forms.py"
DTYPES = [
    *(dtype(f"{sign}int{bits}") for sign in ("", "u") for bits in (8, 16, 32, 64)),
    *(dtype(kind) for kind in ("float16", "bfloat16", "float32", "float64")),
]
NARROWER = ("cvt",)
"""TVM leaves out what its assembler refuses; the ISA does not."""

pytestmark = pytest.mark.needs("tvm")


@pytest.fixture(scope="module")
def theirs():
    command = [os.environ["REFMLC_TVM_PYTHON"], str(SIDE), *forms()]
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=300)
    return json.loads(done.stdout)


def test_the_names_are_those_of_tvm(theirs):
    assert dict(registered()) == theirs["names"]


def test_the_slots_and_families_are_those_of_tvm(theirs):
    ours = {
        name: [form.family.replace(".", "_"), [[slot.name, list(slot.choices), slot.optional] for slot in form.slots]]
        for name, form in forms().items()
    }
    assert ours == {name: [row["family"], row["slots"]] for name, row in theirs["forms"].items()}


def test_the_rules_refuse_what_tvm_refuses(theirs):
    for name, row in theirs["forms"].items():
        form = forms()[name]
        for words, refused, _ in row["choices"]:
            modifiers = dict(zip((slot.name for slot in form.slots), words, strict=True))
            assert bool(problem(form, modifiers)) == refused, (name, words)


def registers(operand, modifiers):
    if operand.when:
        return int(bool(modifiers[operand.when]))
    return operand.registers if isinstance(operand.registers, int) else int(modifiers[operand.registers][1:])


def test_the_operands_are_those_of_tvm(theirs):
    for name, row in theirs["forms"].items():
        form = forms()[name]
        for words, refused, operands in row["choices"]:
            if refused or name == "spcompress":
                continue
            modifiers = dict(zip((slot.name for slot in form.slots), words, strict=True))
            ours = [[each.name, each.kind, each.written, registers(each, modifiers)] for each in form.operands]
            assert ours == [each[:4] for each in operands], (name, words)
            for operand, each in zip(form.operands, operands, strict=True):
                if operand.kind == "reg":
                    kind = type_of(operand, modifiers)
                    allowed = {
                        str(item) for item in DTYPES if kind != "b128" and carries(kind, item, relaxed=operand.relaxed)
                    }
                    expected = {item for item in each[4] if not item.endswith("128")}
                    fits = allowed >= expected if name in NARROWER else allowed == expected
                    assert fits, (name, words, operand.name, allowed ^ expected)
