"""The calls that a proof is about, and whether one of them contradicts it.

| verdict of `refmlc.prove`          | a call within its scope that contradicts it                         |
|------------------------------------|---------------------------------------------------------------------|
| proved                             | the first program ends, the second does not, or has other bits      |
| refuted                            | the second program ends: it was found undefined for all arguments   |
| vacuous                            | the first program ends: it was found undefined for all arguments    |
| any other                          | none                                                                |

A call is within the scope of a proof if its tensors do not overlap and have the shapes of the proof, and its scalars
are those of the proof; a proof without unrolled loops is of all scalars, and of all sizes up to its limit. A
contradiction is a bug of refmlc: of the prover, or of the interpreter.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

import numpy as np

from refmlc.diag import Diagnostic
from refmlc.diag.catalogue import PROOF_CONTRADICTED
from refmlc.lang.ir import IRModule, relax, tir
from refmlc.lang.ir.types import PrimType, ShapeType, TensorType, TupleType, Type
from refmlc.oracle.agreement import agree
from refmlc.oracle.implementations.implementation import Answer, Ended, Stop, Stopped
from refmlc.oracle.implementations.interp import Interp
from refmlc.oracle.outcome import Kind
from refmlc.oracle.reference import references
from refmlc.oracle.refine.calls import Call, ProgramCall, argument_notes, fresh
from refmlc.prove import Proof, ProofKind
from refmlc.prove.execute import signature_of
from refmlc.run.memory.tensor import Tensor
from refmlc.run.memory.values import Shape
from refmlc.vm.parameters import parameters_of

ENDS = (Stop.UNDEFINED, Stop.TRAP, Stop.CRASHED)
"""Why a program that ends for a proof may end for a call; other reasons are limits."""


def has_sizes(module: IRModule, func: str) -> bool:
    """Whether a function of TensorIR has a size that the call decides."""
    function = module.functions[func]
    buffers = function.buffer_map.values() if isinstance(function, tir.PrimFunc) else ()
    return any(not isinstance(extent, tir.IntImm) for buffer in buffers for extent in buffer.shape)


def sizes_of(module: IRModule, func: str, arguments: Sequence[object]) -> dict[str, int | float]:
    """The dimensions and scalars of a call by name, as `SymbolicCall.dims` takes them."""
    function = module.functions[func]
    parameters = [] if isinstance(function, relax.ExternFunc) else parameters_of(function)
    pairs = zip(parameters, arguments, strict=False)
    return {name: size for parameter, value in pairs for name, size in _sizes(parameter.ty, parameter.name, value)}


def _sizes(ty: Type | None, name: str, value: object) -> Iterator[tuple[str, int | float]]:
    match ty, value:
        case TensorType(shape=tuple() as extents), Tensor():
            yield from _named(extents, value.shape)
        case ShapeType(values=tuple() as extents), Shape():
            yield from _named(extents, tuple(value))
        case PrimType(value=tir.Var() as var), int():
            yield var.name, value
        case PrimType(), int() | float():
            yield name, value
        case TupleType(fields=fields), tuple():
            for number, (part, item) in enumerate(zip(fields, value, strict=False)):
                yield from _sizes(part, f"{name}[{number}]", item)


def _named(extents: Sequence[tir.Expr], sizes: Sequence[int]) -> Iterator[tuple[str, int]]:
    yield from (
        (extent.name, size) for extent, size in zip(extents, sizes, strict=False) if isinstance(extent, tir.Var)
    )


def is_covered(proof: Proof, arguments: Sequence[object]) -> bool:
    """Whether a proof is about a call."""
    tensors = list(_tensors(arguments))
    if proof.limit:
        if any(size > proof.limit for tensor in tensors for size in tensor.shape):
            return False
    elif repr(proof.signature) != repr(tuple(map(signature_of, arguments))):  # 0.0 and -0.0 differ
        return False
    if any(tensor.strides is not None for tensor in tensors):
        return False
    return not any(np.may_share_memory(a.array, b.array) for a, b in combinations(tensors, 2) if a.size and b.size)


def _tensors(values: Sequence[object]) -> Iterator[Tensor]:
    for value in values:
        if isinstance(value, Tensor):
            yield value
        elif isinstance(value, tuple) and not isinstance(value, Shape):
            yield from _tensors(value)


def contradiction(
    proof: Proof, before: IRModule, after: IRModule, func: str, call: Call, interp: Interp
) -> Diagnostic | None:
    """The alarm (RM903) that a call contradicts a proof; None: it does not, or the proof is not about it."""
    if proof.kind not in _CLAIMS or not is_covered(proof, fresh(call)):
        return None
    program = ProgramCall(before, func, call)
    first = references(program, interp, sanitize=True)[0].answer
    if not isinstance(first, Ended):
        return None
    second = references(ProgramCall(after, func, call), interp, sanitize=True)[0].answer
    words = _against(proof.kind, program, first, second)
    if not words:
        return None
    function = before.functions[func]
    names = [] if isinstance(function, relax.ExternFunc) else [parameter.name for parameter in parameters_of(function)]
    message = f"`{func}` is {_CLAIMS[proof.kind]}, but {words}"
    return Diagnostic(PROOF_CONTRADICTED, message, notes=(*proof.assumptions, *argument_notes(call, names)))


_CLAIMS: Mapping[ProofKind, str] = {
    ProofKind.PROVED: "proved to mean the same in both programs",
    ProofKind.REFUTED: "found undefined for all arguments in the second program",
    ProofKind.VACUOUS: "found undefined for all arguments in the first program",
}


def _against(kind: ProofKind, program: ProgramCall, first: Ended, second: Answer) -> str:
    """What a call on which the first program ends says against a verdict; empty: nothing."""
    if kind is ProofKind.VACUOUS:
        return "a call of it runs to its end"
    if kind is ProofKind.REFUTED:
        return "a call of it runs to its end" if isinstance(second, Ended) else ""
    if isinstance(second, Stopped):
        return f"on a call the second is not defined: {second.message}" if second.why in ENDS else ""
    comparison = agree(program, 0, first, second, promised=True)
    if comparison.verdict.kind is Kind.EQUAL:
        return ""
    return f"on a call they differ in {comparison.label}: {comparison.verdict.difference or comparison.verdict.why}"
