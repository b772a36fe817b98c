"""Definedness for all sizes: obligations proved, refuted by sizes that run, or left open with the reason."""

import itertools
import json

import pytest
from click.testing import CliRunner
from needs import imported

from refmlc import read
from refmlc.cli import main
from refmlc.oracle.contracts.assumptions import assumed
from refmlc.oracle.refine.proof import prove_defined
from refmlc.prove.sizes import defined_for_all_sizes
from refmlc.prove.sizes.result import SizedKind

z3 = imported("z3")
PROVED, INFERRED = SizedKind.PROVED, SizedKind.INFERRED
REFUTED, UNDECIDED = SizedKind.REFUTED, SizedKind.UNDECIDED
HEAD = """@T.prim_func
def main(A: T.Buffer(("n",), "float32"), I: T.Buffer(("m",), "int32"), C: T.Buffer((n,), "float32")):
    n = T.int32()
    m = T.int32()
    D = T.alloc_buffer((1,), "int32")
"""


def program(body):
    return read(HEAD + "".join(f"    {line}\n" for line in body.strip("\n").split("\n")))


def definedness(body, **options):
    return defined_for_all_sizes(program(body), "main", **options)


def findings(body):
    """What is not proved: kind, verdict, code."""
    verdicts = definedness(body).verdicts
    return {(each.kind, each.verdict, each.code) for each in verdicts if each.verdict is not PROVED}


TILED = """
for o, i in T.grid((n + 15) // 16, 16):
    if o * 16 + i < n:
        C[o * 16 + i] = A[o * 16 + i]"""
SUM = """
E = T.alloc_buffer((n,), "float32")
for i, k in T.grid(n, m):
    with T.sblock("sum"):
        vi, vk = T.axis.remap("SR", [i, k])
        with T.init():
            E[vi] = T.float32(0)
        E[vi] = E[vi] + T.Cast("float32", I[vk])
for i in range(n):
    C[i] = E[i]"""
REVERSED = SUM.replace(
    'vi, vk = T.axis.remap("SR", [i, k])', "vi = T.axis.spatial(n, i)\n        vk = T.axis.reduce(m, m - 1 - k)"
)
SHIFTED = """
for i in range(n):
    with T.sblock("b"):
        v = T.axis.spatial(n, i + 1)
        C[v - 1] = A[v - 1]"""
WHOLE = """
E = T.alloc_buffer((n,), "float32")
for i in range(n):
    E[i] = A[i]
for i in range(n):
    C[i] = E[n - 1 - i]"""

SCAN = """
for i in range(n):
    if i < 1:
        C[i] = A[i]
    else:
        C[i] = C[i - 1] + A[i]"""
SPLIT = """
for o in T.parallel((n + 15) // 16):
    for i in range(16):
        if o * 16 + i < n:
            C[o * 16 + i] = A[o * 16 + i]"""
QUOTIENT = "for i in range(m):\n    D[0] = T.Cast('int32', T.Cast('int8', I[i]) // T.int8(-1))"


@pytest.mark.parametrize(
    "body",
    [
        TILED,
        WHOLE,
        SUM.replace("T.grid(n, m)", "T.grid(n, 3)").replace("I[vk]", "vk"),
        "for i in T.parallel(n):\n    C[i] = A[n - 1 - i]",
        "for i in range(n):\n    C[i] = T.if_then_else(i > 0, A[i - 1], T.float32(0))",
        SCAN,
        SPLIT,
        "for i in range(m):\n    D[0] = T.shift_left(1, 3) + T.shift_right(I[i], 4)",
        "for i in range(n):\n    C[i] = A[(i * 7) % n]",
        "if n > 3:\n    C[3] = A[2]",
        "for i in range(n):\n    C[i] = A[T.min(T.max(i * 2 - 5, 0), n - 1)]",
    ],
)
def test_programs_that_are_always_defined(body):
    assert definedness(body).kind is PROVED


