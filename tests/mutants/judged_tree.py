"""A copy of the tree that is judged, so that nobody's editing comes between; one module of it from another text."""

import hashlib
import importlib.abc
import importlib.util
import shutil
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

PARTS = ("refmlc", "kernels_c", "conformance")


@contextmanager
def copied(root):
    """The folder of the copy; `refmlc` is imported from there."""
    with tempfile.TemporaryDirectory(prefix="refmlc-suite-") as name:
        for part in PARTS:
            left_out = shutil.ignore_patterns("__pycache__")
            shutil.copytree(root / part, Path(name) / part, symlinks=True, ignore=left_out)
        sys.path.insert(0, name)
        yield Path(name)


def digest(*texts):
    """A name for texts."""
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:24]


class Wrong(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Loads one module from another text."""

    def __init__(self, name, path, source):
        self._name, self._path, self._source = name, path, source

    def find_spec(self, name, _path, _target=None):
        """That module, and no other."""
        if name != self._name:
            return None
        return importlib.util.spec_from_file_location(name, self._path, loader=self)

    def create_module(self, _spec):
        """As usual."""
        return

    def exec_module(self, module):
        """Execute the text."""
        exec(compile(self._source, str(self._path), "exec"), module.__dict__)  # noqa: S102 - the mutant
