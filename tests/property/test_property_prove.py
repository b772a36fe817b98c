"""Proofs on drawn programs: terms have the values that the interpreter gives, and what is proved is never contradicted.

| law                                                                                                           |
|---------------------------------------------------------------------------------------------------------------|
| each element's term, evaluated at the arguments of a call, is what the interpreter leaves there                |
| where the execution on terms finds a program undefined for all arguments, every call of it is undefined        |
| a schedule of a program is never refuted                                                                      |
| a planted fault that is proved to change nothing changes nothing on any call                                  |
"""

import itertools
import math
import os
from dataclasses import replace

import biting
import planted_bugs
import pytest

from refmlc.lang.ir import tir
from refmlc.lang.ops.contract import UndefinedValue
from refmlc.observe.sanitize.kinds import DETECTED
from refmlc.oracle.implementations.implementation import Ended, Limits
from refmlc.oracle.implementations.interp import Interp
from refmlc.oracle.reference import references
from refmlc.oracle.refine.calls import ProgramCall
from refmlc.prove import ProofKind, SymbolicCall, compared, terms as terms_module
from refmlc.prove.evaluate import Evaluation
from refmlc.prove.execute import execute
from refmlc.prove.obligations import Obligations
from refmlc.prove.terms import Terms, Undecided
from refmlc.run.memory.tensor import Tensor
from refmlc.strategies import rolled, rolled_schedules
from refmlc.vm.parameters import parameters_of

SEEDS = range(3000 if os.environ.get("REFMLC_PROFILE") == "soak" else 60)
FAULTS = ("floor_for_trunc", "dropped_predicate", "short_extent", "skipped_init", "transposed_index", "missing_cast")
STEPS = 100_000
INTERP = Interp(Limits())


def sizes_of(case):
    """The dimensions and scalars of the first call."""
    sizes = {}
    for parameter, argument in zip(parameters_of(case.prim_func), case.arguments(), strict=True):
        if isinstance(argument, Tensor):
            extents = zip(parameter.ty.shape, argument.shape, strict=True)
            sizes.update({extent.name: size for extent, size in extents if isinstance(extent, tir.Var)})
        else:
            sizes[parameter.name] = argument
    return sizes


def symbolic(case, terms=None):
    """The execution on terms at the sizes of the first call; None where it is not decided."""
    try:
        return execute(case.module, case.func, SymbolicCall(sizes_of(case), STEPS), terms or Terms())
    except Undecided:
        return None


def outcome(module, case, number):
    """What the interpreter gives under the detectors of the execution on terms."""
    program = ProgramCall(module, case.func, case.arguments(number))
    return references(program, INTERP, sanitize=True, kinds=DETECTED)[0].answer


def comparable(case, execution, number):
    """The tensors of a call by name, if they do not overlap and have the sizes of the execution."""
    arguments = case.arguments(number)
    tensors = [argument for argument in arguments if isinstance(argument, Tensor)]
    kinds = [(str(tensor.dtype), tensor.shape) for tensor in tensors]
    scalars = {
        parameter.name: argument
        for parameter, argument in zip(parameters_of(case.prim_func), arguments, strict=True)
        if not isinstance(argument, Tensor)
    }
    if len({id(tensor.storage) for tensor in tensors}) < len(tensors):
        return None
    if kinds != [part for part in execution.signature if isinstance(part[1], tuple)]:
        return None
    if any(execution.fixed.get(name) != value for name, value in scalars.items()):
        return None
    return dict(zip(execution.names, tensors, strict=True))


def cell(tensor, indices):
    lane = 0
    if tensor.dtype.is_vector:
        *indices, lane = indices
    places = zip(indices, tensor.element_strides, strict=True)
    return sum(index * step for index, step in places) * tensor.dtype.lanes + lane


def same(a, b):
    if isinstance(a, float) and isinstance(b, float) and math.isnan(a):
        return math.isnan(b)
    return type(a) is type(b) and a == b and str(a) == str(b)


