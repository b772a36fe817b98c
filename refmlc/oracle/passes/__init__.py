"""A compiler's passes, one by one: every snapshot is executed, the first pass that changes the meaning is named.

A later stage may be more defined than the module was, never less, and its results are the module's, or within its
certified bound (`refmlc.oracle.refine.comparison` says when exactly).

>>> found = check(snapshots(text, python="/path/to/python-with-tvm"), calls=3)
>>> found.broken.name
'tirx.VectorizeLoop'

| file         | holds                                                                                  |
|--------------|----------------------------------------------------------------------------------------|
| `stages`     | `Stage`, `PassTrace`: snapshots in order, from any compiler; the verdict on each       |
| `run`        | `CompilerProcess`, `TvmPasses`, `snapshots`: a compiler, the modules after its passes  |
| `baseline`   | the reference for all stages: functions of the first, calls, their meaning             |
| `proofs`     | stages proved for all arguments                                                        |
| `check`      | `check`: stages against the first one; the module that a pass breaks made smaller      |
| `report`     | the finding as Markdown, ready to be filed, with a program that needs only TVM         |
| `instrument` | `check_passes(tvm)`, `check_schedule(tvm, …)`: the same inside a program that uses TVM |
| `tvm_texts`  | modules of TVM as texts                                                                |
"""

from refmlc.oracle.passes.check import check, shrunk
from refmlc.oracle.passes.instrument import WatchedPasses, check_passes, check_schedule
from refmlc.oracle.passes.report import markdown
from refmlc.oracle.passes.run import CompilerProcess, TvmPasses, snapshots
from refmlc.oracle.passes.stages import BrokenStage, PassTrace, Stage, TraceCheck, read_trace

__all__ = [
    "BrokenStage",
    "CompilerProcess",
    "PassTrace",
    "Stage",
    "TraceCheck",
    "TvmPasses",
    "WatchedPasses",
    "check",
    "check_passes",
    "check_schedule",
    "markdown",
    "read_trace",
    "shrunk",
    "snapshots",
]
