"""Real TVM as an implementation: a Python with apache-tvm in a separate process. `tvm:/path/to/python`.

Versions 0.25 (with apache-tvm-ffi 0.1.12), 0.26 and 0.27 run. Options follow the path after commas, the name says them:

| option             | is                                                                                        |
|--------------------|-------------------------------------------------------------------------------------------|
| `target=llvm`      | left out: no fused multiply-add, float32 results follow the written order                    |
| `target=llvm -mcpu=haswell` | code for that processor                                                          |
| `target=c`         | C, compiled by the system's compiler; TVM has no `mode=compiled` for it                     |
| `mode=bytecode`    | left out: functions of Relax run in the virtual machine; or `mode=compiled`: as machine code |
| `opt=0` … `opt=3`  | the level of optimisation; left out: TVM's own                                              |
| `cuda`             | code for the GPU; functions without threads get TVM's default schedules                     |

`tvm_side/run_calls` is the other end; it speaks the protocol of `command`. It forks for each module, so that a crash of
TVM ends only that, and what one module leaves behind another does not meet.

| TVM                                        | the answer                                                         |
|--------------------------------------------|--------------------------------------------------------------------|
| does not parse, lower or compile a module   | `REJECTED`: its own limit                                          |
| … with an `InternalError`, an `AssertionError` | `REJECTED`, a `fault`, unless the message names a limit          |
| dies by a signal while it compiles or runs  | `CRASHED`                                                          |
| raises while a function runs                | `TRAP`                                                             |
| … a `ValueError`, a `TypeError`             | `TRAP` that is `refused`: a check of its arguments says so           |
| … and the message names a limit             | `UNSUPPORTED`: a function or a runtime that this build does not have |
"""

import json
from collections.abc import Mapping, Sequence
from importlib.resources import files

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_USAGE
from refmlc.oracle.implementations.implementation import Limits
from refmlc.oracle.implementations.remote import Remote

MODES = ("bytecode", "compiled")
LEVELS = ("0", "1", "2", "3")
KNOWN = "target=…, mode=bytecode or compiled, opt=0 … 3, cuda"


def options_of(words: Sequence[str]) -> Mapping[str, object]:
    """What `target=c`, `opt=0` and so on say. Fails: RM112."""
    options: dict[str, object] = {}
    for word in words:
        key, _, value = word.strip().partition("=")
        if key in options:
            raise fail(BAD_USAGE, f"the option `{key}` of `tvm` is given twice")
        match key, value:
            case "target", str() if value.strip():
                options[key] = value.strip()
            case "mode", str() if value in MODES:
                options[key] = value
            case "opt", str() if value in LEVELS:
                options[key] = int(value)
            case "cuda", "":
                options[key] = True
            case _:
                raise fail(BAD_USAGE, f"`tvm` has no option `{word.strip()}`", None, f"its options: {KNOWN}")
    if "cuda" in options and "target" in options:
        raise fail(BAD_USAGE, "`tvm` takes `cuda` or a target, not both")
    return options


FOOTPRINT = 16 << 30  # bytes of address space that TVM and LLVM take with all their threads
DEVICE = 1 << 40  # … and CUDA, which reserves as much as the devices have, and more


class Tvm(Remote):
    """TVM in the Python at `python`, which options may follow: `/opt/python,target=c,opt=0`."""

    def __init__(self, python: str, limits: Limits | None = None) -> None:
        """Start it, which takes some seconds. Fails: RM112 where this Python does not start, or has no TVM."""
        limits = Limits() if limits is None else limits
        path, *words = python.split(",")
        options = options_of(words)
        command = [path, str(files("refmlc.oracle.implementations.tvm_side") / "run_calls.py"), json.dumps(options)]
        super().__init__(command, limits, f"tvm:{python}", footprint=DEVICE if "cuda" in options else FOOTPRINT)
        self.lacks = frozenset() if "cuda" in options else frozenset({"threads"})
        problem = self.start()
        if problem is not None:
            self.close()
            raise fail(BAD_USAGE, f"`{path}` does not run TVM: {problem}")
