"""Real TVM in an environment of its own: `refmlc conform --install-tvm[=VERSION]`.

The environment stays in the cache directory of refmlc, `tvm-<version>`; a marker file says that it is complete. refmlc
itself never imports from it.
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_USAGE
from refmlc.native.compile import BuildFailed
from refmlc.native.compile.folder import chosen_folder, private_folder

DEFAULT_VERSION = "0.27.0.post1"
VERSION = re.compile(r"[0-9]+(?:\.[0-9]+)*(?:\.?(?:post|dev|rc)[0-9]+)?")
MARKER = "refmlc-complete"
NEEDED = ("numpy", "ml_dtypes")  # imports of the adapter's TVM side
OFFLINE = ("Temporary failure in name resolution", "NewConnectionError", "No matching distribution", "ConnectionError")


def installed_tvm(version: str) -> str:
    """The Python with this version of apache-tvm, installed now if needed. Fails: RM112, with pip's message."""
    if not VERSION.fullmatch(version):
        raise fail(BAD_USAGE, f"`{version}` is not a version of TVM; an example is {DEFAULT_VERSION}")
    try:
        folder = private_folder(chosen_folder()) / f"tvm-{version}"
    except BuildFailed as problem:
        raise fail(BAD_USAGE, f"TVM cannot be installed: {problem}") from None
    python = folder / "bin" / "python"
    if not (folder / MARKER).exists():
        shutil.rmtree(folder, ignore_errors=True)
        step([sys.executable, "-m", "venv", str(folder)], f"an environment in {folder}")
        step([str(python), "-m", "pip", "install", "-q", f"apache-tvm=={version}", *NEEDED], f"apache-tvm {version}")
        step([str(python), "-c", "import tvm"], f"apache-tvm {version}, installed in {folder},")
        (folder / MARKER).touch()
    return str(python)


def step(command: list[str], product: str) -> None:
    """Run a step. Fails: RM112 with the end of its output."""
    try:
        process = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - this Python
    except OSError as problem:
        raise fail(BAD_USAGE, f"{product} cannot be installed: {problem.strerror}") from None
    if process.returncode == 0:
        return
    lines = [line.strip() for line in (process.stderr or process.stdout).splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("ERROR") or "Error" in line] or lines or ["no output"]
    notes = []
    if any(word in process.stderr for word in OFFLINE):
        notes.append("is this machine offline? Give `--impl tvm:PYTHON` for a Python that has apache-tvm")
    raise fail(BAD_USAGE, f"{product} is not available: {errors[-1][:300]}", None, *notes)


def as_word(python: str | Path) -> str:
    """The implementation as `--impl` takes it."""
    return f"tvm:{python}"
