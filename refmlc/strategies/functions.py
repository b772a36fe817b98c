"""Whole TensorIR functions that are well-formed, with arguments to call them on.

A function takes inputs, outputs and numbers (`signature`), and is a sequence of `stages`, each of which writes one
buffer; buffers in between are allocated. `rolled(seed, aim)` makes a case from a seed, `refmlc.strategies.prim_funcs`
draws one from Hypothesis. `aim` is the code of what the program does wrong, where it does (a program may miss its
aim); empty: it is defined.
"""

from collections.abc import Sequence
from dataclasses import replace

from refmlc.diag.source import Source, Span
from refmlc.dtypes import BOOL, INT32
from refmlc.ir import IRModule, tir
from refmlc.ir.node import Node
from refmlc.ir.visit import rewrite
from refmlc.strategies.case import Case
from refmlc.strategies.choices import Choices, Rolled
from refmlc.strategies.mapped import rows
from refmlc.strategies.ranges import Held, number
from refmlc.strategies.signature import Signature

AIMS = (
    *("RM304", "RM305", "RM306", "RM307", "RM308", "RM309", "RM310", "RM311", "RM312", "RM313", "RM314", "RM315"),
    "RM401",
)
TRUE = tir.IntImm(BOOL, 1)
INPUTS, OUTPUTS = "ABC", "XYZ"


class Functions(Signature):
    """Makes a function."""

    def function(self) -> tir.PrimFunc:
        """The function; `recipes` gives its arguments after that."""
        self.symbolic()
        for name in INPUTS[: self.choices.pick((1, 2, 1, 2, 3, 0))]:
            self.held.append(self.input(name))
        for name in ("a0", "b0")[: self.choices.pick((0, 0, 1, 2))]:
            self.scalar(name)
        outputs = [self.output(name) for name in OUTPUTS[: self.choices.pick((1, 1, 2))]]
        statements = []
        for _ in range(self.choices.pick((0, 0, 1, 1, 2))):
            held = self.fresh(self.choices.pick(self.palette), self.shape()[0], ready=False)
            statements += self.written(held)
        for held in outputs:
            statements += self.aside() + self.written(held)
        if self.choices.chance(15):
            statements += self.returned()
        return self._assembled(statements)

    def written(self, held: Held) -> list[tir.Stmt]:
        """The stage of `held`, maybe in something else; then maybe some of it is changed in place."""
        form = self.viewed if held.shape and self.choices.chance(8) else self.stage
        parts = form(held)
        if self.choices.chance(6) and parts:
            parts = [self._around(rows(parts))]
        self.held.append(held)
        if self.choices.chance(15):
            parts = [*parts, *self.mapped(held)]
        if self.spoil("RM305", 15) and held.shape:
            parts = [*parts, self._forgotten(held)]
        return parts

    def _forgotten(self, held: Held) -> tir.Stmt:
        undef = tir.Call("undef", (), held.buffer.dtype)
        return tir.BufferStore(held.buffer, undef, tuple(number(self.word, 0) for _ in held.shape))

    def _around(self, body: tir.Stmt) -> tir.Stmt:
        match self.choices.below(3):
            case 0:
                return tir.AttrStmt(0, "pragma_scope", 1, body)
            case 1:
                var = tir.Var("b", INT32)
                zero, one = number(INT32, 0), number(INT32, 1)
                thread = tir.ThreadVar("blockIdx.z", var, tir.Range(zero, one))
                return tir.AttrStmt(thread, "thread_extent", one, body)
            case _:
                return tir.IfThenElse(tir.Apply("le", (number(INT32, 0), number(INT32, 0)), BOOL), body)

    def aside(self) -> list[tir.Stmt]:
        """A statement that writes nothing: an assertion, an assumption, an early end."""
        if not self.choices.chance(25 if self.aim not in ("RM310", "RM401") else 90):
            return []
        condition = self.condition(BOOL, 1).expr
        match self.choices.below(3):
            case 0:
                holds = condition if self.spoil("RM401", 90) else tir.Or(condition, TRUE)
                return [tir.AssertStmt(holds, self.choices.pick((("so",), ("", "it is"))))]
            case 1:
                holds = condition if self.spoil("RM310", 90) else tir.Or(condition, TRUE)
                return [tir.Evaluate(tir.Call("assume", (holds,), BOOL))]
            case _:
                if self.choices.chance(50):
                    return [tir.Evaluate(self.value(self.choices.pick(self.palette), 1).expr)]
                return [tir.IfThenElse(condition, tir.Return(number(INT32, 0)))]

    def returned(self) -> list[tir.Stmt]:
        """A value to end with."""
        value = self.value(self.choices.pick(self.palette), 1).expr
        if self.choices.chance(50):
            return [tir.Return(value)]
        return [tir.Evaluate(tir.Call("ret", (value,), value.dtype))]

    def _assembled(self, statements: Sequence[tir.Stmt]) -> tir.PrimFunc:
        params = tuple(var for var, _ in self.params)
        buffer_map = {var: buffer for var, buffer in self.params if buffer is not None}
        statements = statements or [tir.Evaluate(number(INT32, 0))]
        if self.choices.chance(50) and self.made:
            body = rows([*(tir.AllocBuffer(buffer) for buffer in self.made), *statements])
        else:
            block = tir.SBlock("root", (), (), (), rows(statements), None, tuple(self.made))
            body = tir.SBlockRealize((), TRUE, block)
        return tir.PrimFunc(params, buffer_map, body, {"tirx.noalias": True} if self.choices.chance(30) else {})


def placed(func: tir.PrimFunc) -> tir.PrimFunc:
    """`func` with a place of its own for each node, so that findings can be told apart."""
    source, count = Source("generated", ""), 0

    def at(node: Node) -> Node:
        nonlocal count
        count += 1
        return replace(node, span=Span(source, count, 0, count, 1))

    return rewrite(func, at)


def case_of(choices: Choices, aim: str) -> Case:
    """A case with the aim."""
    functions = Functions(choices, aim)
    func = functions.function()
    return Case(IRModule({"main": placed(func)}), "main", functions.recipes(), aim)


def drawn_aim(choices: Choices) -> str:
    """No aim in six of ten programs, else any."""
    return choices.pick(AIMS) if choices.chance(40) else ""


def rolled(seed: int, aim: str | None = "") -> Case:
    """The case of a seed: the same one each time, and quick. `aim` None: any, or none.

    >>> rolled(7).name
    'seed7'
    """
    choices = Rolled(seed)
    found = case_of(choices, drawn_aim(choices) if aim is None else aim)
    return replace(found, name=f"seed{seed}{f'_{aim}' if aim else ''}")
