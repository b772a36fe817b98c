"""`tvm.rpc`: a session on this machine; refmlc connects to no other."""

from pathlib import Path
from shutil import copyfile

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_FILE
from refmlc.tvm.build_functions import Executable, load_module
from refmlc.tvm.devices import Device
from refmlc.tvm.missing_names import refusal
from refmlc.tvm.support.folders import tempdir


class LocalSession:
    """A folder of its own on this machine, to which libraries are copied and from which they are loaded."""

    def __init__(self) -> None:
        """An empty folder, which is removed with the session."""
        self._folder = tempdir()

    def _inside(self, name: str) -> Path:
        """The place of a file by its name alone. Fails: RM109 for a path."""
        if Path(name).name != name:
            raise fail(BAD_FILE, "a file of a session is named without a folder")
        return Path(self._folder.relpath(name))

    def upload(self, data: str | Path, target: str | None = None) -> None:
        """Copy a file into the folder. Fails: RM109."""
        try:
            copyfile(data, self._inside(target or Path(data).name))
        except OSError as problem:
            raise fail(BAD_FILE, f"the file cannot be copied: {problem.strerror}") from problem

    def load_module(self, path: str) -> Executable:
        """A library of the folder, built. Fails: as `runtime.load_module`."""
        return load_module(self._inside(path))

    def cpu(self, index: int = 0) -> Device:
        """The CPU."""
        return Device(1, index)


__all__ = ["LocalSession"]

__getattr__ = refusal(
    __name__,
    __all__,
    reasons=dict.fromkeys(("connect", "connect_tracker", "Server", "Tracker"), "refmlc connects to no other machine"),
)
