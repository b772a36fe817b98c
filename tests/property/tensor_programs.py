"""Whole TensorIR functions that are well-formed, with arguments to call them on.

A function takes inputs, outputs and numbers, and is a sequence of stages (`program_stages`), each of which writes
one buffer; buffers in between are allocated. Extents are 1 … 5, in some programs larger and odd, so that vectors
have tails; some are symbolic and bound by the call. A third of the programs is regular: extents are known, indices are
axes, loops may mostly be reordered.

`cases(aim)` draws a `Case` from Hypothesis, `rolled(seed, aim)` makes one from a seed. `aim` is the code of what the
program does wrong, where it does (a program may miss its aim); empty: it is defined, but for what slips through.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from hypothesis import strategies as st
from program_choices import Drawn, Rolled
from program_inputs import WAYS, Array, Number, Same
from program_stages import Stages, rows, volume
from program_values import FLOATS, KINDS, PLAIN, Held, Sized, limits, number

from refmlc.diag.source import Source, Span
from refmlc.dtypes import BOOL, FLOAT32, HANDLE, INT32, INT64, SCALARS, UINT8
from refmlc.ir import IRModule, tir
from refmlc.ir.visit import rewrite
from refmlc.script import show

AIMS = (
    *("RM304", "RM305", "RM306", "RM307", "RM308", "RM309", "RM310", "RM311", "RM312", "RM313", "RM314", "RM315"),
    "RM401",
)
VOID = SCALARS["void"]
TRUE = tir.IntImm(BOOL, 1)
AIMED = {
    "RM306": (INT32, INT64),
    "RM307": (INT32, SCALARS["int8"]),
    "RM308": (INT32, SCALARS["uint16"]),
    "RM309": (INT32, SCALARS["int8"], FLOAT32),
    "RM311": (INT32, INT32, SCALARS["float4_e2m1fn"], FLOAT32),
}
REGULAR = tuple(SCALARS[name] for name in ("float32", "float16", "bfloat16", "float64", "int8", "uint8", "int32"))
SMALL, LARGE = (2, 1, 3, 4, 5), (17, 33, 16, 7, 8, 32, 1, 3)
TAME = 100
INPUTS, OUTPUTS, TEMPORARIES = "ABC", "XYZ", "PQRSTUVW"


@dataclass(frozen=True)
class Case:
    """A function and what it is called with: a recipe of arguments for each call. Those from a seed have a name."""

    func: tir.PrimFunc
    recipes: Sequence[tuple[Array | Number | Same, ...]]
    aim: str = ""
    name: str = ""

    def __repr__(self) -> str:
        lines = [show(IRModule({"main": self.func})), f"aim: {self.aim or 'none'}"]
        for recipe in self.recipes:
            lines += ["called with", *(f"  {one}" for one in recipe)]
        return "\n".join(lines)

    def _repr_pretty_(self, printer, _cycle):
        """The text, where Hypothesis prints a case."""
        printer.text(repr(self))


class Programs(Stages):
    """Makes a function."""

    def __init__(self, choices, aim="") -> None:
        super().__init__(choices, aim)
        self.regular = aim not in AIMED and choices.chance(35)
        self.large = choices.chance(30 if self.regular else 12)
        self.word = INT64 if choices.chance(20) else INT32
        self.palette = AIMED.get(aim) or tuple(self._kind() for _ in range(1 + choices.below(3)))
        self.depth, self.odd = (1, 4) if self.regular else choices.pick(((1, 8), (2, 25), (2, 45), (1, 8), (3, 60)))
        self.dims: list[tuple[tir.Var, int]] = []
        self.made: list[tir.Buffer] = []
        self.params: list[tuple[tir.Var, tir.Buffer | None]] = []
        self.recipe: list[Array | Number | Same] = []
        self.results: list[tir.Stmt] = []

    def _kind(self):
        if self.regular and self.choices.chance(80):
            return self.choices.pick(REGULAR)
        return self.choices.pick(PLAIN) if self.choices.chance(55) else self.choices.pick(KINDS)

    # --------------------------------------------------------------------------------------------- shapes

    def extent(self):
        return self.choices.pick(LARGE if self.large else SMALL)

    def shape(self):
        """Extents in this call, and the expressions of them."""
        rank = self.choices.pick((1, 2, 1, 2, 2, 3, 4, 0))
        found = []
        for _ in range(rank):
            if self.dims and self.choices.chance(60):
                var, value = self.choices.pick(self.dims)
                found.append((value, var))
            else:
                value = self.extent()
                found.append((value, number(self.word, value)))
        while volume(value for value, _ in found) > (900 if self.large else 150):
            found.pop()
        return tuple(value for value, _ in found), tuple(expr for _, expr in found)

    def buffer(self, name, kind, extents=None, sizes=None, **layout):
        if extents is None:
            extents, sizes = self.shape()
        return Held(tir.Buffer(name, kind, sizes, **layout), extents, ready=False)

    def fresh(self, kind, shape, *, ready=True):
        held = Held(
            tir.Buffer(
                TEMPORARIES[len(self.made) % len(TEMPORARIES)], kind, tuple(number(self.word, one) for one in shape)
            ),
            shape,
            ready=ready,
        )
        self.made.append(held.buffer)
        return held

    # ------------------------------------------------------------------------------------------ parameters

    def symbolic(self):
        """Variables of shapes, each bound by the first dimension of a buffer of its own, or a parameter."""
        if self.regular and self.choices.chance(85):
            return
        for name in ("n", "m")[: self.choices.pick((0, 0, 0, 1, 1, 2))]:
            var, value = tir.Var(name, self.word), self.extent()
            self.dims.append((var, value))
            self.numbers.append(Sized(var, value, value))
            if self.choices.chance(20):
                self.params.append((var, None))
                self.recipe.append(Number(self.word, value))
            else:
                self.held.append(self.input(f"D{name}", (value,), (var,)))

    def input(self, name, extents=None, sizes=None):
        """A buffer that the caller fills."""
        kind = self.choices.pick(self.palette)
        held = self.buffer(name, kind, extents, sizes)
        low, high = self._bounds(kind)
        held.low, held.high, held.ready = low, high, True
        form = "compact"
        if volume(held.shape[:-1]) > 1 and self.choices.chance(12):
            held.buffer, form = self._strided(held), "strided"
        elif not self.regular and self.choices.chance(6):
            layout = {"elem_offset": tir.Var(f"o{name}", self.word), "offset_factor": 1}
            held.buffer, form = replace(held.buffer, **layout), "offset"
        if self.aim == "RM305" and form == "compact" and self.choices.chance(20):
            form = self.choices.pick(("fresh", "partial"))
        self._takes(held, Array(kind, held.shape, "steps", 0, low, high, form))
        return held

    def _bounds(self, kind):
        low, high = limits(kind)
        if kind.is_integer and kind.bits >= 32 and self.aim not in AIMED and not self.choices.chance(15):
            return max(low, -TAME), min(high, TAME)
        return low, high

    def _strided(self, held):
        steps = [1]
        for extent in reversed((*held.shape[1:-1], held.shape[-1] + 3)):
            steps.append(steps[-1] * extent)
        steps.reverse()
        if self.choices.chance(50):
            strides = tuple(tir.Var(f"s{place}", self.word) for place in range(len(steps)))
        else:
            strides = tuple(number(self.word, step) for step in steps)
        return tir.Buffer(held.buffer.name, held.buffer.dtype, held.buffer.shape, strides)

    def _takes(self, held, array):
        self.params.append((tir.Var(held.buffer.name.lower(), HANDLE), held.buffer))
        self.recipe.append(array)

    def scalar(self, name):
        kind = self.choices.pick((INT32, FLOAT32, *self.palette, BOOL, UINT8))
        var = tir.Var(name, kind)
        value = self.constant(kind).expr.value
        if kind.is_float:
            self.numbers.append(Sized(var))
        elif kind.bits >= 32:
            self.numbers.append(Sized(var, value, value))
        else:
            self.numbers.append(Sized(var, *limits(kind)))
        self.params.append((var, None))
        self.recipe.append(Number(kind, value))

    def output(self, name):
        """A buffer that the program fills; what it held before may be anything."""
        held = self.buffer(name, self.choices.pick(self.palette))
        form = self.choices.pick(("fresh", "compact", "partial"))
        low, high = self._bounds(held.buffer.dtype)
        if self.aim == "RM313" and self.choices.chance(60):
            form = "locked"
        if self.aim == "RM305" and self.choices.chance(30):
            self.held.append(replace(held, low=low, high=high))
        self._takes(held, Array(held.buffer.dtype, held.shape, "small", 1, low, high, form))
        return held

    # ---------------------------------------------------------------------------------------------- bodies

    def function(self):
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

    def written(self, held):
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

    def _forgotten(self, held):
        undef = tir.Call("undef", (), held.buffer.dtype)
        return tir.BufferStore(held.buffer, undef, tuple(number(self.word, 0) for _ in held.shape))

    def _around(self, body):
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

    def aside(self):
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
                return [tir.IfThenElse(condition, tir.Evaluate(tir.Call("ret", (), VOID)))]

    def returned(self):
        """A value to end with."""
        value = self.value(self.choices.pick(self.palette), 1).expr
        if self.choices.chance(50):
            return [tir.Return(value)]
        return [tir.Evaluate(tir.Call("ret", (value,), value.dtype))]

    def _assembled(self, statements):
        params = tuple(var for var, _ in self.params)
        buffer_map = {var: buffer for var, buffer in self.params if buffer is not None}
        statements = statements or [tir.Evaluate(number(INT32, 0))]
        if self.choices.chance(50) and self.made:
            body = rows([*(tir.AllocBuffer(buffer) for buffer in self.made), *statements])
        else:
            block = tir.SBlock("root", (), (), (), rows(statements), None, tuple(self.made))
            body = tir.SBlockRealize((), TRUE, block)
        return tir.PrimFunc(params, buffer_map, body, {"tirx.noalias": True} if self.choices.chance(30) else {})

    def recipes(self):
        """The arguments of one or two calls."""
        found = [self._filled() for _ in range(1 + self.choices.chance(40))]
        places = [number for number, one in enumerate(self.recipe) if isinstance(one, Array) and one.form == "compact"]
        if len(places) > 1 and self.choices.chance(5):
            first, *others = places
            alike = [other for other in others if _alike(self.recipe[first], self.recipe[other])]
            if alike:
                found[-1] = (*found[-1][: alike[0]], Same(first), *found[-1][alike[0] + 1 :])
        return tuple(found)

    def _filled(self):
        """The recipe, with ways and seeds."""
        filled = []
        for one in self.recipe:
            if isinstance(one, Array):
                way = self.choices.pick((*WAYS, "edges", "edges") if self.aim in AIMED else WAYS)
                filled.append(replace(one, way=way, seed=self.choices.below(1000)))
            else:
                filled.append(one)
        return tuple(filled)


def _alike(a, b):
    return a.dtype == b.dtype and a.shape == b.shape


def placed(func):
    """`func` with a place of its own for each node, so that findings can be told apart."""
    source, count = Source("generated", ""), 0

    def at(node):
        nonlocal count
        count += 1
        return replace(node, span=Span(source, count, 0, count, 1))

    return rewrite(func, at)


def case_of(choices, aim):
    """A case with the aim."""
    programs = Programs(choices, aim)
    func = programs.function()
    return Case(placed(func), programs.recipes(), aim)


def drawn_aim(choices):
    """No aim in six of ten programs, else any."""
    return choices.pick(AIMS) if choices.chance(40) else ""


@st.composite
def cases(draw, aim=None):
    """A function with arguments; `aim` None: any."""
    choices = Drawn(draw)
    return case_of(choices, drawn_aim(choices) if aim is None else aim)


def rolled(seed, aim=None):
    """The same from a seed."""
    choices = Rolled(seed)
    found = case_of(choices, drawn_aim(choices) if aim is None else aim)
    return replace(found, name=f"seed{seed}{'' if aim is None else f'_{aim}'}")


__all__ = ["AIMS", "FLOATS", "Case", "cases", "rolled"]
