"""`tvm.support.utils`, and `tvm.contrib.utils` of earlier generations: a temporary folder."""

import shutil
import tempfile
import weakref
from pathlib import Path

from refmlc.diag import fail
from refmlc.diag.catalogue import UNSUPPORTED_CONSTRUCT
from refmlc.tvm.missing_names import refusal


class TempDirectory:
    """A folder that is removed with this object."""

    def __init__(self) -> None:
        self.temp_dir = tempfile.mkdtemp(prefix="refmlc-")
        self._removal = weakref.finalize(self, shutil.rmtree, self.temp_dir, ignore_errors=True)

    def relpath(self, name: str) -> str:
        """The path of a file in it."""
        return str(Path(self.temp_dir) / name)

    def listdir(self) -> list[str]:
        """The names of the files in it."""
        return sorted(path.name for path in Path(self.temp_dir).iterdir())

    def remove(self) -> None:
        """Remove it now."""
        self._removal()


def tempdir(custom_path: str | None = None) -> TempDirectory:
    """A new folder. Fails: RM504 for a place of the caller's: what is removed with its handle is never there."""
    if custom_path is not None:
        raise fail(UNSUPPORTED_CONSTRUCT, "`tempdir` makes its folder where temporary files are: it takes no path")
    return TempDirectory()


__all__ = ["TempDirectory", "tempdir"]

__getattr__ = refusal(__name__, __all__)
