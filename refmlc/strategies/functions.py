"""Whole TensorIR functions that are well-formed, with arguments to call them on.

A function takes inputs, outputs and numbers (`signature`), and is a sequence of `stages`, each of which writes one
buffer; buffers in between are allocated. `rolled(seed, aim)` makes a case from a seed, `refmlc.strategies.prim_funcs`
draws one from Hypothesis. `aim` is the code of the program's fault (a program may miss its aim); empty: it is defined.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from refmlc.lang.dtypes import BOOL, INT32
from refmlc.lang.ir import IRModule, tir
from refmlc.strategies.aims import THREAD_AIMS, aimed_case
from refmlc.strategies.case import Case
from refmlc.strategies.choices import Choices, SeededChoices
from refmlc.strategies.mapped import rows
from refmlc.strategies.nests import true
from refmlc.strategies.places import place_nodes
from refmlc.strategies.ranges import RangedBuffer, number
from refmlc.strategies.signature import Signature

CHECKED = (
    *("RM304", "RM305", "RM306", "RM307", "RM308", "RM309", "RM310", "RM311", "RM312", "RM313", "RM314", "RM315"),
    "RM401",
)
"""The codes that the interpreter finds in every run."""

WATCHED = ("RM318", "RM319", "RM320", "RM321", "RM322", "RM325", "RM326")
"""The codes that its detectors find."""

AIMS = (*CHECKED, *WATCHED)
"""The codes that a function may aim at; `MODULE_AIMS` and `THREAD_AIMS` (`aims`) are further ones."""
INPUTS, OUTPUTS = "ABC", "XYZ"
SIDE_STATEMENTS = {"RM401": 0, "RM310": 1}  # the side statement that shows the code


class Functions(Signature):
    """Makes a whole function."""

    def function(self) -> tir.PrimFunc:
        """The function; `recipes` gives its arguments after that."""
        self.symbolic()
        several, tiny = self.choices.several, self.tiny
        several(INPUTS, (100, 30) if tiny else (85, 55, 30), self.add_input)
        several(("a0", "b0"), (25,) if tiny else (50, 50), self.scalar)
        outputs = several(OUTPUTS, (100,) if tiny else (100, 33), self.output)
        stages = several("..", (25,) if tiny else (60, 33), self.intermediate)
        for target in outputs:
            stages.append(self.choices.group(self.side_statement))
            stages.append(self.choices.group(partial(self.write_stage, target)))
        if self.choices.chance(15):
            stages.append(self.return_value())
        return self._assemble([statement for stage in stages for statement in stage])

    def add_input(self, name: str) -> None:
        self.readable.append(self.input(name))

    def intermediate(self, _name: str) -> list[tir.Stmt]:
        """A stage that fills a temporary buffer."""
        return self.write_stage(self.fresh(self.choices.pick(self.palette), self.shape()[0], ready=False))

    def write_stage(self, target: RangedBuffer) -> list[tir.Stmt]:
        """The stage of `target`, maybe within another statement; then maybe an update in place."""
        form = self.flat_view if target.shape and self.choices.chance(8) else self.stage
        parts = form(target)
        if self.choices.chance(6) and parts:
            parts = [self._wrap(rows(parts))]
        self.readable.append(target)
        if self.choices.chance(60 if self.aim == "RM319" else 15):
            parts = [*parts, *(self.map_stage(target) if self.spoil("RM319") else self._update_in_place(target))]
        if self.spoil("RM305", 15) and target.shape:
            parts = [*parts, self._undefined_store(target)]
        return parts

    def _update_in_place(self, target: RangedBuffer) -> list[tir.Stmt]:
        """A stage that updates each element in place, and reads no other element of the buffer."""
        self.readable.remove(target)
        parts = self.map_stage(target, again=True)
        self.readable.append(target)
        return parts

    def _undefined_store(self, target: RangedBuffer) -> tir.Stmt:
        undef = tir.Call("undef", (), target.buffer.dtype)
        return tir.BufferStore(target.buffer, undef, tuple(number(self.word, 0) for _ in target.shape))

    def _wrap(self, body: tir.Stmt) -> tir.Stmt:
        match self.choices.below(3):
            case 0:
                return tir.AttrStmt(0, "pragma_scope", 1, body)
            case 1:
                var = tir.Var("b", INT32)
                extent = number(INT32, 1)
                thread = tir.ThreadVar("blockIdx.z", var, tir.Range(number(INT32, 0), extent))
                return tir.AttrStmt(thread, "thread_extent", extent, body)
            case _:
                return tir.IfThenElse(tir.Apply("le", (number(INT32, 0), number(INT32, 0)), BOOL), body)

    def side_statement(self) -> list[tir.Stmt]:
        """A statement that writes nothing: an assertion, an assumption, an early return; or none."""
        if not self.choices.chance(25 if self.aim not in ("RM310", "RM401") else 90):
            return []
        condition = self.condition(BOOL, 1).expr
        form = SIDE_STATEMENTS[self.aim] if self.aim in SIDE_STATEMENTS else self.choices.below(3)
        match form:
            case 0:
                holds = condition if self.spoil("RM401", 90) else tir.Or(condition, true())
                return [tir.AssertStmt(holds, self.choices.pick((("so",), ("", "it is"))))]
            case 1:
                holds = condition if self.spoil("RM310", 90) else tir.Or(condition, true())
                return [tir.Evaluate(tir.Call("assume", (holds,), BOOL))]
            case _:
                if self.choices.chance(50):
                    return [tir.Evaluate(self.value(self.choices.pick(self.palette), 1).expr)]
                return [tir.IfThenElse(condition, tir.Return(number(INT32, 0)))]

    def return_value(self) -> list[tir.Stmt]:
        """A return of a value at the end."""
        value = self.value(self.choices.pick(self.palette), 1).expr
        if self.choices.chance(50):
            return [tir.Return(value)]
        return [tir.Evaluate(tir.Call("ret", (value,), value.dtype))]

    def _assemble(self, statements: Sequence[tir.Stmt]) -> tir.PrimFunc:
        params = tuple(var for var, _ in self.params)
        buffer_map = {var: buffer for var, buffer in self.params if buffer is not None}
        statements = statements or [tir.Evaluate(number(INT32, 0))]
        if self.temporaries and not self.choices.chance(50):
            body = rows([*(tir.AllocBuffer(buffer) for buffer in self.temporaries), *statements])
        else:
            block = tir.SBlock("root", (), (), (), rows(statements), None, tuple(self.temporaries))
            body = tir.SBlockRealize((), true(), block)
        return tir.PrimFunc(params, buffer_map, body, {"tirx.noalias": True} if self.noalias else {})


def case_of(choices: Choices, aim: str, *, small: bool = False) -> Case:
    """A case with the aim; empty: a defined one."""
    if aim in THREAD_AIMS:
        return aimed_case(choices, aim)
    functions = Functions(choices, aim, small=small)
    func = functions.function()
    return Case(IRModule({"main": place_nodes(func)}), "main", functions.recipes(), aim)


def draw_aim(choices: Choices) -> str:
    """No aim in six of ten programs, else any."""
    return choices.pick(AIMS) if choices.chance(40) else ""


def rolled(seed: int, aim: str | None = "", *, small: bool = False) -> Case:
    """The case of a seed: the same one each time, and quick.

    `small`: one output, extents of 1 … 3, one call: for campaigns with many programs in little time. `aim` None: any
    aim or none; one case in 64 has a fault of threads.

    >>> rolled(7).name
    'seed7'
    """
    choices = SeededChoices(seed)
    if aim is None and SeededChoices(f"threads {seed}").below(64) == 0:
        aim = choices.pick(THREAD_AIMS)
    case = case_of(choices, draw_aim(choices) if aim is None else aim, small=small)
    return replace(case, name=f"{'small' if small else 'seed'}{seed}{f'_{aim}' if aim else ''}")
