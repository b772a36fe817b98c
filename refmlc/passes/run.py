"""Ask real TVM, in a process of its own, what each of its passes makes of a module."""

import json
import subprocess
from collections.abc import Sequence
from importlib.resources import files

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_USAGE
from refmlc.passes.stages import ENDED, Trace, read_trace

SHOWN = 300


def snapshots(
    text: str,
    *,
    python: str,
    passes: Sequence[str] | None = None,
    target: str = "llvm",
    opt: int = 2,
    seconds: float = 120.0,
) -> Trace:
    """The module of `text` after each pass of TVM that changes it. `passes` None: those of `tvm.compile`.

    Units: seconds for all passes together. A TVM that ends or takes longer leaves what it has written by then.
    Fails: RM112 (this Python does not run TVM), RM109 (nothing was printed).
    """
    script = str(files("refmlc.passes") / "tvm_side.py")
    request = {"module": text, "passes": None if passes is None else list(passes), "target": target, "opt": opt}
    command = [python, script]
    ended = ENDED
    try:
        done = subprocess.run(  # noqa: S603 - the user names the Python
            command,
            input=json.dumps(request),
            capture_output=True,
            encoding="utf-8",
            errors="replace",  # what a compiler says while it dies need not be text
            timeout=seconds,
            check=False,
        )
        written = done.stdout
        if done.returncode:
            ended = f"{ENDED}: {_how(done.returncode)}"
            if not written:
                raise fail(BAD_USAGE, f"`{python}` does not run TVM: {_last(done.stderr)}")
    except subprocess.TimeoutExpired as late:
        written = late.stdout.decode(errors="replace") if isinstance(late.stdout, bytes) else late.stdout or ""
        ended = f"the compiler did not end within {seconds:g} s"
    except OSError as problem:
        raise fail(BAD_USAGE, f"`{python}` does not start: {problem.strerror}") from None
    whole = written[: written.rfind("\n") + 1]  # a line may have been cut
    return read_trace(whole.split("\n"), ended)


def _how(status: int) -> str:
    return f"signal {-status}" if status < 0 else f"status {status}"


def _last(errors: str) -> str:
    lines = [line for line in errors.splitlines() if line.strip()]
    return lines[-1][:SHOWN] if lines else "it says nothing"
