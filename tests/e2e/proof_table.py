"""What `refmlc prove` decides: `proof_table.py [--pairs 200] [--mutants 400] [--tvm PYTHON [--traces 20]] [--docs]`.

| population       | pairs                                                                                             |
|------------------|---------------------------------------------------------------------------------------------------|
| schedules        | a generated pipeline of three blocks, and the same after up to 6 steps of `refmlc.Schedule`       |
| passes of TVM    | with `--tvm`: a pipeline, and each stage of TVM's default lowering that keeps the function        |
| stages of TVM    | with `--tvm`: modules that TVM prints, and each stage of its default lowering against the stage   |
|                  | before, as `refmlc passes --prove` proves them                                                    |
| schedules of TVM | with `--tvm`: 27 operators, and each after random traces of 1 to 6 primitives of TVM's schedule   |
| these, changed   | the operators, and their traces with one node changed; a proof is held against calls too          |
| mutants          | a pipeline, and one of its schedules with one node changed; a proof is held against calls too     |

TVM's schedule is wrong for some traces: those that a call refutes need a row of `TRACE_FAULTS`. Exit status 1: a
mutant that is proved and that a call tells apart, a right pair that is refuted, or a trace refuted without such a row.
`--docs` writes the table into docs/explanation/proofs.md.
"""

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import replace
from itertools import islice
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[1] / "property"))

import biting
import click
from passes_real import chosen
from pipelines import pipeline
from sample_table import make_sample

import refmlc
from refmlc.diag import RefmlcError
from refmlc.lang.dtypes import BOOL
from refmlc.lang.ir import IRModule, tir
from refmlc.lang.ir.visit import rewrite
from refmlc.oracle.implementations.implementation import Limits
from refmlc.oracle.passes import TvmPasses, check
from refmlc.oracle.passes.baseline import lifted
from refmlc.oracle.refine.proof import prove
from refmlc.oracle.refine.proved import ProofWord
from refmlc.prove import Proof, ProofKind, SymbolicCall, compared
from refmlc.strategies import rolled_schedules
from refmlc.testing import assert_equivalent

PAGE = Path(__file__).parents[2] / "docs" / "explanation" / "proofs.md"
MARKS = ("<!-- proofs: written by tests/e2e/proof_table.py --docs -->\n", "<!-- end of proofs -->")
SWAPS = {
    "add": "sub",
    "sub": "add",
    "mul": "add",
    "max": "min",
    "min": "max",
    "lt": "le",
    "le": "lt",
    "floordiv": "truncdiv",
}
LIMITS = Limits(steps=3_000_000)
CALLS = 12
MOST_DRAWS = 8  # of a change
SIDE = Path(__file__).parent / "tvm_side" / "schedule_pairs.py"
PASSES, STAGES, TRACES = "passes of TVM", "stages of TVM", "schedules of TVM"
CHANGED, MUTANTS = "these, changed", "mutants"
STAGE_SECONDS = 10.0  # for the proof of a stage
WORDS = {
    ProofWord.PROVED: ProofKind.PROVED,
    ProofWord.REALS: ProofKind.REALS,
    ProofWord.REFUTED: ProofKind.REFUTED,
}
TRACE_FAULTS = (
    # (primitive of the trace, in the counterexample, what TVM does wrong)
    ("loop_partition", "", "each part of a reduction begins it anew, or none does"),
    ("pad_einsum", "another", "the padding 0 takes part in a reduction to which it is no neutral element"),
    ("pad_einsum", "RM312", "loops grow that are around other blocks too, whose axes leave their domains"),
    ("pad_einsum", "RM305", "a reduction reads elements of its padded buffer that nothing begins"),
    ("reindex", "RM304", "a load that a condition guards is executed without it"),
    ("reindex", "RM318", "the loads in the index of a load are not declared"),
    ("reverse_compute_at", "other elements", "a consumer is cut to the elements of one of its producers"),
    ("reverse_compute_at", "RM305", "a block is moved behind a reader of what it writes"),
    ("decompose_reduction", "RM321", "threads of a reduced axis write one element"),
    ("compute_at", "RM305", "an init is moved to where its reduction is read"),
)


