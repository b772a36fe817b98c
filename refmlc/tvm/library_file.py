"""The file that `export_library` writes: the text of a module, which `load_module` reads and builds again.

Decision: TVM writes a shared object. refmlc compiles for one process and its own memory, so that nothing else could
call what it compiled; the file holds what the executable means instead, and says so in its first line, with the
version of the format. Reading it executes nothing. Its name may end as TVM's does (`.so`, `.tar`); a real shared object
is refused.
"""

import re
from pathlib import Path

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_FILE
from refmlc.diag.versions import KEY, FileFormat
from refmlc.lang.ir import IRModule
from refmlc.lang.wellformed.reader_checks import read

FORMAT = FileFormat("library", missing=1)  # the first ones were written without
HEAD = re.compile(rb"# A module exported by refmlc(?:, format (\d{1,9}))?: ")
FIRST = (
    "# A module exported by refmlc, format {}: text, no machine code. Load it with `runtime.load_module` of refmlc.\n"
)


def write_library(path: Path, module: IRModule) -> None:
    """Write the module. Fails: RM109 where that is not possible."""
    try:
        path.write_text(FIRST.format(FORMAT.version) + module.script(show_meta=True), encoding="utf-8")
    except OSError as problem:
        raise fail(BAD_FILE, f"the library cannot be written: {problem.strerror}") from problem


def read_library(path: Path) -> IRModule:
    """The module of a file. Fails: RM109 where refmlc did not write it, or it is not UTF-8; as reading does."""
    try:
        content = path.read_bytes()
    except OSError as problem:
        raise fail(BAD_FILE, f"the library cannot be read: {problem.strerror}") from problem
    head = HEAD.match(content)
    if head is None:
        raise fail(BAD_FILE, "the file is not a library of refmlc, which loads what its own `export_library` wrote")
    FORMAT.require({KEY: int(head[1])} if head[1] else {}, str(path))
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as problem:
        message = f"the library is not UTF-8: byte {problem.start} is {content[problem.start]:#04x}"
        raise fail(BAD_FILE, message) from problem
    return read(text)
