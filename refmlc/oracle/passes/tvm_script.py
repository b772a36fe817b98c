"""A finding as a script that needs only TVM: the module, the passes, the call, the right result.

| the passes        | the program prints                                                      |
|-------------------|-------------------------------------------------------------------------|
| of `tvm.compile`  | the module after the pass, the result of the call, the right result     |
| named by the user | the same, and the result of the call without these passes               |

TVM may refuse to compile a module that was lowered half the way; what the pass made of it is printed before that.
Constants are arguments, since TVM cannot read them from a text. None where no program can be written: the function is
one of a later stage, an argument is large, or neither a tensor nor a number.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from refmlc.lang.ir import IRModule, relax, tir
from refmlc.lang.script import show
from refmlc.lang.wellformed.reader_checks import read
from refmlc.oracle.implementations.implementation import Ended
from refmlc.oracle.implementations.interp import Interp
from refmlc.oracle.implementations.limits import Limits
from refmlc.oracle.passes.baseline import Tries
from refmlc.oracle.passes.check import READER
from refmlc.oracle.passes.constant_parameters import lifted
from refmlc.oracle.passes.verdicts import BrokenStage
from refmlc.oracle.refine.calls import fresh
from refmlc.run.memory.tensor import Tensor
from refmlc.vm.parameters import parameters_of

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
    tvm.compile(module, target)[{func!r}](*args)
    return [arg.numpy() for arg in args if hasattr(arg, "numpy")]
"""
GRAPH = """

def run(module):
    return tvm.relax.VirtualMachine(tvm.compile(module, target), tvm.cpu())[{func!r}](*made())
"""


@dataclass(frozen=True)
class TvmRequest:
    """The request to TVM. `passes` None: those of `tvm.compile`."""

    passes: Sequence[str] | None = None
    target: str = "llvm"
    opt: int = 2


def tvm_script(text: str, broken: BrokenStage, asked: TvmRequest | None = None) -> str | None:
    """The program for the module of `text`, which shows what `asked` led to."""
    asked = asked or TvmRequest()
    module, _ = lifted(read(text))
    function = module.functions.get(broken.func)
    if function is None or isinstance(function, relax.ExternFunc):
        return None
    text = show(module) if "metadata[" in text else text
    args = [_value(arg) for arg in fresh(broken.call)[: len(parameters_of(function))]]
    if not all(args) or "metadata[" in text:
        return None
    return "\n".join([*_head(text, args, asked), *_rest(module, function, broken, asked)])


def _head(text: str, args: Sequence[str], asked: TvmRequest) -> Iterator[str]:
    """The module, the arguments, the target."""
    yield from ("import ml_dtypes  # names of small floats", "import numpy as np", "import tvm")
    yield from (
        "from numpy import inf, nan",
        "from tvm import relax, s_tir, tirx",
        "from tvm.script import from_source",
    )
    yield from ("", 'TEXT = """', text.strip("\n"), '"""', "", "", "def made():", "    return [")
    yield from (*(f"        {each}," for each in args), "    ]", "")
    kind, *flags = asked.target.split()
    pairs = [flag.lstrip("-").partition("=") for flag in flags]
    spelled = {"kind": kind, **{key: value if sign else True for key, sign, value in pairs}}
    yield f"target = tvm.target.Target({spelled})"
    yield "module = from_source(TEXT, check_well_formed=False)"


def _rest(
    module: IRModule, function: tir.PrimFunc | relax.Function, broken: BrokenStage, asked: TvmRequest
) -> Iterator[str]:
    """The run through the passes, and what it prints."""
    read_wrong = broken.name == READER
    if not read_wrong:
        yield SEEN.format(name=broken.name)
    yield (GRAPH if isinstance(function, relax.Function) else TENSORS).format(func=broken.func)
    if read_wrong:
        yield "print(module.script())"
    seen = "" if read_wrong else ", instruments=[Seen()]"
    yield ""
    if asked.passes is None:
        yield f"with target, tvm.transform.PassContext(opt_level={asked.opt}{seen}):"
        yield '    print("TVM:", run(module))'
    else:
        yield "changed = module"
        yield f"with target, tvm.transform.PassContext(opt_level={asked.opt}{seen}):"
        yield f"    for each in [{', '.join(map(_pass, asked.passes))}]:"
        yield "        changed = each(changed)"
        yield 'print("without the passes:", run(module))'
        yield 'print("with the passes:", run(changed))'
    meant = _meant(module, broken)
    if meant:
        yield f'print("meant:", {meant})'
    yield f"# {broken.diagnostic.message}"


def _pass(name: str) -> str:
    """The expression that makes it: `relax.LegalizeOps` is `relax.transform.LegalizeOps()`."""
    spelled, _, arguments = name.partition("(")
    family, _, rest = spelled.rpartition(".")
    home = {"": "tirx", "tir": "tirx"}.get(family, family)
    return f"{home}.transform.{rest}({arguments or ')'}"


def _meant(module: IRModule, broken: BrokenStage) -> str:
    """The result of the call as a list; empty if it is large or not a tensor."""
    interp = Interp(Limits(), check=False)
    answer = Tries(module, broken.func, (broken.call,)).meanings(interp)[0]
    if not isinstance(answer, Ended):
        return ""
    graph = isinstance(module.functions[broken.func], relax.Function)
    values = [answer.value] if graph else [arg for arg in answer.args if isinstance(arg, Tensor)]
    shown = [_list(each) for each in values]
    return "" if not all(shown) else shown[0] if graph else f"[{', '.join(shown)}]"


def _list(value: object) -> str:
    """Its elements; empty where there are many, or not all of them are there."""
    if isinstance(value, tuple):
        parts = [_list(each) for each in value]
        return f"[{', '.join(parts)}]" if all(parts) else ""
    if not isinstance(value, Tensor) or not value.initialised or value.size > MOST:
        return ""
    values = value.array.astype("float64") if value.dtype.is_float else value.array
    return f"{values.tolist()}"


def _value(arg: object) -> str:
    """The expression that makes it; memory that is fresh is zeros. Empty where there is none."""
    if isinstance(arg, (int, float)):
        return repr(arg)
    if not isinstance(arg, Tensor) or (arg.initialised and arg.size > MOST):
        return ""
    if not arg.initialised:
        return f'tvm.runtime.tensor(np.zeros({arg.shape}, "{arg.dtype}"))'
    values = arg.array.astype("float64") if arg.dtype.is_float else arg.array
    return f'tvm.runtime.tensor(np.array({values.tolist()}, "{arg.dtype}").reshape({arg.shape}))'
