"""Ranges of computed values for all sizes: floats from integers, counters, equal expressions, declared regions."""

import itertools
import math
import operator
import random

import pytest
from needs import imported

from refmlc import read
from refmlc.lang.dtypes import SCALARS
from refmlc.lang.ir import tir
from refmlc.lang.ir.visit import walk
from refmlc.lang.ops.evaluate import evaluate
from refmlc.oracle.contracts.assumptions import assumed
from refmlc.oracle.refine.proof import prove_defined
from refmlc.prove.sizes import defined_for_all_sizes
from refmlc.prove.sizes.hypotheses import FloatBounds
from refmlc.prove.sizes.result import SizedKind

imported("z3")
INT32, FLOAT32 = SCALARS["int32"], SCALARS["float32"]
HEAD = """@T.prim_func
def main(A: T.Buffer(("n",), "float32"), I: T.Buffer(("m",), "int32"), C: T.Buffer((n,), "float32")):
    n = T.int32()
    m = T.int32()
    D = T.alloc_buffer((1,), "int32")
"""


def program(body):
    return read(HEAD + "".join(f"    {line}\n" for line in body.strip("\n").split("\n")))


def is_proved(body, **options):
    return defined_for_all_sizes(program(body), "main", **options).kind is SizedKind.PROVED


def converted(dtype, value, trips="n"):
    return f"for i in range({trips}):\n    D[0] = T.Cast('int32', T.Cast('{dtype}', {value}))"


FLOAT = "T.Cast('float32', i)"


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        (converted("int8", FLOAT, 128), converted("int8", FLOAT, 129)),
        (converted("uint8", f"{FLOAT} - T.float32(0.5)", 257), converted("uint8", f"{FLOAT} - T.float32(1)", 257)),
        (converted("int32", f"{FLOAT} / T.Cast('float32', i + 1)"), converted("int32", f"{FLOAT} / {FLOAT}")),
        (converted("int32", f"T.floor({FLOAT} * T.float32(0.3))"), converted("int32", f"{FLOAT} * T.float32(1e5)")),
        (converted("int64", f"T.round({FLOAT} * T.float32(0.3))"), converted("int64", f"T.exp({FLOAT})")),
        (converted("int64", f"{FLOAT} * T.float32(1e14)"), converted("int64", f"{FLOAT} * T.float32(1e38)")),
        (
            converted("int8", "T.min(T.max(A[i], T.float32(-4)), T.float32(7))"),
            converted("int8", "T.min(T.float32(7), T.max(T.float32(-4), A[i]))"),  # NaN is the second operand: it stays
        ),
        (
            "for i in range(m):\n    D[0] = T.Cast('int32', T.Cast('float64', I[i]))",
            "for i in range(m):\n    D[0] = T.Cast('int32', T.Cast('float32', I[i]))",  # 2147483647 becomes 2147483648
        ),
    ],
)
def test_floats_from_integers(right, wrong):
    assert is_proved(right)
    assert not is_proved(wrong)


COUNT = "D[0] = 0\nfor i, j in T.grid(n, m):\n    D[0] = D[0] + {step}"
PREFIX = """
E = T.alloc_buffer((n,), "int32")
for i in range(n):
    if i < 1:
        E[i] = 7
    else:
        E[i] = {value}"""


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        (COUNT.format(step="1"), COUNT.format(step="2")),  # 2 ** 30 fits, 2 ** 31 does not
        (COUNT.format(step="-1"), COUNT.format(step="-3")),
        (COUNT.format(step="T.Cast('int32', A[i] > T.float32(0))"), COUNT.format(step="I[j]")),
        (COUNT.format(step="1"), COUNT.format(step="1").replace("D[0] = 0", "D[0] = 2147483647 - 1000000000")),
        (COUNT.format(step="1"), "D[0] = 0\nwhile A[0] > T.float32(0):\n    D[0] = D[0] + 1"),
        (PREFIX.format(value="E[i - 1] + 65533"), PREFIX.format(value="E[i - 1] + 65538")),
        (PREFIX.format(value="E[i - 1] + 1"), PREFIX.format(value="E[i - 1] + E[i - 1]")),
        (PREFIX.format(value="E[i - 1] + 1"), PREFIX.format(value="1 - E[i - 1] * 2")),
    ],
)
def test_counters(right, wrong):
    assert is_proved(right)
    assert not is_proved(wrong)