def module_of(func):
    return IRModule({"main": func})


def schedules(count):
    """Pairs of a pipeline and one of its schedules."""
    for seed in range(count):
        func = pipeline(seed)
        for schedule in rolled_schedules(func, seed, count=2, steps=6):
            yield f"pipeline {seed}: {schedule.trace}", module_of(func), module_of(schedule.func)


# ------------------------------------------------------------------------------------------------ mutants


def changes(node):
    """Other nodes that could stand for `node`."""
    match node:
        case tir.Apply(op=op) if op in SWAPS:
            yield replace(node, op=SWAPS[op])
        case tir.IntImm(dtype=dtype, value=value) if dtype != BOOL:
            yield from (
                replace(node, value=value + step) for step in (1, -1) if dtype.minimum <= value + step <= dtype.maximum
            )
        case tir.FloatImm(value=value):
            yield replace(node, value=value + 1.0)
        case tir.BufferLoad(buffer=buffer, indices=(a, b)) if buffer.shape[0] == buffer.shape[1]:
            yield replace(node, indices=(b, a))
        case tir.SBlock(init=init) if init is not None:
            yield replace(node, init=None)
        case tir.SBlockRealize(predicate=tir.Apply()):
            yield replace(node, predicate=tir.IntImm(BOOL, 1))
        case tir.For(extent=tir.IntImm(dtype=dtype, value=extent)) if extent > 1:
            yield replace(node, extent=tir.IntImm(dtype, extent - 1))


def mutant(module, seed):
    """The module with one node changed; None where there is none to change."""
    rng = random.Random(seed)  # noqa: S311 - reproducible, not secret
    places = []
    rewrite(module, lambda node: places.append(node) or node if any(changes(node)) else node)
    if not places:
        return None
    target, counter = rng.randrange(len(places)), iter(range(len(places) + 1))

    def change(node):
        if any(changes(node)) and next(counter) == target:
            return rng.choice(list(changes(node)))
        return node

    return rewrite(module, change)


def mutants(count):
    """Pairs of a pipeline and a changed schedule of it."""
    for seed in range(count):
        func = pipeline(seed % 997)
        after = (rolled_schedules(func, seed, count=1, steps=4) or [None])[0]
        changed = mutant(module_of(func if after is None else after.func), seed)
        if changed is not None:
            yield f"mutant {seed}", module_of(func), changed


# ------------------------------------------------------------------------------------------------ passes


def passes(count, python):
    """Pairs of a module and each stage of TVM's default lowering that keeps the function."""
    tvm = TvmPasses(python)
    for seed in range(count):
        module = module_of(pipeline(seed))
        trace = tvm(refmlc.show(module, show_meta=True))
        for stage in trace.stages[1:]:
            try:
                after = refmlc.read(stage.text, stage.name)
            except RefmlcError:
                continue
            names = [name for name in after.functions if name.startswith("main")]
            if len(names) == 1:
                yield (
                    f"pipeline {seed}, {stage.name}",
                    module,
                    IRModule({**after.functions, "main": after.functions[names[0]]}),
                )


def stages(count, python):
    """The proofs of the stages of TVM's default lowering, of modules that TVM prints; seconds are those of a module."""
    with tempfile.TemporaryDirectory() as folder:
        make_sample(python, Path(folder), quick=True)
        files = [file for _, file in chosen(Path(folder), count)]
        with TvmPasses(python, seconds=300) as tvm:
            for file in files:
                yield from stage_rows(tvm, file)


