"""The verdict on two programs executed on terms.

| verdict                      | means                                                                              |
|------------------------------|------------------------------------------------------------------------------------|
| proved                       | wherever the first is defined, the second is defined too and leaves the same bits  |
| equal where both are defined | the same bits; not shown that the second is defined: its open obligations          |
| equal over the reals         | other terms with the same value if nothing rounds, up to a stated probability      |
| vacuous                      | the first is undefined, or traps, for all arguments                                |
| refuted                      | the second is undefined for all arguments, or a call is known that tells them apart |
| undecided                    | none of these: the reason, and its place in the source                             |

All of it holds for the sizes and scalars that are fixed, and where the tensors of the arguments do not overlap.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum

from refmlc.diag import Diagnostic
from refmlc.diag.source import Span
from refmlc.lang.ir import IRModule, tir
from refmlc.lang.ir.reach import reachable
from refmlc.lang.ir.threads import implies_barriers
from refmlc.prove.execute import Output, OutputTensor, SymbolicCall, SymbolicExecution, execute
from refmlc.prove.field import equal
from refmlc.prove.obligations import Obligation, Obligations
from refmlc.prove.terms import Terms, TermValue, Undecided, Unfinished, clipped, first_difference, is_same, text

REORDERED = "integers are added or multiplied in another order: equal where neither overflows, up to a small chance"


class ProofKind(Enum):
    """The kind of a verdict."""

    PROVED = "proved"
    BOTH_DEFINED = "equal where both are defined"
    REALS = "equal over the reals"
    VACUOUS = "vacuous"
    REFUTED = "refuted"
    UNDECIDED = "undecided"


@dataclass(frozen=True)
class DifferentElement:
    """The first element whose terms differ, with both terms and their smallest differing parts."""

    element: str
    before: TermValue | None
    after: TermValue | None
    count: int

    def notes(self) -> Iterator[str]:
        """The difference in words."""
        yield f"`{self.element}` is `{_text(self.before)}` before"
        yield f"`{self.element}` is `{_text(self.after)}` after"
        if self.before is not None and self.after is not None:
            parts = first_difference(self.before, self.after)
            if not is_same(parts[0], self.before):
                yield f"they differ in `{clipped(parts[0])}` and `{clipped(parts[1])}`"
        if self.count > 1:
            yield f"{self.count} elements differ"


def _text(value: TermValue | None) -> str:
    return "uninitialised" if value is None else clipped(value)


@dataclass(frozen=True)
class Proof:
    """A verdict with its reason.

    `obligations`: those of the second program that are open; `discharged`: its others, which hold wherever the first
    program is defined; `elements`: how many elements were compared; `terms`: how many terms there are; `signature`: of
    the arguments (`signature_of`); `counterexample`: what a call that tells the programs apart shows; `limit`: the
    greatest size of a symbolic dimension, where loops are not unrolled, else 0; `is_unfinished`: a limit of steps
    or time ended it; `is_fixed`: sizes or scalars have values, which `assumptions` names.
    """

    kind: ProofKind
    reason: str = ""
    span: Span | None = None
    difference: DifferentElement | None = None
    obligations: tuple[Obligation, ...] = ()
    assumptions: tuple[str, ...] = ()
    elements: int = 0
    terms: int = 0
    signature: tuple[object, ...] = ()
    counterexample: Diagnostic | None = field(default=None, compare=False)
    discharged: tuple[Obligation, ...] = field(default=(), repr=False)
    limit: int = 0
    is_unfinished: bool = False
    is_fixed: bool = False

    @property
    def is_proved(self) -> bool:
        """True if the second program may stand for the first, to the bit."""
        return self.kind is ProofKind.PROVED

    def refuted_by(self, counterexample: Diagnostic) -> "Proof":
        """The same pair, refuted by a call."""
        return replace(self, kind=ProofKind.REFUTED, counterexample=counterexample)

    def unconfirmed(self) -> "Proof":
        """The same pair, whose refutation no call confirms."""
        return replace(self, kind=ProofKind.UNDECIDED)


def compared(before: IRModule, after: IRModule, func: str, call: SymbolicCall, *, terms: Terms | None = None) -> Proof:
    """Whether `func` of `after` may stand for that of `before`, for all arguments of `call`. Fails: RM112, RM2xx."""
    terms = Terms() if terms is None else terms
    try:
        first = execute(before, func, call, terms)
        second = execute(after, func, call, terms, first)
    except Undecided as end:
        is_unfinished = isinstance(end, Unfinished)
        return Proof(ProofKind.UNDECIDED, end.reason, end.span, terms=len(terms), is_unfinished=is_unfinished)
    except RecursionError:
        return Proof(ProofKind.UNDECIDED, "a term nests too deep", terms=len(terms))
    proof = _verdict(first, second)
    assumptions = _assumptions((before, after), func, first)
    is_fixed = bool(first.fixed)
    return replace(proof, assumptions=assumptions, terms=len(terms), signature=first.signature, is_fixed=is_fixed)


def _assumptions(modules: Sequence[IRModule], func: str, first: SymbolicExecution) -> tuple[str, ...]:
    fixed = ", ".join(f"{name} = {value}" for name, value in first.fixed.items())
    assumptions = [f"for {fixed}"] if fixed else []
    if len(first.names) > 1:
        assumptions.append("tensors of the arguments do not overlap")
    functions = [function for module in modules for function in reachable(module, func).functions.values()]
    if any(isinstance(function, tir.PrimFunc) and implies_barriers(function) for function in functions):
        assumptions.append("the barriers that ThreadSync inserts are implied (TIR-229)")
    return tuple(assumptions)


def _verdict(first: SymbolicExecution, second: SymbolicExecution) -> Proof:
    if first.signature != second.signature:
        return Proof(ProofKind.UNDECIDED, "the parameters of the two functions do not match")
    if first.failure is not None:
        reason = f"the first program has no defined call: {first.failure.message}"
        return Proof(ProofKind.VACUOUS, reason, first.failure.span)
    if second.failure is not None:
        reason = f"the second program is undefined for all arguments: {second.failure.message}"
        return Proof(ProofKind.REFUTED, reason, second.failure.span, counterexample=second.failure)
    return _compare(first, second)


def _compare(first: SymbolicExecution, second: SymbolicExecution) -> Proof:
    if [_kind(output) for output in first.outputs] != [_kind(output) for output in second.outputs]:
        return Proof(ProofKind.UNDECIDED, "the results are of different kinds or shapes")
    pairs = [pair for a, b in zip(first.outputs, second.outputs, strict=True) for pair in _elements(a, b)]
    count = sum(not _is_untouched(name, a, b) for name, a, b in pairs)
    differing = [(name, a, b) for name, a, b in pairs if b is None or not is_same(a, b)]
    implied, obligations = _discharged(first.obligations, second.obligations)
    if not differing:
        kind = ProofKind.BOTH_DEFINED if obligations else ProofKind.PROVED
        return Proof(kind, obligations=obligations, elements=count, discharged=implied)
    name, before, after = differing[0]
    difference = DifferentElement(name, before, after, len(differing))
    values = [(a, b) for _, a, b in differing if b is not None]
    if len(values) == len(differing):
        if equal(values, reals=False):
            return Proof(ProofKind.BOTH_DEFINED, REORDERED, None, difference, obligations, elements=count)
        if equal(values, reals=True):
            return Proof(ProofKind.REALS, "", None, difference, obligations, elements=count, discharged=implied)
    return Proof(ProofKind.UNDECIDED, "the terms differ", None, difference, obligations, elements=count)


def _discharged(first: Obligations, second: Obligations) -> tuple[tuple[Obligation, ...], tuple[Obligation, ...]]:
    """The obligations of the second program that hold wherever the first is defined, and the others."""
    implied = tuple(each for each in second if first.implies(each))
    return implied, tuple(each for each in second if not first.implies(each))


def _kind(output: Output) -> tuple[object, ...]:
    return (output.dtype, output.shape) if isinstance(output, OutputTensor) else ("value",)


def _elements(a: Output, b: Output) -> Iterator[tuple[str, TermValue, TermValue | None]]:
    """The elements that the first program leaves initialised, with both values."""
    if isinstance(a, OutputTensor) and isinstance(b, OutputTensor):
        for number, (before, after) in enumerate(zip(a.cells, b.cells, strict=True)):
            if before is not None:
                yield a.element(number), before, after
    elif not isinstance(a, OutputTensor) and not isinstance(b, OutputTensor):
        yield from _values(a.label, a.value, b.value)


def _is_untouched(name: str, before: TermValue, after: TermValue | None) -> bool:
    """Whether an element of an argument is the caller's in both programs."""
    return after is not None and is_same(before, after) and text(before) == name


def _values(label: str, before: TermValue | str, after: TermValue | str) -> Iterator[tuple[str, TermValue, TermValue]]:
    if isinstance(before, str) or isinstance(after, str):
        if before != after:
            raise Undecided(f"{label} is {before} and {after}")
        return
    yield label, before, after
