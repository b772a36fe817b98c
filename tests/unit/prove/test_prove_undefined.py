"""No undefined behaviour is proved away: for each code, programs that have it and programs that do not.

Programs of the conformance suite that are undefined for a call (up to `MOST` for each code), executed on terms, are
undefined, undecided, or have an obligation. `PAIRS`: AFTER is undefined on the arguments 0, 1, …, where BEFORE is not.
"""

from functools import cache
from pathlib import Path

import numpy as np
import pytest

from refmlc import read
from refmlc.diag.catalogue import CODES
from refmlc.diag.errors import Malformed
from refmlc.lang.ir import tir
from refmlc.observe.sanitize import sanitize
from refmlc.observe.sanitize.kinds import LINTS
from refmlc.oracle.suite.suite import load_suite
from refmlc.prove import ProofKind, SymbolicCall, compared
from refmlc.prove.execute import execute
from refmlc.prove.terms import Terms, Undecided
from refmlc.run.memory.tensor import Tensor
from refmlc.vm.parameters import parameters_of

CONFORMANCE = Path(__file__).parents[3] / "conformance"
OVERLAPPING = "RM322"
KINDS = sorted(code for code in CODES if code.startswith("RM3") and code not in {*LINTS, OVERLAPPING})
"""The cases of the suite for RM322 have arguments that overlap, which no proof is about."""
MOST = 12


@cache
def suite():
    """The frozen cases, read by the tests that need them: collecting tests takes seconds less."""
    return load_suite(CONFORMANCE)


def undefined_calls(code):
    """Cases and calls that end in `code`, at most one call of each case."""
    for case in suite().cases:
        numbers = [number for number, call in enumerate(case.calls) if call.assertion.get("code") == code]
        yield from ((case, number) for number in numbers[:1])


def sizes_of(case, number):
    """The dimensions and scalars of a call, and its tensors."""
    sizes, tensors = {}, []
    for parameter, argument in zip(
        parameters_of(case.module.functions[case.func]), case.arguments(number), strict=True
    ):
        if isinstance(argument, Tensor):
            extents = zip(getattr(parameter.ty, "shape", None) or (), argument.shape, strict=False)
            sizes.update({extent.name: size for extent, size in extents if isinstance(extent, tir.Var)})
            tensors.append((str(argument.dtype), argument.shape))
        else:
            sizes[parameter.name] = argument
    return sizes, tensors


def clean(case, number):
    """Whether a program that a call shows to be undefined looks defined on terms."""
    sizes, tensors = sizes_of(case, number)
    try:
        execution = execute(case.module, case.func, SymbolicCall(sizes, 200_000), Terms())
    except Undecided:
        return False
    parts = [part for part in execution.signature if isinstance(part, tuple) and isinstance(part[-1], tuple)]
    assert parts == tensors
    of_caller = () if code_of(case, number) in ("RM305", "RM313") else ("argument", "writable")
    return execution.failure is None and all(each.kind in of_caller for each in execution.obligations)


def code_of(case, number):
    return case.calls[number].assertion.get("code")


