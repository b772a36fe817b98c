"""A module that is compiled on demand, once, for all its virtual machines.

The C generator and cffi are loaded then, not before: the interpreter alone does not wait for them.
"""

from collections.abc import Callable
from threading import Lock
from typing import TYPE_CHECKING, Literal, TypeAlias

from refmlc.lang.ir import IRModule
from refmlc.lazy import load

if TYPE_CHECKING:
    from refmlc.native.tier.compiled_module import CompiledModule

Math: TypeAlias = Literal["cr", "libm"]
Compiler: TypeAlias = "Callable[[IRModule, Math], CompiledModule]"


def compile_in_c(module: IRModule, math: Math, threads: int | None = None) -> "CompiledModule":
    """`module` in C; `threads` None: on as many threads as REFMLC_THREADS says."""
    compiled: CompiledModule = load("refmlc.native.tier.compilation:compile_module")(module, math, threads)
    return compiled


class NativeModule:
    """A module and, once compiled, its functions in C. For concurrent use."""

    def __init__(self, module: IRModule, math: Math, compiler: Compiler = compile_in_c) -> None:
        self.module = module
        self.math = math
        self._compiler = compiler
        self._lock = Lock()
        self._compiled: CompiledModule | None = None

    @property
    def if_compiled(self) -> "CompiledModule | None":
        """The compiled module; None: it is not compiled so far."""
        return self._compiled

    def compiled(self) -> "CompiledModule":
        """The compiled module; the first call compiles it."""
        with self._lock:
            if self._compiled is None:
                self._compiled = self._compiler(self.module, self.math)
            return self._compiled
