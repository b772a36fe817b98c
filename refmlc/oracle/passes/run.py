"""Run a compiler, usually real TVM, in a separate process, and get the module after each of its passes.

| the compiler                          | the trace                                                              |
|---------------------------------------|------------------------------------------------------------------------|
| ends                                  | all snapshots                                                          |
| refuses the module, in some pass      | those before; `stopped` is its message                                 |
| dies, or does not end within its time | those before; `stopped` says how; with the next module it starts again |

TVM's process imports TVM once and forks for each module.
"""

import json
import shlex
from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Self

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_USAGE
from refmlc.oracle.implementations.implementation import Limits, Stop
from refmlc.oracle.implementations.real_tvm import FOOTPRINT
from refmlc.oracle.implementations.remote import VERSION
from refmlc.oracle.outcome import Kind
from refmlc.oracle.passes.stages import ENDED, PassTrace, read_trace
from refmlc.system.folders import Folder
from refmlc.system.lines import Broken, LineProcess

FILE = "stages.jsonl"
SHOWN = 200
NOTHING: Mapping[str, str] = MappingProxyType({})
START = 120.0
GRACE = 5.0  # seconds that the process has to tell by itself that a module takes too long


class CompilerProcess:
    """Any compiler that answers `passes` in lines of JSON (`conformance/adapters/PROTOCOL.md`), such as real TVM.

    Called with the text of a module, it gives its trace. To be closed, or in `with`. `name` and `version` are its own.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        passes: Sequence[str] | None = None,
        seconds: float = 120.0,
        named: str = "",
        more: Mapping[str, object] = NOTHING,
    ) -> None:
        """Start it. `passes` None: its own pipeline. `more`: further keys of the request. `named`: its name.

        Units: seconds, for all passes of a module together. Fails: RM112 where it does not start, or has no passes.
        """
        self.name = self.version = ""
        self._command, self._seconds, self._named = list(command), seconds, named or shlex.join(command)
        pass_names = None if passes is None else list(passes)
        self._request = {"do": "passes", "passes": pass_names, "file": FILE, "seconds": seconds, **more}
        self._directory = Folder("passes")
        self._process: LineProcess | None = None
        try:
            self._started()
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the process, whatever it is doing."""
        if self._process is not None:
            self._process.kill()
        self._directory.cleanup()

    def __call__(self, text: str, passes: Sequence[str] | None = None, **more: object) -> PassTrace:
        """The module of `text` after each pass that changes it. Fails: RM112 (no such pass), RM109 (no snapshot).

        `passes`, `more`: in place of those that all modules have; `whole=True`: a snapshot for each of `passes`, and an
        order that the compiler must take: a failed check of its own in it is a fault.
        """
        request = self._request | more | ({} if passes is None else {"passes": list(passes)})
        file = Path(self._directory.name) / FILE
        file.write_text("", encoding="utf-8")
        ended, kind = ENDED, Kind.COMPILER_ERROR
        process = self._started()
        try:
            reply = process.ask(request | {"module": text}, self._seconds + GRACE)
        except Broken as broken:
            reply = {"stop": broken.why, "message": broken.message}
        match reply:
            case {"stop": Stop.REJECTED.value, "message": message}:
                raise fail(BAD_USAGE, str(message))
            case {"stop": Stop.TIMED_OUT.value}:
                ended, kind = f"the compiler did not end within {self._seconds:g} s", Kind.HUNG
            case {"stop": str(), "message": message}:
                ended = f"{ENDED}: {message}"
            case {"ok": True}:
                pass
            case _:
                process.kill()
                ended = f"{ENDED}: unexpected answer {json.dumps(reply)[:SHOWN]}"
        content = file.read_text(encoding="utf-8", errors="replace")
        whole_lines = content[: content.rfind("\n") + 1]  # a line may have been cut
        chosen = request["passes"] is not None and request.get("whole") is not True
        return read_trace(whole_lines.split("\n"), ended, kind, chosen=chosen)

    def _started(self) -> LineProcess:
        """The running process. Fails: RM112."""
        if self._process is not None and self._process.alive:
            return self._process
        limits = Limits()
        hello = {"do": "hello", "version": VERSION, "folder": self._directory.name, "bytes": limits.bytes}
        times = {"seconds": self._seconds, "prepare_seconds": self._seconds}
        try:
            self._process = LineProcess(self._command, memory=FOOTPRINT + limits.bytes)
            hello_reply = self._process.ask(hello | times, START)
        except OSError as problem:
            raise fail(BAD_USAGE, f"`{self._named}` does not start: {problem.strerror}") from None
        except Broken as broken:
            raise fail(BAD_USAGE, f"`{self._named}` does not start: {broken.message}") from None
        if hello_reply.get("passes") is not True:
            raise fail(BAD_USAGE, f"`{self._named}` does not support `passes`")
        self.name, self.version = str(hello_reply.get("name", "")), str(hello_reply.get("version", ""))
        return self._process


class TvmPasses(CompilerProcess):
    """TVM in the Python at `python`. `passes` None: those of `tvm.compile`."""

    def __init__(
        self,
        python: str,
        *,
        passes: Sequence[str] | None = None,
        target: str = "llvm",
        opt: int = 2,
        pipelines: Mapping[str, str] = NOTHING,
        seconds: float = 120.0,
    ) -> None:
        """Start it, which takes some seconds. Fails: RM112 where this Python does not start, or has no TVM.

        `pipelines`: names for `tir_pipeline` and `relax_pipeline` of `tvm.compile`; left out: those of the target.
        """
        script = str(files("refmlc.oracle.implementations.tvm_side") / "run_passes.py")
        more = {"target": target, "opt": opt, "pipelines": dict(pipelines)}
        super().__init__([python, script], passes=passes, seconds=seconds, named=python, more=more)


class TvmPrimitives(CompilerProcess):
    """The primitives of TVM's schedule, in the Python at `python`: applied as named, or drawn from `seed`."""

    def __init__(self, python: str, *, seconds: float = 60.0, most: int = 6) -> None:
        """Start it. `most`: primitives of a drawn trace. Fails: RM112 where this Python does not start, has no TVM."""
        script = str(files("refmlc.oracle.implementations.tvm_side") / "run_primitives.py")
        super().__init__([python, script], seconds=seconds, named=python, more={"seed": 0, "most": most})


def snapshots(
    text: str,
    *,
    python: str,
    passes: Sequence[str] | None = None,
    target: str = "llvm",
    opt: int = 2,
    seconds: float = 120.0,
) -> PassTrace:
    """The trace of one module; for more of them a `TvmPasses` saves starting it. Fails: RM112, RM109."""
    with TvmPasses(python, passes=passes, target=target, opt=opt, seconds=seconds) as tvm:
        return tvm(text)