@pytest.mark.parametrize(
    ("body", "finding"),
    [
        (TILED.replace("< n", "<= n"), ("bounds", REFUTED, "RM304")),
        ("for i in range(n):\n    C[i] = A[i + 1]", ("bounds", REFUTED, "RM304")),
        ("C[0] = T.float32(1)", ("bounds", REFUTED, "RM304")),
        ("for i in range(n - 1):\n    C[i] = A[i]", ("extent", REFUTED, "RM315")),
        ("for i in range(n):\n    C[i] = A[i // (n - 3)]", ("division", REFUTED, "RM307")),
        (SUM, ("element", REFUTED, "RM305")),  # m = 0: nothing begins the sum
        (SHIFTED, ("axis", REFUTED, "RM312")),
        (REVERSED, ("element", REFUTED, "RM305")),
        (REVERSED.replace("T.grid(n, m)", "T.grid(n, 3)").replace("m", "3"), ("element", REFUTED, "RM305")),
        (WHOLE.replace("    E[i] = A[i]", "    if i > 2:\n        E[i] = A[i]"), ("element", REFUTED, "RM305")),
        (SCAN.replace("C[i - 1]", "C[n - 1]"), ("element", REFUTED, "RM305")),
        ("for i in range(n):\n    C[i] = T.Cast('float32', T.Cast('int32', A[i]))", ("defined", UNDECIDED, "")),
        ("for i in range(m):\n    D[0] = T.shift_left(1, I[i])", ("defined", UNDECIDED, "")),
        (QUOTIENT, ("overflow", UNDECIDED, "")),
        ("for i in T.parallel(n):\n    C[i // 2] = A[i]", ("order", UNDECIDED, "")),
        ("for i in T.parallel(n):\n    C[i] = C[n - 1 - i]", ("order", UNDECIDED, "")),
        ("for i in range(T.min(n, m)):\n    C[i] = A[I[i]]", ("bounds", UNDECIDED, "")),
    ],
)  # fmt: skip
def test_programs_that_are_not(body, finding):
    assert finding in findings(body)


GATHER = "for i in range(m):\n    if i < n:\n        C[i] = A[I[i]]"
ROWS = """
for i in range(m - 1):
    for j in range(I[i], I[i + 1]):
        C[j] = A[j]"""


def test_a_contract_that_is_inferred_is_said():
    result = prove_defined(program(GATHER), "main")
    assert result.kind is INFERRED
    assert result.inferred == ("0 <= I < n",)
    assert result.contracts == ()


@pytest.mark.parametrize(
    ("body", "lines", "kind"),
    [
        (GATHER, ["0 <= I < n"], PROVED),
        (GATHER, ["0 <= I <= n"], INFERRED),
        (GATHER.replace("A[I[i]]", "A[I[i] + 1]"), ["0 <= I < n - 1"], PROVED),
        (GATHER.replace("A[I[i]]", "A[I[i] + 1]"), ["0 <= I < n"], UNDECIDED),
        (ROWS, ["I: ascending, 0 <= I <= n", "m >= 1"], PROVED),
        (ROWS, ["0 <= I <= n", "m >= 1"], INFERRED),
        ("for i in range(n):\n    C[i] = A[I[2] + i - I[2]]", ["0 <= I <= 1000", "m >= 3"], PROVED),
        ("for i in range(n // 16 * 16):\n    C[i] = A[i + n % 16]", ["n % 16 == 0"], PROVED),
        ("for i in range(n):\n    C[i // 4 * 4 + 3] = A[i]", ["n % 4 == 0"], PROVED),
        ("for i in range(n):\n    C[i // 4 * 4 + 3] = A[i]", ["n % 2 == 0"], REFUTED),
    ],
)
def test_what_is_written_is_given(body, lines, kind):
    rows = assumed(lines)
    result = prove_defined(program(body), "main", assume=rows)
    assert result.kind is kind
    assert set(result.contracts) >= {row.text for row in rows}


def test_zeros_that_a_contract_excludes_refute_nothing():
    body = "if I[0] > 0:\n    for i in range(n - 2):\n        C[i] = A[i]\nfor i in range(n - 2):\n    C[i] = A[i]"
    result = prove_defined(program(body), "main", assume=assumed(["I[0] >= 1", "m >= 1"]))
    assert result.kind is UNDECIDED


def test_sizes_that_refute_are_small_and_run():
    verdicts = definedness(TILED.replace("< n", "<= n")).verdicts
    refuted = [each for each in verdicts if each.verdict is REFUTED]
    assert {each.sizes["n"] for each in refuted} == {1}


def test_index_arithmetic_overflows_beyond_a_limit():
    body = "for i in range(n):\n    if i * 65536 < 10:\n        C[i] = A[i]"
    assert definedness(body, limit=32_768).kind is PROVED
    kinds = {(each.kind, each.verdict) for each in definedness(body, limit=65_536).verdicts}
    assert ("overflow", REFUTED) in kinds or ("overflow", UNDECIDED) in kinds