KNOWN = """
for k in range(m):
    D[0] = I[k]
    {between}
    C[0] = T.if_then_else(n > 0 and 0 <= D[0] and D[0] < n, A[D[0]], T.float32(0))"""
SPLIT = """
for k in range(m):
    D[0] = I[k]
    if n > 0 and 0 <= D[0] and D[0] < n:
        {between}
        C[D[0]] = T.float32(0)"""


def test_equal_expressions_of_a_statement_are_one_number():
    guarded = KNOWN.format(between="D[0] = D[0]").replace("C[0] =", "if n > 0:\n        C[0] =")
    assert is_proved(guarded)
    assert not is_proved(guarded.replace("A[D[0]]", "A[D[0] + 1]"))
    assert not is_proved(guarded.replace("D[0] < n", "D[0] <= n"))
    assert not is_proved(SPLIT.format(between="D[0] = I[k] // 2 + 5"))  # the guard speaks of another number


BLOCK = """
E = T.alloc_buffer((n,), "int32")
for i in range(n):
    E[i] = T.Cast("int32", T.Cast("float32", i) * T.float32(0.5))
for i in range(n):
    with T.sblock("gather"):
        v = T.axis.spatial(n, i)
        T.reads(E[v], A[T.min(E[v], n - 1)])
        T.writes(C[v])
        C[v] = A[T.min(E[v], n - 1)]"""


def test_a_region_may_depend_on_memory_that_its_block_does_not_write():
    assert is_proved(BLOCK)
    assert not is_proved(BLOCK.replace("T.reads(E[v], A[T.min(E[v], n - 1)])", "T.reads(E[v], A[T.min(E[v], n - 2)])"))
    moved = "E[v] = E[v] // 2\n        C[v] = A[T.min(E[v], n - 1)]"
    written = BLOCK.replace("T.writes(C[v])", "T.writes(C[v], E[v])")
    assert not is_proved(written.replace("C[v] = A[T.min(E[v], n - 1)]", moved))  # the region was of the number before


# ------------------------------------------------------------------------------------------- against the interpreter


def drawn(draw, variable, depth):
    """A float over an integer variable."""
    if depth == 0:
        leaves = (
            tir.Cast(FLOAT32, variable),
            tir.FloatImm(FLOAT32, draw.choice((-2.5, -0.0, 0.5, 3.0, 1e20, math.inf))),
        )
        return draw.choice(leaves)
    a, b = drawn(draw, variable, depth - 1), drawn(draw, variable, depth - 1)
    op = draw.choice(("add", "sub", "mul", "div", "max", "min", "floor", "ceil", "round", "trunc", "cast"))
    if op == "cast":
        return tir.Select(
            tir.Apply("lt", (a, b), SCALARS["bool"]), a, tir.Cast(FLOAT32, tir.Cast(SCALARS["float16"], b))
        )
    return tir.Apply(op, (a, b) if op in ("add", "sub", "mul", "div", "max", "min") else (a,), FLOAT32)


def test_every_value_is_within_its_range():
    from refmlc.prove.sizes.ranges import FloatRange, ValueRanges  # noqa: PLC0415 - after z3

    function = program("for i in range(T.int32(7)):\n    C[0] = T.Cast('float32', i)").functions["main"]
    variable = next(node.loop_var for node in walk(function.body) if isinstance(node, tir.For))
    ranges = ValueRanges(function, 100, lambda _: False)
    reached = {"low": 0, "high": 0, "nan": 0}
    for seed in range(400):
        expr = drawn(random.Random(seed), variable, 1 + seed % 3)  # noqa: S311 - reproducible, not secret
        known = ranges.floating(expr)
        assert isinstance(known, FloatRange)
        for number in range(7):
            value = evaluate(expr, {variable: number})
            assert known.nan if math.isnan(value) else known.low <= value <= known.high, (seed, number, value, known)
            reached["nan"] += math.isnan(value)
            reached["low"] += value == known.low
            reached["high"] += value == known.high
    assert min(reached.values()) > 20, reached  # a range that is narrower anywhere fails above


