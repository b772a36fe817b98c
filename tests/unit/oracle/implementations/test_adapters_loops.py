"""Modules as plain NumPy: scalar operators by the contracts' examples, rounding, memory, threads, what is not taken."""

import ast
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings, strategies as st

import refmlc
from refmlc.lang.dtypes import SCALARS, dtype
from refmlc.lang.dtypes.bits import to_bits
from refmlc.lang.dtypes.rounding import round_fraction
from refmlc.lang.ops.scalar import SCALAR_OPS
from refmlc.oracle.examine import examine
from refmlc.oracle.implementations import loops
from refmlc.oracle.implementations.implementation import Ended, Implementation, Limits, Stop
from refmlc.oracle.implementations.lookup import implementation
from refmlc.oracle.implementations.loops.adapter import Loops
from refmlc.oracle.implementations.loops.arithmetic import fused_wide, hypotenuse, put
from refmlc.oracle.implementations.loops.function import Functions
from refmlc.oracle.implementations.loops.operators import operator_source
from refmlc.oracle.implementations.loops.writer import Names
from refmlc.oracle.outcome import Kind
from refmlc.run.memory.tensor import Tensor
from refmlc.strategies import ir_modules, prim_funcs

FLOATS = [name for name, row in SCALARS.items() if row.is_float]
EXAMPLES = [
    (row.contract, example)
    for row in SCALAR_OPS.values()
    for example in row.contract.examples
    if row.contract.result != "declared"
]


def called(text, func, *args, limits=None):
    made = Loops(Limits() if limits is None else limits).prepare(refmlc.read(text, "loops.py"))
    return made.run(func, [Tensor.from_numpy(one) if isinstance(one, np.ndarray) else one for one in args])


def function(body, parameters):
    return f"@T.prim_func\ndef f({parameters}):\n" + "".join(f"    {line}\n" for line in body.splitlines())


@pytest.mark.parametrize(("contract", "example"), EXAMPLES, ids=lambda one: getattr(one, "name", ""))
def test_operators_give_what_was_worked_by_hand(contract, example):
    names, operands = Names(), example.operands
    result = contract.result_dtype(operands)
    given_names = [names.bind("x", put(kind)(value)) for kind, value in zip(operands, example.args, strict=True)]
    source = operator_source(contract.name, operands, result, given_names, names.bind)
    with np.errstate(all="ignore"):
        found = eval(source, {"__builtins__": {}, **names.objects})  # noqa: S307 - our own source
    if result.is_float:
        near = contract.bound(result) > 0.5
        assert to_bits(result, float(found)) == to_bits(result, example.result) or (
            near and math.isclose(float(found), example.result, rel_tol=1e-15)
        )
    else:
        assert found == example.result
        assert type(found) is type(example.result)


@given(st.sampled_from(FLOATS), st.floats(width=64, allow_nan=False, allow_infinity=False))
@example("float8_e8m0fnu", 1.128 * 2.0**-127)
@example("bfloat16", 1 + 2.0**-8 + 2.0**-40)
@example("float8_e4m3fn", 464.0)
def test_floats_are_rounded_once(name, number):
    with np.errstate(all="ignore"):
        found = float(put(dtype(name))(number))
    right = round_fraction(Fraction(number), dtype(name))
    assert found == right or (math.isnan(found) and math.isnan(right))


@given(st.sampled_from(FLOATS), st.integers(-(1 << 64), 1 << 64))
@example("float64", (1 << 63) - 1)
@example("float64", (1 << 64) - 1)
@example("float32", (1 << 62) + (1 << 38) + 1)
@example("float16", 2049 * (1 << 3) + 1)
def test_integers_are_rounded_once(name, number):
    with np.errstate(all="ignore"):
        found = float(put(dtype(name))(number))
    right = round_fraction(Fraction(number), dtype(name))
    assert found == right or (math.isnan(found) and math.isnan(right))


def test_pow_of_negative_zero_is_the_one_of_c():
    answer = called(function("A[0] = T.pow(A[0], T.float32(0.5))", "A: T.Buffer((1,))"), "f", np.array([-0.0], "f4"))
    assert str(answer.args[0].numpy()[0]) == "0.0"


