"""Verdicts on pairs of programs, worked by hand."""

import pytest

from refmlc import read
from refmlc.oracle.refine.proof import prove
from refmlc.prove import ProofKind, SymbolicCall, compared

PROVED, BOTH, REALS = ProofKind.PROVED, ProofKind.BOTH_DEFINED, ProofKind.REALS
REFUTED, UNDECIDED, VACUOUS = ProofKind.REFUTED, ProofKind.UNDECIDED, ProofKind.VACUOUS

HEAD = "@T.prim_func\ndef main(A: T.Buffer((4,), {a}), B: T.Buffer((4,), {b}), C: T.Buffer((4,), {c})):\n"


def program(body, a='"float32"', b=None, c=None):
    lines = "".join(f"    {line}\n" for line in body.strip("\n").split("\n"))
    return read(HEAD.format(a=a, b=b or a, c=c or b or a) + lines)


def verdict(before, after, *dtypes, **dims):
    return compared(program(before, *dtypes), program(after, *dtypes), "main", SymbolicCall(dims))


LOOP = "for i in range(4):\n    C[i] = {}"
SUM = "C[0] = T.float32(0)\nfor i in range(4):\n    C[0] = C[0] + A[i] * B[i]"
LATER_SUM = """
C[0] = T.float32(0) + A[0] * B[0] + A[1] * B[1]
for i in range(2, 4):
    C[0] = C[0] + A[i] * B[i]"""
BRANCHES = """
for i in range(4):
    if B[i] > 0:
        C[i] = A[i] // B[i]
    else:
        C[i] = 0"""
COPIED = """
D = T.alloc_buffer((4,), "int32")
for i in range(4):
    D[i] = A[i]
for i in range(4):
    C[i] = D[B[i]]"""
RACE = "for i in T.parallel(4):\n    C[0] = A[i]\nfor i in range(4):\n    C[i] = A[i]"
FRESH = 'D = T.alloc_buffer((4,), "float32")\n' + LOOP.format("D[i]")
LAZY, EAGER = "T.if_then_else(B[i] > 0, A[i] // B[i], 0)", "T.Select(B[i] > 0, A[i] // B[i], 0)"
QUOTIENT = "T.if_then_else(B[i] != 0, A[i] // B[i] * B[i] + A[i] % B[i], A[i])"
I8, I32, F32 = ('"int8"',), ('"int32"',), ('"float32"',)

ELEMENTWISE = (  # what C[i] is before and after, the dtype, the verdict
    ("A[i] * B[i]", "A[i] * B[i] * T.float32(1)", F32, PROVED),
    ("A[i] * B[i]", "A[i] * B[i] + T.float32(0)", F32, REALS),  # -0 + 0 is 0
    ("T.max(A[i], B[i])", "T.max(B[i], A[i])", F32, REALS),  # NaN, and the sign of 0
    ("A[i] + B[i] + A[i]", "A[i] + (B[i] + A[i])", I8, PROVED),
    ("A[i] + B[i] - A[i]", "B[i] + (A[i] - A[i])", I32, BOTH),
    ("A[i] * B[i] + A[i]", "A[i] * (B[i] + 1)", I32, BOTH),
    ("A[i] * 2 + B[i]", "B[i] + (A[i] + A[i])", I32, PROVED),  # both overflow, or neither
    ("A[i] * T.int8(2) + B[i]", "A[i] + (A[i] + B[i])", I8, PROVED),
    ("A[i] * 2", "A[i] * 3 - A[i]", I32, BOTH),
    ("A[i]", "A[i] * 2 - A[i]", I32, BOTH),  # the product overflows first
    ("T.max(A[i] * 0, B[i])", "T.max(B[i], 0)", I32, PROVED),
    ("A[i] // B[i] * 0", "0", I32, PROVED),  # defined wherever the quotient is
    ("0", "A[i] // B[i] * 0", I32, BOTH),
    ("A[i] * T.float32(0)", "T.float32(0)", F32, REALS),  # -0, NaN, infinities
    ("A[i] * B[i] + A[i]", "A[i] * (B[i] + T.int8(1))", I8, UNDECIDED),  # no law is used
    ("A[i]", QUOTIENT, I32, UNDECIDED),
    (LAZY, EAGER, I32, BOTH),  # the division is executed always
    (EAGER, LAZY, I32, PROVED),
    ("A[B[i]]", "A[T.min(T.max(B[i], 0), 3)]", I32, UNDECIDED),
    ("A[i + 1]", "A[i]", F32, VACUOUS),
    ("A[i]", "A[i + 1]", F32, REFUTED),
)
WHOLE = (
    (LOOP.format("A[i] + B[i]"), "for i in range(4):\n    C[3 - i] = B[3 - i] + A[3 - i]", F32, PROVED),
    (SUM, LATER_SUM, F32, PROVED),
    (SUM, SUM.replace("[i]", "[3 - i]"), F32, REALS),
    (SUM, SUM.replace("range(4)", "range(3)"), F32, UNDECIDED),
    (LOOP.format(LAZY), BRANCHES, I32, PROVED),
    ("if A[0] > 0:\n    C[0] = B[0]", "C[0] = T.Select(A[0] > 0, B[0], C[0])", I32, BOTH),  # C is read
    ("C[0] = A[0]", "C[0] = A[0]\nC[1] = A[1]", F32, UNDECIDED),  # another element is written
    ("C[0] = A[0]", "C[0] = B[0]\nC[0] = A[0]", F32, BOTH),  # B is read
    (LOOP.format("A[i]") + "\nfor i in range(4):\n    C[i] = C[i] + B[i]", LOOP.format("A[i] + B[i]"), F32, PROVED),
    (LOOP.format("A[B[i]]"), COPIED, I32, BOTH),  # all of A is read
    (LOOP.format("A[i]"), FRESH, F32, REFUTED),
    (LOOP.format("A[i]"), RACE, F32, REFUTED),
    ("while A[0] > 0:\n    C[0] = 1", "while A[0] > 0:\n    C[0] = 1", I32, UNDECIDED),
    ("C[A[0]] = 1", "C[A[0]] = 1", I32, UNDECIDED),
)


