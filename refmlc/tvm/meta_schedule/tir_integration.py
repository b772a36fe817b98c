"""`tvm.meta_schedule.tir_integration`: a search over the schedules of a function, and its result."""

import json
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_USAGE, UNSUPPORTED_CONSTRUCT
from refmlc.lang.ir import IRModule, tir
from refmlc.rewrite.schedule import Schedule
from refmlc.tvm.devices import Target
from refmlc.tvm.meta_schedule.database import Database, TuningRecord
from refmlc.tvm.meta_schedule.search import Limits, Record, default_space, search
from refmlc.tvm.meta_schedule.space_generator import PostOrderApply, ScheduleFn
from refmlc.tvm.missing_names import refusal

__all__ = ["compile_tir", "tune_tir"]
RECORDS = "database_tuning_record.json"
QUIET = ("max_trials_per_task", "num_trials_per_iter", "num_tuning_cores", "task_name")
"""Options that change nothing here: one process measures one function."""


def tune_tir(
    mod: IRModule | tir.PrimFunc,
    target: str | dict[str, object] | Target,
    work_dir: str | None = None,
    max_trials_global: int = 64,
    *,
    space: str | ScheduleFn | PostOrderApply | Callable[[Schedule], object] = "post-order-apply",
    database: Database | None = None,
    seed: int | None = None,
    **options: object,
) -> Database:
    """Search for a fast schedule of `main`. Fails: RM112, RM504 for options that would choose how to search."""
    unknown = sorted(set(options) - set(QUIET))
    if unknown:
        raise fail(UNSUPPORTED_CONSTRUCT, f"`tune_tir({unknown[0]}=…)` is not supported: one way to search is there")
    module = IRModule({"main": mod}) if isinstance(mod, tir.PrimFunc) else mod
    where = target if isinstance(target, Target) else Target(target)
    searched = search(module, _space(space, where), Limits(max_trials_global), seed)
    result = Database() if database is None else database
    for record in searched.records:
        result.commit_tuning_record(TuningRecord(record.schedule, module, where, (record.seconds,)))
    if searched.wrong:
        warnings.warn(f"{searched.wrong} schedules gave other results and were thrown away", stacklevel=2)
    if work_dir is not None:
        write_records(Path(work_dir), searched.records)
    return result


def write_records(folder: Path, records: Sequence[Record], *, append: bool = False) -> None:
    """Write what was measured as lines of JSON, for people."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = [json.dumps({"run_secs": record.seconds, "trace": record.trace.as_python()}) for record in records]
    with (folder / RECORDS).open("a" if append else "w", encoding="utf-8") as file:
        file.writelines(f"{line}\n" for line in lines)


def compile_tir(database: Database, mod: IRModule | tir.PrimFunc, target: str | Target) -> Schedule | None:
    """The fastest schedule of a module for a target, or None."""
    module = IRModule({"main": mod}) if isinstance(mod, tir.PrimFunc) else mod
    return database.query_schedule(module, str(target))


def default_space_of(target: Target) -> Callable[[Schedule], object]:
    """The default space for a target: loops in parallel, unless it has one core."""
    return default_space(parallel="--num-cores=1" not in f"{target} ".split(" ") and "-num-cores=1" not in str(target))


def _space(space: object, target: Target) -> Callable[[Schedule], object]:
    """What the search draws from."""
    match space:
        case ScheduleFn(sch_fn=draw):
            return draw
        case PostOrderApply() | "post-order-apply":
            return default_space_of(target)
        case _ if callable(space):
            return space
        case _:
            raise fail(BAD_USAGE, f"a space is a ScheduleFn or PostOrderApply, not {space!r}")


__getattr__ = refusal(__name__, __all__)