@given(*[st.floats(-1e150, 1e150)] * 3)
def test_a_product_and_a_sum_are_rounded_once(a, b, c):
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    assert Fraction(fused_wide(a, b, c)) == Fraction(float(exact))


@given(st.floats(-1e150, 1e150), st.floats(-1e150, 1e150))
def test_no_number_is_nearer_to_the_hypotenuse(a, b):
    found, square = hypotenuse(a, b), Fraction(a) ** 2 + Fraction(b) ** 2
    above, below = math.nextafter(found, math.inf), math.nextafter(found, -math.inf)
    assert ((Fraction(found) + Fraction(above)) / 2) ** 2 >= square
    assert below < 0 or ((Fraction(found) + Fraction(below)) / 2) ** 2 <= square


@settings(max_examples=60)
@given(st.one_of(prim_funcs(), ir_modules()))
def test_programs_come_to_what_the_interpreter_gives(case):
    found = examine([case], [Loops()], sanitize=False)[0]
    assert not found.findings
    assert {each.kind for each in found.verdicts["numpy"]} <= {Kind.EQUAL, Kind.PERMITTED, Kind.UNDEFINED}


def test_the_loops_share_no_computation_with_what_they_are_compared_with():
    """`inside` has what every implementation in this process answers for a failure; nothing is computed there."""
    apart = ("refmlc.run.interp", "refmlc.lang.ops", "refmlc.native", "refmlc.vm", "refmlc.lang.dtypes.rounding")
    for path in Path(loops.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom):
                assert not str(node.module).startswith(apart), path.name
    assert len(list(Path(loops.__file__).parent.glob("*.py"))) > 10


def test_nothing_of_a_module_gets_into_the_source():
    text = function(
        "for print in range(3):\n    __import__[print] = A[print]", "A: T.Buffer((3,)), __import__: T.Buffer((3,))"
    )
    module = refmlc.read(text)
    source = Functions(dict(module.functions)).source("f")
    assert "import" not in source
    assert "print" not in source
    assert all(isinstance(node, ast.FunctionDef) for node in ast.parse(source).body)


def test_it_is_an_implementation_that_promises_nothing():
    made = implementation("numpy")
    assert isinstance(made, Implementation)
    assert (made.name, made.promises_verdicts) == ("numpy", False)


def test_a_returned_number_comes_back():
    answer = called("@T.prim_func\ndef f(n: T.int32) -> T.int32:\n    return n * 3\n", "f", 14)
    assert answer == Ended(42, (14,))


@pytest.mark.parametrize(
    ("body", "why", "words"),
    [
        ("A[0] = T.call_extern('float32', 'expf', A[1])", Stop.UNSUPPORTED, "T.call_extern"),
        ("A[9] = T.float32(1)", Stop.UNDEFINED, "IndexError"),
        ("A[0] = T.Cast('float32', n // (n - n))", Stop.UNDEFINED, "ZeroDivisionError"),
        ("A[0] = T.Cast('float32', T.Cast('int32', T.float32(1) / A[0]))", Stop.UNDEFINED, "OverflowError"),
        ("assert n == 4, 'four'", Stop.TRAP, "four"),
        ("while n > 0:\n    A[0] = T.float32(1)", Stop.EXHAUSTED, "steps"),
        ("B = T.alloc_buffer((1 << 20,))\nB[0] = T.float32(1)", Stop.EXHAUSTED, "bytes"),
    ],
)
def test_what_does_not_come_back_says_why(body, why, words):
    answer = called(
        function(body, "A: T.Buffer((3,)), n: T.int32"), "f", np.zeros(3, "f4"), 3, limits=Limits(1000, 1 << 20)
    )
    assert answer.why is why
    assert words in answer.message


FEW = (32, 2147483647, -1, -2147483648)


