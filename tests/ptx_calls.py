"""Instructions of PTX on registers given as bits, for tests: `compute("add.rn.f16", 0x3C00, 0x3C00)`."""

from refmlc.lang.ops.ptx.forms import forms, forms_of
from refmlc.lang.ops.ptx.meaning import MEANINGS
from refmlc.lang.ops.ptx.rules import problem


def modifiers_of(form, words):
    """The modifiers by slot; None: the form does not take them."""
    modifiers = dict.fromkeys((slot.name for slot in forms()[form].slots), "")
    for word in words:
        slot = next((each for each in forms()[form].slots if word in each.choices and not modifiers[each.name]), None)
        if slot is None:
            return None
        modifiers[slot.name] = word
    return None if problem(forms()[form], modifiers) else modifiers


def is_in_order(form, words):
    """Whether a form takes the words in the order of its slots: where several take them, this is the one."""
    modifiers = modifiers_of(form, words)
    return modifiers is not None and [word for word in modifiers.values() if word] == words


def registers_read(form, modifiers):
    """How many registers a form reads."""
    counts = [
        1 if operand.when else operand.registers
        for operand in form.operands
        if not operand.written and (not operand.when or modifiers[operand.when])
    ]
    return sum(counts)


def compute(text, *registers, written=1):
    """What the instruction writes: a number, or the numbers of several registers."""
    family, *words = text.split(".")
    for form in sorted(forms_of(family), key=lambda form: not is_in_order(form.name, words)):
        modifiers = modifiers_of(form.name, words)
        destinations = sum(operand.registers for operand in form.operands if operand.written)
        if modifiers is None or destinations != written or registers_read(form, modifiers) != len(registers):
            continue
        results = MEANINGS[form.name](modifiers)(tuple(registers))
        return results[0] if written == 1 else results
    message = f"no form of {text} reads {len(registers)} registers and writes {written}"
    raise AssertionError(message)
