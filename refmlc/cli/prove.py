"""`refmlc prove BEFORE [AFTER]`: show for all arguments that one module may replace another, or is always defined.

A proof may be written as a certificate; `--replay` derives it again from the programs.
"""

import shlex
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import NoReturn

import click
from click.core import ParameterSource

from refmlc.cli.console import err, out, print_json, show_diagnostic
from refmlc.cli.inputs import sizes_of
from refmlc.cli.options import PATH, assume_option, count_option, dims_option, json_option, seconds_option
from refmlc.cli.sources import Source
from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_FILE, BAD_USAGE
from refmlc.diag.render import to_json
from refmlc.diag.source import Span
from refmlc.lang.ir import IRModule
from refmlc.oracle.contracts.assumptions import assumed, assumed_beside, known_assumptions
from refmlc.oracle.contracts.contract import ArgumentContract
from refmlc.oracle.evidence import write_proof_page
from refmlc.oracle.evidence.certificate import (
    CertifiedProgram,
    ProofCertificate,
    certified,
    certified_program,
    claim_of_definedness,
    claim_of_proof,
    derive,
    load_certificate,
    program_paths,
)
from refmlc.oracle.implementations.implementation import Limits
from refmlc.oracle.refine.calls import entry
from refmlc.oracle.refine.proof import prove as prove_pair, prove_defined
from refmlc.oracle.refine.scope import has_sizes
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
WITHOUT_REPLAY = {
    "func": "--func",
    "dims": "--dim",
    "up_to_rounding": "--up-to-rounding",
    "calls": "--calls",
    "seed": "--seed",
    "limit": "--limit",
    "assume": "--assume",
    "file": "--certificate",
    "page": "--report",
}
MEANINGS = {
    ProofKind.PROVED: "wherever BEFORE is defined, AFTER is defined and leaves the same bits",
    ProofKind.BOTH_DEFINED: "the same bits; not shown: that AFTER is defined wherever BEFORE is",
    ProofKind.REALS: "the same value if no operation rounds; not shown: the same bits",
    ProofKind.VACUOUS: "BEFORE is defined for no arguments",
    ProofKind.REFUTED: "a call tells the two apart",
    ProofKind.UNDECIDED: "not shown, and no call was found that tells the two apart",
}


@click.command(epilog="Example: refmlc prove before.py after.py --dim n=16")
@click.argument("before", type=click.Path(path_type=Path, allow_dash=True), required=False)
@click.argument("after", type=PATH, required=False)
@click.option("--func", "--function", "func", help="The function to prove.  [default: main, or the only one]")
@dims_option("The value of a symbolic dimension or a scalar argument.  [default: 5 and 2]")
@click.option("--up-to-rounding", is_flag=True, help="Accept equality over the reals, where orders of sums differ.")
@count_option("--calls", 20, "Number of calls in search of a counterexample; 0: none.", least=0)
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of their arguments.")
@count_option("--limit", LIMIT, "The greatest size of a symbolic dimension, in a proof for all sizes.")
@assume_option
@click.option("--certificate", "file", type=PATH, help="Write the proof to this TOML file.")
@click.option("--report", "page", type=PATH, help="Write the verdict on AFTER as an HTML page (extra `report`).")
@click.option("--replay", "replayed", type=PATH, help="Derive the certificate in this file again.")
@seconds_option
@json_option
def prove(  # noqa: PLR0913, PLR0917 - one parameter per option
    before: Path | None,
    after: Path | None,
    func: str | None,
    dims: tuple[str, ...],
    calls: int,
    seed: int,
    limit: int,
    assume: tuple[str, ...],
    file: Path | None,
    page: Path | None,
    replayed: Path | None,
    seconds: float,
    *,
    up_to_rounding: bool,
    as_json: bool,
) -> None:
    """Show that the module in AFTER may replace the one in BEFORE, for all arguments of the given sizes.

    Both are executed on terms in place of numbers: equal terms have equal bits for all arguments. Where sizes are
    symbolic and --dim gives none, all sizes up to --limit are tried first (extra `prove`). Without AFTER: show that
    every call of BEFORE is defined, for all of these sizes; contracts of --assume, and of the file beside BEFORE, hold
    then. --replay needs no BEFORE and AFTER where they lie beside the certificate. Exit status: 0 proved (with
    --up-to-rounding also over the reals), 1 refuted by a call, or the certificate does not come out again, 2 a file
    cannot be read or does not fit, 3 none.
    """
    limits = Limits(seconds=seconds, clock=True)
    if replayed is not None:
        _replay(replayed, [path for path in (before, after) if path is not None], limits, as_json=as_json)
    if before is None:
        raise click.MissingParameter(param_hint="'BEFORE'", param_type="argument")
    first = Source(before).read()
    name = entry(first, func)
    result: Proof | Definedness
    if after is None:
        _require_two(page)
        rows = (*assumed(assume), *(assumed_beside(before) if before != STANDARD_INPUT else ()))
        result = _prove_defined(first, name, limit, rows, as_json=as_json)
        claim = partial(claim_of_definedness, first, name, limit=limit, contracts=rows)
        status = SIZED_STATUS[result.kind]
    else:
        dimensions = sizes_of(dims)
        search = partial(prove_pair, dims=dimensions, limit=limit, calls=calls, seed=seed, limits=limits)
        result = _prove_equal(first, Source(after).read(), name, search, page, as_json=as_json)
        claim = partial(claim_of_proof, name, dims=dimensions, limit=result.limit)
        status = _status(result, up_to_rounding=up_to_rounding)
    if file is not None:
        _write(certified(claim(_programs(before, after, file)), result), file, is_accepted=status == 0)
    click.get_current_context().exit(status)


