"""A program with TVM alone that prints the difference: nothing of refmlc is imported.

| the finding                 | the program                                                                     |
|-----------------------------|---------------------------------------------------------------------------------|
| a wrong element             | prints it, what it ought to be, the bound if there is one; status 1 if it differs |
| two results of a pair       | runs both programs on the same arguments, prints both; status 1 if they differ  |
| TVM refuses, fails, crashes | compiles and runs; the failure shows; status 0 if there is none                 |

None where no program can be written: an argument is large, or neither a tensor nor a number.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from refmlc.lang.ir import relax, tir
from refmlc.lang.script import show
from refmlc.oracle.difference import Difference
from refmlc.oracle.implementations.real_tvm import PIPELINES
from refmlc.oracle.passes.report import TvmRequest, expression_of, script_head
from refmlc.oracle.reference import Program
from refmlc.strategies.case import Case

LOADS = """

def loaded(executable):
    folder = tempfile.mkdtemp()
    executable.export_library(f"{folder}/module.so")
    return tvm.runtime.load_module(f"{folder}/module.so")
"""
TENSORS = """

def run():
    args = made()
    with tvm.transform.PassContext({context}):
        executable = {build}
    executable[{func!r}](*args)
    return args[{place}]
"""
GRAPH = """

def run():
    with tvm.transform.PassContext({context}):
        executable = {build}
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
        executable = {build}
    executable[{func!r}](*args)
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


@dataclass(frozen=True)
class ScriptBuild:
    """How the program compiles: the `target`, the level `opt` (None: TVM's own), and the `mode` of graphs.

    `pipelines`: the names of passes that TVM gets by arguments of these names.
    """

    target: str = "llvm"
    opt: int | None = None
    mode: str = "bytecode"
    pipelines: tuple[tuple[str, str], ...] = ()

    @staticmethod
    def of(options: Mapping[str, object]) -> "ScriptBuild":
        """The build that the options of an implementation say."""
        opt = options.get("opt")
        level = None if opt is None else int(str(opt))
        pipelines = tuple((key, str(options[key])) for key in PIPELINES if key in options)
        return ScriptBuild(str(options.get("target", "llvm")), level, str(options.get("mode", "bytecode")), pipelines)

    @property
    def context(self) -> str:
        """The arguments of TVM's context of passes."""
        return "" if self.opt is None else f"opt_level={self.opt}"

    @property
    def is_c(self) -> bool:
        """Whether TVM writes C, which the system's compiler makes a library of."""
        return self.target.split()[:1] == ["c"]

    def expression(self, *, graph: bool) -> str:
        """What gives the executable of `module`."""
        mode = "" if self.mode == "bytecode" else f", exec_mode={self.mode!r}"
        more = "".join(f", {key}={value!r}" for key, value in self.pipelines)
        build = f"relax.build(module, target{mode}{more})" if graph and mode else f"tvm.compile(module, target{more})"
        return f"loaded({build})" if self.is_c else build

    def head(self, text: str, args: Sequence[str]) -> list[str]:
        """The first lines: the module, the arguments, the target, and how C is loaded."""
        lines = list(script_head(text, args, TvmRequest(None, self.target)))
        return ["import tempfile", "", *lines, LOADS.rstrip("\n")] if self.is_c else lines


def tvm_script(case: Case, wrong: WrongElement | None, build: ScriptBuild) -> str | None:
    """The program for the first call of a case; `wrong` None: the call has no result in TVM."""
    function = case.module.functions[case.func]
    text = show(case.module)
    args = [expression_of(arg) for arg in case.arguments()]
    if not all(args) or "metadata[" in text or isinstance(function, relax.ExternFunc):
        return None
    is_graph = isinstance(function, relax.Function)
    how = {"func": case.func, "context": build.context, "build": build.expression(graph=is_graph)}
    if is_graph:
        fields = "" if wrong is None else "".join(f"[{field}]" for field in wrong.fields)
        runs = GRAPH.format(fields=fields, **how)
    else:
        place = -1 if wrong is None or wrong.argument is None else wrong.argument
        runs = TENSORS.format(place=place, **how)
    rest = RUNS if wrong is None else _compare(wrong.difference)
    return "\n".join([*build.head(text, args), runs.rstrip("\n"), "", rest.rstrip("\n")]) + "\n"


def pair_script(case: Case, other: Program, wrong: WrongElement, build: ScriptBuild) -> str | None:
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
        context=build.context,
        build=build.expression(graph=False),
        func=case.func,
        place=wrong.argument,
        index=_index(wrong.difference),
        more="".join(f", {each}" for each in args[count:]),
        label=getattr(other, "label", "the other program"),
    )
    return "\n".join([*build.head(text, args[:count]), pair.rstrip("\n")]) + "\n"


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