@pytest.mark.parametrize(
    "body",
    ["C[0:4] = A[0:4]", "T.evaluate(T.call_packed('f', A.data))", "F = T.decl_buffer((n,), data=A.data)\nC[0] = F[0]"],
)
def test_what_is_not_known_is_left_open(body):
    result = definedness(body)
    assert result.kind is UNDECIDED
    assert result.reason


def test_divisions_are_those_of_the_program():
    from refmlc.prove.sizes.integers import DIVISIONS  # noqa: PLC0415 - after z3

    for a, b in itertools.product(range(-7, 8), (-3, -2, -1, 1, 2, 3)):
        values = {name: z3.simplify(divide(z3.IntVal(a), z3.IntVal(b))).as_long() for name, divide in DIVISIONS.items()}
        quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
        expected = {"floordiv": a // b, "floormod": a % b, "truncdiv": quotient, "div": quotient}
        assert values == {**expected, "truncmod": a - b * quotient}, (a, b)


def test_narrow_integers_wrap():
    body = "for i in range(n):\n    C[i] = A[T.Cast('int32', T.Cast('int8', i)) + 128 - 128 * (i // 256 + 1)]"
    assert ("bounds", REFUTED, "RM304") in findings(body)


def test_the_command(tmp_path):
    file = tmp_path / "tiled.py"
    file.write_text(HEAD + "".join(f"    {line}\n" for line in TILED.strip().split("\n")))
    result = CliRunner().invoke(main, ["prove", str(file)])
    assert result.exit_code == 0
    assert result.stdout.startswith("`main`: proved for all arguments and all sizes up to 32,768\n  obligations: ")
    file.write_text(file.read_text().replace("< n", "<= n"))
    result = CliRunner().invoke(main, ["prove", str(file)])
    assert result.exit_code == 1
    assert "is in bounds: refuted: n = 1" in result.stdout
    data = json.loads(CliRunner().invoke(main, ["prove", str(file), "--json"]).stdout)
    assert data["verdict"] == "refuted"
    assert {each["code"] for each in data["obligations"] if each["verdict"] == "refuted"} == {"RM304"}


def test_without_z3_the_extra_is_named(tmp_path, monkeypatch):
    file = tmp_path / "tiled.py"
    file.write_text(HEAD + "".join(f"    {line}\n" for line in TILED.strip().split("\n")))
    monkeypatch.setitem(__import__("sys").modules, "refmlc.prove.sizes.verdict", None)
    result = CliRunner().invoke(main, ["prove", str(file)])
    assert result.exit_code == 2
    assert "pip install 'refmlc[prove]'" in result.stderr


PROMISE = """
for i in range(n):
    with T.sblock("copy"):
        vi = T.axis.spatial({domain}, {value})
        T.reads({reads})
        T.writes(C[0:n])
        C[{place}] = A[vi]"""
KEPT = {"domain": "n", "value": "i", "reads": "A[vi]", "place": "vi"}


@pytest.mark.parametrize(
    ("changes", "kinds"),
    [
        ({}, set()),
        ({"reads": "A[0:n]"}, set()),
        ({"reads": "A[0]"}, {"declared"}),  # RM318
        ({"reads": "I[0]"}, {"declared"}),
        ({"place": "0"}, {"spatial"}),  # RM319
    ],
)
def test_a_block_keeps_its_promises_for_all_sizes(changes, kinds):
    verdicts = definedness(PROMISE.format(**{**KEPT, **changes})).verdicts
    assert {each.kind for each in verdicts if each.verdict is not PROVED} == kinds


REPEATED = """
E = T.alloc_buffer((n,), "float32")
for i, k, r in T.grid(n, 4, 2):
    with T.sblock("sum"):
        vi, vk = T.axis.remap("SR", [i, k])
        with T.init():
            E[vi] = T.float32(0)
        E[vi] = E[vi] + A[vi]"""


def test_a_reduction_folds_no_term_twice():
    assert ("repeated", UNDECIDED, "") in findings(REPEATED)  # RM320
    assert findings(REPEATED.replace("T.grid(n, 4, 2)", "T.grid(n, 4, 1)")) == set()


FRESH = """
for i in range(n):
    P = T.alloc_buffer((1,), "float32")
    if i == 0:
        P[0] = A[i]
    C[i] = P[0]"""


def test_memory_of_an_iteration_is_not_what_an_earlier_one_wrote():
    assert findings(FRESH) == {("element", REFUTED, "RM305")}
    before = FRESH.replace("for i in range(n):\n    P =", "P =").replace(
        '"float32")\n', '"float32")\nfor i in range(n):\n'
    )
    assert findings(before) == set()
