"""Ask real TVM, in a process of its own, what each of its passes makes of a module.

| TVM                                  | the trace                                                            |
|--------------------------------------|----------------------------------------------------------------------|
| comes to its end                     | all snapshots                                                        |
| refuses the module, in some pass     | those before; `stopped` is what it says                               |
| dies, or does not end within its time | those before; `stopped` says how                                      |

The process imports TVM once and forks for each module.
"""

from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import Self

from refmlc.adapters.implementation import Stop
from refmlc.adapters.limits import Limits
from refmlc.adapters.line_process import Broken, LineProcess
from refmlc.adapters.real_tvm import FOOTPRINT
from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_USAGE
from refmlc.passes.stages import ENDED, Trace, read_trace

START = 120.0
GRACE = 5.0  # seconds that the process has to tell by itself that a module takes too long


class Tvm:
    """TVM in the Python at `python`: called with the text of a module, it gives its trace. To be closed, or in `with`.

    `passes` None: those of `tvm.compile`. Units: seconds, for all passes of a module together.
    """

    def __init__(
        self,
        python: str,
        *,
        passes: Sequence[str] | None = None,
        target: str = "llvm",
        opt: int = 2,
        seconds: float = 120.0,
    ) -> None:
        """Start it, which takes some seconds. Fails: RM112 where this Python does not start, or has no TVM."""
        self.name = ""
        self._python, self._seconds = python, seconds
        self._request = {"do": "passes", "target": target, "opt": opt, "seconds": seconds}
        self._request |= {"passes": None if passes is None else list(passes)}
        self._directory = TemporaryDirectory(prefix="refmlc-passes-")
        self._process: LineProcess | None = None
        try:
            self._started()
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        """Itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close it."""
        self.close()

    def close(self) -> None:
        """End the process, whatever it is doing."""
        if self._process is not None:
            self._process.kill()
        self._directory.cleanup()

    def __call__(self, text: str) -> Trace:
        """The module of `text` after each pass that changes it. Fails: RM112 (no such pass), RM109 (no snapshot)."""
        file = Path(self._directory.name) / "stages.jsonl"
        file.write_text("", encoding="utf-8")
        ended = ENDED
        try:
            reply = self._started().ask(self._request | {"module": text, "file": str(file)}, self._seconds + GRACE)
        except Broken as broken:
            reply = {"stop": broken.why.value, "message": broken.message}
        match reply.get("stop"):
            case Stop.REJECTED.value:
                raise fail(BAD_USAGE, str(reply["message"]))
            case Stop.TIMED_OUT.value:
                ended = f"the compiler did not end within {self._seconds:g} s"
            case str():
                ended = f"{ENDED}: {reply['message']}"
        written = file.read_text(encoding="utf-8", errors="replace")
        whole = written[: written.rfind("\n") + 1]  # a line may have been cut
        return read_trace(whole.split("\n"), ended)

    def _started(self) -> LineProcess:
        """The running process. Fails: RM112."""
        if self._process is not None and self._process.alive:
            return self._process
        script = str(files("refmlc.adapters.tvm_side") / "run_passes.py")
        try:
            self._process = LineProcess([self._python, script], memory=FOOTPRINT + Limits().bytes)
            self.name = str(self._process.ask({"do": "hello"}, START).get("name", ""))
        except OSError as problem:
            raise fail(BAD_USAGE, f"`{self._python}` does not start: {problem.strerror}") from None
        except Broken as broken:
            raise fail(BAD_USAGE, f"`{self._python}` does not run TVM: {broken.message}") from None
        return self._process


def snapshots(
    text: str,
    *,
    python: str,
    passes: Sequence[str] | None = None,
    target: str = "llvm",
    opt: int = 2,
    seconds: float = 120.0,
) -> Trace:
    """The trace of one module; for more of them a `Tvm` saves starting it. Fails: RM112, RM109."""
    with Tvm(python, passes=passes, target=target, opt=opt, seconds=seconds) as tvm:
        return tvm(text)
