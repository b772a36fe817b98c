"""Emitted C on fingerprints: tiles compute the expressions of literal code, and what is changed in the text shows."""

import dataclasses
import re
import secrets
from functools import cache

import pytest

from refmlc.lang.dtypes import BOOL, FLOAT16, FLOAT32, INT8, INT32
from refmlc.lang.wellformed.reader_checks import read
from refmlc.native.options import ISAS, Grade, Options
from refmlc.prove.emitted import FormKind, forms_compared
from refmlc.prove.emitted.fingerprints import Fingerprints, draw, number
from refmlc.prove.emitted.forms import compared, held_to_interpreter
from refmlc.prove.emitted.run import emitted, outcome_of
from refmlc.prove.terms import LEAF, Terms, Undecided, commutes

pytestmark = pytest.mark.needs("cxx")

LITERAL, TILED = Options(best=Grade.UNCHECKED), Options(isa=ISAS["avx2"])
MATMUL = """
@T.prim_func
def main(A: T.Buffer((7, 5), "DTYPE"), B: T.Buffer((5, 19), "DTYPE"), C: T.Buffer((7, 19), "DTYPE")):
    for i, j, k in T.grid(7, 19, 5):
        with T.sblock("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.DTYPE(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
"""


def elementwise(value, dtype="float32", result=None):
    """A nest of one block: `C[vi, vj] = value`."""
    return f"""
@T.prim_func
def main(A: T.Buffer((3, 37), "{dtype}"), B: T.Buffer((3, 37), "{dtype}"), C: T.Buffer((3, 37), "{result or dtype}")):
    for i, j in T.grid(3, 37):
        with T.sblock("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = {value}
"""


def proof(text):
    return forms_compared(read(text), "main", LITERAL, TILED)


CONVOLUTION = """
@T.prim_func
def main(
    A: T.Buffer((HEIGHT, WIDTH), "float32"), B: T.Buffer((12, 3, 3), "float32"), C: T.Buffer((12, 4, 9), "float32")
):
    for f, y, x, r, s in T.grid(12, 4, 9, 3, 3):
        with T.sblock("C"):
            vf, vy, vx, vr, vs = T.axis.remap("SSSRR", [f, y, x, r, s])
            with T.init():
                C[vf, vy, vx] = T.float32(0)
            C[vf, vy, vx] = C[vf, vy, vx] + A[vy * STRIDE + vr, vx * STRIDE + vs] * B[vf, vr, vs]
"""


@pytest.mark.parametrize(("stride", "height", "width", "plan"), [(1, 6, 11, "9 of 11"), (2, 9, 19, "row after row")])
def test_two_loops_that_are_one_vector(stride, height, width, plan):
    """Of 11 elements in a row 9 are results; what is two elements apart is packed."""
    text = CONVOLUTION.replace("STRIDE", str(stride)).replace("HEIGHT", str(height)).replace("WIDTH", str(width))
    assert plan in emitted(read(text), "main", TILED).text
    assert proof(text).kind is FormKind.PROVED


@cache
def tile():
    """The tiled C of a product of matrices, with what its literal code leaves under some keys."""
    module, secret = read(MATMUL.replace("DTYPE", "float32")), draw()
    return (
        module,
        secret,
        emitted(module, "main", TILED),
        outcome_of(emitted(module, "main", LITERAL), "main", {}, secret),
    )


def changed(old, new):
    """The verdict on the tile with another text, which is not held to the interpreter."""
    _, secret, source, literal = tile()
    text = re.sub(old, new, source.text)
    assert text != source.text
    return compared(literal, outcome_of(dataclasses.replace(source, text=text), "main", {}, secret), lambda: 0)


