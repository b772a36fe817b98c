"""A compiler's passes, one by one: every snapshot is executed, the first pass that changes the meaning is named.

A later stage may be more defined than the module was, never less, and its results are the module's, or within its
certified bound (`refmlc.oracle.refine.refinement` says when exactly).

>>> found = check(snapshots(text, python="/path/to/python-with-tvm"), calls=3)
>>> found.broken.name
'tirx.VectorizeLoop'

| file                  | holds                                                                                        |
|-----------------------|----------------------------------------------------------------------------------------------|
| `stages`              | `Stage`, `Trace`: snapshots in order; their lines of JSON, from any compiler                 |
| `run`                 | `Program`, `Tvm`, `snapshots`: a compiler and the modules after its pipeline or named passes |
| `constant_parameters` | constants of a module as parameters, since TVM cannot print them at every stage              |
| `baseline`            | the reference for all stages: functions of the first, calls, their meaning                   |
| `check`               | `check`: stages against the first one, function by function                                  |
| `host_modules`        | host and device, which TVM lowers apart, put together again                                  |
| `verdicts`            | the verdict on a stage, and on all                                                           |
| `shrink`              | the module made smaller while the same pass breaks it                                        |
| `report`              | the finding as Markdown, ready to be filed                                                   |
| `tvm_script`          | a finding as a program that needs only TVM                                                   |
| `instrument`          | `check_passes(tvm)`, `check_schedule(tvm, …)`: the same inside a program that uses TVM       |
| `pass_hooks`          | the passes of such a program, seen                                                           |
| `tvm_texts`           | its modules as texts                                                                         |
"""

from refmlc.oracle.passes.check import check
from refmlc.oracle.passes.instrument import WatchedPasses, check_passes, check_schedule
from refmlc.oracle.passes.report import markdown
from refmlc.oracle.passes.run import Program, Tvm, snapshots
from refmlc.oracle.passes.shrink import shrunk
from refmlc.oracle.passes.stages import Stage, Trace, read_trace
from refmlc.oracle.passes.verdicts import BrokenStage, TraceCheck

__all__ = [
    "BrokenStage",
    "Program",
    "Stage",
    "Trace",
    "TraceCheck",
    "Tvm",
    "WatchedPasses",
    "check",
    "check_passes",
    "check_schedule",
    "markdown",
    "read_trace",
    "shrunk",
    "snapshots",
]
