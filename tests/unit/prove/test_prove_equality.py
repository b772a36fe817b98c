"""Equality of two functions for all sizes: what is proved is proved at several sizes too, what is wrong never is."""

import pytest
from needs import imported

from refmlc import Schedule, read
from refmlc.prove import ProofKind, SymbolicCall, compared
from refmlc.prove.sizes import LIMIT, equal_for_all_sizes

z3 = imported("z3")
HEAD = """@T.prim_func
def main(
    A: T.Buffer(("n", "m"), "float32"), B: T.Buffer((n, m), "float32"), C: T.Buffer((n,), "float32"), s: T.float32
):
    n = T.int64()
    m = T.int64()
"""
SIZES = ((1, 1), (1, 5), (2, 3), (4, 8), (5, 4), (9, 2))


def program(body):
    return read(HEAD + "".join(f"    {line}\n" for line in body.strip("\n").split("\n")))


def verdict(before, after):
    return equal_for_all_sizes(program(before), program(after), "main", limit=LIMIT)


COPY = "for i in range(n):\n    C[i] = A[i, 0] * B[i, 0]"
TILED = """
for o, i in T.grid((n + 3) // 4, 4):
    if o * 4 + i < n:
        C[o * 4 + i] = A[o * 4 + i, 0] * B[o * 4 + i, 0]"""
SUM = """
for i in range(n):
    C[i] = T.float32(0)
    for k in range(m):
        C[i] = C[i] + A[i, k]"""
BLOCK = """
for i, k in T.grid(n, m):
    with T.sblock("C"):
        vi, vk = T.axis.remap("SR", [i, k])
        with T.init():
            C[vi] = T.float32(0)
        C[vi] = C[vi] + A[vi, vk]"""
DECLARED = """
for i in range(n):
    with T.sblock("C"):
        vi = T.axis.spatial(n, i)
        T.reads({reads})
        T.writes({writes})
        C[vi] = A[vi, 0] * B[vi, 0]"""
STAGED = """
P = T.alloc_buffer((n, m), "float32")
for i, k in T.grid(n, m):
    P[i, k] = A[i, k] * B[i, k]
for i in range(n):
    C[i] = T.float32(0)
    for k in range(m):
        C[i] = C[i] + P[i, k]"""
LOCAL = """
P = T.alloc_buffer((n,), "float32")
for i in range(n):
    P[i] = T.float32(0)
    for k in range(m):
        P[i] = P[i] + A[i, k]
for i in range(n):
    C[i] = P[i] * s"""
WINDOWS = """
P = T.alloc_buffer((n,), "float32")
for i in range(n - 1):
    for w in range(2):
        P[i + w] = A[i + w, 0]
    C[i] = P[i] + P[i + 1]"""
TWO_PHASES = SUM + "\nfor i in range(n):\n    C[i] = C[i] + B[i, 0]"

BEGUN = """
for i in range(n):
    C[i] = T.float32(0)
for k, i in T.grid(m, n):
    C[i] = C[i] + A[i, k]"""
AGAIN = """
for i in range(n):
    for k in range(m):
        C[i] = T.float32(0)
        C[i] = C[i] + A[i, k]"""
EARLY = """
P = T.alloc_buffer((n,), "float32")
for i in range(n):
    P[i] = T.float32(0)
    for k in range(m):
        P[i] = P[i] + A[i, k]
        if k == 0:
            C[i] = P[i] * s"""
FRESH = """
for i in range(n):
    P = T.alloc_buffer((1,), "float32")
    P[0] = A[i, 0]
    C[i] = P[0]"""
GREATER = "for i in range(n):\n    C[i] = T.max(A[i, 0], B[i, 0])"

