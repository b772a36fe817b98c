"""`tvm.meta_schedule.database`: what searches measured, in memory."""

from dataclasses import dataclass
from typing import Self

from refmlc.lang.ir import IRModule
from refmlc.lang.ir.equal import structural_equal
from refmlc.rewrite.schedule import Schedule
from refmlc.rewrite.schedule.trace import Trace
from refmlc.tvm.devices import Target
from refmlc.tvm.missing_names import refusal

__all__ = ["Database", "MemoryDatabase", "TuningRecord"]


@dataclass(frozen=True)
class TuningRecord:
    """A schedule of a module that was measured for a target. `run_secs`: in seconds."""

    schedule: Schedule
    workload: IRModule
    target: Target
    run_secs: tuple[float, ...]

    @property
    def trace(self) -> Trace:
        """The steps that lead to it, with what was drawn."""
        return self.schedule.trace


class Database:
    """Records, in the order in which they came."""

    def __init__(self) -> None:
        self._records: list[TuningRecord] = []

    def __enter__(self) -> Self:
        """As the database of a `with`."""
        _CURRENT.append(self)
        return self

    def __exit__(self, *_: object) -> None:
        """The end of it."""
        _CURRENT.pop()

    @classmethod
    def current(cls) -> "Database | None":
        """The database of the innermost `with`."""
        return _CURRENT[-1] if _CURRENT else None

    def __len__(self) -> int:
        return len(self._records)

    def commit_tuning_record(self, record: TuningRecord) -> None:
        """Add a record."""
        self._records.append(record)

    def get_all_tuning_records(self) -> list[TuningRecord]:
        """All records."""
        return list(self._records)

    def get_top_k(self, workload: IRModule, top_k: int, target: Target | str | None = None) -> list[TuningRecord]:
        """The fastest records of a module, of one target where that is given."""
        kind = str(target) if target is not None else None
        own = [
            record
            for record in self._records
            if (kind is None or str(record.target) == kind) and structural_equal(record.workload, workload)
        ]
        return sorted(own, key=lambda record: min(record.run_secs))[:top_k]

    def query_tuning_record(self, mod: IRModule, target: Target | str, workload_name: str = "") -> TuningRecord | None:
        """The fastest record of a module, or None."""
        del workload_name
        return next(iter(self.get_top_k(mod, 1, target)), None)

    def query_schedule(self, mod: IRModule, target: Target | str, workload_name: str = "") -> Schedule | None:
        """The fastest schedule of a module, or None."""
        record = self.query_tuning_record(mod, target, workload_name)
        return None if record is None else record.schedule

    def query_ir_module(self, mod: IRModule, target: Target | str, workload_name: str = "") -> IRModule | None:
        """The fastest schedule of a module, as a module, or None."""
        schedule = self.query_schedule(mod, target, workload_name)
        return None if schedule is None else schedule.mod


_CURRENT: list[Database] = []
"""The databases of the `with` that are open, outermost first."""

MemoryDatabase = Database

__getattr__ = refusal(__name__, __all__)