def stage_rows(tvm, file):
    """A row for each stage of one module; none where refmlc or TVM does not take it."""
    try:
        module, constants = lifted(refmlc.read_file(file))
        trace = tvm(refmlc.show(module, show_meta=True))
        start = time.thread_time()
        checked = check(trace, constants=constants, small=False, prove=STAGE_SECONDS)
    except RefmlcError:
        return
    for row in checked.rows:
        proof = Proof(WORDS.get(row.proof.word, ProofKind.UNDECIDED), row.proof.reason)
        seconds = (time.thread_time() - start) / len(checked.rows)
        yield f"{file.stem}, {row.name}", module, None, proof, seconds


def traces(count, python):
    """Pairs of an operator and a trace of TVM's schedule; and a line for each trace that is no program.

    Fails: CalledProcessError where TVM does not run.
    """
    command = [python, str(SIDE), "--traces", str(count)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    pairs, broken = [], []
    for number, row in enumerate(map(json.loads, done.stdout.splitlines())):
        name = f"{number}: {row['operator']} {'+'.join(row.get('trace', ()))}"
        if "signal" in row:
            broken.append(f"{name}: signal {row['signal']} ends TVM")
            continue
        try:
            pairs.append((name, refmlc.read(row["before"], "before.py"), refmlc.read(row["after"], "after.py")))
        except RefmlcError as failure:
            broken.append(f"{name}: {failure.code.id} {failure.diagnostic.message}")
    return pairs, broken


def changed_traces(rows):
    """The right traces with one node changed that is not in the shape of a parameter."""
    for seed, (name, before, after, proof, _) in enumerate(rows):
        if proof.kind is not ProofKind.REFUTED:
            candidates = (mutant(after, f"{seed}/{number}") for number in range(MOST_DRAWS))
            same = (each for each in candidates if each is not None and shapes(each) == shapes(after))
            yield from ((f"{name}, changed", before, changed) for changed in islice(same, 1))


def shapes(module):
    """The shapes and dtypes of the parameters."""
    return [(buffer.shape, buffer.dtype) for buffer in module["main"].buffer_map.values()]


def fault_of(name, proof):
    """What TVM's schedule does wrong in a trace that a call refutes; empty: no known fault."""
    message = "" if proof.counterexample is None else proof.counterexample.message
    rows = (why for primitive, words, why in TRACE_FAULTS if primitive in name and words in message)
    return next(rows, "")


def trace_lines(populations, broken):
    """How many of the right traces are proved, what is wrong with the others, how many changes are refuted."""
    if TRACES not in populations:
        return
    rows = populations[TRACES]
    faults = Counter(fault_of(row[0], row[3]) for row in rows if row[3].kind is ProofKind.REFUTED)
    right = Counter(row[3].kind for row in rows if row[3].kind is not ProofKind.REFUTED)
    proved, reals = (right[kind] / right.total() for kind in (ProofKind.PROVED, ProofKind.REALS))
    yield (
        f"Of {right.total()} traces of TVM that no call refutes, {proved:.1%} are proved to the bit and {reals:.1%} "
        "over the reals."
    )
    if faults or broken:
        yield f"{faults.total()} traces are wrong and refuted by a call, {len(broken)} more end TVM or are ill-formed:"
        yield from (f"{count} x {why or 'NOT EXPLAINED'}" for why, count in faults.most_common())
        yield from broken
    others = Counter(row[3].kind for row in populations[CHANGED] if not row[3].is_proved)
    share = others[ProofKind.REFUTED] / max(others.total(), 1)
    yield f"Of {others.total()} changed traces that are not proved, {share:.1%} are refuted by a call."


# ------------------------------------------------------------------------------------------------ table


def decided(pairs, *, search):
    """The verdicts on pairs, and the time that each takes. Units: seconds."""
    rows = []
    for name, before, after in pairs:
        start = time.thread_time()
        if search:
            proof = prove(before, after, func="main", calls=CALLS, limits=LIMITS)
        else:
            proof = compared(before, after, "main", SymbolicCall({}, LIMITS.steps))
        rows.append((name, before, after, proof, time.thread_time() - start))
    return rows


def contradicted(before, after):
    """Whether a call tells the two apart, or none was defined."""
    try:
        assert_equivalent(before, after, func="main", calls=CALLS, exact=True)
    except AssertionError:
        return True
    except RefmlcError:
        return False
    return False


def counted(rows):
    kinds = Counter(row[3].kind for row in rows)
    return {kind: kinds[kind] for kind in ProofKind if kinds[kind]}


def table(populations):
    yield "| population | pairs | " + " | ".join(kind.value for kind in ProofKind) + " | median time |"
    yield "|---|---|" + "---|" * (len(ProofKind) + 1)
    for name, rows in populations.items():
        kinds = counted(rows)
        times = sorted(row[4] for row in rows)
        cells = " | ".join(str(kinds.get(kind, 0)) for kind in ProofKind)
        yield f"| {name} | {len(rows)} | {cells} | {times[len(times) // 2]:.2f} s |"


def prove_itself():
    """The search finds a call that tells a mutant apart, and none for a program and itself."""
    func = pipeline(0)
    biting.prove(
        "search for a counterexample",
        notices=contradicted(module_of(func), mutant(module_of(func), 1)),
        passes=not contradicted(module_of(func), module_of(func)),
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=100)
    parser.add_argument("--mutants", type=int, default=200)
    parser.add_argument("--tvm", metavar="PYTHON")
    parser.add_argument("--modules", type=int, default=24, help="that TVM prints, for the stages of its lowering")
    parser.add_argument("--traces", type=int, default=8, help="of TVM's schedule, for each operator")
    parser.add_argument("--docs", action="store_true")
    parser.add_argument("--why", action="store_true", help="print what is not proved")
    options = parser.parse_args()
    prove_itself()
    populations, broken = {"schedules": decided(schedules(options.pairs), search=False)}, []
    if options.tvm:
        populations[PASSES] = decided(passes(options.pairs // 10, options.tvm), search=False)
        populations[STAGES] = list(stages(options.modules, options.tvm))
        pairs, broken = traces(options.traces, options.tvm)
        populations[TRACES] = decided(pairs, search=True)
        populations[CHANGED] = decided(changed_traces(populations[TRACES]), search=True)
    populations[MUTANTS] = decided(mutants(options.mutants), search=True)
    changed = [row for name in (CHANGED, MUTANTS) for row in populations.get(name, ())]
    false = [row[0] for row in changed if row[3].is_proved and contradicted(row[1], row[2])]
    wrong = [
        row[0]
        for name, rows in populations.items()
        for row in rows
        if name not in (CHANGED, MUTANTS)
        and row[3].kind is ProofKind.REFUTED
        and not (name == TRACES and fault_of(row[0], row[3]))
    ]
    text = "\n".join(table(populations))
    summary = f"False proofs: {len(false)}. Right pairs refuted: {len(wrong)}."
    paragraphs = list(trace_lines(populations, broken))
    click.echo("\n".join([text, summary, *paragraphs, *false, *wrong]))
    if options.why:
        reasons = Counter(
            (kind, row[3].kind.value, row[3].reason or (row[3].obligations[0].text if row[3].obligations else ""))
            for kind, rows in populations.items()
            for row in rows
            if not row[3].is_proved
        )
        click.echo("\n".join(f"{count} {' | '.join(key)}" for key, count in reasons.most_common(30)))
    if options.docs:
        page = PAGE.read_text(encoding="utf-8")
        head, _, rest = page.partition(MARKS[0])
        sentences = " ".join([summary, *(line for line in paragraphs if line.startswith("Of "))])
        PAGE.write_text(
            f"{head}{MARKS[0]}\n{text}\n\n{sentences}\n\n{MARKS[1]}{rest.partition(MARKS[1])[2]}", encoding="utf-8"
        )
    return 1 if false or wrong else 0


if __name__ == "__main__":
    sys.exit(main())
