"""Registers of shuffles that may have no value (TIW-009): beside each of them a flag that says whether it has one.

| statement                                       | becomes                                                          |
|-------------------------------------------------|------------------------------------------------------------------|
| a store to such a register                      | the same, and its flag is set if all such registers that the     |
|                                                 | value reads have one                                             |
| any other that reads such registers             | the same, after an assertion of their flags                      |

A register that was never written has no value, and neither has the result of a shuffle from a lane that is not there.
Where an assertion fails C stops, and the interpreter says why.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from refmlc.lang.dtypes import BOOL, INT32
from refmlc.lang.ir import tir
from refmlc.lang.ir.kinds import ForKind
from refmlc.lang.ir.node import Node
from refmlc.lang.ir.visit import children, walk
from refmlc.native.analysis.thread_loops import Left
from refmlc.rewrite.schedule.places import integer, sequence

TRUE = tir.IntImm(BOOL, 1)


class Registers:
    """The registers of the threads, each with the buffer of its flags."""

    def __init__(self) -> None:
        self._flags: dict[tir.Buffer, tir.Buffer] = {}

    def flags(self, buffer: tir.Buffer) -> tir.Buffer:
        """The flags of the elements of a register from now on."""
        if buffer not in self._flags:
            self._flags[buffer] = replace(buffer, name=f"{buffer.name}_has_a_value", dtype=BOOL)
        return self._flags[buffer]

    def has(self, values: Iterable[Node]) -> tir.Expr:
        """Whether all registers that are read in `values` have a value."""
        found: tir.Expr = TRUE
        for load in self._loads(values):
            flag = tir.BufferLoad(self._flags[load.buffer], load.indices)
            found = flag if found is TRUE else tir.And(found, flag)
        return found

    def asserted(self, *values: Node) -> list[tir.Stmt]:
        """The assertions before a statement that reads registers in `values`."""
        has = self.has(values)
        return [] if has is TRUE else [tir.AssertStmt(has, ("a register that is read has a value",))]

    def checked(self, stmt: tir.Stmt) -> tir.Stmt:
        """The statement with its stores to flags, and its assertions. Raises `Left`."""
        return sequence(list(self._checked(stmt))) if self._flags else stmt

    def _loads(self, values: Iterable[Node]) -> Iterator[tir.BufferLoad]:
        for value in values:
            for node in walk(value):
                if isinstance(node, tir.BufferLoad) and node.buffer in self._flags:
                    yield node

    def _checked(self, stmt: tir.Stmt) -> Iterator[tir.Stmt]:
        match stmt:
            case tir.SeqStmt(seq):
                for part in seq:
                    yield from self._checked(part)
            case tir.BufferStore(buffer=buffer, value=value, indices=indices) if buffer in self._flags:
                yield from self.asserted(*indices)
                yield tir.BufferStore(self._flags[buffer], self.has([value]), indices)
                yield stmt
            case tir.For():
                yield from self.asserted(stmt.min, stmt.extent)
                yield replace(stmt, body=self.checked(stmt.body))
            case tir.IfThenElse():
                yield from self.asserted(stmt.condition)
                other = None if stmt.else_case is None else self.checked(stmt.else_case)
                yield replace(stmt, then_case=self.checked(stmt.then_case), else_case=other)
            case tir.AttrStmt():
                yield replace(stmt, body=self.checked(stmt.body))
            case tir.Bind() | tir.Evaluate() | tir.BufferStore() | tir.AssertStmt() | tir.AllocBuffer():
                yield from self.asserted(*(each for each in children(stmt) if not isinstance(each, tir.Buffer)))
                yield stmt
            case _ if any(self._loads([stmt])) or any(
                isinstance(node, tir.BufferStore) and node.buffer in self._flags for node in walk(stmt)
            ):
                raise Left("a register of a shuffle is touched in a statement of another kind")
            case _:
                yield stmt


def without_values(parts: Sequence[tir.Buffer]) -> tir.Stmt:
    """The loops that make zero of every element of some arrays of one shape."""
    shape = parts[0].shape
    variables = tuple(tir.Var(f"i{at}", INT32) for at in range(len(shape)))
    body = sequence([tir.BufferStore(part, _zero(part), variables) for part in parts])
    for var, size in zip(reversed(variables), reversed(shape), strict=True):
        body = tir.For(var, integer(0, INT32), size, ForKind.SERIAL, body)
    return body


def _zero(buffer: tir.Buffer) -> tir.Expr:
    dtype = buffer.dtype
    if dtype.is_integer or dtype.kind == "bool":
        return tir.IntImm(dtype, 0)
    if dtype.is_float and not dtype.is_vector:
        return tir.FloatImm(dtype, 0.0)
    raise Left(f"`{buffer.name}` is a register of {dtype}")
