"""The other side of `frameworks`: `python -m refmlc.oracle.implementations.framework_side FILE` runs a model.

It speaks the protocol of `command` on its standard streams; `hello` also answers a `note`. The `module` of `prepare` is
the path of the file, which is read before `hello` is answered. What a framework prints goes to standard error.
"""

import json
import os
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

from refmlc.frontends.files import EXPORTED
from refmlc.lazy import load
from refmlc.oracle.implementations.loops.operators import NotTaken
from refmlc.oracle.implementations.wire import Receiver, Sender, Unsendable

Run: TypeAlias = Callable[[Sequence[object]], object]
"""Computes the result of a model for its inputs. Fails: `NotTaken`."""
LONGEST = 300


def loaded(path: Path) -> tuple[str, Run, str]:
    """The name of the framework, what computes, and a note. Fails: as the framework does."""
    if path.suffix == EXPORTED:
        return (
            "pytorch",
            load("refmlc.oracle.implementations.pytorch_model:computing")(load("torch").export.load(path)),
            "",
        )
    name, run, note = load("refmlc.oracle.implementations.onnx_model:computing")(load("onnx").load(str(path)))
    return name, run, note


class FrameworkSide:
    """Answers the requests of one model."""

    def __init__(self, path: Path) -> None:
        """Read the model."""
        self.name, self.note, self._problem = "pytorch" if path.suffix == EXPORTED else "onnx", "", ""
        self._run: Run | None = None
        self._folder = Path()
        try:
            self.name, self._run, self.note = loaded(path)
        except MemoryError:
            raise
        except Exception as problem:  # noqa: BLE001 - frameworks have errors of their own
            self._problem = line_of(problem)

    def answer(self, request: Mapping[str, object]) -> dict[str, object]:
        """The answer to a request."""
        match request:
            case {"do": "hello", "folder": str(folder)}:
                self._folder = Path(folder)
                return {"name": self.name, "note": self.note, "inline": True}
            case {"do": "prepare"}:
                return {"ok": True} if self._run is not None else stopped("unsupported", self._problem)
            case {"do": "run", "func": "main", "args": list(args)} if self._run is not None:
                return self._computed(self._run, args)
            case _:
                return stopped("unsupported", f"the model has no `{request.get('func')}`")

    def _computed(self, run: Run, args: list[object]) -> dict[str, object]:
        receiver = Receiver(self._folder)
        try:
            result = run([receiver.value(arg) for arg in args])
            return {"value": Sender(self._folder, "r").value(result), "args": args}
        except NotTaken as problem:
            return stopped("unsupported", f"the framework does not take {problem}")
        except Unsendable as problem:
            return stopped("unsupported", str(problem))
        except MemoryError:
            return stopped("exhausted", "the framework ran out of memory")
        except Exception as problem:  # noqa: BLE001 - as above
            return stopped("crashed", line_of(problem))


def stopped(why: str, message: str) -> dict[str, object]:
    """Why there is no answer."""
    return {"stop": why, "message": message}


def line_of(problem: Exception) -> str:
    """An error in a line."""
    return " ".join(f"{type(problem).__name__}: {problem}".split())[:LONGEST]


def main() -> None:
    """Answer until the input ends."""
    with os.fdopen(os.dup(1), "w") as replies:
        os.dup2(2, 1)
        warnings.simplefilter("ignore")
        side = FrameworkSide(Path(sys.argv[1]))
        for line in sys.stdin:
            request = json.loads(line)
            if request["do"] == "close":
                return
            replies.write(json.dumps(side.answer(request)) + "\n")
            replies.flush()


if __name__ == "__main__":
    main()