@pytest.mark.parametrize(
    ("before", "after", "dtypes", "kind"),
    [*((LOOP.format(a), LOOP.format(b), *rest) for a, b, *rest in ELEMENTWISE), *WHOLE],
)
def test_verdicts(before, after, dtypes, kind):
    proof = verdict(before, after, *dtypes)
    assert proof.kind is kind, (proof.reason, [str(each.text) for each in proof.obligations])


def test_every_program_may_stand_for_itself_if_it_is_decided():
    for body in (SUM, LOOP.format("A[i] // B[i]"), LOOP.format("A[B[i]]"), "if A[0] > 0:\n    C[0] = B[0]"):
        dtypes = F32 if body is SUM else I32
        assert verdict(body, body, *dtypes).kind is PROVED


def test_an_obligation_under_a_condition_discharges_none_without_it():
    guarded = LOOP.format("T.if_then_else(A[i] > 0, T.if_then_else(A[i] > 0, 1, 2) + B[i] // A[i], 0)")
    assert verdict(guarded, LOOP.format("T.Select(A[i] > 0, 1 + B[i] // A[i], 0)"), *I32).kind is not PROVED


def test_a_nested_condition_ends_where_it_ends():
    before = "if A[0] > 0:\n    if A[0] > 0:\n        C[0] = B[0]\n    C[1] = B[0] // A[1]"
    after = "if A[0] > 0:\n    C[0] = B[0]\nC[1] = T.Select(A[0] > 0, B[0] // A[1], C[1])"
    proof = verdict(before, after, *I32)
    assert proof.kind is BOTH
    assert any("//" in each.text or "floordiv" in each.text for each in proof.obligations)


def test_a_reason_has_its_place():
    proof = verdict("C[A[0]] = 1", "C[A[0]] = 1", *I32)
    assert proof.reason == "where a store goes depends on the values of an argument"
    assert proof.span.line == 3


def test_the_difference_is_shown():
    proof = verdict(LOOP.format("T.exp(A[i] - B[i])"), LOOP.format("T.exp(B[i] - A[i])"))
    notes = list(proof.difference.notes())
    assert notes == [
        "`C[0]` is `exp((A[0] - B[0]))` before",
        "`C[0]` is `exp((B[0] - A[0]))` after",
        "they differ in `(A[0] - B[0])` and `(B[0] - A[0])`",
        "4 elements differ",
    ]
    assert proof.elements == 4


def test_sizes_and_scalars_are_fixed_and_told():
    text = '@T.prim_func\ndef main(A: T.Buffer(("n",), "float32"), k: T.int32, C: T.Buffer((n,), "float32")):\n'
    text += "    n = T.int32()\n    for i in range(n):\n        C[i] = A[i % k]\n"
    proof = compared(read(text), read(text), "main", SymbolicCall({"n": 7}))
    assert proof.kind is PROVED
    assert proof.assumptions == ("for n = 7, k = 2", "tensors of the arguments do not overlap")
    swapped = text.replace('A: T.Buffer(("n",), "float32"), k: T.int32', 'k: T.int32, A: T.Buffer(("n",), "float32")')
    assert "do not match" in compared(read(text), read(swapped), "main", SymbolicCall({"n": 7})).reason


def test_graphs_are_executed_operator_by_operator():
    module = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "float32"), y: R.Tensor((2, 3), "float32")) -> R.Tensor((2, 3), "float32"):
        with R.dataflow():
            a = R.add({0})
            b = R.nn.relu(a)
            R.output(b)
        return b