PROVED = {
    "a tile with a guard": (COPY, TILED),
    "a tile without one": (TILED, COPY),
    "loops from the end": (COPY, COPY.replace("[i", "[n - 1 - i")),
    "a parallel loop": (COPY, COPY.replace("range(n)", "T.parallel(n)")),
    "factors in the other order": (COPY, COPY.replace("A[i, 0] * B[i, 0]", "B[i, 0] * A[i, 0]")),
    "parts of a fold": (SUM, SUM.replace("for k in range(m)", "for o, l in T.grid((m + 7) // 8, 8)").replace(
        "        C[i] = C[i] + A[i, k]", "        if o * 8 + l < m:\n            C[i] = C[i] + A[i, o * 8 + l]")),
    "the order of elements of a fold": (SUM, SUM.replace("[i", "[n - 1 - i")),
    "all beginnings first": (SUM, BEGUN),
    "a block and its loops": (BLOCK, BLOCK.replace("T.grid(n, m)", "T.grid(m, n)").replace("i, k in", "k, i in")),
    "what is made first": (STAGED, SUM.replace("A[i, k]", "A[i, k] * B[i, k]")),
    "what is made where it is read": (WINDOWS, "for i in range(n - 1):\n    C[i] = A[i, 0] + A[i + 1, 0]"),
    "a fold in memory of its own": (LOCAL, LOCAL.replace("    C[i] = P[i]", "    C[n - 1 - i] = P[n - 1 - i]")),
    "two sides of a condition": (
        "for i in range(n):\n    C[i] = T.if_then_else(i < 3, A[i, 0], B[i, 0])",
        "for i in range(n):\n    if i < 3:\n        C[i] = A[i, 0]\n    else:\n        C[i] = B[i, 0]",
    ),
    "declared regions": (COPY, DECLARED.format(reads="A[vi, 0], B[vi, 0]", writes="C[vi]")),
}  # fmt: skip
WRONG = {
    "the guard leaves out an element": (COPY, TILED.replace("< n", "< n - 1")),
    "one more element": (COPY.replace("range(n)", "range(n - 1)"), COPY),
    "too few tiles": (COPY, TILED.replace("(n + 3) // 4", "n // 4")),
    "another element": (COPY, COPY.replace("A[i, 0]", "A[n - 1 - i, 0]")),
    "another parameter": (COPY, COPY.replace("A[i, 0]", "B[i, 0]")),
    "another operator": (COPY, COPY.replace("*", "+")),
    "another constant": (SUM, SUM.replace("float32(0)", "float32(1)")),
    "a fold from the end": (SUM, SUM.replace("A[i, k]", "A[i, m - 1 - k]")),
    "a fold in two halves": (SUM, SUM.replace("range(m)", "range(m // 2)")),
    "a term twice": (SUM, SUM.replace("for k in range(m)", "for k, l in T.grid(m, 2)")),
    "a fold that begins again": (SUM, AGAIN),
    "an empty fold": (BLOCK, SUM),  # nothing is written where m is 0
    "operands of a maximum": (GREATER, GREATER.replace("A[i, 0], B[i, 0]", "B[i, 0], A[i, 0]")),
    "a fold read too early": (LOCAL, EARLY),
    "a scalar": (LOCAL, LOCAL.replace("* s", "* T.float32(3)")),
    "what the caller left": (SUM, SUM.replace("    C[i] = T.float32(0)\n", "")),
    "a race": (SUM, SUM.replace("for k in range(m)", "for k in T.parallel(m)")),
    "a region that is not declared": (COPY, DECLARED.format(reads="A[vi, 0]", writes="C[vi]")),
    "a region that is too small": (COPY, DECLARED.format(reads="A[vi, 0], B[vi, 0]", writes="C[0]")),
    "an index that is out of bounds": (COPY, COPY.replace("A[i, 0]", "A[i, T.if_then_else(m > 1, 0, 1)]")),
}  # fmt: skip
UNDECIDED = {
    "two phases in place": (TWO_PHASES, TWO_PHASES),
    "an index from memory": (COPY.replace("A[i, 0]", 'A[T.Cast("int64", B[i, 0]), 0]'),) * 2,
    "a scan": ("for i in range(n):\n    C[i] = T.if_then_else(i > 0, C[i - 1], s) + A[i, 0]",) * 2,
    "memory of an iteration": (FRESH, FRESH),
    "an assertion": ('assert n > 3, "few"\n' + COPY, COPY),
}  # fmt: skip


@pytest.mark.parametrize("name", PROVED)
def test_proved(name):
    before, after = PROVED[name]
    proof = verdict(before, after)
    assert (proof.kind, proof.limit, proof.reason) == (ProofKind.PROVED, LIMIT, "")
    assert proof.discharged
    for n, m in SIZES:
        fixed = compared(program(before), program(after), "main", SymbolicCall({"n": n, "m": m}))
        assert fixed.kind in (ProofKind.PROVED, ProofKind.VACUOUS)


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_not_proved(name):
    before, after = WRONG[name]
    assert verdict(before, after).kind is ProofKind.UNDECIDED
    fixed = [
        compared(program(before), program(after), "main", SymbolicCall({"n": n, "m": m})) for n, m in (*SIZES, (3, 0))
    ]
    assert any(each.kind not in (ProofKind.PROVED, ProofKind.VACUOUS) for each in fixed), "it is not wrong"


@pytest.mark.parametrize("name", UNDECIDED)
def test_what_is_beyond_is_undecided_by_name(name):
    proof = verdict(*UNDECIDED[name])
    assert proof.kind is ProofKind.UNDECIDED
    assert proof.reason


def test_a_step_is_proved_for_all_sizes():
    schedule = Schedule(program(BLOCK))
    i, k = schedule.get_loops(schedule.get_block("C"))
    outer, inner = schedule.split(k, factors=[None, 4])
    schedule.reorder(outer, inner, i)
    assert equal_for_all_sizes(program(BLOCK), schedule.mod, "main").is_proved


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ('("n", "m"), "float32")', '("n", "m"), "float16")', "the parameters of the two functions do not match"),
        ("C: T.Buffer((n,)", "C: T.Buffer((m,)", "the shapes of `C` do not match"),
        (", s: T.float32", "", "the parameters of the two functions do not match"),
    ],
)
def test_another_signature_is_undecided(old, new, reason):
    after = read(HEAD.replace(old, new) + "    for i in range(n):\n        C[0] = T.float32(0)\n")
    assert equal_for_all_sizes(program(COPY), after, "main").reason == reason


def test_a_program_that_is_never_defined_proves_nothing():
    never = COPY.replace("A[i, 0]", "A[i, m]").replace("range(n)", "range(4)")
    assert verdict(never, COPY.replace("*", "+")).kind is ProofKind.UNDECIDED


def test_a_graph_is_undecided():
    graph = read('@R.function\ndef main(x: R.Tensor(("n",), "float32")):\n    n = T.int64()\n    return x\n')
    assert equal_for_all_sizes(graph, graph, "main").kind is ProofKind.UNDECIDED