@pytest.mark.parametrize("code", KINDS)
def test_no_undefined_program_of_the_suite_looks_defined(code):
    calls = list(undefined_calls(code))
    assert calls
    calls = calls[:: max(1, len(calls) // MOST)]
    assert [case.id for case, number in calls if clean(case, number)] == []


HEAD = '@T.prim_func\ndef main(A: T.Buffer((4,), "int32"), B: T.Buffer((4,), "int32"), C: T.Buffer((4,), "int32")):\n'
MODULE = """
@I.ir_module
class Module:
    @T.prim_func
    def copy(A: T.Buffer((4,), "int32"), C: T.Buffer((4,), "int32")):
        for i in range(4):
            C[i] = A[i]
            {more}

    @R.function
    def main(x: R.Tensor((4,), "int32")) -> R.Tensor((4,), "int32"):
        cls = Module
        with R.dataflow():
            y = R.call_tir(cls.copy, (x,), out_ty=R.Tensor((4,), "int32"))
            R.output(y)
        return y
"""
IN_PLACE = """
@I.ir_module
class Module:
    @T.prim_func
    def add(A: T.Buffer((4,), "int32"), B: T.Buffer((4,), "int32")):
        {}
        for i in range(4):
            B[i] = T.max(A[i], B[i])

    @R.function
    def main(x: R.Tensor((4,), "int32")) -> R.Tensor((4,), "int32"):
        cls = Module
        y = R.call_tir_inplace(cls.add, (x, x), inplace_indices=[1], out_ty=R.Tensor((4,), "int32"))
        return y
"""
LOOP = """
for i in range(4):
    C[i] = {}"""
BLOCK = """
for i in range(4):
    with T.sblock("b"):
        vi = T.axis.spatial(4, i)
        {}
        C[vi] = {}"""
ONE_SIDED = """
for i in range(4):
    with T.sblock("b"):
        vi = T.axis.spatial(4, i)
        {}
        if A[vi] > 2:
            C[vi] = 1
        C[vi] = C[vi] + A[vi]"""
FRESH = """
D = T.alloc_buffer((4,), "int32")
for i in range(4):
    if A[i] < 2:
        D[i] = 1
    C[i] = D[i]"""
DOMAIN = """
for i in range(4):
    with T.sblock("b"):
        vi = T.axis.spatial({}, i)
        C[vi] = A[vi]"""
LAST = """
for i in range(4):
    with T.sblock("b"):
        v = T.axis.{}(4, i)
        C[0] = A[v]"""
GREATEST = """
for i, j in T.grid(4, {}):
    if {}:
        with T.sblock("b"):
            vi = T.axis.spatial(4, {})
            vj = T.axis.reduce(4, {})
            with T.init():
                C[vi] = 0
            C[vi] = T.max(C[vi], A[vj])"""
BEGUN_AGAIN = """
for i, j in T.grid(4, 4):
    if A[j] < 2:
        if j == 0:
            C[i // 2] = 0
        C[i // 2] = T.max(C[i // 2], A[j])"""
SHARED = """
S = T.alloc_buffer((1,), "int32", scope="shared")
for t in T.thread_binding(4, thread="threadIdx.x"):
    S[0] = {}
    C[t] = A[t]"""
PRIVATE = """
with T.sblock("root"):
    D = T.sblock_alloc_buffer((1,), "int32")
    for i in {}(4):
        if i == 0:
            D[0] = 1
        if A[i] < 2:
            D[0] = A[i]
        C[i] = D[0]"""
ASSUMED = """
for i in range(4):
    T.assume(A[i] < 2)
    C[i] = A[i]"""
RACE = "for i in T.parallel(4):\n    C[0] = A[i]" + LOOP.format("A[0]")
BARRIER = """
S = T.alloc_buffer((4,), "int32", scope="shared")
for t in T.thread_binding(4, thread="threadIdx.x"):
    S[t] = A[t]
    if {}:
        T.evaluate(T.tvm_storage_sync("shared"))
    C[t] = S[t]"""
BOTH = "T.reads(A[vi], B[vi])\n        T.writes(C[vi])"
PAIRS = {  # the code, BEFORE, AFTER
    "an index that is loaded": ("RM304", LOOP.format("A[i]"), LOOP.format("A[i] + A[B[i] * 2] * 0")),
    "memory that one side of a branch writes": ("RM305", LOOP.format("1"), FRESH),
    "an overflow": ("RM306", LOOP.format("A[i]"), LOOP.format("A[i] + 2147483647 - 2147483647")),
    "a divisor": ("RM307", LOOP.format("0"), LOOP.format("A[i] // B[i] - A[i] // B[i]")),
    "a shift": ("RM308", LOOP.format("A[i] - A[i]"), LOOP.format("(A[i] << B[i] * 32) - (A[i] << B[i] * 32)")),
    "an assumption": ("RM310", LOOP.format("A[i]"), ASSUMED),
    "a value without a result": ("RM311", LOOP.format("A[i] - A[i]"), LOOP.format("T.clz(A[i]) - T.clz(A[i])")),
    "a domain": ("RM312", DOMAIN.format(4), DOMAIN.format(3)),
    "undeclared reads": ("RM318", BLOCK.format(BOTH, "A[vi] + B[vi]"), BLOCK.format("T.reads(A[vi])", "A[vi] + B[vi]")),
    "undeclared writes": ("RM318", BLOCK.format(BOTH, "A[vi]"), BLOCK.format("T.writes(C[0])", "A[vi]")),
    "a read that a possible write permits": (
        "RM318",
        ONE_SIDED.format("T.reads(A[vi], C[vi])"),
        ONE_SIDED.format("T.reads(A[vi])\n        T.writes(C[vi])"),
    ),
    "an undeclared read at an index that is loaded": (
        "RM318",
        BLOCK.format("T.reads(A[0:4], B[vi])", "A[B[vi]]"),
        BLOCK.format("T.reads(A[0], B[vi])", "A[B[vi]]"),
    ),
    "a spatial axis": ("RM319", LAST.format("reduce"), LAST.format("spatial")),
    "a term that counts twice": (
        "RM320",
        GREATEST.format(4, "i < 4", "i", "j"),
        GREATEST.format(8, "i < 4", "i", "j // 2"),
    ),
    "a reduction that some arguments begin again": (
        "RM320",
        BEGUN_AGAIN,
        GREATEST.format(4, "A[j] < 2", "i // 2", "j"),
    ),
    "a race": ("RM321", LOOP.format("A[0]"), RACE),
    "threads that write different values": ("RM321", SHARED.format("A[0]"), SHARED.format("A[t]")),
    "a value of another iteration": ("RM321", PRIVATE.format("range"), PRIVATE.format("T.parallel")),
    "arguments that overlap": (
        "RM322",
        IN_PLACE.format("pass"),
        IN_PLACE.format('T.func_attr({"tirx.noalias": True})'),
    ),
    "an input that is written": ("RM323", MODULE.format(more="pass"), MODULE.format(more="A[i] = A[i]")),
    "a barrier that some threads reach": ("RM327", BARRIER.format("True"), BARRIER.format("t < 2")),
}


def module_of(program):
    return read(program if "class" in program else HEAD + "    " + program.strip().replace("\n", "\n    ") + "\n")


def report(module):
    arguments = [np.arange(4, dtype="int32") for _ in parameters_of(module.functions["main"])]
    return sanitize(module, "main", arguments)


@pytest.mark.parametrize("case", PAIRS)
def test_no_undefined_program_is_proved(case):
    code, *programs = PAIRS[case]
    before, after = map(module_of, programs)
    assert report(before).verdict == "defined", report(before)
    assert report(after).counts.get(code), report(after)
    proof = compared(before, after, "main", SymbolicCall())
    assert proof.kind in (ProofKind.UNDECIDED, ProofKind.BOTH_DEFINED, ProofKind.REFUTED), proof


READ_ONLY = LOOP.format("A[i]"), "for i in range(4):\n    A[i] = A[i]" + LOOP.format("A[i]")


def test_memory_of_the_caller_may_be_read_only():
    before, after = map(module_of, READ_ONLY)
    arguments = [np.arange(4, dtype="int32") for _ in range(3)]
    arguments[0].setflags(write=False)
    assert sanitize(before, "main", arguments).verdict == "defined"
    with pytest.raises(Malformed, match="read-only"):
        sanitize(after, "main", arguments)
    assert compared(before, after, "main", SymbolicCall()).kind is ProofKind.BOTH_DEFINED


KEPT = {  # defined programs that stay proved
    "declared regions": (BLOCK.format(BOTH, "A[vi] + B[vi]"), LOOP.format("B[i] + A[i]")),
    "all of a tensor declared": (
        BLOCK.format("T.reads(A[0:4], B[vi])", "A[B[vi]]"),
        BLOCK.format("T.reads(A[B[vi]], B[vi])", "A[B[vi]]"),
    ),
    "threads that write one value": (SHARED.format("A[0]"), SHARED.format("A[0] + 0")),
    "an obligation on both sides of a branch": (
        "for i in range(4):\n    if A[i] > 0:\n        C[i] = 1\n    else:\n        C[i] = 0",
        LOOP.format("T.if_then_else(A[i] > 0, 1, 0)"),
    ),
}


@pytest.mark.parametrize("case", KEPT)
def test_what_is_defined_stays_proved(case):
    before, after = map(module_of, KEPT[case])
    proof = compared(before, after, "main", SymbolicCall())
    assert proof.kind is ProofKind.PROVED, (proof.reason, [each.text for each in proof.obligations])


def test_what_only_some_arguments_do_refutes_nothing():
    program = module_of(PRIVATE.format("T.parallel"))
    assert compared(program, program, "main", SymbolicCall()).kind is ProofKind.UNDECIDED
