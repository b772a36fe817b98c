"""The modules that a command takes: files, folders of them, models, the standard input.

In a folder, `*.py` files with a decorator of TVMScript are taken; other `*.py` files are counted. Hidden folders and
`__pycache__` are skipped.
"""

import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from refmlc.diag import RefmlcError, Related, Source as Text, fail
from refmlc.diag.catalogue import BAD_FILE
from refmlc.lang.ir import IRModule
from refmlc.lang.script.reader.syntax import decoded
from refmlc.lang.wellformed.reader_checks import checked, read_file, read_parts
from refmlc.lazy import load
from refmlc.system.regular import open_regular

if TYPE_CHECKING:
    from refmlc.oracle.check.model import Model
    from refmlc.oracle.implementations.implementation import Limits

STDIN = Path("-")
TEXTS = ("", ".py")
"""Endings that are of no model: nothing is loaded to find that out."""
_TVMSCRIPT = re.compile(rb"^[ \t]*@(?:\w+\.)*(?:prim_func|ir_module)\b|^[ \t]*@(?:R|relax)\.function\b", re.MULTILINE)


@dataclass(frozen=True)
class Source:
    """A module of a text, or the failure to read the text; neither before `parts`. Or a model.

    `suffix` names the module where the text holds several; `notes` say what of the text is skipped. `trust`: a model
    may execute what it holds.
    """

    path: Path
    module: IRModule | None = None
    failure: RefmlcError | None = None
    suffix: str = ""
    notes: tuple[Related, ...] = ()
    trust: bool = False

    @property
    def title(self) -> str:
        """Its name in a table."""
        return f"{'<stdin>' if self.path == STDIN else self.path.name}{self.suffix}"

    @property
    def place(self) -> str:
        """The path, with the name of the module where the text holds several."""
        return f"{self.path}{self.suffix}"

    @property
    def is_model(self) -> bool:
        """Whether a frontend reads it."""
        return self.path.suffix not in TEXTS and bool(load("refmlc.oracle.check.model:is_model")(self.path))

    def model(self, limits: "Limits") -> "Model":
        """The model; `limits` are those of its framework. Fails: as reading does; RM112 for one that is not trusted."""
        model: Model = load("refmlc.oracle.check.model:model_of")(self.path, trust=self.trust, limits=limits)
        return model

    def read(self, *, check: bool = True) -> IRModule:
        """The module; of a model the one that its frontend imports. Fails: as reading does."""
        if self.is_model:
            return self.model(load("refmlc.oracle.implementations.implementation:Limits")()).module
        if self.failure is not None:
            raise self.failure
        if self.module is None:
            return self.parts()[0].read(check=check)
        return checked(self.module, check=check)

    def parts(self) -> "list[Source]":
        """A source for each module of the text; itself with the failure where it cannot be read."""
        if self.is_model:
            return [self]
        try:
            modules, notes = _modules(self.path)
        except RefmlcError as failure:
            return [replace(self, failure=failure)]
        several = len(modules) > 1
        parts = [replace(self, module=module, suffix=f"::{name}" * several) for name, module in modules.items()]
        return [replace(parts[0], notes=notes), *parts[1:]]


def _modules(path: Path) -> tuple[dict[str, IRModule], tuple[Related, ...]]:
    """The modules of a text by name, and what of it is skipped. Fails: as reading does."""
    if path == STDIN:
        return read_parts(Text("<stdin>", decoded(sys.stdin.buffer.read(), "<stdin>")))
    if "::" in path.name:
        return {"": read_file(path, check=False)}, ()
    return read_parts(path)


def sources(paths: Sequence[Path], *, trust: bool = False, skip: bool = False) -> tuple[list[Source], int]:
    """The sources in `paths`, each once, and the number of skipped files in folders. Fails: RM109.

    `skip`: files that are named themselves are skipped as those in folders are.
    """
    files: dict[Path, None] = {}
    skipped = 0
    for path in paths:
        if not path.is_dir() and not (skip and path.suffix == ".py"):
            files[path] = None
            continue
        for file in files_in(path):
            if _TVMSCRIPT.search(_bytes(file)):
                files[file] = None
            else:
                skipped += 1
    return [Source(path, trust=trust) for path in files], skipped


def files_in(path: Path) -> Iterator[Path]:
    """The Python files below a folder, in order; a file itself."""
    yield from _files(path) if path.is_dir() else [path]


def _files(folder: Path) -> Iterator[Path]:
    """The Python files below a folder, in order."""
    for path in sorted(folder.iterdir()):
        if path.name.startswith(".") or path.name == "__pycache__":
            continue
        if path.is_dir() and not path.is_symlink():
            yield from _files(path)
        elif path.suffix == ".py" and path.is_file():
            yield path


def _bytes(file: Path) -> bytes:
    try:
        with open_regular(file) as content:
            return content.read()
    except OSError as problem:
        raise fail(BAD_FILE, f"`{file}`: {problem.strerror}") from None
