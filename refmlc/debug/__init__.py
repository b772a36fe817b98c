"""The debugger: a program stopped, looked at, changed, moved forwards and backwards: a client of the hooks.

Layer: above `refmlc.vm` and `refmlc.observe.why`, below `refmlc.cli`.

| file                                | holds                                                                  |
|-------------------------------------|------------------------------------------------------------------------|
| `values`                            | what a session says, as plain data                                      |
| `session`                           | `Session`: motions, breakpoints, state; the one thing front ends need    |
| `program`                           | what is run: module, function, arguments; operators made functions with text |
| `places`                            | every statement and binding of a module, what is around, what it sees    |
| `engine`, `stepper`, `clock`, `worker` | the run: a thread that parks, hooks, counted statements               |
| `plan`, `motions`, `judge`, `breaks`, `watching` | where the run stops                                        |
| `snapshots`, `taking`, `reentry`, `iterations`, `history` | going back: what is kept, how a run goes on inside |
| `leaving`, `outlining`, `counting`  | going past: what is left of a call, a loop, is executed in C            |
| `state`, `looking`, `expressions`, `tensors`, `provenance` | what is seen where it stands                     |
| `editing`                           | values that a person changes                                            |
| `terminal/`, `screen/`              | the line prompt; the full screen                                        |
| `dap/`, `vscode/`, `vsix`           | editors; the extension, and its package                                 |
| `trace/`                            | all that a run did, as a page, JSON, or for Perfetto                    |

A moment is come to again exactly, because programs do the same each time they are executed on the same arguments;
functions from outside are executed again too, and should do the same.
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
