"""`refmlc prove BEFORE [AFTER]`: show for all arguments that one module may replace another, or is always defined."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import click

from refmlc.cli.console import err, out, print_json, show_diagnostic
from refmlc.cli.inputs import sizes_of
from refmlc.cli.options import PATH, assume_option, count_option, dims_option, json_option, seconds_option
from refmlc.cli.sources import Source
from refmlc.diag.render import to_json
from refmlc.diag.source import Span
from refmlc.lang.ir import IRModule
from refmlc.oracle.contracts.assumptions import assumed, assumed_beside, known_assumptions
from refmlc.oracle.contracts.contract import ArgumentContract
from refmlc.oracle.implementations.implementation import Limits
from refmlc.oracle.refine.calls import entry
from refmlc.oracle.refine.proof import prove as prove_pair, prove_defined
from refmlc.prove import Proof, ProofKind
from refmlc.prove.sizes import LIMIT
from refmlc.prove.sizes.result import Definedness, SizedKind

STATUS = {ProofKind.PROVED: 0, ProofKind.REFUTED: 1}
UNDECIDED = 3
SIZED_STATUS = {
    SizedKind.PROVED: 0,
    SizedKind.INFERRED: 0,
    SizedKind.REFUTED: 1,
    SizedKind.UNDECIDED: UNDECIDED,
}
SHOWN = (SizedKind.REFUTED, SizedKind.UNDECIDED)
STANDARD_INPUT = Path("-")
MOST_OBLIGATIONS = 5
MEANINGS = {
    ProofKind.PROVED: "wherever BEFORE is defined, AFTER is defined and leaves the same bits",
    ProofKind.BOTH_DEFINED: "the same bits; not shown: that AFTER is defined wherever BEFORE is",
    ProofKind.REALS: "the same value if no operation rounds; not shown: the same bits",
    ProofKind.VACUOUS: "BEFORE is defined for no arguments",
    ProofKind.REFUTED: "a call tells the two apart",
    ProofKind.UNDECIDED: "not shown, and no call was found that tells the two apart",
}


@click.command(epilog="Example: refmlc prove before.py after.py --dim n=16")
@click.argument("before", type=click.Path(path_type=Path, allow_dash=True))
@click.argument("after", type=PATH, required=False)
@click.option("--func", "--function", "func", help="The function to prove.  [default: main, or the only one]")
@dims_option("The value of a symbolic dimension or a scalar argument.  [default: 5 and 2]")
@click.option("--up-to-rounding", is_flag=True, help="Accept equality over the reals, where orders of sums differ.")
@count_option("--calls", 20, "Number of calls in search of a counterexample; 0: none.", least=0)
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of their arguments.")
@count_option("--limit", LIMIT, "Without AFTER: the greatest size of a symbolic dimension.")
@assume_option
@seconds_option
@json_option
def prove(  # noqa: PLR0913, PLR0917 - one parameter per option
    before: Path,
    after: Path | None,
    func: str | None,
    dims: tuple[str, ...],
    calls: int,
    seed: int,
    limit: int,
    assume: tuple[str, ...],
    seconds: float,
    *,
    up_to_rounding: bool,
    as_json: bool,
) -> None:
    """Show that the module in AFTER may replace the one in BEFORE, for all arguments of the given sizes.

    Both are executed on terms in place of numbers: equal terms have equal bits for all arguments. Without AFTER: show
    that every call of BEFORE is defined, for all arguments and for all sizes up to --limit (extra `prove`); the
    contracts of --assume, and of the file beside BEFORE, hold then. Exit status: 0 proved (with --up-to-rounding also
    over the reals), 1 refuted by a call, 2 a file cannot be read, 3 none.
    """
    first = Source(before).read()
    name = entry(first, func)
    if after is None:
        rows = (*assumed(assume), *(assumed_beside(before) if before != STANDARD_INPUT else ()))
        known_assumptions(first, rows)
        _prove_defined(first, name, limit, rows, as_json=as_json)
        return
    second = Source(after).read()
    limits = Limits(seconds=seconds, clock=True)
    with err.status(f"proving {name} …"):
        proof = prove_pair(first, second, func=name, dims=sizes_of(dims), calls=calls, seed=seed, limits=limits)
    _show(name, proof, as_json=as_json)
    accepted = up_to_rounding and proof.kind is ProofKind.REALS and not proof.obligations
    click.get_current_context().exit(0 if accepted else STATUS.get(proof.kind, UNDECIDED))


def _prove_defined(
    module: IRModule, func: str, limit: int, rows: tuple[ArgumentContract, ...], *, as_json: bool
) -> None:
    """Show that every call is defined; print each obligation that is not proved."""
    with err.status(f"proving {func} …"):
        definedness = prove_defined(module, func, assume=rows, limit=limit)
    if as_json:
        print_json(_definedness_data(definedness))
    else:
        counts = Counter(each.verdict for each in definedness.verdicts)
        numbers = ", ".join(f"{counts[kind]} {kind.value}" for kind in SizedKind if counts[kind]) or "none"
        out.print(f"`{func}`: {definedness.kind.value} for all arguments and all sizes up to {limit:,}")
        if definedness.reason:
            out.print(f"  {_placed(definedness.span, definedness.reason)}")
        for each in definedness.verdicts:
            if each.verdict in SHOWN:
                code = f" ({each.code})" if each.code else ""
                out.print(f"  {_placed(each.span, each.text)}: {each.verdict.value}: {each.reason}{code}")
        for line in definedness.contracts:
            out.print(f"  under the contract: {line}")
        for line in definedness.inferred:
            out.print(f"  under the inferred contract: {line}")
        out.print(f"  obligations: {numbers}")
    click.get_current_context().exit(SIZED_STATUS[definedness.kind])


def _placed(span: Span | None, text: str) -> str:
    return text if span is None else f"{span.place}: {text}"


def _definedness_data(definedness: Definedness) -> dict[str, object]:
    return {
        "func": definedness.func,
        "verdict": definedness.kind.value,
        "reason": definedness.reason,
        "limit": definedness.limit,
        "contracts": list(definedness.contracts),
        "inferred": list(definedness.inferred),
        "obligations": [
            {
                "kind": each.kind,
                "verdict": each.verdict.value,
                "text": _placed(each.span, each.text),
                "reason": each.reason,
                "sizes": dict(each.sizes or {}),
                "code": each.code,
            }
            for each in definedness.verdicts
        ],
    }


def _show(func: str, proof: Proof, *, as_json: bool) -> None:
    """Print the verdict, the reason, what it holds for, and the call that refutes it."""
    if as_json:
        print_json(_data(func, proof))
        return
    out.print(f"`{func}`: {proof.kind.value}: {MEANINGS[proof.kind]}")
    for line in _details(proof):
        out.print(f"  {line}")
    if proof.counterexample is not None:
        show_diagnostic(proof.counterexample, out)


def _details(proof: Proof) -> Iterator[str]:
    if proof.reason:
        yield _placed(proof.span, proof.reason)
    if proof.difference is not None:
        yield from proof.difference.notes()
    for obligation in proof.obligations[:MOST_OBLIGATIONS]:
        yield f"not shown: {obligation.text}"
    if len(proof.obligations) > MOST_OBLIGATIONS:
        yield f"and {len(proof.obligations) - MOST_OBLIGATIONS} more"
    yield from proof.assumptions
    yield f"elements compared: {proof.elements:,}; terms: {proof.terms:,}"


def _data(func: str, proof: Proof) -> dict[str, object]:
    return {
        "func": func,
        "verdict": proof.kind.value,
        "reason": proof.reason,
        "differs": [] if proof.difference is None else list(proof.difference.notes()),
        "open": [obligation.text for obligation in proof.obligations],
        "assumptions": list(proof.assumptions),
        "elements": proof.elements,
        "terms": proof.terms,
        "counterexample": None if proof.counterexample is None else to_json(proof.counterexample),
    }
