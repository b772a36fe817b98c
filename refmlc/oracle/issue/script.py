"""A program with TVM alone that prints the difference: nothing of refmlc is imported.

| the finding                 | the program                                                                     |
|-----------------------------|---------------------------------------------------------------------------------|
| a wrong element             | prints it, what it ought to be, the bound if there is one; status 1 if it differs |
| TVM refuses, fails, crashes | compiles and runs; the failure shows; status 0 if there is none                 |

None where no program can be written: an argument is large, or neither a tensor nor a number.
"""

import math
from dataclasses import dataclass

from refmlc.lang.ir import relax
from refmlc.lang.script import show
from refmlc.oracle.difference import Difference
from refmlc.oracle.passes.report import TvmRequest, expression_of, script_head
from refmlc.strategies.case import Case

TENSORS = """

def run():
    args = made()
    with tvm.transform.PassContext({context}):
        tvm.compile(module, target)[{func!r}](*args)
    return args[{place}]
"""
GRAPH = """

def run():
    with tvm.transform.PassContext({context}):
        executable = tvm.compile(module, target)
    return tvm.relax.VirtualMachine(executable, tvm.cpu())[{func!r}](*made()){fields}
"""
COMPARE = """
actual = run().numpy(){index}.item()
expected = {expected}
print(f"TVM {{tvm.__version__}}: {{actual!r}}, expected: {{expected!r}}")
right = {right}
raise SystemExit(0 if right else 1)
"""
RUNS = """
print(f"TVM {tvm.__version__}:", run())
"""


@dataclass(frozen=True)
class WrongElement:
    """A wrong element: of argument `argument` (None: of the result, at `fields` of nested tuples)."""

    difference: Difference
    argument: int | None = None
    fields: tuple[int, ...] = ()


def tvm_script(case: Case, wrong: WrongElement | None, target: str, opt: int | None) -> str | None:
    """The program for the first call of a case; `wrong` None: the call has no result in TVM. `opt` None: TVM's own."""
    function = case.module.functions[case.func]
    text = show(case.module)
    args = [expression_of(arg) for arg in case.arguments()]
    if not all(args) or "metadata[" in text or isinstance(function, relax.ExternFunc):
        return None
    context = "" if opt is None else f"opt_level={opt}"
    if isinstance(function, relax.Function):
        fields = "" if wrong is None else "".join(f"[{field}]" for field in wrong.fields)
        runs = GRAPH.format(func=case.func, fields=fields, context=context)
    else:
        place = -1 if wrong is None or wrong.argument is None else wrong.argument
        runs = TENSORS.format(func=case.func, place=place, context=context)
    rest = RUNS if wrong is None else _compare(wrong.difference)
    return (
        "\n".join([*script_head(text, args, TvmRequest(None, target)), runs.rstrip("\n"), "", rest.rstrip("\n")]) + "\n"
    )


def _compare(difference: Difference) -> str:
    """The comparison of an element, by its bits or by the bound that is certified."""
    expected = difference.expected
    right = "actual == expected"
    if isinstance(expected, float) and math.isnan(expected):
        right = "np.isnan(actual)"
    elif difference.bound is not None:
        right = f"abs(actual - expected) <= {float(difference.bound)!r}"
    elif isinstance(expected, float):
        right = "actual == expected and np.signbit(actual) == np.signbit(expected)"
    index = f"[{', '.join(map(str, difference.index))}]" if difference.index else "[()]"
    return COMPARE.format(index=index, expected=repr(expected), right=right)
