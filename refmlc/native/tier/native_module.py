"""A module that is compiled on demand, once, for all its virtual machines.

| REFMLC_STAGED  | `build(tier="auto")` compiles                                                                   |
|----------------|-------------------------------------------------------------------------------------------------|
| 1, or not set  | quick code first, and optimised code beside the program (`stages`)                              |
| 0              | optimised code, which the call that makes it pay waits for: equal runs take equal ways          |

The C generator and cffi are loaded then, not before: the interpreter alone does not wait for them.
"""

import os
from collections.abc import Callable
from threading import Lock
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_USAGE
from refmlc.lang.ir import IRModule
from refmlc.lazy import load
from refmlc.native.tier.work import compilation_cost

if TYPE_CHECKING:
    from refmlc.native.tier.compiled_module import CompiledModule
    from refmlc.native.tier.stages import CodeStages

Math: TypeAlias = Literal["cr", "libm"]
Compiler: TypeAlias = "Callable[[IRModule, Math], CompiledModule]"
VARIABLE: Final = "REFMLC_STAGED"
QUICK_SHARE: Final = 2
"""The part of a compilation's time that quick code takes at most: one by this."""


def compile_in_c(module: IRModule, math: Math, threads: int | None = None) -> "CompiledModule":
    """`module` in C; `threads` None: on as many threads as REFMLC_THREADS says."""
    compiled: CompiledModule = load("refmlc.native.tier.compilation:compile_module")(module, math, threads)
    return compiled


def detect_staged() -> bool:
    """Whether REFMLC_STAGED asks for quick code first. Fails: RM112."""
    text = os.environ.get(VARIABLE, "1")
    if text not in ("0", "1"):
        raise fail(BAD_USAGE, f"{VARIABLE} is `{text}`, it is 0 or 1")
    return text == "1"


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

    @property
    def cost(self) -> int:
        """The iterations that are interpreted in the time until there is compiled code."""
        return compilation_cost(self.module)

    def compiled(self) -> "CompiledModule":
        """The compiled module; the first call compiles it."""
        with self._lock:
            if self._compiled is None:
                self._compiled = self._compiler(self.module, self.math)
            return self._compiled

    def code(self, executed: int, announced: int) -> "CompiledModule":
        """The compiled module for a call that announces iterations, of which `executed` were so far."""
        del executed, announced
        return self.compiled()


class StagedModule(NativeModule):
    """A module with quick code first. For concurrent use."""

    def __init__(self, module: IRModule, math: Math, threads: int | None) -> None:
        super().__init__(module, math)
        self._threads = threads
        self._stages: CodeStages | None = None

    @property
    def cost(self) -> int:
        """As of `NativeModule`."""
        return super().cost // QUICK_SHARE

    def compiled(self) -> "CompiledModule":
        """The optimised module, which the caller waits for."""
        with self._lock:
            self._compiled = self._both().optimised()
            return self._compiled

    def code(self, executed: int, announced: int) -> "CompiledModule":
        """The best module there is for a call that announces iterations, of which `executed` were so far."""
        with self._lock:
            self._compiled = self._both().code(executed, announced)
            return self._compiled

    def _both(self) -> "CodeStages":
        if self._stages is None:
            self._stages = load("refmlc.native.tier.stages:CodeStages")(self.module, self.math, self._threads)
        return self._stages
