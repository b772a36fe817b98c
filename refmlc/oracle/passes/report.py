"""A broken pass as Markdown, ready to be filed: what is wrong, on which call, what the pass changed, how to see it.

`tvm_script` writes a program that needs only TVM: the module, the passes, the call, the right result.

| the passes        | the program prints                                                      |
|-------------------|-------------------------------------------------------------------------|
| of `tvm.compile`  | the module after the pass, the result of the call, the right result     |
| named by the user | the same, and the result of the call without these passes               |

TVM may refuse to compile a module that was lowered half the way; what the pass made of it is printed before that.
Constants are arguments, since TVM cannot read them from a text. None where no program can be written: the function is
one of a later stage, an argument is large, or neither a tensor nor a number.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import unified_diff
from types import MappingProxyType

from refmlc.diag.render import render_text
from refmlc.lang.ir import IRModule, relax, tir
from refmlc.lang.script import show
from refmlc.lang.wellformed.reader_checks import read
from refmlc.oracle.implementations.implementation import Ended, Limits
from refmlc.oracle.implementations.interp import Interp
from refmlc.oracle.passes.baseline import Tries, lifted
from refmlc.oracle.passes.check import READER, Shrunk
from refmlc.oracle.passes.stages import BrokenStage, TraceCheck
from refmlc.oracle.refine.calls import fresh
from refmlc.run.memory.tensor import Tensor
from refmlc.vm.parameters import parameters_of

NUMBER = re.compile(r"[0-9]{1,18}")  # a flag of a target: TVM has no longer one
MOST = 256  # elements of an argument that is written out
SEEN = """
@tvm.instrument.pass_instrument
class Seen:
    def run_after_pass(self, module, info):
        if info.name == {name!r}:
            print(module.script())
"""
TENSORS = """

def run(module):
    args = made()
    tvm.compile(module, target{pipelines})[{func!r}](*args)
    return [arg.numpy() for arg in args if hasattr(arg, "numpy")]
"""
GRAPH = """

def run(module):
    return tvm.relax.VirtualMachine(tvm.compile(module, target{pipelines}), tvm.cpu())[{func!r}](*made())
