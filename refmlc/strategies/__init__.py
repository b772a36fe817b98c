"""Programs, arguments and values for property tests, drawn by Hypothesis or rolled from a seed.

| strategy                        | draws                                                                           |
|---------------------------------|---------------------------------------------------------------------------------|
| `dtypes()`                      | a scalar dtype                                                                  |
| `scalars(dtype)`                | a value: limits, NaN, ±0, ±infinity, subnormals more often than others          |
| `shapes()`                      | extents, 0 and 1 among them                                                     |
| `tensors(dtype, shape)`         | a `refmlc.Tensor`                                                               |
| `prim_exprs(dtype, variables)`  | an expression that is defined for all values of the variables                   |
| `prim_funcs(aim="")`            | a TensorIR function with arguments: a `Case`                                    |
| `ir_modules(aim="")`            | a Relax graph over such functions: a `Case`                                     |
| `schedules(func)`               | functions that must mean what `func` means                                      |
| `inputs_for(module, func)`      | recipes of arguments for any module                                             |

`rolled(seed)`, `rolled_module(seed)`, `rolled_inputs(module, func, seed)` and `rolled_schedules` give the same from a
seed: quickly, always the same, and without Hypothesis.

A test draws a case and calls it. Arguments are fresh each time, so each implementation gets its own:

>>> from hypothesis import given, settings
>>> from refmlc import VirtualMachine, build
>>> from refmlc.strategies import prim_funcs
>>> @settings(max_examples=5, database=None)
... @given(prim_funcs(small=True))
... def test_the_tiers_agree(case):
...     tensors = []
...     for tier in ("interp", "auto"):
...         arguments = case.arguments()
...         VirtualMachine(build(case.module, tier))[case.func](*arguments)
...         tensors.append([arg.numpy().tobytes() for arg in arguments if hasattr(arg, "numpy")])
...     assert tensors[0] == tensors[1]
>>> test_the_tiers_agree()

A failing case shrinks to fewer and smaller blocks, plainer indices, smaller extents, float32 and int32, arguments 0, 1,
2 … The text that Hypothesis prints for a case is TVMScript. `find` gives a smallest program with a property:

>>> from hypothesis import find
>>> from refmlc.lang.ir import tir
>>> from refmlc.lang.ir.visit import walk
>>> looping = lambda case: any(isinstance(node, tir.While) for node in walk(case.module))
>>> "while P[0] < 2:" in str(find(prim_funcs(small=True), looping))
True

Programs are defined for their arguments: neither the interpreter nor a detector reports a code of RM3xx. With an aim, a
good share of the programs shows a code; so a broken detector can be distinguished from a working one:

>>> from refmlc.observe.sanitize import sanitize
>>> reports = [sanitize(case.module, case.func, case.arguments()) for case in (rolled(n, "RM321") for n in range(20))]
>>> any(report.counts["RM321"] for report in reports)
True

`AIMS` are the aims of functions: the interpreter finds those of `CHECKED` in every run, detectors find those of
`WATCHED`. `THREAD_AIMS` are for functions with threads, `MODULE_AIMS` for modules of Relax.

Arguments are made from recipes (`Array`, `Number`, `Same`, `ShapeOf`, `TupleOf`), which are small and plain data: a
`Case` can be written as JSON and read back unchanged.

>>> Case.from_json(rolled(7).to_json()).calls == rolled(7).calls
True

The names of the package load lazily: programs made from a seed do not need Hypothesis.
"""

from typing import TYPE_CHECKING

from refmlc.lazy import attach

if TYPE_CHECKING:
    from refmlc.strategies.aims import MODULE_AIMS, THREAD_AIMS
    from refmlc.strategies.arguments import Argument, Array, Number, Same, ShapeOf, TupleOf
    from refmlc.strategies.case import Case
    from refmlc.strategies.data import dtypes, scalars, shapes, tensors
    from refmlc.strategies.equivalents import rolled_schedules
    from refmlc.strategies.functions import AIMS, CHECKED, WATCHED, rolled
    from refmlc.strategies.inputs import rolled_inputs
    from refmlc.strategies.modules import rolled_module
    from refmlc.strategies.programs import inputs_for, ir_modules, prim_exprs, prim_funcs, schedules

__all__ = [
    "AIMS",
    "CHECKED",
    "MODULE_AIMS",
    "THREAD_AIMS",
    "WATCHED",
    "Argument",
    "Array",
    "Case",
    "Number",
    "Same",
    "ShapeOf",
    "TupleOf",
    "dtypes",
    "inputs_for",
    "ir_modules",
    "prim_exprs",
    "prim_funcs",
    "rolled",
    "rolled_inputs",
    "rolled_module",
    "rolled_schedules",
    "scalars",
    "schedules",
    "shapes",
    "tensors",
]

__getattr__, __dir__ = attach(
    __name__,
    {
        "refmlc.strategies.aims": ("MODULE_AIMS", "THREAD_AIMS"),
        "refmlc.strategies.arguments": ("Argument", "Array", "Number", "Same", "ShapeOf", "TupleOf"),
        "refmlc.strategies.case": ("Case",),
        "refmlc.strategies.data": ("dtypes", "scalars", "shapes", "tensors"),
        "refmlc.strategies.equivalents": ("rolled_schedules",),
        "refmlc.strategies.functions": ("AIMS", "CHECKED", "WATCHED", "rolled"),
        "refmlc.strategies.inputs": ("rolled_inputs",),
        "refmlc.strategies.modules": ("rolled_module",),
        "refmlc.strategies.programs": ("inputs_for", "ir_modules", "prim_exprs", "prim_funcs", "schedules"),
    },
)