@pytest.mark.parametrize(
    ("shift", "count"),
    [
        *(("n << m", count) for count in FEW),
        *(("n >> m", count) for count in FEW),
        *(("T.q_multiply_shift(n, n, 31, m)", count) for count in (2147483647, -2147483648)),
        *(("T.q_multiply_shift(n, n, m, 1)", count) for count in (2147483647, -1)),
    ],
)
def test_a_count_that_no_integer_is_shifted_by_is_undefined(shift, count):
    """At once: Python would take hundreds of megabytes for it."""
    body = function(f"A[0] = {shift}", 'A: T.Buffer((1,), "int32"), n: T.int32, m: T.int32')
    found = called(body, "f", np.zeros(1, "int32"), 1, count)
    assert found.why is Stop.UNDEFINED
    assert "not a shift count" in found.message


THREADS = """
for t in T.thread_binding(4, thread="threadIdx.x"):
    L[0] = A[t]
for t in T.thread_binding(4, thread="threadIdx.x"):
    A[t] = L[0] + T.float32(1)
"""


def test_memory_of_a_thread_that_two_loops_share_is_not_taken():
    private = called(
        function('L = T.alloc_buffer((1,), scope="local")' + THREADS, "A: T.Buffer((4,))"), "f", np.ones(4, "f4")
    )
    assert private.why is Stop.UNSUPPORTED
    assert "local" in private.message
    shared = called(function("L = T.alloc_buffer((1,))" + THREADS, "A: T.Buffer((4,))"), "f", np.arange(4, dtype="f4"))
    assert shared.args[0].numpy().tolist() == [4, 4, 4, 4]


def test_a_view_sees_the_bytes_of_its_buffer():
    body = 'B = T.decl_buffer((2,), "uint16", data=A.data, elem_offset=2)\nB[0] = T.uint16(7)\nB[1] = T.uint16(0)'
    answer = called(function(body, 'A: T.Buffer((3,), "int32")'), "f", np.zeros(3, "i4"))
    assert answer.args[0].numpy().tolist() == [0, 7, 0]


GRAPH = """
from tvm.script import ir as I, relax as R, tirx as T
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", 4), "float32"), w: R.Tensor((4, 2), "float32")) -> R.Tensor(("n", 2), "float32"):
        n = T.int64()
        with R.dataflow():
            y = R.matmul(x, w)
            z = R.reshape(y, R.shape([n * 2]))
            s = R.sum(z, axis=[0])
            o = R.add(y, s)
            R.output(o)
        return o
"""


def test_a_graph_runs_as_numpy_has_it():
    x, w = np.arange(12, dtype="f4").reshape(3, 4), np.arange(8, dtype="f4").reshape(4, 2)
    answer = called(GRAPH, "main", x, w)
    assert answer.value.numpy().tolist() == (x @ w + (x @ w).sum()).tolist()


LINKED = """
from tvm.script import ir as I, relax as R, tirx as T
@I.ir_module
class Module:
    @T.prim_func
    def count(x: T.Buffer((3,), "float32")) -> T.int64:
        T.func_attr({"global_symbol": "counted"})
        return T.int64(3)
    @R.function(pure=False)
    def main(x: R.Tensor((3,), "float32")):
        y = R.call_packed("counted", x, ty_args=[RESULT])
        return y
"""


def test_functions_are_found_by_the_name_that_they_are_linked_by():
    right = called(LINKED.replace("RESULT", 'R.Prim("int64")'), "main", np.zeros(3, "f4"))
    assert right.value == 3
    wrong = called(LINKED.replace("RESULT", 'R.Tensor((3,), "float32")'), "main", np.zeros(3, "f4"))
    assert wrong.why is Stop.TRAP
    assert wrong.diagnostic.code.id == "RM404"


PACKED = """
from tvm.script import relax as R
@R.function
def main(x: R.Tensor((3,), "float32")):
    y = R.call_pure_packed("f.g", x, sinfo_args=R.Tensor((3,), "float32"))
    return y
"""


def test_operators_that_are_not_known_are_named():
    answer = called(PACKED, "main", np.zeros(3, "f4"))
    assert answer.why is Stop.UNSUPPORTED
    assert "f.g" in answer.message


def test_a_number_that_fits_no_array_is_undefined():
    """NumPy imports a part of itself to word the error."""
    found = called(function("A[0] = A[0] * A[0]", 'A: T.Buffer((1,), "int32")'), "f", np.array([100_000], "int32"))
    assert found.why is Stop.UNDEFINED
    assert "out of bounds for int32" in found.message
