"""The names in the rows of operators and intrinsics: what the reader takes, the printer writes."""

from collections import Counter

import pytest
from readings import function

from refmlc.diag import RefmlcError
from refmlc.lang.dtypes import FLOAT32, INT32, VOID, dtype
from refmlc.lang.ir import tir
from refmlc.lang.ops.intrinsics import ALIASES, INTRINSICS, Written, intrinsic
from refmlc.lang.ops.names import BY_NAME, BY_NODE, INFIX
from refmlc.lang.ops.notation import PRECEDENCE, Operands
from refmlc.lang.ops.scalar import SCALAR_OPS
from refmlc.lang.script.printer.operators import named

P = "a: T.int32, x: T.float32, h: T.handle"

CONTRACTS = {name: row.contract for name, row in SCALAR_OPS.items()}
READ = sorted((name, op) for op, row in CONTRACTS.items() for name in row.names if op in BY_NAME.values())
SPELLED_BY_PYTHON = {"==": "EQ", "/": "Div", "//": "FloorDiv", "%": "FloorMod", "<<": "LShift"}


def expr(text):
    """The node of an expression."""
    return function(f"T.evaluate({text})", P).body.value


def operand(contract):
    return "x" if contract.accepts == {"float"} else "a"


@pytest.mark.parametrize(("name", "op"), READ)
def test_each_name_of_a_row_reads_as_its_operator(name, op):
    contract = CONTRACTS[op]
    first = operand(contract)
    others = ["a" if contract.rest else first] * (contract.arity - 1)
    node = expr(f"T.{name}({', '.join([first, *others])})")
    expected = contract.notation.on_integers if first == "a" else ""
    assert isinstance(node, tir.Apply)
    assert node.op == (expected or op)


def test_a_name_belongs_to_one_operator():
    shared = Counter(name for name, _ in READ)
    assert [name for name, count in shared.items() if count > 1] == ["Div"]
    assert CONTRACTS["div"].notation.on_integers == "truncdiv"


def test_the_printed_name_is_read():
    for op, row in CONTRACTS.items():
        if row.notation.operands is not Operands.OWN:
            assert named(op, INT32).removeprefix("T.") in row.names
            assert named(op, FLOAT32).removeprefix("T.") in row.names


def test_every_symbol_has_a_binding_and_one_operator():
    symbols = [row.notation.symbol for row in CONTRACTS.values() if row.notation.symbol]
    assert set(symbols) <= set(PRECEDENCE)
    assert len(symbols) == len(set(symbols))
    for symbol, node in SPELLED_BY_PYTHON.items():
        assert INFIX[BY_NODE[node]].symbol == symbol


def test_bindings_are_those_of_python():
    # a + b * c: Python's own grammar groups it, so does the text that is read
    order = ("or", "and", "not", "==", "|", "^", "&", "<<", "+", "*", "~")
    assert [PRECEDENCE[symbol] for symbol in order] == sorted(PRECEDENCE[symbol] for symbol in order)
    for weak, strong in zip(("|", "^", "&", "<<", "+"), ("^", "&", "<<", "+", "*"), strict=True):
        node = expr(f"a {weak} a {strong} a")
        assert (INFIX[node.op].symbol, INFIX[node.args[1].op].symbol) == (weak, strong)


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("T.vscale()", "int32"),
        ("T.isnullptr(h)", "bool"),
        ("T.tvm_warp_activemask()", "uint32"),
        ("T.tvm_thread_invariant(x)", "float32"),
        ("T.fma(x, x, x)", "float32"),
        ("T.tvm_warp_shuffle(0, x, 1)", "float32"),
        ("T.call_extern('float16', 'f', x)", "float16"),
        ("T.call_pure_extern('f', x, dtype='float16')", "float16"),
        ("T.tvm_call_packed('f', x)", "int32"),
        ("T.tvm_kernel_replace_point()", "void"),
        ("T.print_buffer(dtype='int8')", "int8"),
    ],
)
def test_the_row_says_the_dtype_of_a_call(text, result):
    assert expr(text).dtype == (VOID if result == "void" else dtype(result))


def test_a_call_without_its_dtype_is_refused():
    with pytest.raises(RefmlcError, match="gets no argument for `dtype`"):
        expr("T.call_extern()")
    with pytest.raises(RefmlcError, match="takes at least 2 arguments"):
        expr("T.tvm_warp_shuffle(a)")


def test_aliases_name_rows_that_have_no_alias_as_their_name():
    assert {intrinsic(name).name for name in ALIASES.values()} == set(ALIASES.values())
    assert not set(ALIASES) & set(INTRINSICS)


def test_the_argument_that_a_call_follows_exists():
    for row in INTRINSICS.values():
        if isinstance(row.result, int) and row.takes is not None:
            assert row.result < len(row.takes.split())
        assert isinstance(row.result, Written | int | str)