def test_max_and_min_with_nan():
    from refmlc.prove.sizes.ranges import FloatRange  # noqa: PLC0415 - after z3

    sets = [FloatRange(0.0, 2.0, nan=False), FloatRange(1.0, 3.0, nan=True), FloatRange(-1.0, 1.0, nan=True)]
    samples = {
        each: [each.low, (each.low + each.high) / 2, each.high, *([math.nan] if each.nan else [])] for each in sets
    }
    for a, b in itertools.product(sets, repeat=2):
        for result, wins in ((a.greater(b), operator.gt), (a.smaller(b), operator.lt)):
            for x, y in itertools.product(samples[a], samples[b]):
                value = x if wins(x, y) else y
                assert result.nan if math.isnan(value) else result.low <= value <= result.high, (a, b, x, y)


def test_a_limit_is_the_range_of_a_size():
    body = converted("int16", FLOAT)
    assert is_proved(body, limit=32_768)
    assert not is_proved(body, limit=32_769)


# ------------------------------------------------------------------------------------------- contracts on floats

CAST = "for i in range(n):\n    D[0] = T.Cast('int32', {})"
LIMITS = "-1000 <= A <= 1000"


@pytest.mark.parametrize(
    ("value", "lines", "kind"),
    [
        ("A[i]", [LIMITS], SizedKind.PROVED),
        ("A[i]", ["A in [-1000, 1000)"], SizedKind.PROVED),
        ("A[i] * T.float32(2) + T.float32(1)", [LIMITS], SizedKind.PROVED),
        ("A[i]", ["-1000 <= A", "A <= 1000"], SizedKind.UNDECIDED),  # one end alone
        ("A[i]", ["A[0] in [-1000, 1000]"], SizedKind.UNDECIDED),  # one element
        ("A[i]", ["A in [-1000, 1000] or A in [2, 3000000000]"], SizedKind.UNDECIDED),
        ("A[i]", ["-1000 <= A <= 2147483648"], SizedKind.UNDECIDED),  # one too many
        ("A[i]", ["-1000 <= A <= 2147483647"], SizedKind.UNDECIDED),  # 2147483648.0, the nearest float32, is within
        ("A[i]", ["-1000 <= A <= 2147483583"], SizedKind.PROVED),  # the float32 below it
        ("A[i]", [f"-1000 <= A <= {'9' * 400}"], SizedKind.UNDECIDED),
        ("A[i]", [f"-{'9' * 400} <= A <= 0"], SizedKind.UNDECIDED),
        ("A[i]", ["A in [-1e999, 0]"], SizedKind.UNDECIDED),
        ("A[i] * T.float32(3000000)", [LIMITS], SizedKind.UNDECIDED),
        ("A[i]", ["A: finite"], SizedKind.UNDECIDED),
        ("A[i] / A[i]", [LIMITS], SizedKind.UNDECIDED),  # 0 / 0
    ],
)
def test_a_written_interval_of_floats_is_given(value, lines, kind):
    result = prove_defined(program(CAST.format(value)), "main", assume=assumed(lines))
    assert result.kind is kind
    assert kind is not SizedKind.PROVED or result.contracts == tuple(lines)


def test_a_tensor_that_is_written_has_no_interval():
    body = "for i in range(n):\n    A[i] = A[i] * A[i] * A[i] * A[i]\n" + CAST.format("A[i]")
    assert prove_defined(program(body), "main", assume=assumed([LIMITS])).kind is SizedKind.UNDECIDED


def test_an_interval_that_is_only_inferred_is_not_given():
    module = program(CAST.format("A[i]"))
    buffer = next(each for each in module["main"].buffer_map.values() if each.name == "A")
    for is_inferred, kind in ((False, SizedKind.PROVED), (True, SizedKind.UNDECIDED)):
        bounds = FloatBounds(buffer, -1.0, 1.0, "A in [-1, 1]", is_inferred)
        assert defined_for_all_sizes(module, "main", hypotheses=[bounds]).kind is kind
