"""Real TVM as a peer: a process in a separate environment, driven line by line (its other end is `run_timed`).

It measures its own thread CPU time; batches of it alternate with ours, so that both meet the same machine.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from types import TracebackType
from typing import Self

import ml_dtypes  # noqa: F401 - gives NumPy its names for small floats
import numpy as np

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_USAGE
from refmlc.system.folders import Folder
from refmlc.system.lines import Broken, LineProcess
from refmlc.tools.bench.witness import Array

LONGEST = 3600.0  # seconds: TVM may tune, or run its slowest way


class TvmFailed(Exception):
    """TVM does not take a program, or has ended. The text is its last line."""


class TvmProcess:
    """A Python that has apache-tvm, at work. Use it in `with`."""

    def __init__(self, python: str) -> None:
        """Start it. Fails: RM112 when this Python does not start, or has no TVM."""
        script = str(files("refmlc.oracle.implementations.tvm_side") / "run_timed.py")
        try:
            self._process = LineProcess([python, script])
        except OSError as problem:
            raise fail(BAD_USAGE, f"`{python}` does not run: {problem.strerror}") from None
        self._directory = Folder("bench")
        try:
            self.version = str(self.ask({"do": "version"})["version"])
        except TvmFailed as problem:
            self.close()
            raise fail(BAD_USAGE, f"`{python}` does not run TVM: {problem}") from None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the process and forget its files."""
        self._process.kill()
        self._directory.cleanup()

    def ask(self, request: Mapping[str, object]) -> Mapping[str, object]:
        """Send one request and wait for the answer. Fails: `TvmFailed`."""
        try:
            reply = self._process.ask(request, LONGEST)
        except Broken as broken:
            raise TvmFailed(broken.message) from None
        if "error" in reply:
            raise TvmFailed(str(reply["error"]))
        return reply

    def load(self, name: str, text: str, func: str, inputs: Sequence[Array], output: Array) -> Array:
        """Compile `text` and run `func` on `inputs` once; the result has the shape and dtype of `output`."""
        folder = Path(self._directory.name)
        arrays = [_written(array, folder / f"{name}.{number}") for number, array in enumerate(inputs)]
        result = _described(output, folder / f"{name}.out")
        self.ask({"do": "load", "name": name, "text": text, "func": func, "arrays": arrays, "output": result})
        return np.fromfile(folder / f"{name}.out", output.dtype).reshape(output.shape)


@dataclass(frozen=True, slots=True)
class TvmCandidate:
    """A loaded program as a candidate."""

    name: str
    process: TvmProcess
    program: str
    do: str = "run"

    def take(self, calls: int) -> int:
        """Run or compile it there `times` times."""
        if self.do == "compile":
            return sum(self._ns({"do": "compile", "name": self.program}) for _ in range(calls))
        return self._ns({"do": "run", "name": self.program, "calls": calls})

    def _ns(self, request: Mapping[str, object]) -> int:
        taken = self.process.ask(request)["ns"]
        if not isinstance(taken, int):
            raise TvmFailed("the process gives an unexpected answer")
        return taken


def _described(array: Array, path: Path) -> dict[str, object]:
    return {"path": str(path), "dtype": str(array.dtype), "shape": list(array.shape)}


def _written(array: Array, path: Path) -> dict[str, object]:
    array.tofile(path)
    return _described(array, path)
