"""The executable meaning of TVM IRModules: read, check, show and run TensorIR and Relax, without TVM.

The layers, each importing only from those before it: `process` (programs of others), `diag` (findings), `dtypes`,
`ir` (nodes), `ops` (contracts), `te` (tensor expressions), `library` (operators of Relax), `script` (text), `spec`
(clauses), `wellformed` (static rules), `schedule` (steps that keep the meaning), `drawing` (graphs), `transform`
and `builder` (modules by program), `frontends` (models of others), `runtime` (tensors), `interp` (the meaning) and
`codegen` (the same in C), `vm` (build and run), `sanitize` (what a run must not do), `strategies` (programs by
Hypothesis), `provenance` (why a value is what it is), `bounds` (what a result may be), `debug` (forwards and
backwards), `adapters` (implementations), `oracle` (verdicts), `reduce`, `evidence`, `fuzz` (campaigns), `conform`
(the suite), `testing` (for test-suites), `passes` (of a compiler), `scheduling` (by TVM's names), `demo`, `bench`,
`tvm` and `course` (the course by its own names), `cli`.

>>> module = refmlc.read_file("gemm.py")
>>> refmlc.VirtualMachine(refmlc.build(module))["main"](a, b)

`build(module, tier="interp")` interprets, `tier="native"` compiles to C, `tier="auto"` (the default) compiles when that
pays; the results are the same, bit by bit.

The names of the API are looked up when they are first used, so that `import refmlc` is quick.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from refmlc.diag import (
        Diagnostic,
        Exhausted,
        IllFormed,
        Internal,
        Malformed,
        Mismatch,
        RefmlcError,
        Trap,
        Undefined,
        Unsupported,
        render,
    )
    from refmlc.frontends.programs import read
    from refmlc.ir import IRModule
    from refmlc.ir.equal import structural_equal
    from refmlc.oracle.check import check
    from refmlc.runtime.budget import Budget
    from refmlc.runtime.c_functions import register_c_func
    from refmlc.runtime.registry import FunctionRegistry, get_func, register_func
    from refmlc.runtime.tensor import Tensor
    from refmlc.runtime.values import Shape
    from refmlc.runtime.written import UninitialisedWarning
    from refmlc.script import show
    from refmlc.tvm.install import install_tvm
    from refmlc.vm import Executable, VirtualMachine, bind_params, build
    from refmlc.wellformed.reading import read_file

__all__ = [
    "Budget",
    "Diagnostic",
    "Executable",
    "Exhausted",
    "FunctionRegistry",
    "IRModule",
    "IllFormed",
    "Internal",
    "Malformed",
    "Mismatch",
    "RefmlcError",
    "Shape",
    "Tensor",
    "Trap",
    "Undefined",
    "UninitialisedWarning",
    "Unsupported",
    "VirtualMachine",
    "bind_params",
    "build",
    "check",
    "get_func",
    "install_tvm",
    "read",
    "read_file",
    "register_c_func",
    "register_func",
    "render",
    "show",
    "structural_equal",
]

_HOME = {
    "Budget": "refmlc.runtime.budget",
    "FunctionRegistry": "refmlc.runtime.registry",
    "Shape": "refmlc.runtime.values",
    "register_c_func": "refmlc.runtime.c_functions",
    "Diagnostic": "refmlc.diag",
    "Executable": "refmlc.vm",
    "Exhausted": "refmlc.diag",
    "IRModule": "refmlc.ir",
    "IllFormed": "refmlc.diag",
    "Internal": "refmlc.diag",
    "Malformed": "refmlc.diag",
    "Mismatch": "refmlc.diag",
    "RefmlcError": "refmlc.diag",
    "Tensor": "refmlc.runtime.tensor",
    "Trap": "refmlc.diag",
    "Undefined": "refmlc.diag",
    "UninitialisedWarning": "refmlc.runtime.written",
    "Unsupported": "refmlc.diag",
    "VirtualMachine": "refmlc.vm",
    "bind_params": "refmlc.vm",
    "build": "refmlc.vm",
    "check": "refmlc.oracle.check",
    "get_func": "refmlc.runtime.registry",
    "install_tvm": "refmlc.tvm.install",
    "read": "refmlc.frontends.programs",
    "read_file": "refmlc.wellformed.reading",
    "register_func": "refmlc.runtime.registry",
    "render": "refmlc.diag",
    "show": "refmlc.script",
    "structural_equal": "refmlc.ir.equal",
}


def __getattr__(name: str) -> object:
    """The object of the API called `name`, from its module."""
    if name == "__version__":
        return _version()
    if name not in _HOME:
        raise AttributeError(f"module 'refmlc' has no attribute {name!r}")
    value: object = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def _version() -> str:
    """The version that is installed. Fails: AttributeError where none is, as in a bare checkout."""
    try:
        return import_module("importlib.metadata").version("refmlc")  # type: ignore[no-any-return]
    except ImportError as missing:  # PackageNotFoundError is one
        raise AttributeError(f"refmlc is not installed, so it has no `__version__`: {missing}") from None


def __dir__() -> list[str]:
    """The names of the API."""
    return sorted(__all__)
