"""Arguments made for any module: they fit its parameters, and its use of them."""

import pytest
from hypothesis import given, settings

from refmlc.diag import RefmlcError
from refmlc.lang.wellformed.reader_checks import read
from refmlc.observe.sanitize import sanitize
from refmlc.run.interp.machine import Machine
from refmlc.run.memory.tensor import Tensor
from refmlc.strategies import Array, Number, ShapeOf, TupleOf, inputs_for, rolled, rolled_inputs
from refmlc.strategies.arguments import arguments

HEAD = "from tvm.script import ir as I\nfrom tvm.script import relax as R\nfrom tvm.script import tirx as T\n\n\n"
ROWS = f"""{HEAD}@T.prim_func
def main(a: T.handle, places: T.handle, by: T.handle, c: T.handle, k: T.int32):
    n = T.int64()
    m = T.int64()
    A = T.match_buffer(a, (n, m), "float32")
    P = T.match_buffer(places, (n,), "int64")
    B = T.match_buffer(by, (n + 1,), "int32")
    C = T.match_buffer(c, (n, m), "float32")
    for i, j in T.grid(n, m):
        with T.sblock("rows"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = A[P[vi], vj] + T.Cast("float32", k // B[vi])
"""
FOLDED = f"""{HEAD}@T.prim_func
def main(A: T.Buffer((3,), "float32"), S: T.Buffer((1,), "float32"), X: T.Buffer((1,), "float32")):
    for i in range(3):
        with T.sblock("sum"):
            vi = T.axis.reduce(3, i)
            with T.init():
                S[0] = T.float32(0)
            S[0] = S[0] + A[vi]
    X[0] = X[0] * T.float32(2)
"""
GRAPH = f"""{HEAD}@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", 4), "float32"), y: R.Tensor(("n",), "int32"), s: R.Shape(["n", "m"]),
             p: R.Prim("int64"), t: R.Tuple(R.Tensor((2,), "float16"), R.Shape(["m"]))):
        return x
"""


def test_dimensions_are_the_same_everywhere_and_of_all_sizes():
    seen = set()
    for seed in range(60):
        a, places, by, c, k = rolled_inputs(read(ROWS, "case.py"), "main", seed)
        n, m = a.shape
        assert (places.shape, by.shape, c.shape) == ((n,), (n + 1,), (n, m))
        assert isinstance(k, Number)
        seen |= {n, m}
    assert {0, 1, 2, 3} <= seen


def test_dimensions_that_are_given_are_taken():
    a, *_ = rolled_inputs(read(ROWS, "case.py"), "main", 3, dims={"n": 6, "m": 9})
    assert a.shape == (6, 9)


def test_what_is_only_written_is_fresh_and_the_rest_is_filled():
    first, total, scaled = rolled_inputs(read(FOLDED, "case.py"), "main", 1)
    assert (first.form, total.form, scaled.form) == ("compact", "fresh", "compact")


@pytest.mark.parametrize("text", [ROWS, FOLDED], ids=["rows", "folded"])
def test_calls_with_them_are_defined(text):
    module = read(text, "case.py")
    for seed in range(40):
        report = sanitize(module, "main", arguments(rolled_inputs(module, "main", seed)))
        assert not report.findings, seed


def test_values_of_every_relax_type_are_made():
    for seed in range(20):
        x, y, s, p, t = rolled_inputs(read(GRAPH, "case.py"), "main", seed)
        assert isinstance(s, ShapeOf)
        assert x.shape == (s.values[0], 4)
        assert y.shape == (s.values[0],)
        assert isinstance(p, Number)
        assert t == TupleOf((Array(t.items[0].dtype, (2,), t.items[0].way, t.items[0].seed, *limits_of(t)), t.items[1]))
        assert t.items[1] == ShapeOf((s.values[1],))


def limits_of(one):
    return one.items[0].low, one.items[0].high


@settings(max_examples=30, database=None)
@given(inputs_for(read(ROWS, "case.py"), "main"))
def test_drawn_ones_can_be_called(recipe):
    given = arguments(recipe)
    Machine(read(ROWS, "case.py")).call("main", given)
    assert given[3].initialised


def test_the_same_seed_gives_the_same():
    module = read(ROWS, "case.py")
    assert rolled_inputs(module, "main", 5) == rolled_inputs(module, "main", 5)
    assert len({rolled_inputs(module, "main", seed) for seed in range(20)}) > 10


def test_generated_functions_take_them():
    """Their own recipes are not used: most calls are defined with any arguments that fit."""
    ends = []
    for seed in range(40):
        case = rolled(seed, small=True)
        try:
            Machine(case.module, output=lambda _: None).call(
                "main", arguments(rolled_inputs(case.module, "main", seed))
            )
            ends.append("")
        except RefmlcError as failure:
            ends.append(failure.code.id)
    assert ends.count("") >= 25


def test_who_asks_for_what_is_not_there_is_told():
    with pytest.raises(RefmlcError) as raised:
        rolled_inputs(read(ROWS, "case.py"), "other", 0)
    assert raised.value.code.id == "RM112"


def test_arguments_are_tensors():
    assert isinstance(arguments(rolled_inputs(read(ROWS, "case.py"), "main", 0))[0], Tensor)


@pytest.mark.parametrize(
    ("extent", "n", "size"),
    [
        ("4 + T.truncmod(n - 5, 3)", 0, 2),  # -5 truncmod 3 is -2
        ("4 + T.truncdiv(n - 9, 4)", 0, 2),  # -9 truncdiv 4 is -2
        ("T.ceildiv(n, 4)", 9, 3),
        ("T.Cast('int32', T.Cast('uint8', n - 1))", 0, 255),
        ("T.Select(n > 3, 7, n)", 5, 7),
        ("7 // n", 0, 0),  # undefined: what the call says
        ("n - 4", 1, 0),
    ],
)
def test_a_size_is_what_executing_its_expression_gives(extent, n, size):
    text = f"""{HEAD}@T.prim_func(s_tir=True)
def main(n: T.int32, b: T.handle):
    B = T.match_buffer(b, ({extent},), "float32")
    T.evaluate(0)
"""
    assert rolled_inputs(read(text, "case.py"), "main", 1, dims={"n": n})[1].shape == (size,)
