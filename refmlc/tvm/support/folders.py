"""`tvm.support.utils`: a temporary folder."""

import shutil
import tempfile
import weakref
from pathlib import Path

from refmlc.tvm.missing_names import refusal


class TempDirectory:
    """A folder that is removed with this object."""

    def __init__(self) -> None:
        self.path = tempfile.mkdtemp(prefix="refmlc-")
        self._removal = weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)

    def relpath(self, name: str) -> str:
        """The path of a file in it."""
        return str(Path(self.path) / name)

    def listdir(self) -> list[str]:
        """The names of the files in it."""
        return sorted(path.name for path in Path(self.path).iterdir())

    def remove(self) -> None:
        """Remove it now."""
        self._removal()


def tempdir(custom_path: str | None = None) -> TempDirectory:
    """A new folder; a place for it is not chosen."""
    del custom_path
    return TempDirectory()


__all__ = ["TempDirectory", "tempdir"]

__getattr__ = refusal(__name__, __all__)
