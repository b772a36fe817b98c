"""The obligations of a TensorIR function for all sizes: loops are not unrolled, a loop variable is a bounded integer.

| obligation   | must hold at every execution                                                   | otherwise   |
|--------------|--------------------------------------------------------------------------------|-------------|
| `bounds`     | each index of an access is within the extent of its axis                       | RM304       |
| `axis`       | each axis of a block is bound to a value of its domain                         | RM301       |
| `division`   | a divisor of integers is not 0                                                 | RM307       |
| `overflow`   | a result of 32 or 64 bits fits                                                 | RM306       |
| `extent`     | an extent is not negative                                                      | RM315       |
| `element`    | an element of the function's own memory was written before it is read          | RM305       |
| `order`      | iterations that may run at the same time do not touch one element              | RM321       |

`element` and `order` are shown by `coverage`; the others are decided one by one.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import z3

from refmlc.diag.source import Span
from refmlc.lang.ir import tir
from refmlc.lang.ir.kinds import ForKind
from refmlc.prove.sizes.coverage import StructuralFacts
from refmlc.prove.sizes.integers import Integers, Variables
from refmlc.prove.terms import Undecided

LAUNCHES = ("thread_extent", "virtual_thread")


@dataclass(frozen=True)
class SizedObligation:
    """What must hold for all sizes: under `conditions`, `goal` (None: nothing shows it).

    `unknown` are the numbers that memory holds.
    """

    kind: str
    goal: "z3.BoolRef | None"
    conditions: tuple["z3.BoolRef", ...]
    text: str
    span: Span | None
    unknown: tuple["z3.ExprRef", ...]


class ObligationWalk:
    """Walks through a function once and collects its obligations. Fails: Undecided for what it does not know."""

    def __init__(self, func: tir.PrimFunc, limit: int) -> None:
        self.obligations: list[SizedObligation] = []
        self.sizes: dict[str, z3.ArithRef] = {}
        self._variables = Variables()
        self._integers = _Reader(self._variables, self._oblige, self)
        self._coverage = StructuralFacts(func)
        self._tags: list[str] = []
        self._parameters(func, limit)
        self._statement(func.body)

    def _parameters(self, func: tir.PrimFunc, limit: int) -> None:
        extents = [extent for buffer in func.buffer_map.values() for extent in buffer.shape]
        for var in [*(each for each in extents if isinstance(each, tir.Var)), *func.params]:
            if var.dtype.is_integer and var not in func.buffer_map and var not in self._variables.values:
                size = self._variables.fresh(var.name, var.dtype)
                self._variables.values[var] = size
                self.sizes[var.name] = size
                if var in extents:
                    self._variables.conditions += [size >= 0, size <= limit]
        for extent in extents:
            if not isinstance(extent, tir.Var | tir.IntImm):
                self._variables.conditions.append(self._integers.number(extent) >= 0)

    # ------------------------------------------------------------------------------------ obligations

    def _oblige(self, kind: str, goal: object, text: str, span: Span | None) -> None:
        if goal is not None and z3.is_true(z3.simplify(goal)):
            return
        conditions, unknown = tuple(self._variables.conditions), tuple(self._variables.unknown)
        self.obligations.append(SizedObligation(kind, goal, conditions, text, span, unknown))

    @contextmanager
    def _if(self, *conditions: object) -> Iterator[None]:
        before = len(self._variables.conditions)
        self._variables.conditions += conditions
        yield
        del self._variables.conditions[before:]

    def access(self, node: tir.BufferLoad | tir.BufferStore) -> None:
        """The obligations of an access to memory."""
        if node.predicate is not None or any(index.dtype.is_vector for index in node.indices):
            raise Undecided("an access has lanes or a predicate", node.span)
        for axis, (index, extent) in enumerate(zip(node.indices, node.buffer.shape, strict=True)):
            at, size = self._integers.number(index), self._integers.number(extent)
            text = f"index {axis} of `{node.buffer.name}` is in bounds"
            self._oblige("bounds", z3.And(at >= 0, at < size), text, node.span)
        if isinstance(node, tir.BufferLoad):
            text = f"`{node.buffer.name}` is written where it is read"
            extents = self._coverage.needs(node)
            goal = None if extents is None else z3.And([self._integers.number(extent) >= 1 for extent in extents])
            self._oblige("element", goal, text, node.span)

    # ------------------------------------------------------------------------------------ statements

    def _statement(self, node: tir.Stmt) -> None:
        match node:
            case tir.SeqStmt(seq):
                for part in seq:
                    self._statement(part)
            case tir.For():
                self._loop(node)
            case tir.AttrStmt(node=tir.ThreadVar()) if node.key in LAUNCHES:
                raise Undecided("threads are launched by an attribute", node.span)
            case tir.AttrStmt(body=body):
                self._statement(body)
            case tir.SBlockRealize():
                self._block(node)
            case tir.BufferStore(value=value):
                self._integers.value(value)
                self.access(node)
            case tir.IfThenElse(condition, then_case, else_case):
                holds = self._integers.truth(condition)
                with self._if(holds):
                    self._statement(then_case)
                if else_case is not None:
                    with self._if(z3.Not(holds)):
                        self._statement(else_case)
            case tir.Bind(var, value):
                self._variables.values[var] = self._integers.value(value)
            case tir.AllocBuffer(buffer) | tir.DeclBuffer(buffer=buffer, data=None):
                self._allocate(buffer)
            case tir.AssertStmt(condition=condition):
                self._variables.conditions.append(self._integers.truth(condition))
            case tir.Evaluate(value=tir.IntImm()):
                pass
            case tir.Evaluate(value=tir.Call(callee="assume", args=(assumed,))) if isinstance(assumed, tir.Expr):
                self._variables.conditions.append(self._integers.truth(assumed))
            case tir.While(condition=condition, body=body):
                with self._if(self._integers.truth(condition)):
                    self._statement(body)
            case _:
                raise Undecided(f"a {type(node).__name__} is not known for all sizes", node.span)

    def _loop(self, node: tir.For) -> None:
        if node.step is not None:
            raise Undecided("a loop has a step", node.span)
        reason = self._coverage.order_reason(node) if node.kind not in (ForKind.SERIAL, ForKind.UNROLLED) else ""
        if reason:
            self._oblige("order", None, reason, node.span)
        first, extent = self._integers.number(node.min), self._integers.number(node.extent)
        self._oblige("extent", extent >= 0, f"the extent of loop `{node.loop_var.name}` is not negative", node.span)
        variable = self._variables.fresh(node.loop_var.name, node.loop_var.dtype)
        self._variables.values[node.loop_var] = variable
        if node.thread is not None and node.thread.var is not None:
            self._variables.values[node.thread.var] = variable
        if node.tag in self._tags:
            raise Undecided(f"the axis `{node.tag}` is bound twice", node.span)
        self._tags += [node.tag] if node.tag else []
        with self._if(variable >= first, variable < first + extent):
            self._statement(node.body)
        self._tags = self._tags[:-1] if node.tag else self._tags

    def _block(self, node: tir.SBlockRealize) -> None:
        block = node.block
        with self._if(self._integers.truth(node.predicate)):
            for axis, value in zip(block.iter_vars, node.iter_values, strict=True):
                bound = self._integers.number(value)
                least, extent = self._integers.number(axis.dom.min), self._integers.number(axis.dom.extent)
                text = f"axis `{axis.var.name}` is bound to a value of its domain"
                self._oblige("axis", z3.And(bound >= least, bound < least + extent), text, value.span or node.span)
                self._variables.values[axis.var] = bound
            for buffer in block.alloc_buffers:
                self._allocate(buffer)
            if block.match_buffers:
                raise Undecided("a block matches a region", node.span)
            if block.init is not None:
                self._statement(block.init)
            self._statement(block.body)

    def _allocate(self, buffer: tir.Buffer) -> None:
        for extent in buffer.shape:
            self._oblige("extent", self._integers.number(extent) >= 0, f"the shape of `{buffer.name}`", buffer.span)


class _Reader(Integers):
    """The encoder that reports every load it meets to the walk."""

    def __init__(self, variables: Variables, oblige: object, walk: ObligationWalk) -> None:
        super().__init__(variables, oblige)  # type: ignore[arg-type]
        self._walk = walk

    def visit(self, node: tir.Expr) -> None:
        """Visit an expression; a load has obligations."""
        match node:
            case tir.BufferLoad():
                self._walk.access(node)
            case tir.BufferData():
                raise Undecided("a pointer is used", node.span)
            case tir.Call(callee=callee) if callee not in PURE:
                raise Undecided(f"`T.{callee}` is called", node.span)
            case _:
                super().visit(node)


PURE = frozenset(("fma", "tvm_thread_invariant", "ignore_loop_partition", "call_pure_extern", "call_llvm_pure_intrin"))
