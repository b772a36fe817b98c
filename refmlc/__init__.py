"""The executable meaning of TVM IRModules: read, check, show and run TensorIR and Relax, without TVM.

The rooms, each importing only from those before it: `system` (processes, files), `diag` (findings), `lang` (what a
program is), `frontends` (models of others), `rewrite` (programs from programs), `run` (what a program means),
`native` (the same in C), `vm` (build and call), `strategies` (programs, drawn), `observe` (sanitizer, provenance,
bounds), `prove` (for all arguments), `debug` (forwards and backwards), `oracle` (who is right), `testing` (for
test-suites), `tvm` (TVM's names), `tools` (speed, demonstration, course), `cli`.

`docs/explanation/architecture.md` says why. To read the code, begin with the interpreter:
`refmlc/run/interp/tensorir/expressions.py` and `statements.py`, each a `match` with a clause number per case.

>>> module = refmlc.read_file("gemm.py")
>>> refmlc.VirtualMachine(refmlc.build(module))["main"](a, b)

`build(module, tier="interp")` interprets, `tier="native"` compiles to C, `tier="auto"` (the default) compiles when that
pays; the results are the same, bit by bit.

The names of the API are looked up when they are first used, so that `import refmlc` is quick.
"""

from typing import TYPE_CHECKING

from refmlc.lazy import attach, load, provide

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
    from refmlc.lang.ir import IRModule
    from refmlc.lang.ir.equal import structural_equal
    from refmlc.lang.script import show
    from refmlc.lang.wellformed.reader_checks import read_file
    from refmlc.oracle.check import check
    from refmlc.rewrite.schedule import Schedule
    from refmlc.run.memory.budget import Budget
    from refmlc.run.memory.c_functions import register_c_func
    from refmlc.run.memory.initialisation import UninitialisedWarning
    from refmlc.run.memory.registry import FunctionRegistry, get_func, register_func
    from refmlc.run.memory.tensor import Tensor
    from refmlc.run.memory.values import Shape
    from refmlc.tvm.install import install_tvm
    from refmlc.vm import Executable, VirtualMachine, bind_params, build

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
    "Schedule",
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

_attribute, __dir__ = attach(
    __name__,
    {
        "refmlc.diag": (
            "Diagnostic",
            "Exhausted",
            "IllFormed",
            "Internal",
            "Malformed",
            "Mismatch",
            "RefmlcError",
            "Trap",
            "Undefined",
            "Unsupported",
            "render",
        ),
        "refmlc.frontends.programs": ("read",),
        "refmlc.lang.ir": ("IRModule",),
        "refmlc.lang.ir.equal": ("structural_equal",),
        "refmlc.lang.script": ("show",),
        "refmlc.lang.wellformed.reader_checks": ("read_file",),
        "refmlc.oracle.check": ("check",),
        "refmlc.rewrite.schedule": ("Schedule",),
        "refmlc.run.memory.budget": ("Budget",),
        "refmlc.run.memory.c_functions": ("register_c_func",),
        "refmlc.run.memory.registry": ("FunctionRegistry", "get_func", "register_func"),
        "refmlc.run.memory.tensor": ("Tensor",),
        "refmlc.run.memory.values": ("Shape",),
        "refmlc.run.memory.initialisation": ("UninitialisedWarning",),
        "refmlc.tvm.install": ("install_tvm",),
        "refmlc.vm": ("Executable", "VirtualMachine", "bind_params", "build"),
    },
)

provide(
    {
        "node.text": "refmlc.lang.script:show",
        "node.line": "refmlc.lang.script.line:line",
        "node.summary": "refmlc.lang.script.line:text",
        "node.display": "refmlc.lang.script.display:display",
        "node.page": "refmlc.lang.drawing:page",
        "operand.graph": "refmlc.lang.builder.operators:graph",
        "operand.scalar": "refmlc.lang.builder.operators:scalar",
        "operand.field": "refmlc.lang.builder.operators:field",
        "operand.called": "refmlc.lang.builder.operators:called",
        "attributes.with": "refmlc.lang.builder.surgery:with_attrs",
        "attributes.without": "refmlc.lang.builder.surgery:without_attr",
        "vm.build": "refmlc.vm:build",
        "vm.machine": "refmlc.vm:VirtualMachine",
        "schedule.validation": "refmlc.oracle.refine.assertions:Validation",
    }
)


def __getattr__(name: str) -> object:
    """The object of the API called `name`, from its module."""
    return _version() if name == "__version__" else _attribute(name)


def _version() -> str:
    """The version that is installed. Fails: AttributeError where none is, as in a bare checkout."""
    try:
        return load("importlib.metadata:version")("refmlc")  # type: ignore[no-any-return]
    except ImportError as missing:  # PackageNotFoundError is one
        raise AttributeError(f"refmlc is not installed, so it has no `__version__`: {missing}") from None
