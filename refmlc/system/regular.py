"""Files from outside, opened without waiting: a pipe of that name gives nothing until somebody writes.

What the caller has opened already (`/dev/stdin`, `/dev/fd/63` of a shell's `<(…)`) may be a pipe.
"""

import os
import stat
from errno import EFBIG, EINVAL
from pathlib import Path
from typing import BinaryIO, Final

OPENED: Final = ("/dev/stdin", "/dev/fd/", "/proc/self/fd/")


def open_regular(path: str | Path, flags: int = 0) -> BinaryIO:
    """The file at `path`, for reading. Fails: OSError, also where it is a pipe."""
    name = os.fspath(path)
    if name.startswith(OPENED):
        return open(name, "rb")  # noqa: PTH123 - by its name
    number = os.open(name, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | flags)
    if stat.S_ISFIFO(os.fstat(number).st_mode):
        os.close(number)
        raise OSError(EINVAL, "it is a pipe, no file", name)
    os.set_blocking(number, True)
    return os.fdopen(number, "rb")


def read_text(path: str | Path, most: int) -> str:
    """The text of the file at `path`. Fails: OSError, also of more than `most` bytes; UnicodeDecodeError."""
    with open_regular(path) as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise OSError(EFBIG, f"it has more than {most} bytes", os.fspath(path))
    return data.decode()
