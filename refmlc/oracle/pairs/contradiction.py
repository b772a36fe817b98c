"""Whether an implementation contradicts itself on a pair.

| the two answers                                 | is                                                          |
|-------------------------------------------------|-------------------------------------------------------------|
| the same bits                                   | agreement                                                   |
| other bits, both permitted by a certified bound | agreement: a clause permits more than one                   |
| other bits, one of them wrong                   | a contradiction, unless the program itself was called wrong |
| other bits, and no bound says what is permitted | a contradiction                                             |
| the variant crashes, or does not return         | RM703, RM704, on the variant                                |
| one of them without an answer                   | nothing                                                     |
"""

from refmlc.diag.catalogue import CONTRADICTION
from refmlc.observe.bounds.freedom import Freedom
from refmlc.oracle.agreement import PartComparison, agree
from refmlc.oracle.finding import Finding, found
from refmlc.oracle.implementations.implementation import Answer, Ended, Stopped
from refmlc.oracle.outcome import Kind
from refmlc.oracle.pairs.variant import Variant
from refmlc.oracle.reference import Reference
from refmlc.oracle.verdict_rules import judged

JUDGED = (Kind.EQUAL, Kind.PERMITTED)


def contradiction(
    variant: Variant,
    number: int,
    references: tuple[Reference, Reference],
    answers: tuple[Answer | None, Answer | None],
    name: str,
    *,
    promises: bool,
    freedom: Freedom,
) -> Finding | None:
    """The finding on a pair: the references and answers of the base come first, those of the variant second."""
    ours, theirs = references
    first, second = answers
    if not (isinstance(ours.answer, Ended) and isinstance(theirs.answer, Ended) and isinstance(first, Ended)):
        return None
    if second is None:
        return None
    verdict, finding = judged(variant, number, theirs, second, name=name, promises=promises, freedom=freedom)
    if isinstance(second, Stopped):
        return finding
    base, _ = judged(variant.base, number, ours, first, name=name, promises=promises, freedom=freedom)
    compared = agree(variant.base, number, first, variant.without_more(second), promised=True)
    if compared.verdict.kind is Kind.EQUAL or base.kind is Kind.WRONG:
        return None
    if base.kind in JUDGED and verdict.kind in JUDGED:
        return None
    return contradicting(variant, number, ours, compared, name)


def of_interpreter(variant: Variant, number: int, ours: Reference, theirs: Reference) -> Finding | None:
    """The finding where the interpreter itself gives other bits to the variant."""
    if not isinstance(ours.answer, Ended) or not isinstance(theirs.answer, Ended):
        return None
    answer = variant.without_more(theirs.answer)
    compared = agree(variant.base, number, ours.answer, answer, promised=True)
    same = compared.verdict.kind is Kind.EQUAL
    return None if same else contradicting(variant, number, ours, compared, "interp")


def contradicting(variant: Variant, number: int, ours: Reference, compared: PartComparison, name: str) -> Finding:
    """The finding that `name` gives another result to the variant."""
    message = f"`{name}` contradicts itself on {compared.label} of `{variant.func}`: the same program, {variant.label}"
    source_of_expected = "to the program itself it gives"
    return found(
        CONTRADICTION, message, variant.base, number, name, compared, ours, other=variant, wanted=source_of_expected
    )
