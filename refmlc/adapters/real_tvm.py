"""Real TVM as an implementation: a Python that has apache-tvm, in a process of its own. `tvm:/path/to/python`.

`tvm_side` is the other end; it speaks the protocol of `command`. It forks for each module, so that a crash of TVM ends
only that, and what one module leaves behind another does not meet.

| TVM                                        | the answer                                                         |
|--------------------------------------------|--------------------------------------------------------------------|
| does not parse, lower or compile a module   | `REJECTED`: its own limit                                          |
| dies by a signal while it compiles or runs  | `CRASHED`                                                          |
| raises while a function runs                | `TRAP`; `UNSUPPORTED` where a packed function is not registered      |

(This file is not called `tvm`, which would hide the package from `tvm_side`, who stands beside it.)

The target is `llvm` as it is by default: no fused multiply-add, float32 results follow the written order.
"""

from importlib.resources import files

from refmlc.adapters.limits import Limits
from refmlc.adapters.remote import Remote
from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_USAGE

FOOTPRINT = 16 << 30  # bytes of address space that TVM and LLVM take with all their threads


class Tvm(Remote):
    """TVM in the Python at `python`."""

    def __init__(self, python: str, limits: Limits | None = None) -> None:
        """Start it, which takes some seconds. Fails: RM112 where this Python does not start, or has no TVM."""
        limits = Limits() if limits is None else limits
        script = str(files("refmlc.adapters") / "tvm_side.py")
        super().__init__([python, script], limits, f"tvm:{python}", footprint=FOOTPRINT)
        problem = self.start()
        if problem is not None:
            self.close()
            raise fail(BAD_USAGE, f"`{python}` does not run TVM: {problem}")
