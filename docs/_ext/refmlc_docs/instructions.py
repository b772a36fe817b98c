"""The operators of PTX as tables: those that are executed, with their clauses, and the others with the reason."""

from itertools import groupby

from refmlc.lang.ops.ptx.clauses import clauses_of_operators
from refmlc.lang.ops.ptx.forms import Form, FormOperand, ModifierSlot, forms
from refmlc.lang.ops.ptx.meaning import CLAUSES, is_executed, missing
from refmlc.lang.ops.ptx.registry import executed, registered
from refmlc_docs.markdown import clause_link, inline, prose, table


def executed_forms() -> str:
    """The forms that are executed, with their clauses."""
    rows = [
        [inline(_instruction(form)), inline(", ".join(map(_operand, form.operands))), clause_link(CLAUSES[name])]
        for name, form in forms().items()
        if is_executed(name)
    ]
    count = f"{len(executed())} of {len(registered())}, `T.ptx.addr` among them:"
    return f"{count}\n\n{table(['instruction', 'operands', 'clause'], sorted(rows))}"


def executed_elsewhere() -> str:
    """The operators that other chapters define, by clause."""
    names = [(clause, name) for name, clause in clauses_of_operators().items() if name not in CLAUSES]
    rows = [
        [clause_link(clause), ", ".join(inline(name) for _, name in group)]
        for clause, group in groupby(sorted(names), key=lambda pair: pair[0])
    ]
    return f"{len(names)} operators:\n\n{table(['clause', 'operators'], rows)}"


def missing_forms() -> str:
    """The forms that are not executed, by reason."""
    names = sorted((missing(name), name) for name in forms() if not is_executed(name))
    rows = [
        [prose(reason), ", ".join(inline(name) for _, name in group)]
        for reason, group in groupby(names, key=lambda pair: pair[0])
    ]
    return table(["reason", "operators"], rows)


def _instruction(form: Form) -> str:
    return ".".join([form.family, *map(_slot, form.slots)])


def _slot(slot: ModifierSlot) -> str:
    words = "|".join(slot.choices)
    if len(slot.choices) > 1:
        words = f"{{{words}}}"
    return f"{words}?" if slot.optional else words


def _operand(operand: FormOperand) -> str:
    count = operand.registers
    many = "" if count == 1 else f"[{count}]"
    return f"{operand.name}{many}{'?' if operand.when else ''}"
