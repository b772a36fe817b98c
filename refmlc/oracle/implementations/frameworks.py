"""A model's own framework as a witness: it runs the file from which refmlc imported a module.

| file    | is run by                                            | the witness is called |
|---------|------------------------------------------------------|-----------------------|
| `.pt2`  | PyTorch: `ExportedProgram.module()`                  | `pytorch`             |
| `.onnx` | ONNX Runtime, where it is installed and takes the model | `onnxruntime`      |
| `.onnx` | else ONNX's reference evaluator                      | `onnx`                |

It runs in a process of its own (`framework_side`), with the limits of every other implementation: what a model makes of
a framework, a crash, silence or hunger for memory, is an answer. It answers for the imported module alone, and promises
no verdicts. What the framework refuses is `UNSUPPORTED`, with its message. Of the arguments it takes the first, the
inputs; the parameters it has from the file. ONNX gets the bytes of the model that refmlc has read, so it opens no other
file.
"""

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_FILE
from refmlc.frontends.files import EXPORTED, Imported
from refmlc.lang.ir import IRModule
from refmlc.oracle.implementations.implementation import Answer, Implementation, Limits, Prepared, Stop, Stopped
from refmlc.oracle.implementations.remote import Remote


class Witness(Implementation, Protocol):
    """An implementation that runs a model itself. `note`: what the user should know of it."""

    @property
    def note(self) -> str: ...


class Framework(Remote):
    """The framework of a model, for `subject`, which refmlc imported from it. The process starts at its first use."""

    def __init__(self, path: Path, imported: Imported, limits: Limits) -> None:
        """For the model at `path`. Fails: RM109 for a model of ONNX that is too large to be passed on."""
        name = "pytorch" if path.suffix == EXPORTED else "onnx"
        super().__init__([sys.executable, "-m", "refmlc.oracle.implementations.framework_side"], limits, name)
        self.subject = imported.module
        self.note = ""
        self._file = path.resolve() if path.suffix == EXPORTED else _written(imported.model, path, self.folder)
        self._command.append(str(self._file))

    def start(self) -> str | None:
        """Start it, unless it runs, and learn which framework it is; why it does not, in one line."""
        problem = super().start()
        if problem is None:
            self.name, self.note = str(self.says["name"]), str(self.says.get("note", ""))
        return problem

    def prepare(self, module: IRModule) -> Prepared | Stopped:
        """The model, for the module that was imported from it."""
        if module is not self.subject:
            return Stopped(Stop.UNSUPPORTED, "the framework runs the model itself, not another module")
        prepared = self.prepare_text(str(self._file))
        return prepared if isinstance(prepared, Stopped) else ModelCalls(prepared, inputs_of(module))


def _written(model: object, path: Path, folder: Path) -> Path:
    """The bytes of a model of ONNX, in a file of ours."""
    try:
        content: bytes = getattr(model, "SerializeToString")()  # noqa: B009 - ONNX has no types
    except ValueError as problem:
        raise fail(BAD_FILE, f"`{path}` cannot be passed to another process: {problem}") from problem
    (folder / "model.onnx").write_bytes(content)
    return folder / "model.onnx"


class ModelCalls:
    """A model that a process holds: the first `count` arguments are its inputs, and it changes none."""

    def __init__(self, prepared: Prepared, count: int) -> None:
        self._prepared, self._count = prepared, count

    def run(self, func: str, args: Sequence[object]) -> Answer:
        """The result of the model."""
        answer = self._prepared.run(func, args[: self._count])
        return answer if isinstance(answer, Stopped) else replace(answer, args=tuple(args))

    def close(self) -> None:
        """Close what the process holds."""
        self._prepared.close()


def inputs_of(module: IRModule) -> int:
    """How many parameters of `main` are inputs of the model; the others are its parameters."""
    function = module.functions["main"]
    count = getattr(function, "attrs", {}).get("num_input")
    return count if isinstance(count, int) else len(getattr(function, "params", ()))


def framework(path: Path, imported: Imported, limits: Limits) -> Framework | None:
    """The framework of a model; None of a module of TVM."""
    return None if imported.model is None else Framework(path, imported, limits)
