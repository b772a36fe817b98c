"""Each obligation proved for all sizes, refuted by sizes that are executed, or undecided with the reason."""

from collections.abc import Mapping, Sequence
from math import prod

import z3

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_USAGE
from refmlc.diag.errors import RefmlcError, Undefined
from refmlc.lang.dtypes import DType
from refmlc.lang.ir import IRModule, tir
from refmlc.lang.ir.types import TensorType
from refmlc.lang.ir.visit import walk
from refmlc.lang.ops.evaluate import evaluate
from refmlc.prove.sizes.hypotheses import Assumption
from refmlc.prove.sizes.integers import names_of
from refmlc.prove.sizes.result import Definedness, SizedKind, SizedVerdict
from refmlc.prove.sizes.walk import ObligationWalk, SizedObligation
from refmlc.prove.terms import Undecided
from refmlc.run.memory.budget import Budget
from refmlc.run.memory.tensor import Tensor
from refmlc.vm import VirtualMachine, build
from refmlc.vm.parameters import parameters_of

NOT_SHOWN = "the structure of the program does not show it"
ENOUGH = ("order", "spatial", "repeated")
"""Kinds whose goals are enough for what must hold, and perhaps too much."""
SMALL = (1, 2, 4, 16, 64)
MOST_ELEMENTS = 1 << 20


def decide(
    module: IRModule, func: str, limit: int, milliseconds: int, hypotheses: Sequence[Assumption] = ()
) -> Definedness:
    """The verdicts of `defined_for_all_sizes`."""
    function = module.functions.get(func)
    if not isinstance(function, tir.PrimFunc):
        raise fail(BAD_USAGE, f"`{func}` is not a function of TensorIR in the module")
    written = tuple(dict.fromkeys(each.text for each in hypotheses if not each.is_inferred))
    inferred = tuple(dict.fromkeys(each.text for each in hypotheses if each.is_inferred))
    try:
        walked = ObligationWalk(function, limit, hypotheses)
    except Undecided as end:
        return Definedness(func, (), limit, end.reason, end.span, written)
    decided: dict[object, SizedVerdict] = {}
    for obligation in walked.obligations:
        goal = None if obligation.goal is None else obligation.goal.get_id()
        key = (obligation.kind, obligation.text, obligation.span, goal, tuple(map(_number, obligation.conditions)))
        if key not in decided:
            decided[key] = _decided(obligation, walked, module, func, milliseconds)
    verdicts = tuple(decided.values())
    is_guessed = any(each.verdict is SizedKind.INFERRED for each in verdicts)
    return Definedness(func, verdicts, limit, contracts=written, inferred=inferred if is_guessed else ())


def _number(part: "z3.ExprRef") -> int:
    return int(part.get_id())


def _decided(
    obligation: SizedObligation, walked: ObligationWalk, module: IRModule, func: str, milliseconds: int
) -> SizedVerdict:
    kind, text, span = obligation.kind, obligation.text, obligation.span
    if obligation.goal is None:
        return SizedVerdict(kind, SizedKind.UNDECIDED, text, span, NOT_SHOWN)
    solver = _solver(obligation, milliseconds)
    solver.add(*walked.facts.written)
    answer = solver.check()
    if answer == z3.unsat:
        return SizedVerdict(kind, SizedKind.PROVED, text, span)
    is_of_data = _depends_on_data(obligation)
    if is_of_data and walked.facts.inferred:
        under_guess = _solver(obligation, milliseconds)
        under_guess.add(*walked.facts.written, *walked.facts.inferred)
        if under_guess.check() == z3.unsat:
            return SizedVerdict(kind, SizedKind.INFERRED, text, span)
    if is_of_data:
        return SizedVerdict(kind, SizedKind.UNDECIDED, text, span, "it depends on the values of an argument")
    if answer != z3.sat:
        return SizedVerdict(kind, SizedKind.UNDECIDED, text, span, f"no answer in {milliseconds / 1000:g} s")
    if kind in ENOUGH:
        return SizedVerdict(kind, SizedKind.UNDECIDED, text, span, NOT_SHOWN)
    sizes = _smallest(solver, walked.sizes)
    where = ", ".join(f"{name} = {size}" for name, size in sizes.items()) or "every call"
    if _excludes_zeros(walked, sizes, milliseconds):
        return SizedVerdict(kind, SizedKind.UNDECIDED, text, span, f"not executed under the contracts: {where}", sizes)
    code = _executed(module, func, sizes)
    if not code:
        return SizedVerdict(kind, SizedKind.UNDECIDED, text, span, f"not executed: {where}", sizes)
    return SizedVerdict(kind, SizedKind.REFUTED, text, span, where, sizes, code)


def _solver(obligation: SizedObligation, milliseconds: int) -> "z3.Solver":
    """A solver that looks for a violation."""
    solver = z3.Solver()
    solver.set("timeout", milliseconds)
    solver.add(*obligation.conditions)
    solver.add(z3.Not(obligation.goal))
    return solver


def _excludes_zeros(walked: ObligationWalk, sizes: Mapping[str, int], milliseconds: int) -> bool:
    """Whether the written contracts may exclude tensors of zeros of these sizes, which is what is executed."""
    if not walked.facts.written:
        return False
    solver = z3.Solver()
    solver.set("timeout", milliseconds)
    solver.add(*walked.facts.written, *(walked.sizes[name] == size for name, size in sizes.items()))
    for function in walked.functions:
        places = [z3.Int(f"any.{axis}") for axis in range(function.arity())]
        solver.add(z3.ForAll(places, function(*places) == 0))
    return bool(solver.check() != z3.sat)


def _depends_on_data(obligation: SizedObligation) -> bool:
    names = {str(unknown) for unknown in obligation.unknown}
    return any(name in names for part in (obligation.goal, *obligation.conditions) for name in names_of(part))


def _smallest(solver: "z3.Solver", sizes: Mapping[str, "z3.ArithRef"]) -> dict[str, int]:
    """Sizes that refute an obligation, small ones if there are."""
    for most in SMALL:
        solver.push()
        solver.add(*(size <= most for size in sizes.values()))
        if solver.check() == z3.sat:
            return _model(solver, sizes)
        solver.pop()
    solver.check()
    return _model(solver, sizes)


def _model(solver: "z3.Solver", sizes: Mapping[str, "z3.ArithRef"]) -> dict[str, int]:
    model = solver.model()
    return {name: model.eval(size, model_completion=True).as_long() for name, size in sizes.items()}


def _executed(module: IRModule, func: str, sizes: Mapping[str, int]) -> str:
    """The code that the interpreter reports at these sizes; empty: none, or too large to execute."""
    function = module.functions[func]
    arguments: list[object] = []
    for parameter in parameters_of(function):  # type: ignore[arg-type]
        match parameter.ty:
            case TensorType(shape=tuple() as shape, dtype=DType() as dtype):
                extents = tuple(_extent(extent, sizes) for extent in shape)
                if prod(extents) > MOST_ELEMENTS:
                    return ""
                tensor = Tensor.empty(extents, dtype)
                if not parameter.written:
                    tensor.mark_initialised()
                arguments.append(tensor)
            case _:
                arguments.append(sizes.get(parameter.name, 0))
    try:
        VirtualMachine(build(module, "interp", budget=Budget(5_000_000)))[func](*arguments)
    except Undefined as failure:
        return failure.code.id
    except RefmlcError:
        return ""
    return ""


def _extent(expr: tir.Expr, sizes: Mapping[str, int]) -> int:
    values = {var: sizes[var.name] for var in walk(expr) if isinstance(var, tir.Var)}
    return max(int(evaluate(expr, values)), 0)