"""
    first, second = read(module.format("x, y")), read(module.format("y, x"))
    assert compared(first, second, "main", SymbolicCall()).kind is PROVED
    other = read(module.format("x, x"))
    assert compared(first, other, "main", SymbolicCall()).kind is UNDECIDED


CONSTANT = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "float32")) -> R.Tensor((2, 3), "float32"):
        with R.dataflow():
            a = R.multiply({})
            R.output(a)
        return a
"""


def test_the_elements_of_a_constant_are_numbers():
    first, second, other = (
        read(CONSTANT.format(operands))
        for operands in ('x, R.const(2.0, "float32")', 'R.const(2.0, "float32"), x', 'x, R.const(3.0, "float32")')
    )
    assert compared(first, second, "main", SymbolicCall()).kind is PROVED
    proof = compared(first, other, "main", SymbolicCall())
    assert proof.kind is UNDECIDED
    assert next(proof.difference.notes()) == "`result[0, 0]` is `(x[0, 0] * 2.0)` before"


HEAP = """
@I.ir_module
class Module:
    @T.prim_func
    def sizes(H: T.Buffer((1,), "int64")):
        H[0] = {slot}

    @R.function(pure=False)
    def main(x: R.Tensor((2, 3), "float32")) -> R.Tensor((2, 3), "float32"):
        cls = Module
        heap = R.call_builtin_with_ctx(
            "vm.builtin.alloc_shape_heap", (R.prim_value(1),), ty_args=(R.Tensor((1,), "int64"),)
        )
        _ = R.call_packed("vm.builtin.check_tensor_info", x, R.prim_value(2), R.dtype("float32"), ty_args=())
        {call}
        return x
"""


def test_lowered_graphs_that_look_at_shapes_alone_are_decided():
    lowered = read(HEAP.format(slot="T.int64(2)", call="pass"))
    assert compared(lowered, lowered, "main", SymbolicCall()).kind is PROVED
    computed = read(HEAP.format(slot="T.int64(2)", call="_1 = cls.sizes(heap)"))
    assert compared(computed, computed, "main", SymbolicCall()).reason == "a function of the module computes shapes"


def test_what_looks_at_elements_is_not_decided():
    module = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((3,), "float32")) -> R.Tensor(dtype="int64", ndim=2):
        y = {}
        return y
"""
    for call in ("R.nonzero(x)", 'R.call_pure_packed("f", x, ty_args=(R.Tensor(dtype="int64", ndim=2),))'):
        text = read(module.format(call))
        assert compared(text, text, "main", SymbolicCall()).kind is UNDECIDED


# ------------------------------------------------------------------------------------------- refutations


def test_a_difference_is_refuted_by_a_call_that_runs():
    proof = prove(program(LOOP.format("A[i] - B[i]")), program(LOOP.format("B[i] - A[i]")))
    assert proof.kind is REFUTED
    assert proof.counterexample.code.id == "RM705"


def test_terms_that_differ_without_a_call_are_undecided():
    before, after = LOOP.format("A[i] * (B[i] + T.int8(1))"), LOOP.format("A[i] * B[i] + A[i]")
    proof = prove(program(before, *I8), program(after, *I8))
    assert (proof.kind, proof.reason, proof.counterexample) == (UNDECIDED, "the terms differ", None)


def test_no_call_is_made_if_none_is_wanted():
    proof = prove(program(LOOP.format("A[i] - B[i]")), program(LOOP.format("B[i] - A[i]")), calls=0)
    assert proof.kind is UNDECIDED


PLAIN = """
@T.prim_func(s_tir=True)
def main(A: T.Buffer((4,), "float32"), n: T.int32, C: T.Buffer((4,), "float32")):
    for i in range(4):
        C[i] = A[i] * T.Cast("float32", n)
"""
PACKED = """
@T.prim_func(s_tir=True)
def main(self_handle: T.handle, args: T.handle, num_args: T.int32, result: T.handle) -> T.int32:
    T.func_attr({"calling_conv": 1})
    assert num_args == 3, "three"
    assert not T.isnullptr(args), "arguments"
    A_handle: T.let[T.handle] = T.tvm_struct_get(args, 0, 15, "handle")
    n: T.let[T.int32] = T.Cast("int32", T.tvm_struct_get(args, 1, 15, "int64"))
    C_handle: T.let[T.handle] = T.tvm_struct_get(args, 2, 15, "handle")
    assert T.tvm_struct_get(A_handle, 0, 4, "int32") == 1, "rank"
    assert T.tvm_struct_get(T.tvm_struct_get(A_handle, 0, 2, "handle"), 0, 17, "int64") == T.int64(4), "extent"
    A = T.decl_buffer((4,), "float32", data=T.tvm_struct_get(A_handle, 0, 1, "handle"))
    C_data: T.let[T.handle("float32")] = T.tvm_struct_get(C_handle, 0, 1, "handle")
    C = T.decl_buffer((4,), "float32", data=T.reinterpret(T.handle("float32"), C_data))
    for i in range(4):
        C[i] = A[i] * T.Cast("float32", n)
    return 0
