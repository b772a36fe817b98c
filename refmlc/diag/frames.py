"""Which frames of a traceback are the user's: neither refmlc's own nor those of a library."""

import os
from collections.abc import Iterator
from linecache import getline
from pathlib import Path
from types import TracebackType

OURS = f"{Path(__file__).parents[1]}{os.sep}"
STANDARD = f"{Path(os.__file__).parent}{os.sep}"
INSTALLED = ("site-packages", "dist-packages")


def is_user(entry: TracebackType) -> bool:
    """Whether the frame is the user's."""
    file = entry.tb_frame.f_code.co_filename
    if file.startswith((OURS, STANDARD, "<frozen ")):
        return False
    return not any(f"{os.sep}{folder}{os.sep}" in file for folder in INSTALLED)


def user_lines(traceback: TracebackType | None) -> Iterator[str]:
    """The user's frames, a line each: the file, the number, the source."""
    for entry in filter(is_user, entries(traceback)):
        file = entry.tb_frame.f_code.co_filename
        source = getline(file, entry.tb_lineno, entry.tb_frame.f_globals).strip()
        yield f"{file}:{entry.tb_lineno}: {source}".rstrip(": ")


def shorten(problem: BaseException) -> None:
    """Leave of the traceback of `problem` the user's frames, and the last one."""
    short: TracebackType | None = None
    for number, entry in enumerate(reversed([*entries(problem.__traceback__)])):
        if number == 0 or is_user(entry):
            short = TracebackType(short, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    problem.__traceback__ = short


def entries(traceback: TracebackType | None) -> Iterator[TracebackType]:
    """A traceback entry by entry. Order: from the outermost call."""
    while traceback is not None:
        yield traceback
        traceback = traceback.tb_next
