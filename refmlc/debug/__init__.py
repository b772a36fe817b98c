"""The debugger: a program stopped, looked at, changed, moved forwards and backwards: a client of the hooks.

Layer: above `refmlc.vm` and `refmlc.provenance`, below `refmlc.cli`.

| file                     | holds                                                                       |
|--------------------------|-----------------------------------------------------------------------------|
| `values`                 | what a session says, as plain data                                           |
| `session`                | `Session`: motions, breakpoints, state                                      |
| `program`                | what is run: module, function, arguments; operators made functions with text |
"""

from refmlc.debug.program import Program
from refmlc.debug.session import Session
from refmlc.debug.values import (
    BEGINNING,
    EXCEPTIONS,
    BreakKind,
    Breakpoint,
    Frame,
    FrameKind,
    Moment,
    Page,
    Reason,
    Statistics,
    Stop,
    Variable,
)

__all__ = [
    "BEGINNING",
    "EXCEPTIONS",
    "BreakKind",
    "Breakpoint",
    "Frame",
    "FrameKind",
    "Moment",
    "Page",
    "Program",
    "Reason",
    "Session",
    "Statistics",
    "Stop",
    "Variable",
]
