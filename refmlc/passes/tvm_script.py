"""A finding as a program of TVM alone, for who has no refmlc: the module, the call, what it should give.

| the function is  | the program                                                                  |
|------------------|------------------------------------------------------------------------------|
| a prim_func      | compiles the module, calls it on tensors, prints those it was given            |
| a Relax function | runs it in the virtual machine, prints what it returns                         |

None where this cannot be written: the function is one of a later stage, the module has constants that TVM does not read
from a text, an argument is large or no tensor.
"""

from refmlc.check.reading import read
from refmlc.ir import relax
from refmlc.passes.verdicts import Broken
from refmlc.runtime.tensor import Tensor
from refmlc.testing.calls import fresh
from refmlc.vm.parameters import parameters_of

MOST = 256  # elements of an argument that is written out


def tvm_script(text: str, broken: Broken) -> str | None:
    """The program for the module of `text`."""
    function = read(text).functions.get(broken.func)
    if function is None or isinstance(function, relax.ExternFunc) or "metadata[" in text:
        return None
    args = [_tensor(arg) for arg in fresh(broken.call)[: len(parameters_of(function))]]
    if not all(args):
        return None
    lines = ["import ml_dtypes  # names of small floats", "import numpy as np", "import tvm"]
    lines += ["from numpy import inf, nan", "from tvm.script import from_source", ""]
    lines += ['TEXT = """', text.strip("\n"), '"""', "args = [", *(f"    {each}," for each in args), "]"]
    if isinstance(function, relax.Function):
        lines.append('machine = tvm.relax.VirtualMachine(tvm.compile(from_source(TEXT), "llvm"), tvm.cpu())')
        lines.append(f'print(machine["{broken.func}"](*args))')
    else:
        lines.append(f'tvm.compile(from_source(TEXT), "llvm")["{broken.func}"](*args)')
        lines.append("print(*(arg.numpy() for arg in args))")
    return "\n".join([*lines, f"# {broken.diagnostic.message}"])


def _tensor(arg: object) -> str:
    """The expression that makes it; memory that is fresh is zeros. Empty where there is none."""
    if not isinstance(arg, Tensor) or (arg.initialised and arg.size > MOST):
        return ""
    if not arg.initialised:
        return f'tvm.runtime.tensor(np.zeros({arg.shape}, "{arg.dtype}"))'
    values = arg.numpy().astype("float64") if arg.dtype.is_float else arg.numpy()
    return f'tvm.runtime.tensor(np.array({values.tolist()}, "{arg.dtype}"))'
