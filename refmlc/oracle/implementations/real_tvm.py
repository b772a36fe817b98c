"""Real TVM as an implementation: a Python with apache-tvm in a separate process. `tvm:/path/to/python`.

Versions 0.25 (with apache-tvm-ffi 0.1.12), 0.26 and 0.27 run. Options follow the path after commas, the name says them:

| option             | is                                                                                        |
|--------------------|-------------------------------------------------------------------------------------------|
| `target=llvm`      | left out: no fused multiply-add, float32 results follow the written order                    |
| `target=llvm -mcpu=haswell` | code for that processor                                                          |
| `target=c`         | C, compiled by the system's compiler; TVM has no `mode=compiled` for it                     |
| `mode=bytecode`    | left out: functions of Relax run in the virtual machine; or `mode=compiled`: as machine code |
| `opt=0` … `opt=3`  | the level of optimisation; left out: TVM's own                                              |
| `tir_pipeline=tirx` | the passes that TVM has for TIRx: for prim_funcs without blocks; left out: those of S-TIR |
| `relax_pipeline=default_build` | the passes of that name, which do not fuse; left out: those of the target           |
| `cuda`             | code for the GPU; functions without threads get TVM's default schedules                     |

`tvm_side/run_calls` is the other end; it speaks the protocol of `command`. It forks for each module, so that a crash of
TVM ends only that, and what one module leaves behind another does not meet.

| TVM                                        | the answer                                                         |
|--------------------------------------------|--------------------------------------------------------------------|
| does not parse a text; its message names a limit | `REJECTED`: a refusal                                           |
| does not lower or compile a module, with any other message | `REJECTED`, a `fault`                                 |
| dies by a signal while it compiles or runs  | `CRASHED`, in the first case `building`                              |
| raises while a function runs                | `TRAP`                                                               |
| … a `ValueError`, a `TypeError`, or a limit | `TRAP` that is `refused`: a check of its arguments says so           |
| … any of these, for want of what this process lacks | `UNSUPPORTED`: a declared limit, see below                   |

Declared are: a runtime or a target that the build does not have ("not linked", "not enabled"), a function that the
module names as a string and nobody has registered, a device for functions with threads or for another target.
"""

import json
from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_USAGE
from refmlc.lang.ir import IRModule
from refmlc.oracle.implementations.frameworks import ModelCalls
from refmlc.oracle.implementations.implementation import Answer, Limits, Prepared, Stop, Stopped
from refmlc.oracle.implementations.remote import Remote

MODES = ("bytecode", "compiled")
LEVELS = ("0", "1", "2", "3")
PIPELINES = {"tir_pipeline": ("tirx",), "relax_pipeline": ("default_build",)}
KNOWN = "target=…, mode=bytecode or compiled, opt=0 … 3, tir_pipeline=tirx, relax_pipeline=default_build, cuda"


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
            case "tir_pipeline" | "relax_pipeline", str() if value in PIPELINES[key]:
                options[key] = value
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

    side = "run_calls.py"

    def __init__(self, python: str, limits: Limits | None = None) -> None:
        """Start it, which takes some seconds. Fails: RM112 where this Python does not start, or has no TVM."""
        limits = Limits() if limits is None else limits
        path, *words = python.split(",")
        options = options_of(words)
        command = [path, str(files("refmlc.oracle.implementations.tvm_side") / self.side), json.dumps(options)]
        super().__init__(command, limits, f"tvm:{python}", footprint=DEVICE if "cuda" in options else FOOTPRINT)
        self.lacks = frozenset() if "cuda" in options else frozenset({"threads"})
        problem = self.start()
        if problem is not None:
            self.close()
            raise fail(BAD_USAGE, f"`{path}` does not run TVM: {problem}")


IMPORTERS = {".pt2": "torch", ".onnx": "onnx"}
"""The package that TVM's importer of a file needs."""
REFUSED = "TVM refuses: "
"""How the message begins when TVM does not import, compile or run the model."""


class TvmImporter(Tvm):
    """TVM's own importer of a model: TVM imports the file at `path` in its process, compiles and runs it.

    It answers for `module`, which refmlc imported from the same file, and takes the first `inputs` of its arguments:
    the parameters it has from the file. `missing` names the package that this Python lacks for it, or is empty.
    """

    side = "run_model.py"

    def __init__(self, python: str, path: Path, module: IRModule, inputs: int, limits: Limits | None = None) -> None:
        """Start it. Fails: RM112 where this Python does not start, or has no TVM."""
        super().__init__(python, limits)
        self.name = f"tvm-importer:{python}"
        self._path, self._module, self._inputs = path.resolve(), module, inputs

    @property
    def missing(self) -> str:
        """The package that the importer needs and this Python has not; empty: it has it."""
        needed, lacking = IMPORTERS.get(self._path.suffix, ""), self.says.get("missing")
        return needed if isinstance(lacking, list) and needed in lacking else ""

    def prepare(self, module: IRModule) -> Prepared | Stopped:
        """The model, for the module that refmlc imported from it."""
        if module is not self._module:
            return Stopped(Stop.UNSUPPORTED, "TVM's importer reads the model itself, not another module")
        prepared = self.prepare_text(str(self._path))
        return _refusal(prepared) if isinstance(prepared, Stopped) else _ImportedModel(prepared, self._inputs)


class _ImportedModel(ModelCalls):
    """A model that TVM imported."""

    def run(self, func: str, args: Sequence[object]) -> Answer:
        """The result of the model, or TVM's refusal."""
        answer = super().run(func, args)
        return _refusal(answer) if isinstance(answer, Stopped) else answer


def _refusal(answer: Stopped) -> Stopped:
    """A refusal, marked as TVM's; a crash stays one."""
    refusals = (Stop.REJECTED, Stop.UNSUPPORTED, Stop.TRAP)
    if answer.why not in refusals:
        return answer
    return Stopped(Stop.REJECTED, f"{REFUSED}{answer.message}")