"""


@pytest.mark.parametrize(
    ("old", "new", "kind"),
    [
        ("", "", PROVED),
        ("A[i] * T", "A[3 - i] * T", UNDECIDED),
        ("args, 2, 15", "args, 0, 15", UNDECIDED),  # writes to the first argument
        ("for i in range(4)", "for i in range(3)", UNDECIDED),
        ("range(4)", "range(5)", REFUTED),
        ("T.int64(4)", "T.int64(5)", REFUTED),  # traps always
        ("num_args == 3", "num_args == 2", REFUTED),
        ("n)\n    return", "n + 1)\n    return", UNDECIDED),
        ('T.Cast("int32", T.tvm', 'T.call_packed("f", T.tvm', UNDECIDED),
    ],
)  # fmt: skip
def test_a_function_with_the_c_interface_is_held_to_the_one_it_was_made_from(old, new, kind):
    packed = PACKED.replace(old, new) if old else PACKED
    assert old == new or packed != PACKED
    proof = compared(read(PLAIN), read(packed), "main", SymbolicCall({}))
    assert proof.kind is kind, (proof.reason, proof.difference)


def test_a_structure_in_memory_is_beyond_the_prover():
    """The prover knows the elements that a program stores, and not the bytes that such a structure has."""
    inside = """    shape = T.decl_buffer((1,), "int64", data=T.tvm_stack_alloca("shape", 1))
    shape[0] = T.int64(4)
    m: T.let[T.int64] = T.tvm_struct_get(shape.data, 0, 17, "int64")
    for i in range(m)"""
    packed = read(PACKED.replace("    for i in range(4)", inside))
    assert compared(read(PLAIN), packed, "main", SymbolicCall({})).kind is UNDECIDED


def test_without_a_program_before_the_c_interface_says_nothing_of_the_arguments():
    assert compared(read(PACKED), read(PACKED), "main", SymbolicCall({})).kind is UNDECIDED


OVER_THREADS = """
R = T.alloc_buffer((1,), "float32", scope="local")
for x in T.thread_binding(4, thread="threadIdx.x"):
    with T.attr(T.comm_reducer(lambda a, b: a + b, [T.float32(1)]), "reduce_scope", 0):
        T.tvm_thread_allreduce(T.uint32(1), A[x], {condition}, R[0], x)
    C[x] = R[0]"""


@pytest.mark.parametrize(
    ("condition", "total", "kind"),
    [
        ("T.bool(True)", "A[0] + A[1] + A[2] + A[3]", PROVED),
        ("T.bool(True)", "A[3] + A[2] + A[1] + A[0]", REALS),
        ("T.bool(True)", "A[0] + A[1] + A[2] + B[3]", UNDECIDED),
        ("x > 1", "T.float32(1) + T.float32(1) + A[2] + A[3]", BOTH),
        ("x > 1", "A[2] + A[3]", UNDECIDED),
        ("A[x] > T.float32(0)", "A[0] + A[1] + A[2] + A[3]", UNDECIDED),
    ],
)
def test_a_reduction_over_threads_is_the_fold_in_their_order(condition, total, kind):
    """The values of the threads in the order of their indices; the identity, 1, of those that do not count.

    A thread that does not count reads its value all the same.
    """
    assert verdict(LOOP.format(total), OVER_THREADS.format(condition=condition)).kind is kind


def test_a_reduction_over_threads_that_data_decides_on_is_undecided():
    *head, last = OVER_THREADS.format(condition="T.bool(True)").split("\n")
    reduction = "\n".join(f"    {line}" for line in head[3:])
    guarded = "\n".join([*head[:3], "    if A[0] > T.float32(0):", reduction, last])
    assert verdict(LOOP.format("B[i]"), guarded).kind is UNDECIDED


WORKSPACE = """
space: T.handle("float32") = T.TVMBackendAllocWorkspace(1, 0, T.uint64({bytes}), 2, 32)
D = T.decl_buffer((4,), "float32", data=space)
for i in range(4):
    D[i] = A[i] + B[i]
for i in range(4):
    C[i] = D[{index}]
T.TVMBackendFreeWorkspace(1, 0, space)"""


@pytest.mark.parametrize(
    ("nbytes", "index", "kind"),
    [(16, "i", PROVED), (16, "3 - i", UNDECIDED), (8, "i", REFUTED)],
)
def test_a_workspace_is_memory(nbytes, index, kind):
    assert verdict(LOOP.format("A[i] + B[i]"), WORKSPACE.format(bytes=nbytes, index=index)).kind is kind
