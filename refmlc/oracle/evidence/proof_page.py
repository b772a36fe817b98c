"""The page of a proof: the verdict, the two terms beside each other, obligations, both programs. Extra `[report]`.

Parts that both terms share are one line; a pair of operators with the same name is opened, operand by operand. A page
shows at most `MOST_NODES` nodes of a term, since a term may be far larger as a text than as a graph.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from refmlc.diag.render import render_text
from refmlc.diag.source import Span
from refmlc.lang.ir import IRModule
from refmlc.oracle.evidence.listing import DARK, LIGHT, ListingLine, Mark, lines_of, style
from refmlc.oracle.evidence.page import template, versions, write_html
from refmlc.oracle.evidence.record import text_of
from refmlc.prove import Proof
from refmlc.prove.obligations import Obligation
from refmlc.prove.proof import DifferentElement
from refmlc.prove.terms import SymbolicTerm, TermValue, clipped, is_alike, is_same, operand_pairs, operator_text

MOST_NODES = 400
MOST_DEPTH = 60
UNINITIALISED = "uninitialised"


@dataclass(frozen=True)
class TermNode:
    """A node of a term: its operator, or all of it as one line; its operands."""

    text: str
    differs: bool = False
    parts: tuple["TermNode", ...] = ()


@dataclass(frozen=True)
class TermPair:
    """The first element that differs, with both terms. `count`: how many elements differ, in words."""

    element: str
    before: TermNode
    after: TermNode
    count: str


def write_proof_page(
    func: str, proof: Proof, meaning: str, modules: tuple[IRModule, IRModule], path: Path | str, *, command: str
) -> None:
    """Write the page of a verdict on `modules`, which `meaning` explains, to `path`. Fails: RM109."""
    write_html(proof_page(func, proof, meaning, modules, command=command), path)


def proof_page(func: str, proof: Proof, meaning: str, modules: tuple[IRModule, IRModule], *, command: str) -> str:
    """The page as a text."""
    before, after = (_listing(module, proof) for module in modules)
    extent = (
        f"Loops are not unrolled, and sizes are at most {proof.limit:,}."
        if proof.limit
        else f"{proof.elements:,} elements were compared; there are {proof.terms:,} terms."
    )
    return template("proof.html").render(
        func=func,
        verdict=proof.kind.value,
        is_proved=proof.is_proved,
        meaning=meaning,
        reason=_placed(proof.span, proof.reason) if proof.reason else "",
        assumptions=proof.assumptions,
        extent=extent,
        terms=None if proof.difference is None else term_pair(proof.difference),
        counterexample="" if proof.counterexample is None else render_text(proof.counterexample),
        obligations=[
            ("Not shown", list(_rows(proof.obligations))),
            ("Obligations that hold wherever the first program is defined", list(_rows(proof.discharged))),
        ],
        before=before,
        after=after,
        command=command,
        versions=versions(),
        light_style=style(LIGHT),
        dark_style=style(DARK),
    )


def term_pair(difference: DifferentElement) -> TermPair:
    """Both terms as trees, in which what differs is marked."""
    before, after = difference.before, difference.after
    count = f"{difference.count} element{'s' if difference.count > 1 else ''}"
    before_tree, after_tree = _trees(before, after, iter(range(MOST_NODES)))
    return TermPair(difference.element, before_tree, after_tree, count)


def _trees(
    a: TermValue | None, b: TermValue | None, numbers: Iterator[int], depth: int = 0
) -> tuple[TermNode, TermNode]:
    """Both sides. `numbers` end where the page has enough nodes."""
    if next(numbers, None) is None or depth > MOST_DEPTH:
        return TermNode("…"), TermNode("…")
    if a is not None and b is not None and is_same(a, b):
        return TermNode(clipped(a)), TermNode(clipped(b))
    if isinstance(a, SymbolicTerm) and isinstance(b, SymbolicTerm) and is_alike(a, b) and a.args:
        sides = [_trees(own, other, numbers, depth + 1) for own, other in operand_pairs(a, b)]
        own, other = zip(*sides, strict=True)
        return TermNode(operator_text(a), parts=own), TermNode(operator_text(b), parts=other)
    return _differing(a), _differing(b)


def _differing(value: TermValue | None) -> TermNode:
    return TermNode(UNINITIALISED if value is None else clipped(value), differs=True)


def _listing(module: IRModule, proof: Proof) -> list[ListingLine]:
    """The text of a program, as its author wrote it where that is known, with the place of the reason marked."""
    text = next((span.source.text for span in _spans(module)), "") or text_of(module)
    span = proof.span
    is_here = span is not None and span.source.text == text
    return lines_of(text, [Mark(span.line, proof.reason)] if span is not None and is_here else [])


def _spans(module: IRModule) -> Iterator[Span]:
    yield from (func.span for func in module.functions.values() if func.span is not None)


def _rows(obligations: Iterable[Obligation]) -> Iterator[tuple[str, str, int]]:
    """The place and text of each obligation, with its number."""
    counts = Counter((_place(each.span), each.text) for each in obligations)
    yield from ((place, text, count) for (place, text), count in counts.items())


def _place(span: Span | None) -> str:
    return "" if span is None else f"{span.line}:{span.column + 1}"


def _placed(span: Span | None, text: str) -> str:
    return text if span is None else f"{span.place}: {text}"
