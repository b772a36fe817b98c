"""The operators by how a text writes them: tables that follow from the notation in their rows.

| table       | from                                    | to                                          |
|-------------|-----------------------------------------|---------------------------------------------|
| `INFIX`     | an operator of two operands             | its symbol, and how strongly that binds     |
| `BY_SYMBOL` | Python's operator between two operands  | the operator                                |
| `BY_NAME`   | the name of a construct, without `T.`   | the operator, unless it is a rule of its own |
| `BY_NODE`   | TVM's class of nodes, without `prim.`   | the operator                                |
| `BY_CALL`   | the name of TVM's intrinsic             | the operator                                |
| `BY_C`      | C's math function of double             | the operator                                |
| `BY_LLVM`   | LLVM's intrinsic, without `llvm.`       | the operator                                |
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from refmlc.lang.dtypes import DType
from refmlc.lang.ops.notation import PRECEDENCE, Operands, Precedence
from refmlc.lang.ops.scalar import SCALAR_OPS


class Infix(NamedTuple):
    """A symbol between two operands, and how strongly it binds."""

    symbol: str
    precedence: Precedence


_CONTRACTS = tuple(row.contract for row in SCALAR_OPS.values())

INFIX: Mapping[str, Infix] = MappingProxyType(
    {
        row.name: Infix(row.notation.symbol, PRECEDENCE[row.notation.symbol])
        for row in _CONTRACTS
        if row.notation.symbol and row.arity == 2
    }
)
BY_SYMBOL: Mapping[str, str] = MappingProxyType({infix.symbol: name for name, infix in INFIX.items()})
BY_NAME: Mapping[str, str] = MappingProxyType(
    {
        name: row.name
        for row in reversed(_CONTRACTS)  # of two rows with one name, the first says what it means on integers
        if row.notation.operands is not Operands.OWN
        for name in row.names
    }
)
BY_NODE: Mapping[str, str] = MappingProxyType({row.notation.node: row.name for row in _CONTRACTS if row.notation.node})
BY_CALL: Mapping[str, str] = MappingProxyType(
    {name: row.name for row in _CONTRACTS for name in (row.name, row.notation.on_floats) if name}
)

BY_C: Mapping[str, str] = MappingProxyType({name: row.name for row in _CONTRACTS for name in row.notation.c})
BY_LLVM: Mapping[str, str] = MappingProxyType({name: row.name for row in _CONTRACTS for name in row.notation.llvm})


def on_dtype(op: str, dtype: DType) -> str:
    """The operator that a name of `op` means on operands of `dtype`: `T.Div` of integers is `truncdiv`."""
    other = SCALAR_OPS[op].contract.notation.on_integers
    return other if other and not dtype.is_float else op
