"""The subjects of a campaign: parts of real TVM that are examined by themselves, each with programs of its own.

| kind            | what is examined                             |
|-----------------|----------------------------------------------|
| `primitives`    | traces of TVM's schedule (`staged`)          |
| `imports`       | TVM's importer of ONNX (`importers`)         |
| `torch-imports` | TVM's importer of PyTorch (`torch_imports`)  |
| `passes`        | orders of TVM's passes (`pass_runs`)         |
| `builds`        | options of TVM's builds (`builds`)           |

A kind is added here and in `settings.SUBJECT_KINDS`.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from refmlc.oracle.fuzz.result import BatchResult, FindingRecord, Json
from refmlc.oracle.fuzz.settings import CampaignSettings
from refmlc.oracle.fuzz.subjects import builds
from refmlc.oracle.fuzz.subjects.imports import importers, torch_imports
from refmlc.oracle.fuzz.subjects.passes import pass_runs, pass_table
from refmlc.oracle.fuzz.subjects.primitives import staged
from refmlc.oracle.fuzz.subjects.replayed_trace import Replay, Steps, steps_again


@dataclass(frozen=True)
class CampaignSubject:
    """A kind of programs.

    `run` gives the result of those programs of a batch that have these numbers, and `shrink` a finding made smaller
    within some seconds. `names`: what `--exclude` takes beside the names that all campaigns have. `replay` makes a
    finding again, and `steps` opens the TVM whose steps a report is about (`replayed_trace`); None: refused.
    """

    run: Callable[[CampaignSettings, int, Sequence[int]], BatchResult]
    shrink: Callable[[CampaignSettings, FindingRecord, float], Json]
    names: Collection[str] = ()
    replay: Replay | None = None
    steps: Steps | None = None


SUBJECTS: Mapping[str, CampaignSubject] = {
    importers.KIND: CampaignSubject(importers.run_graphs, importers.shrink_graph, importers.operator_names()),
    torch_imports.KIND: CampaignSubject(
        torch_imports.run_programs, torch_imports.shrink_program, torch_imports.function_names()
    ),
    staged.KIND: CampaignSubject(
        staged.run_traces,
        staged.shrink_trace,
        staged.PRIMITIVES,
        steps_again(staged.TracesInTvm),
        staged.TracesInTvm,
    ),
    builds.KIND: CampaignSubject(builds.run_builds, builds.shrink_builds),
    pass_runs.KIND: CampaignSubject(
        pass_runs.run_orders,
        pass_runs.shrink_order,
        pass_table.NAMES,
        steps_again(pass_runs.OrdersInTvm),
        pass_runs.OrdersInTvm,
    ),
}
