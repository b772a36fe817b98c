"""A model's own framework as a witness: it runs the file from which refmlc imported a module.

| file    | is run by                                            | the witness is called |
|---------|------------------------------------------------------|-----------------------|
| `.pt2`  | PyTorch: `ExportedProgram.module()`                  | `pytorch`             |
| `.onnx` | ONNX Runtime, where it is installed and takes the model | `onnxruntime`      |
| `.onnx` | else ONNX's reference evaluator                      | `onnx`                |

It answers for the imported module alone, and promises no verdicts. What the framework refuses is `UNSUPPORTED`, with
its message. Of the arguments it takes the first, the inputs; the parameters it has from the file.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from refmlc.frontends.files import Imported
from refmlc.lang.ir import IRModule
from refmlc.lazy import load
from refmlc.oracle.implementations.implementation import Answer, Ended, Prepared, Stop, Stopped
from refmlc.oracle.implementations.local_calls import answered
from refmlc.oracle.implementations.loops.operators import NotTaken

Run: TypeAlias = Callable[[Sequence[object]], object]
"""Computes the result of a model for its inputs. Fails: `NotTaken`."""


@dataclass(frozen=True)
class Framework:
    """A framework with a model. `module` is what refmlc imported, `run` computes; `note`: what the user should know."""

    name: str
    module: IRModule
    run: Run = field(repr=False)
    note: str = ""
    promises_verdicts: bool = False

    def prepare(self, module: IRModule) -> Prepared | Stopped:
        """The model, for the module that was imported from it."""
        if module is not self.module:
            return Stopped(Stop.UNSUPPORTED, "the framework runs the model itself, not another module")
        return _Model(self.run, inputs_of(module))

    def close(self) -> None:
        """Nothing is held."""


class _Model:
    """A model whose first `count` arguments are its inputs."""

    def __init__(self, run: Run, count: int) -> None:
        self._run = run
        self._count = count

    def run(self, func: str, args: Sequence[object]) -> Answer:
        """The result of the model."""
        if func != "main":
            return Stopped(Stop.UNSUPPORTED, f"the model has no function `{func}`")
        return answered(lambda: self._answer(args))

    def close(self) -> None:
        """Nothing is held."""

    def _answer(self, args: Sequence[object]) -> Answer:
        try:
            return Ended(self._run(args[: self._count]), tuple(args))
        except NotTaken as problem:
            return Stopped(Stop.UNSUPPORTED, f"the framework does not take {problem}")


def inputs_of(module: IRModule) -> int:
    """How many parameters of `main` are inputs of the model; the others are its parameters."""
    function = module.functions["main"]
    count = getattr(function, "attrs", {}).get("num_input")
    return count if isinstance(count, int) else len(getattr(function, "params", ()))


def framework(imported: Imported) -> Framework | None:
    """The framework of a model; None of a module of TVM. Fails: RM112 where the framework is missing."""
    if imported.model is None:
        return None
    if type(imported.model).__name__ == "ExportedProgram":
        run = load("refmlc.oracle.implementations.pytorch_model:computing")(imported.model)
        return Framework("pytorch", imported.module, run)
    name, run, note = load("refmlc.oracle.implementations.onnx_model:computing")(imported.model)
    return Framework(name, imported.module, run, note)
