"""The hand-worked examples of the contracts, and what contracts say of dtypes."""

import pytest
from calculator import function
from exact_floats import assert_same

from refmlc.lang.dtypes import BOOL, FLOAT32, FLOAT64, INT32, SCALARS, UINT8, dtype
from refmlc.lang.ops.contract import FLOATS, Accuracy, Contract
from refmlc.lang.ops.laws import LAWS
from refmlc.lang.ops.scalar import SCALAR_OPS
from refmlc.lang.ops.table import markdown_table

CANONICAL = """
add sub mul div truncdiv truncmod floordiv floormod max min eq ne lt le gt ge not bitwise_and bitwise_or bitwise_xor
bitwise_not shift_left shift_right exp exp2 exp10 log log2 log10 log1p sin cos tan sinh cosh tanh asin acos atan asinh
acosh atanh sqrt rsqrt sigmoid erf ceil floor round nearbyint trunc abs pow fmod atan2 hypot copysign nextafter ldexp
popcount clz isnan isinf isfinite reinterpret likely q_multiply_shift q_multiply_shift_per_axis ceildiv
"""

EXAMPLES = [(name, example) for name, row in SCALAR_OPS.items() for example in row.contract.examples]


@pytest.mark.parametrize(("name", "example"), EXAMPLES, ids=[f"{name}-{e.dtype}-{e.args}" for name, e in EXAMPLES])
def test_example(name, example):
    contract = SCALAR_OPS[name].contract
    assert contract.accepts_operands(example.operands)
    call = function(name, example.dtype, *example.rest, declared=example.declared)
    value = call(*example.args)
    assert_same(value, example.result)
    result = contract.result_dtype(example.operands, SCALARS.get(example.declared))
    assert type(value) is {"float": float, "bool": bool}.get(result.kind, int)


def test_the_operators_are_the_canonical_ones():
    assert set(SCALAR_OPS) == set(CANONICAL.split())


@pytest.mark.parametrize("name", SCALAR_OPS)
def test_every_operator_has_examples_a_clause_and_known_laws(name):
    contract = SCALAR_OPS[name].contract
    assert contract.name == name
    assert contract.examples
    assert contract.clause.startswith("NUM-")
    assert contract.text
    assert set(contract.laws) <= set(LAWS)


def test_every_law_belongs_to_an_operator():
    assert {law for row in SCALAR_OPS.values() for law in row.contract.laws} == set(LAWS)


def test_dtypes_an_operator_refuses():
    assert not SCALAR_OPS["add"].contract.accepts_operands((BOOL, BOOL))
    assert not SCALAR_OPS["add"].contract.accepts_operands((INT32, FLOAT32))
    assert not SCALAR_OPS["add"].contract.accepts_operands((INT32,))
    assert not SCALAR_OPS["exp"].contract.accepts_operands((INT32,))
    assert not SCALAR_OPS["floordiv"].contract.accepts_operands((FLOAT32, FLOAT32))
    assert not SCALAR_OPS["clz"].contract.accepts_operands((UINT8,))
    assert not SCALAR_OPS["ldexp"].contract.accepts_operands((FLOAT32, FLOAT32))
    assert not SCALAR_OPS["shift_left"].contract.accepts_operands((BOOL, BOOL))
    assert SCALAR_OPS["ldexp"].contract.accepts_operands((FLOAT32, INT32))
    assert SCALAR_OPS["add"].contract.accepts_operands((dtype("float32x4"), dtype("float32x4")))


def test_dtypes_of_results():
    assert SCALAR_OPS["add"].contract.result_dtype((dtype("int8x4"),) * 2) is dtype("int8")
    assert SCALAR_OPS["lt"].contract.result_dtype((FLOAT32, FLOAT32)) is BOOL
    assert SCALAR_OPS["clz"].contract.result_dtype((dtype("int64"),)) is INT32
    assert SCALAR_OPS["reinterpret"].contract.result_dtype((FLOAT32,), INT32) is INT32
    assert SCALAR_OPS["reinterpret"].contract.result_dtype((FLOAT32,)) is FLOAT32


def test_bounds_of_errors():
    assert SCALAR_OPS["add"].contract.bound(FLOAT32) == 0.5
    assert SCALAR_OPS["add"].contract.bound(INT32) == 0.0
    assert SCALAR_OPS["max"].contract.bound(FLOAT32) == 0.0
    assert SCALAR_OPS["exp"].contract.bound(FLOAT64) == 1.0
    assert SCALAR_OPS["exp"].contract.bound(FLOAT32) == 0.5 + 2.0**-29


def test_the_table_shows_every_kind_of_contract():
    row = Contract("odd", 1, "a | b", "NUM-999", FLOATS, accuracy=Accuracy.ONE_OF)
    table = markdown_table((row, *(SCALAR_OPS[name].contract for name in ("ldexp", "clz", "tanh"))))
    assert "| `odd` | `T.odd` | float | same | one of a set | a \\| b |  |  | NUM-999 |\n" in table
    assert "| float; then int |" in table
    assert "| int32, int64, uint32, uint64 | int32 | bits |" in table
    assert "RM311: a is 0" in table
    assert "| 3 ulp |" in table