def contradictions(case, execution, answer, tensors):
    """The elements whose term has another value than the interpreter gives."""
    evaluation = Evaluation(lambda name, indices: tensors[name].cells[cell(tensors[name], indices)])
    results = [argument for argument in answer.args if isinstance(argument, Tensor)]
    for output, result in zip(execution.outputs, results, strict=False):
        lanes = [range(result.dtype.lanes)] if result.dtype.is_vector else []
        for number, indices in enumerate(itertools.product(*map(range, result.shape), *lanes)):
            at = cell(result, indices)
            if not result.shadow[at]:
                continue
            try:
                value = evaluation.value(output.cells[number])
            except (UndefinedValue, IndexError) as failure:
                value = failure
            if not same(value, result.cells[at]):
                yield f"{case.name}: {output.element(number)} is {result.cells[at]}, its term gives {value}"


def all_contradictions(seeds, counts=None):
    """The contradictions of the programs of some seeds, and how many calls and elements were compared."""
    wrong, compared_calls = [], 0
    for seed in seeds:
        case = rolled(seed, None)
        execution = symbolic(case)
        if execution is None:
            continue
        for number in range(len(case.calls)):
            tensors = comparable(case, execution, number)
            answer = outcome(case.module, case, number)
            if tensors is None or not isinstance(answer, Ended):
                continue
            compared_calls += 1
            if execution.failure is not None:
                wrong.append(f"{case.name}: defined, but {execution.failure.message}")
            else:
                wrong += contradictions(case, execution, answer, tensors)
    if counts is not None:
        counts.append(compared_calls)
    return wrong


def test_terms_have_the_values_that_the_interpreter_gives(monkeypatch):
    counts = []
    wrong = all_contradictions(SEEDS, counts)
    with monkeypatch.context() as law:
        law.setattr(terms_module, "commutes", lambda _row, _operand: True)  # so a - b is b - a
        biting.prove("evaluation of terms", notices=bool(all_contradictions(SEEDS)), passes=not wrong, why=str(wrong))
    assert counts[0] >= len(SEEDS) * 0.6


@pytest.mark.parametrize("start", range(0, len(SEEDS), 20))
def test_a_schedule_is_never_refuted(start):
    kinds = []
    for seed in SEEDS[start : start + 20]:
        case = rolled(seed, None)
        call = SymbolicCall(sizes_of(case), STEPS)
        for schedule in rolled_schedules(case.prim_func, seed):
            after = replace(case.module, functions={**case.module.functions, case.func: schedule.func})
            proof = compared(case.module, after, case.func, call)
            assert proof.kind is not ProofKind.REFUTED, (seed, schedule.trace, proof.reason)
            kinds.append(proof.kind)
    decided = [kind for kind in kinds if kind is not ProofKind.VACUOUS]
    assert decided.count(ProofKind.PROVED) >= 0.7 * len(decided)


def false_proofs(seeds):
    """Planted faults that are proved to change nothing, though a call shows a change; and how many are proved."""
    wrong, proved, tried = [], 0, 0
    for seed, fault in itertools.product(seeds, FAULTS):
        case = rolled(seed, None)
        faulty = getattr(planted_bugs, fault)(case.module)
        if faulty == case.module:
            continue
        tried += 1
        if not compared(case.module, faulty, case.func, SymbolicCall(sizes_of(case), STEPS)).is_proved:
            continue
        proved += 1
        for number in range(len(case.calls)):
            before, after = outcome(case.module, case, number), outcome(faulty, case, number)
            if isinstance(before, Ended) and not agrees(before, after):
                wrong.append(f"{case.name}, {fault}, call {number}")
    return wrong, proved, tried


def agrees(before, after):
    if not isinstance(after, Ended):
        return False
    pairs = [pair for pair in zip(before.args, after.args, strict=True) if isinstance(pair[0], Tensor)]
    return all(
        same(a.cells[at], b.cells[at]) and b.shadow[at]
        for a, b in pairs
        for at in range(a.reach * a.dtype.lanes)
        if a.shadow[at]
    )


def test_no_fault_is_proved_away(monkeypatch):
    wrong, proved, tried = false_proofs(SEEDS)
    with monkeypatch.context() as blind:
        blind.setattr("refmlc.prove.proof.is_same", lambda _a, b: b is not None)
        blind.setattr(Obligations, "implies", lambda _self, _obligation: True)
        notices = bool(false_proofs(SEEDS[:30])[0])
    biting.prove("search for false proofs", notices=notices, passes=not wrong, why=str(wrong))
    assert proved < tried