def _require_two(page: Path | None) -> None:
    """Refuse a page of one program: it shows two. Fails: RM112."""
    if page is not None:
        raise fail(BAD_USAGE, "`--report` shows two programs: name AFTER too")


def _prove_equal(
    first: IRModule, second: IRModule, name: str, search: Callable[..., Proof], page: Path | None, *, as_json: bool
) -> Proof:
    """Prove that `second` may stand for `first`; print the verdict, and write its page."""
    with err.status(f"proving {name} …"):
        proof = search(first, second, func=name)
    _show(name, proof, is_sized=has_sizes(first, name), as_json=as_json)
    if page is not None:
        command = shlex.join(["refmlc", *sys.argv[1:]])
        write_proof_page(name, proof, MEANINGS[proof.kind], (first, second), page, command=command)
    return proof


def _status(proof: Proof, *, up_to_rounding: bool) -> int:
    accepted = up_to_rounding and proof.kind is ProofKind.REALS and not proof.obligations
    return 0 if accepted else STATUS.get(proof.kind, UNDECIDED)


def _programs(before: Path, after: Path | None, file: Path) -> list[CertifiedProgram]:
    """The programs of a certificate. Fails: RM109; RM112 for the standard input."""
    if STANDARD_INPUT in (before, after):
        raise fail(BAD_USAGE, "a certificate names files: the standard input has no name")
    return [certified_program(path, file.parent) for path in (before, after) if path is not None]


def _require_only_replay() -> None:
    """Require that no option says anything of the proof: the certificate does. Fails: RM112."""
    context = click.get_current_context()
    for name, option in WITHOUT_REPLAY.items():
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            raise fail(BAD_USAGE, f"`--replay` takes no `{option}`", None, "the certificate says what is proved")


def _replay(file: Path, paths: Sequence[Path], limits: Limits, *, as_json: bool) -> NoReturn:
    """Derive a certificate again, print whether it comes out, and exit."""
    _require_only_replay()
    certificate = load_certificate(file)
    claim = certificate.claim
    modules = [Source(path).read() for path in program_paths(claim, file, paths)]
    with err.status(f"deriving {claim.func} …"):
        derived = derive(claim, modules, limits)
    differences = list(certificate.differences(derived))
    count = sum(number for _, number in derived.derivation.obligations)
    if as_json:
        print_json({"file": str(file), "func": claim.func, "domain": claim.domain, "holds": not differences,
                    "certified": certificate.derivation.verdict, "verdict": derived.derivation.verdict,
                    "conditions": list(derived.derivation.conditions), "obligations": count,
                    "differences": differences})  # fmt: skip
    elif differences:
        out.print(f"`{claim.func}`: the certificate does not come out again")
        out.print("\n".join(f"  {line}" for line in differences))
    else:
        limit = f", for all sizes up to {claim.limit:,}" if claim.limit else ""
        out.print(f"`{claim.func}`: the certificate comes out again: {derived.derivation.verdict}{limit}")
        out.print("\n".join(f"  {line}" for line in (*derived.derivation.conditions, f"obligations: {count:,}")))
    click.get_current_context().exit(1 if differences else 0)


