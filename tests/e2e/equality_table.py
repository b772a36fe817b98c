"""Steps of schedules with symbolic sizes, proved for all sizes: `equality_table.py [--seeds 12] [--mutants 200]`.

Each step of `refmlc.Schedule` is taken on generated pipelines with symbolic sizes; where it is legal, the function
after it is compared with the one before. A mutant is such a function with one node changed. Every proof is held
against a proof on terms at several sizes, and where that leaves an obligation open against calls. Exit status 1 for a
proof that these contradict. `--why` prints each pair that is not proved.
"""

import argparse
import random
import sys
import time
from collections import Counter, defaultdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[1] / "property"))

import biting
import click
from planted_bugs import transposed_index
from proof_table import mutant
from sized_pipelines import sized_pipeline
from step_applications import STEPS, applied, draw

from refmlc import read
from refmlc.diag import RefmlcError
from refmlc.lang.ir import IRModule
from refmlc.oracle.implementations.implementation import Limits
from refmlc.prove import ProofKind, SymbolicCall, compared
from refmlc.prove.sizes import LIMIT, equal_for_all_sizes
from refmlc.testing import assert_equivalent

LITERAL = ("tensorize", "sample_perfect_tile", "sample_partitioned_tile")  # need sizes that are numbers
LIMITS = Limits(steps=3_000_000)
CALLS = 12
EQUAL = (ProofKind.PROVED, ProofKind.VACUOUS, ProofKind.BOTH_DEFINED)
SQUARE = """
@T.prim_func
def main(A: T.Buffer(("n", "n"), "float32"), C: T.Buffer(("n", "n"), "float32")):
    n = T.int64()
    for i, j in T.grid(n, n):
        C[i, j] = A[i, j] + T.float32(1)
"""
SIZES = ((1, 1), (2, 3), (3, 2), (5, 4), (4, 9), (8, 6))


def pairs(name, seeds):
    """The functions before and after a step, where it is legal."""
    for seed in range(seeds):
        try:
            application = draw(name, seed, sized_pipeline)
            if application is not None:
                after = applied(application.func, *application.words)
                yield f"{seed}: {application.words}", application.func, after
        except RefmlcError:
            continue


def verdict(before, after):
    """The proof of two functions."""
    return equal_for_all_sizes(IRModule({"main": before}), IRModule({"main": after}), "main", limit=LIMIT)


def contradicted(before, after):
    """What terms at some sizes say against a proof; empty: nothing."""
    first, second = (IRModule({"main": func}) for func in (before, after))
    for n, m in SIZES:
        proof = compared(first, second, "main", SymbolicCall({"n": n, "m": m}, LIMITS.steps))
        if proof.difference is not None or proof.kind not in EQUAL:
            return f"n = {n}, m = {m}: {proof.kind.value}: {proof.reason}"
        if proof.kind is ProofKind.BOTH_DEFINED:  # an obligation that terms leave open
            return _contradicted_by_calls(first, second)
    return ""


def _contradicted_by_calls(first, second):
    try:
        assert_equivalent(first, second, calls=CALLS, limits=LIMITS, exact=True)
    except RefmlcError as problem:
        return str(problem).split("\n", 1)[0] if problem.code.id.startswith("RM7") else ""
    return ""


def _contradiction(title, proof, before, after):
    problem = contradicted(before, after) if proof.is_proved else ""
    if problem:
        click.echo(f"FALSE PROOF {title}: {problem}")
    return bool(problem)


def mutants(count):
    """Functions, and a step of them with one node changed."""
    rng = random.Random(0)  # noqa: S311 - reproducible, not secret
    names = [name for name in STEPS if name not in LITERAL]
    seed = 0
    while count:
        seed += 1
        try:
            application = draw(rng.choice(names), seed, sized_pipeline)
            if application is None:
                continue
            after = IRModule({"main": applied(application.func, *application.words)})
        except RefmlcError:
            continue
        changed = mutant(after, seed)
        if changed is not None:
            count -= 1
            yield f"mutant {seed} {application.words}", application.func, changed["main"]


def prove_itself():
    """What contradicts a proof notices another program, and nothing in a program and itself."""
    func = read(SQUARE)["main"]
    biting.prove(
        "terms and calls at several sizes",
        notices=bool(contradicted(func, transposed_index(IRModule({"main": func}))["main"])),
        passes=not contradicted(func, func),
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=12)
    parser.add_argument("--mutants", type=int, default=200)
    parser.add_argument("--only", default="", metavar="STEP")
    parser.add_argument("--why", action="store_true", help="print each pair that is not proved")
    options = parser.parse_args()
    prove_itself()
    rows, times, wrong, reasons = defaultdict(Counter), [], 0, Counter()
    for name in STEPS:
        if name in LITERAL or options.only not in name:
            continue
        for title, before, after in pairs(name, options.seeds):
            start = time.thread_time()
            proof = verdict(before, after)
            times.append(time.thread_time() - start)
            rows[name][proof.kind.value] += 1
            wrong += _contradiction(title, proof, before, after)
            if not proof.is_proved:
                reasons[proof.reason] += 1
                if options.why:
                    click.echo(f"{name} {title}: {proof.reason}")
        click.echo(f"{name:24} {dict(rows[name])}")
    total = sum(rows.values(), Counter())
    click.echo(f"steps: {dict(total)}, {total['proved'] / max(total.total(), 1):.0%} proved for all sizes")
    click.echo(f"median {sorted(times)[len(times) // 2]:.2f} s, longest {max(times):.1f} s")
    click.echo("\n".join(f"{count} {why}" for why, count in reasons.most_common(12)))
    counts = Counter()
    for title, before, after in mutants(options.mutants):
        proof = verdict(before, after)
        counts[proof.kind.value] += 1
        wrong += _contradiction(title, proof, before, after)
    click.echo(f"mutants: {dict(counts)}\nfalse proofs: {wrong}")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
