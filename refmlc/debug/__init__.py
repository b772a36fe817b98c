"""The debugger stops a program, shows and changes its values, and moves it forwards and backwards in time.

Layer: above `refmlc.vm` and `refmlc.observe.why`, below `refmlc.cli`.

| file                                | holds                                                                  |
|-------------------------------------|------------------------------------------------------------------------|
| `session_data`                      | the answers of a session, as plain data                                 |
| `session`                           | `Session`: motions, breakpoints, state; all that a front end needs      |
| `program`                           | the call to debug: module, function, arguments                          |
| `places`                            | every statement and binding of a module, and the names visible there    |
| `engine`                            | the run; its docstring says which of the next parts owns what           |
| `position`, `run_outcome`, `program_output` | the active calls and the place; the result; what was printed    |
| `stepper`, `machines`, `clock`, `traps`, `worker` | hooks, interpreters, counted statements, a thread that parks |
| `motion_control`, `plan`, `motions` | what a motion is, where it ends                                         |
| `stop_policy`, `breakpoints`, `breakpoint_targets` | breakpoints                                              |
| `snapshots`, `snapshot_policy`, `resumption`, `reentry`, `iterations`, `history` | motions backwards          |
| `tier_switch`, `call_exit`, `outlined_loops`, `loop_length` | calls, rests of calls and loops executed in C   |
| `frames`, `inspection`, `expressions`, `tensors`, `provenance` | values where the program stands              |
| `threads/`, `thread_data`           | threads that take turns: where each stands, which waits for which      |
| `edits`                             | values changed by the user                                              |
| `terminal/`, `screen/`              | the line prompt; the full screen                                        |
| `dap/`, `vscode/`, `vsix`           | editors; the extension for VS Code, and its package                     |
| `trace/`                            | everything a run does, as a page, as JSON, or for Perfetto              |

Going back reaches the same moment exactly, because a program repeats itself on the same arguments. Functions from
outside are executed again too, and should repeat themselves.
"""

from refmlc.debug.program import Program
from refmlc.debug.session import Session
from refmlc.debug.session_data import (
    BEGINNING,
    EXCEPTIONS,
    BreakKind,
    Breakpoint,
    FrameKind,
    Moment,
    Reason,
    StackFrame,
    Statistics,
    Stop,
    TensorPage,
    Variable,
)
from refmlc.debug.thread_data import BarrierState, ThreadState, Wait, Waiting

__all__ = [
    "BEGINNING",
    "EXCEPTIONS",
    "BarrierState",
    "BreakKind",
    "Breakpoint",
    "FrameKind",
    "Moment",
    "Program",
    "Reason",
    "Session",
    "StackFrame",
    "Statistics",
    "Stop",
    "TensorPage",
    "ThreadState",
    "Variable",
    "Wait",
    "Waiting",
]