def _write(certificate: ProofCertificate, file: Path, *, is_accepted: bool) -> None:
    """Write the certificate of a proof; say that there is none where nothing is proved. Fails: RM109."""
    if not (is_accepted and certificate.is_proof):
        err.print(f"no certificate: the verdict is `{certificate.derivation.verdict}`")
        return
    try:
        file.write_text(certificate.toml(), encoding="utf-8")
    except OSError as problem:
        raise fail(BAD_FILE, f"`{file}`: {problem.strerror or problem}") from None


def _prove_defined(
    module: IRModule, func: str, limit: int, rows: tuple[ArgumentContract, ...], *, as_json: bool
) -> Definedness:
    """Show that every call is defined; print each obligation that is not proved."""
    known_assumptions(module, rows)
    with err.status(f"proving {func} …"):
        definedness = prove_defined(module, func, assume=rows, limit=limit)
    if as_json:
        print_json(definedness_data(definedness))
    else:
        out.print("\n".join(definedness_lines(func, definedness)))
    return definedness


def definedness_lines(func: str, definedness: Definedness) -> Iterator[str]:
    """The verdict on the calls of a function, each obligation that is not proved, and the contracts used."""
    counts = Counter(each.verdict for each in definedness.verdicts)
    numbers = ", ".join(f"{counts[kind]} {kind.value}" for kind in SizedKind if counts[kind]) or "none"
    yield f"`{func}`: {definedness.kind.value} for all arguments and all sizes up to {definedness.limit:,}"
    if definedness.reason:
        yield f"  {_placed(definedness.span, definedness.reason)}"
    for each in definedness.verdicts:
        if each.verdict in SHOWN:
            code = f" ({each.code})" if each.code else ""
            yield f"  {_placed(each.span, each.text)}: {each.verdict.value}: {each.reason}{code}"
    for line in definedness.contracts:
        yield f"  under the contract: {line}"
    for line in definedness.inferred:
        yield f"  under the inferred contract: {line}"
    yield f"  obligations: {numbers}"


def _placed(span: Span | None, text: str) -> str:
    return text if span is None else f"{span.place}: {text}"


def definedness_data(definedness: Definedness) -> dict[str, object]:
    """The verdict on the calls of a function as JSON."""
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


def _show(func: str, proof: Proof, *, is_sized: bool, as_json: bool) -> None:
    """Print the verdict, the reason, what it holds for, and the call that refutes it.

    `is_sized`: the function has symbolic sizes.
    """
    if as_json:
        print_json(proof_data(func, proof))
        return
    out.print("\n".join(proof_lines(func, proof, is_sized=is_sized)))
    if proof.counterexample is not None:
        show_diagnostic(proof.counterexample, out)


def proof_lines(func: str, proof: Proof, *, is_sized: bool) -> Iterator[str]:
    """The verdict on a pair, the reason, and what it holds for; without the call that refutes it."""
    sizes = f" for all sizes up to {proof.limit:,}" if proof.limit and is_sized else ""
    yield f"`{func}`: {proof.kind.value}{sizes}: {MEANINGS[proof.kind]}"
    yield from (f"  {line}" for line in _details(proof))


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
    if proof.limit:
        yield f"loops are not unrolled; obligations: {len(proof.discharged):,}"
    else:
        yield f"elements compared: {proof.elements:,}; terms: {proof.terms:,}"


def proof_data(func: str, proof: Proof) -> dict[str, object]:
    """The verdict on a pair as JSON."""
    return {
        "func": func,
        "verdict": proof.kind.value,
        "reason": proof.reason,
        "differs": [] if proof.difference is None else list(proof.difference.notes()),
        "open": [obligation.text for obligation in proof.obligations],
        "assumptions": list(proof.assumptions),
        "elements": proof.elements,
        "terms": proof.terms,
        "limit": proof.limit,
        "counterexample": None if proof.counterexample is None else to_json(proof.counterexample),
    }
