"""The whole table, measured: who takes part is found, the rows are measured, the machine is described."""

from collections.abc import Callable, Collection, Mapping
from contextlib import ExitStack
from dataclasses import dataclass

from refmlc.native.compile import detect_isa
from refmlc.tools.bench import numpy_peer
from refmlc.tools.bench.machine import describe
from refmlc.tools.bench.row import BenchRow, Verdict
from refmlc.tools.bench.session import NATIVE, Session
from refmlc.tools.bench.sizes import FULL, Sizes
from refmlc.tools.bench.table import measured_rows
from refmlc.tools.bench.tvm_process import TvmProcess


@dataclass(frozen=True, slots=True)
class Report:
    """The table and the description of the machine."""

    machine: Mapping[str, str]
    rounds: int
    rows: tuple[BenchRow, ...]

    @property
    def missed(self) -> int:
        """How many rows are not as promised."""
        return sum(row.verdict in (Verdict.MISSED, Verdict.FAILED) for row in self.rows)

    def as_data(self) -> dict[str, object]:
        """The report for machines."""
        rows = [row.as_data() for row in self.rows]
        return {"machine": dict(self.machine), "rounds": self.rounds, "missed": self.missed, "rows": rows}


def run_table(
    python: str | None,
    only: Collection[int],
    rounds: int,
    progress: Callable[[str], None],
    sizes: Sizes = FULL,
) -> Report:
    """Measure the rows `only`; `python` has TVM, None: it takes no part. Fails: RM112 (that Python has no TVM)."""
    with ExitStack() as stack:
        tvm = stack.enter_context(TvmProcess(python)) if python else None
        session = Session(rounds, NATIVE, detect_isa(), tvm, numpy_peer.blas(), sizes.sample, progress)
        machine = describe(session)
        return Report(machine, rounds, tuple(measured_rows(session, sizes, only)))