def test_a_changed_text_differs_and_the_text_itself_does_not():
    assert changed(r"19 \* vk", "vk * 19").kind is FormKind.PROVED
    assert changed(r"C_0_0 \+ ", "").kind is FormKind.DIFFER


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (r"for \(int64_t vk = 0; vk < 5; \+\+vk\)", "for (int64_t vk = 4; vk >= 0; --vk)"),
        (r"vi < 6; vi \+= 3", "vi < 3; vi += 3"),
        (r"C \+ \(19 \* vi \+ 8\), C_0_1", "C + (19 * vi + 8), C_0_0"),
        (r"RM_TIMES_CELL\(float32x8, B_0, A \+ \(5 \* vi \+ vk\)\)", "B_0"),
        (r"rm_float32x8 C_0_0 = \(rm_float32x8\)\{0\}", "rm_float32x8 C_0_0 = (rm_float32x8){1.0f}"),
    ],
    ids=["steps of the reduction swapped", "rows left out", "another register stored", "no product", "another start"],
)
def test_a_wrong_tile_differs(old, new):
    assert changed(old, new).kind is FormKind.DIFFER


def test_a_dropped_guard_differs():
    module, secret = read(MATMUL.replace("DTYPE", "float32")), draw()
    source = emitted(module, "main", LITERAL)
    text = source.text.replace("if (vk == 0)", "if (vk >= 0)")
    assert text != source.text
    outcomes = [outcome_of(dataclasses.replace(source, text=each), "main", {}, secret) for each in (source.text, text)]
    assert compared(*outcomes, lambda: 0).kind is FormKind.DIFFER


def test_a_wrong_law_proves_what_is_wrong_and_the_interpreter_notices():
    module, secret = read(elementwise("T.max(A[vi, vj], B[vi, vj])")), draw()
    source = emitted(module, "main", LITERAL)
    other = dataclasses.replace(
        source, text=re.sub(r"rm_max_float32\((.*), (B.*)\)", r"rm_max_float32(\2, \1)", source.text)
    )
    assert other.text != source.text

    def verdict(law):
        first, second = (outcome_of(each, "main", {}, secret, law) for each in (source, other))
        return compared(first, second, lambda: held_to_interpreter(module, "main", {}, secret, first))

    assert verdict(commutes).kind is FormKind.DIFFER
    with pytest.raises(Undecided, match="another term"):
        verdict(lambda row, dtype: row.arity == 2)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16", "int32", "int8", "uint8"])
def test_tiled_products_of_matrices_are_literal_ones(dtype):
    found = proof(MATMUL.replace("DTYPE", dtype))
    assert (found.kind, found.reason) == (FormKind.PROVED, "")
    assert found.held == 35 + 64 + 64


@pytest.mark.parametrize(
    ("value", "dtype", "result"),
    [
        ("A[vi, vj] * T.float32(2) + B[vi, 36 - vj]", "float32", None),
        ("T.exp(T.max(A[vi, vj], B[vi, vj]))", "float32", None),
        ('T.cast(A[vi, vj], "float16")', "float32", "float16"),
        ('T.cast(A[vi, vj], "float32") * T.float32(0.5)', "int8", "float32"),
        ('T.cast(A[vi, vj], "bfloat16")', "uint8", "bfloat16"),
        ("A[vi, vj] - B[vi, vj]", "float16", None),
        ("A[vi, vj] < B[vi, vj]", "float32", "bool"),
        ("A[vi, vj] < B[vi, vj] and A[vi, vj] == B[vi, vj]", "int32", "bool"),
        ("T.sqrt(A[vi, vj])", "float64", None),
        ("T.if_then_else(vj < 30, A[vi, vj], B[vi, vj] + T.float32(vi))", "float32", None),
    ],
)
def test_tiles_of_every_kind_of_expression_are_literal_code(value, dtype, result):
    found = proof(elementwise(value, dtype, result))
    assert (found.kind, found.reason) == (FormKind.PROVED, "")
    assert found.held == 3 * 64


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("T.Select(A[vi, vj] > T.float32(0), A[vi, vj], B[vi, vj])", "a condition depends on data"),
        ('A[vi, T.cast(T.max(T.min(T.cast(B[vi, vj], "int32"), 36), 0), "int32")]', "index|no form|stops"),
    ],
)
def test_what_depends_on_data_is_undecided_by_name(value, reason):
    found = proof(elementwise(value))
    assert found.kind is FormKind.UNDECIDED
    assert re.search(reason, found.reason), found.reason


