"""`tvm.contrib.utils`: a folder that is gone with its handle."""

from pathlib import Path
from tempfile import TemporaryDirectory

from refmlc.tvm.missing_names import refusal

__all__ = ["TempDirectory", "tempdir"]


class TempDirectory:
    """A new folder."""

    def __init__(self) -> None:
        self._folder = TemporaryDirectory(prefix="refmlc-")
        self.temp_dir = self._folder.name

    def relpath(self, name: str) -> str:
        """The path of a file in it."""
        return str(Path(self.temp_dir) / name)

    def remove(self) -> None:
        """Delete it now."""
        self._folder.cleanup()


def tempdir() -> TempDirectory:
    """A new folder."""
    return TempDirectory()


__getattr__ = refusal(__name__, __all__)
