"""A program with TVM alone that prints the difference: nothing of refmlc is imported.

| the finding                 | the program                                                                     |
|-----------------------------|---------------------------------------------------------------------------------|
| a wrong element             | prints it, what it ought to be, the bound if there is one; status 1 if it differs |
| two results of a pair       | runs both programs on the same arguments, prints both; status 1 if they differ  |
| TVM refuses, fails, crashes | compiles and runs; the failure shows; status 0 if there is none                 |

None where no program can be written: an argument is large, or neither a tensor nor a number.
"""

import math
from dataclasses import dataclass

from refmlc.lang.ir import relax, tir
from refmlc.lang.script import show
from refmlc.oracle.difference import Difference
from refmlc.oracle.passes.report import TvmRequest, expression_of, script_head
from refmlc.oracle.reference import Program
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
PAIR = """
OTHER = from_source(\'\'\'
{text}
\'\'\', check_well_formed=False)


def run(module, *more):
    args = [*made(), *more]
    with tvm.transform.PassContext({context}):
        tvm.compile(module, target)[{func!r}](*args)
    return args[{place}].numpy(){index}.item()


first, second = run(module), run(OTHER{more})
print(f"TVM {{tvm.__version__}}: {{first!r}}, {label}: {{second!r}}")
raise SystemExit(0 if first == second or (first != first and second != second) else 1)
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


def pair_script(case: Case, other: Program, wrong: WrongElement, target: str, opt: int | None) -> str | None:
    """The program for a pair: `other` has the arguments of the case, and more at the end. None of a graph."""
    function = case.module.functions[case.func]
    text, other_text = show(case.module), show(other.module)
    args = [expression_of(arg) for arg in other.arguments()]
    count = len(case.arguments())
    graph = not isinstance(function, tir.PrimFunc)
    if graph or wrong.argument is None or not all(args) or "metadata[" in text + other_text:
        return None
    pair = PAIR.format(
        text=other_text.strip("\n"),
        context="" if opt is None else f"opt_level={opt}",
        func=case.func,
        place=wrong.argument,
        index=_index(wrong.difference),
        more="".join(f", {each}" for each in args[count:]),
        label=getattr(other, "label", "the other program"),
    )
    return "\n".join([*script_head(text, args[:count], TvmRequest(None, target)), pair.rstrip("\n")]) + "\n"


def _index(difference: Difference) -> str:
    return f"[{', '.join(map(str, difference.index))}]" if difference.index else "[()]"


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
    return COMPARE.format(index=_index(difference), expected=repr(expected), right=right)