def test_what_only_data_keeps_in_bounds_is_not_executed():
    text = elementwise("T.if_then_else(T.float32(vj) < A[vi, 0], B[vi, vj], T.float32(0))")
    assert proof(text).reason == "an index is in bounds under a condition on data only"


def test_sizes_and_scalars_are_those_that_are_asked_for():
    text = """
@T.prim_func
def main(a: T.handle, b: T.handle, s: T.float32):
    n = T.int64()
    A = T.match_buffer(a, (n, 3), "float32")
    B = T.match_buffer(b, (n, 3), "float32")
    for i, j in T.grid(n, 3):
        B[i, j] = A[i, j] * s
"""
    checked = Options(best=Grade.GUARDED)  # with a shadow of each buffer
    found = [forms_compared(read(text), "main", LITERAL, checked, {"n": n, "s": 5}) for n in (0, 9)]
    assert [(each.kind, each.elements, each.held) for each in found] == [
        (FormKind.PROVED, 6 * n, 6 * n) for n in (0, 9)
    ]


def test_a_machine_without_the_compiler_decides_nothing(monkeypatch):
    monkeypatch.setenv("PATH", "")
    assert proof(MATMUL.replace("DTYPE", "float32")).reason == "there is no g++"


# ---------------------------------------------------------------------------------------------------- fingerprints


@pytest.fixture
def terms():
    return Terms(laws=False)


@pytest.fixture
def fingerprints():
    return Fingerprints([secrets.randbits(64) for _ in range(4)], {"A": (0, (2, 3)), "B": (1, (6,))})


def leaf(terms, name, *index, dtype=FLOAT32):
    return terms.term(LEAF, dtype, (name, index), ())


def test_different_terms_have_different_fingerprints(terms, fingerprints):
    a, b, c = leaf(terms, "A", 0, 1), leaf(terms, "A", 1, 0), leaf(terms, "B", 1)
    pair = (FLOAT32, FLOAT32)
    values = [a, b, c]
    for op in ("add", "mul", "sub", "max", "min"):
        values += [terms.apply(op, pair, FLOAT32, operands) for operands in ((a, b), (a, c), (a, a), (a, 1.0))]
    values += [terms.apply(op, pair, FLOAT32, (b, a)) for op in ("sub", "max", "min")]
    values += [terms.apply("add", pair, FLOAT32, (terms.apply("add", pair, FLOAT32, (a, b)), c))]
    values += [terms.apply("add", pair, FLOAT32, (a, terms.apply("add", pair, FLOAT32, (b, c))))]
    values += [terms.select(terms.apply("lt", pair, BOOL, (a, b)), x, y, FLOAT32) for x, y in ((a, b), (b, a))]
    assert len({fingerprints.of(value, FLOAT32) for value in values}) == len(values)


def test_what_commutes_to_the_bit_has_one_fingerprint(terms, fingerprints):
    a, b = leaf(terms, "A", 0, 1), leaf(terms, "B", 1)
    for op, dtype, same in (
        ("add", FLOAT32, True),
        ("max", FLOAT32, False),
        ("max", INT32, True),
        ("sub", INT8, False),
    ):
        sides = [terms.apply(op, (dtype, dtype), dtype, operands) for operands in ((a, b), (b, a))]
        assert (fingerprints.of(sides[0], dtype) == fingerprints.of(sides[1], dtype)) is same


def test_numbers_are_their_bits():
    assert number(0.0, FLOAT32) == number(0, INT32) == (0, 0)
    assert number(-0.0, FLOAT32) == (1 << 63, 0)
    assert number(float("nan"), FLOAT16) == number(-float("nan"), FLOAT32)
    assert number(-1, INT8) == ((1 << 64) - 1, 0)
    assert number(True, BOOL) == (1, 0)
