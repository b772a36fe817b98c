"""TVM's importers in a process of their own, which a worker keeps."""

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol, TypeAlias, TypeVar

import numpy as np

from refmlc.oracle.fuzz.kept_processes import STARTS, kept
from refmlc.oracle.implementations.implementation import Ended, Limits, Stop, Stopped
from refmlc.oracle.implementations.real_tvm import Tvm
from refmlc.run.memory.tensor import Tensor
from refmlc.run.memory.values import Shape

P_contra = TypeVar("P_contra", contravariant=True)
SAID_LIMITS = (
    *("not support", "unsupported", "only support", "not implemented", "currently support", "not yet"),
    "for relax frontend",  # `TopK sorted must be 1 for Relax frontend`
)
Answers: TypeAlias = "list[np.ndarray] | str"
"""The results of a graph, or why there are none: a refusal, which begins with its kind."""


class ImportJudge(Protocol[P_contra]):
    """A framework, and importers that are held to it."""

    def evaluated(self, program: P_contra, /) -> Answers:
        """What the framework computes, or why it does not."""
        ...

    def exports(self, program: P_contra, /) -> bool:
        """Whether the framework gives the program to importers."""
        ...

    def of(self, path: str, program: P_contra, /) -> Answers:
        """The answers on a path."""
        ...

    def compiles_ours(self, python: str, program: P_contra, /) -> bool:
        """Whether the TVM of a Python gives the right result for the module that refmlc imports."""
        ...


class ImporterProcess(Tvm):
    """TVM's importers in their own process: any file, any number of times."""

    side = "run_model.py"

    def answers(self, path: Path, arguments: Sequence[np.ndarray]) -> Answers:
        """The results of the model in a file."""
        prepared = self.prepare_text(str(path))
        if isinstance(prepared, Stopped):
            return refusal(prepared)
        answer = prepared.run("main", [Tensor.from_numpy(np.asarray(array, order="C")) for array in arguments])
        prepared.close()
        if isinstance(answer, Stopped):
            return refusal(answer)
        return arrays_of(answer)

    def shown(self, path: Path) -> str:
        """The text of the module that TVM makes of a model in a file; empty: it makes none."""
        reply = self.ask({"do": "show", "module": str(path)}, self.limits.prepare)
        text = None if isinstance(reply, Stopped) else reply.get("text")
        return text if isinstance(text, str) else ""


def refusal(stopped: Stopped) -> str:
    """Why there are no results: a death, a limit that TVM declares, or a fault; then the message."""
    if stopped.why is Stop.CRASHED:
        return f"crashed: {stopped.message}"
    said = any(words in stopped.message.lower() for words in SAID_LIMITS)
    return f"{'refused' if said or not _is_fault(stopped) else 'failed'}: {stopped.message}"


def _is_fault(stopped: Stopped) -> bool:
    return stopped.why in (Stop.REJECTED, Stop.TRAP)


def arrays_of(answer: Ended) -> list[np.ndarray]:
    """The results as arrays: a shape and a number are tensors of int64."""
    value = answer.value
    items = value if isinstance(value, tuple) and not isinstance(value, Shape) else (value,)
    return [each.numpy() if isinstance(each, Tensor) else np.asarray(each, "int64") for each in items]


def importer(python: str, seconds: float) -> ImporterProcess:
    """TVM's importers, which end with the worker."""
    return kept(ImporterProcess, python, _limits(seconds))


def compiler(python: str, seconds: float) -> Tvm:
    """TVM for texts, in a process of its own, which ends with the worker."""
    return kept(Tvm, python, _limits(seconds))


def _limits(seconds: float) -> Limits:
    """Those of a program. The first model of PyTorch is made ready after PyTorch is loaded, which is a start too."""
    return Limits(seconds=seconds, prepare=max(seconds, STARTS), start=STARTS)
