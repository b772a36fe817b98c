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
from refmlc.oracle.finding import Finding, make_finding
from refmlc.oracle.implementations.implementation import Answer, Ended, Stopped
from refmlc.oracle.outcome import Kind
from refmlc.oracle.pairs.equivalents import Variant
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
    base_reference, variant_reference = references
    base_answer, variant_answer = answers
    if not (
        isinstance(base_reference.answer, Ended)
        and isinstance(variant_reference.answer, Ended)
        and isinstance(base_answer, Ended)
    ):
        return None
    if variant_answer is None:
        return None
    verdict, finding = judged(
        variant, number, variant_reference, variant_answer, name=name, promises=promises, freedom=freedom
    )
    if isinstance(variant_answer, Stopped):
        return finding
    base_verdict, _ = judged(
        variant.base, number, base_reference, base_answer, name=name, promises=promises, freedom=freedom
    )
    compared = agree(variant.base, number, base_answer, variant.without_more(variant_answer), promised=True)
    if compared.verdict.kind is Kind.EQUAL or base_verdict.kind is Kind.WRONG:
        return None
    if base_verdict.kind in JUDGED and verdict.kind in JUDGED:
        return None
    return contradicting(variant, number, base_reference, compared, name)


def of_interpreter(
    variant: Variant, number: int, base_reference: Reference, variant_reference: Reference
) -> Finding | None:
    """The finding where the interpreter itself gives other bits to the variant."""
    if not isinstance(base_reference.answer, Ended) or not isinstance(variant_reference.answer, Ended):
        return None
    answer = variant.without_more(variant_reference.answer)
    compared = agree(variant.base, number, base_reference.answer, answer, promised=True)
    is_equal = compared.verdict.kind is Kind.EQUAL
    return None if is_equal else contradicting(variant, number, base_reference, compared, "interp")


def contradicting(
    variant: Variant, number: int, base_reference: Reference, compared: PartComparison, name: str
) -> Finding:
    """The finding that `name` gives another result to the variant."""
    message = f"`{name}` contradicts itself on {compared.label} of `{variant.func}`: the same program, {variant.label}"
    source_of_expected = "to the program itself it gives"
    return make_finding(
        CONTRADICTION,
        message,
        variant.base,
        number,
        name,
        compared,
        base_reference,
        other=variant,
        wanted=source_of_expected,
    )
