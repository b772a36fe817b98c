"""`MetaScheduleTuneTIR`, `MetaScheduleTuneIRMod`, `MetaScheduleApplyDatabase`: a search over the functions of a module.

The target is that of the `with` around. Decision: what a search measured is kept in the process, by its work directory;
the file there is for people, and no database of an earlier process is read.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from refmlc.diag import fail
from refmlc.diag.catalogue import UNSUPPORTED_CONSTRUCT
from refmlc.lang.ir import IRModule
from refmlc.tvm.devices import Target
from refmlc.tvm.meta_schedule.database import Database
from refmlc.tvm.meta_schedule.relax_integration import tune_relax, with_best
from refmlc.tvm.missing_names import refusal
from refmlc.tvm.relax.transform import Pass

__all__ = ["MetaScheduleApplyDatabase", "MetaScheduleTuneIRMod", "MetaScheduleTuneTIR"]

_SEARCHED: dict[Path, Database] = {}
"""What searches of this process measured, by their work directories."""


def _target() -> Target:
    target = Target.current(allow_none=False)
    assert target is not None  # noqa: S101 - `current` fails else
    return target


def MetaScheduleTuneIRMod(  # noqa: N802 - TVM's name
    params: Mapping[str, object] | None,
    work_dir: str,
    max_trials_global: int,
    max_trials_per_task: int | None = None,
    op_names: Sequence[str] | None = None,
) -> Pass:
    """A search over the functions whose names hold one of `op_names`. The module stays as it is."""

    def run(mod: IRModule) -> IRModule:
        database = _SEARCHED.setdefault(Path(work_dir).resolve(), Database())
        tune_relax(
            mod,
            params,
            _target(),
            work_dir,
            max_trials_global,
            max_trials_per_task,
            op_names=op_names,
            database=database,
        )
        return mod

    return Pass("MetaScheduleTuneIRMod", run)


def MetaScheduleTuneTIR(  # noqa: N802 - TVM's name
    work_dir: str, max_trials_global: int, max_trials_per_task: int | None = None
) -> Pass:
    """A search over all functions. The module stays as it is."""
    return MetaScheduleTuneIRMod(None, work_dir, max_trials_global, max_trials_per_task)


def MetaScheduleApplyDatabase(work_dir: str | None = None, enable_warning: bool = False) -> Pass:  # noqa: N802 - TVM's
    """The fastest schedules take the place of functions. Fails: RM504 where this process has searched nothing there."""
    del enable_warning

    def run(mod: IRModule) -> IRModule:
        database = Database.current() if work_dir is None else _SEARCHED.get(Path(work_dir).resolve())
        if database is None:
            where = "no `with` of a database is around" if work_dir is None else f"`{work_dir}` is of no search here"
            message = f"`MetaScheduleApplyDatabase` has no database: {where}"
            raise fail(UNSUPPORTED_CONSTRUCT, message, None, "search in the same process: databases are not read")
        return with_best(mod, database, _target())

    return Pass("MetaScheduleApplyDatabase", run)


__getattr__ = refusal(__name__, __all__)
