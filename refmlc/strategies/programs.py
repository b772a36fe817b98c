"""Strategies of expressions, functions, modules, schedules and arguments, for Hypothesis."""

from collections.abc import Mapping, Sequence

from hypothesis import strategies as st

from refmlc.lang.dtypes import DType
from refmlc.lang.ir import IRModule, tir
from refmlc.strategies.arguments import Argument
from refmlc.strategies.case import Case
from refmlc.strategies.draws import Draw, HypothesisChoices
from refmlc.strategies.equivalents import Equivalent, draw_equivalent
from refmlc.strategies.functions import case_of, draw_aim
from refmlc.strategies.inputs import Inputs
from refmlc.strategies.modules import module_of
from refmlc.strategies.ranges import RangedExpr, limits
from refmlc.strategies.special import Special

Variables = Sequence[tir.Var] | Mapping[tir.Var, tuple[int, int]]


@st.composite
def prim_exprs(draw: Draw, dtype: DType, variables: Variables = (), *, depth: int = 2, aim: str = "") -> tir.Expr:
    """A scalar expression of `dtype` over the variables, with operators of all kinds, nested `depth` deep.

    It is defined for all values of the variables: a mapping gives low … high (of integers), else all of the dtype. With
    an `aim`, one of RM306 … RM309 and RM311, guards against that code are left out.
    """
    generator = Special(HypothesisChoices(draw), aim)
    ranges = variables if isinstance(variables, Mapping) else {var: limits(var.dtype) for var in variables}
    generator.numbers = [RangedExpr(var, low, high) for var, (low, high) in ranges.items()]
    generator.palette = tuple(dict.fromkeys([dtype, *(var.dtype for var in ranges), *generator.palette]))
    return generator.value(dtype, depth).expr


@st.composite
def prim_funcs(draw: Draw, aim: str | None = "", *, small: bool = False) -> Case:
    """A TensorIR function with arguments to call it on, defined for them, or aimed at the code `aim`; None: any.

    `small`: one output, extents of 1 … 3, one call.

    Decision: a `Case`, not a bare function. Whether a program is defined depends on what it is called with, and the
    generator knows both.
    """
    choices = HypothesisChoices(draw)
    return case_of(choices, draw_aim(choices) if aim is None else aim, small=small)


@st.composite
def ir_modules(draw: Draw, aim: str = "") -> Case:
    """A module whose `main` is defined for its arguments: graphs of Relax over kernels of TensorIR.

    With an `aim`, one of `MODULE_AIMS`, it is made to show that code.

    Shrinks toward few bindings, small shapes, plain kernels.
    """
    return module_of(HypothesisChoices(draw), aim)


def schedules(func: tir.PrimFunc, steps: int = 3) -> st.SearchStrategy[Equivalent]:
    """The trace of up to `steps` legal steps, and `func` after them. Shrinks toward fewer and simpler steps."""

    @st.composite
    def equivalents(draw: Draw) -> Equivalent:
        return draw_equivalent(func, HypothesisChoices(draw), steps)

    return equivalents()


@st.composite
def inputs_for(
    draw: Draw, module: IRModule, func: str = "main", *, dims: Mapping[str, int] | None = None
) -> tuple[Argument, ...]:
    """Recipes of arguments for a call of `func` of any module (`refmlc.strategies.inputs`).

    `refmlc.strategies.arguments.arguments` makes fresh arguments of them. `dims`: symbolic dimensions by name.

    Fails: RM112 (no such function), RM504 (a parameter without a possible argument).
    """
    return Inputs(HypothesisChoices(draw), dims or {}).of(module, func)
