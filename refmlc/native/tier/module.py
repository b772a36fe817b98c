"""A module that is compiled when somebody asks for it, once, for all its virtual machines.

The C generator and cffi are loaded then, not before: who interprets does not wait for them.
"""

from collections.abc import Callable
from threading import Lock
from typing import TYPE_CHECKING, Literal, TypeAlias

from refmlc.lang.ir import IRModule
from refmlc.lazy import load

if TYPE_CHECKING:
    from refmlc.native.tier.compiled import Compiled

Math: TypeAlias = Literal["cr", "libm"]
Compiler: TypeAlias = "Callable[[IRModule, Math], Compiled]"


def _compile(module: IRModule, math: Math) -> "Compiled":
    compiled: Compiled = load("refmlc.native.tier.library:compile_module")(module, math)
    return compiled


class NativeModule:
    """A module and, from some time on, its functions in C. For concurrent use."""

    def __init__(self, module: IRModule, math: Math, compiler: Compiler = _compile) -> None:
        self.module = module
        self.math = math
        self._compiler = compiler
        self._lock = Lock()
        self._made: Compiled | None = None

    @property
    def made(self) -> "Compiled | None":
        """What was compiled; None: nobody asked for it so far."""
        return self._made

    def compiled(self) -> "Compiled":
        """What is compiled; the first call compiles it."""
        with self._lock:
            if self._made is None:
                self._made = self._compiler(self.module, self.math)
            return self._made