"""


@dataclass(frozen=True)
class TvmRequest:
    """The request to TVM. `passes` None: those of `tvm.compile`, with its `pipelines` by their keyword."""

    passes: Sequence[str] | None = None
    target: str = "llvm"
    opt: int = 2
    pipelines: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))


def tvm_script(text: str, broken: BrokenStage, request: TvmRequest | None = None) -> str | None:
    """The program for the module of `text`, which shows what `asked` led to."""
    request = request or TvmRequest()
    module, _ = lifted(read(text))
    function = module.functions.get(broken.func)
    if function is None or isinstance(function, relax.ExternFunc):
        return None
    text = show(module) if "metadata[" in text else text
    args = [expression_of(arg) for arg in fresh(broken.call)[: len(parameters_of(function))]]
    if not all(args) or "metadata[" in text:
        return None
    return "\n".join([*script_head(text, args, request), *_run_lines(module, function, broken, request)])


def script_head(text: str, args: Sequence[str], request: TvmRequest) -> Iterator[str]:
    """The module, the arguments, the target."""
    yield from ("import ml_dtypes  # names of small floats", "import numpy as np", "import tvm")
    yield from (
        "from numpy import inf, nan",
        "from tvm import relax, s_tir, tirx",
        "from tvm.script import from_source",
    )
    yield from ("", 'TEXT = """', text.strip("\n"), '"""', "", "", "def made():", "    return [")
    yield from (*(f"        {each}," for each in args), "    ]", "")
    kind, *flags = request.target.split()
    pairs = [flag.lstrip("-").partition("=") for flag in flags]
    values = {key: (int(value) if NUMBER.fullmatch(value) else value) if sign else True for key, sign, value in pairs}
    spelled = {"kind": kind, **values}
    yield f"target = tvm.target.Target({spelled})"
    yield "module = from_source(TEXT, check_well_formed=False)"


def _run_lines(
    module: IRModule, function: tir.PrimFunc | relax.Function, broken: BrokenStage, request: TvmRequest
) -> Iterator[str]:
    """The run through the passes, and what it prints."""
    read_wrong = broken.name == READER
    if not read_wrong:
        yield SEEN.format(name=broken.name)
    pipelines = "".join(f", {key}={name!r}" for key, name in request.pipelines.items())
    yield (GRAPH if isinstance(function, relax.Function) else TENSORS).format(func=broken.func, pipelines=pipelines)
    if read_wrong:
        yield "print(module.script())"
    instruments = "" if read_wrong else ", instruments=[Seen()]"
    yield ""
    if request.passes is None:
        yield f"with target, tvm.transform.PassContext(opt_level={request.opt}{instruments}):"
        yield '    print("TVM:", run(module))'
    else:
        yield "changed = module"
        yield f"with target, tvm.transform.PassContext(opt_level={request.opt}{instruments}):"
        yield f"    for each in [{', '.join(map(_pass, request.passes))}]:"
        yield "        changed = each(changed)"
        yield 'print("without the passes:", run(module))'
        yield 'print("with the passes:", run(changed))'
    expected = _expected_result(module, broken)
    if expected:
        yield f'print("meant:", {expected})'
    yield f"# {broken.diagnostic.message}"


def _pass(name: str) -> str:
    """The expression that makes it: `relax.LegalizeOps` is `relax.transform.LegalizeOps()`."""
    spelled, _, arguments = name.partition("(")
    family, _, pass_name = spelled.rpartition(".")
    home = {"": "tirx", "tir": "tirx"}.get(family, family)
    return f"{home}.transform.{pass_name}({arguments or ')'}"


def _expected_result(module: IRModule, broken: BrokenStage) -> str:
    """The result of the call as a list; empty if it is large or not a tensor."""
    interp = Interp(Limits(), check=False)
    answer = Tries(module, broken.func, (broken.call,)).meanings(interp)[0]
    if not isinstance(answer, Ended):
        return ""
    graph = isinstance(module.functions[broken.func], relax.Function)
    values = [answer.value] if graph else [arg for arg in answer.args if isinstance(arg, Tensor)]
    lists = [_list(value) for value in values]
    return "" if not all(lists) else lists[0] if graph else f"[{', '.join(lists)}]"


def _list(value: object) -> str:
    """Its elements; empty where there are many, or not all of them are there."""
    if isinstance(value, tuple):
        parts = [_list(each) for each in value]
        return f"[{', '.join(parts)}]" if all(parts) else ""
    if not isinstance(value, Tensor) or not value.initialised or value.size > MOST:
        return ""
    values = value.array.astype("float64") if value.dtype.is_float else value.array
    return f"{values.tolist()}"


def expression_of(arg: object) -> str:
    """The expression that makes it; memory that is fresh is zeros. Empty where there is none."""
    if isinstance(arg, (int, float)):
        return repr(arg)
    if not isinstance(arg, Tensor) or (arg.initialised and arg.size > MOST):
        return ""
    if not arg.initialised:
        return f'tvm.runtime.tensor(np.zeros({arg.shape}, "{arg.dtype}"))'
    values = arg.array.astype("float64") if arg.dtype.is_float else arg.array
    return f'tvm.runtime.tensor(np.array({values.tolist()}, "{arg.dtype}").reshape({arg.shape}))'


MOST_LINES = 200


def markdown(
    checked: TraceCheck, *, compiler: str, command: str, small: Shrunk | None = None, tvm: TvmRequest | None = None
) -> str:
    """The report. `compiler`: its name and version; `command`: what shows the finding again; `tvm`: where it is TVM."""
    broken = checked.broken if small is None else small.broken
    if checked.failure is not None:
        failure = render_text(checked.failure)
        return f"# The compiler stops on a module that is defined\n\n{compiler}.\n\n```\n{failure}\n```\n\n{command}\n"
    if broken is None:
        verdicts = ", ".join(f"{row.name}: {row.verdict.value}" for row in checked.rows)
        return f"# No pass changes the meaning\n\n{compiler}: {verdicts or 'no stage'}.\n"
    return "\n".join(_lines(broken, compiler, command, small, tvm)) + "\n"


def _lines(
    broken: BrokenStage, compiler: str, command: str, small: Shrunk | None, tvm: TvmRequest | None
) -> Iterator[str]:
    yield f"# {broken.headline}"
    yield from ("", f"{compiler}: {broken.diagnostic.message}.", "")
    if small is not None:
        yield from ("## The module", "", *fenced(small.text, "python"), "")
        if not small.finished:
            yield from ("The reduction stopped at its limits: a smaller module may exist.", "")
    yield from ("## The difference", "", *fenced(render_text(broken.diagnostic), ""), "")
    yield from (f"## After {broken.names}", "")
    yield f"The stage before, `{broken.before.name}`, is the last one that keeps the meaning of the module."
    yield from ("", *fenced(stage_difference(broken), "diff"), "")
    program = None if small is None or tvm is None else tvm_script(small.text, broken, tvm)
    if program is not None:
        yield from ("## Reproduce with TVM alone", "", *fenced(program, "python"), "")
    yield from ("## Reproduce with refmlc", "", *fenced(command, "console"))


def stage_difference(broken: BrokenStage) -> str:
    before, after = broken.before.text.splitlines(), broken.after.text.splitlines()
    lines = list(unified_diff(before, after, broken.before.name, broken.after.name, lineterm=""))
    rest = len(lines) - MOST_LINES
    return "\n".join([*lines[:MOST_LINES], *([f"… {rest} more lines"] if rest > 0 else [])])


def fenced(text: str, language: str) -> tuple[str, str, str]:
    """A block of code, whose fence is longer than any in it."""
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}{language}", text.rstrip("\n"), fence
