"""The table: which part measures which rows, in the order in which they are shown, and the report on all of them."""

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TypeAlias

from refmlc.native.compile import detect_isa
from refmlc.tools.bench import numpy_peer
from refmlc.tools.bench.machine import describe
from refmlc.tools.bench.row import BenchRow, RowVerdict
from refmlc.tools.bench.rows.barriers import barrier_rows
from refmlc.tools.bench.rows.builds import build_rows
from refmlc.tools.bench.rows.calls import call_rows, compile_rows, model_rows, network_rows
from refmlc.tools.bench.rows.kernels import conv2d_rows, exp_rows, guard_rows, matmul_rows, narrow_rows, pass_rows
from refmlc.tools.bench.rows.shapes import shape_rows
from refmlc.tools.bench.rows.threads import thread_rows
from refmlc.tools.bench.session import FULL, NATIVE, BenchSession, BenchSizes
from refmlc.tools.bench.tvm_process import TvmProcess

Part: TypeAlias = Callable[[BenchSession, BenchSizes], Iterator[BenchRow]]

PARTS: tuple[tuple[frozenset[int], Part], ...] = (
    (frozenset({1, 2}), matmul_rows),
    (frozenset({3}), conv2d_rows),
    (frozenset({4}), pass_rows),
    (frozenset({5}), network_rows),
    (frozenset({6}), guard_rows),
    (frozenset({7}), compile_rows),
    (frozenset({8}), call_rows),
    (frozenset({9}), exp_rows),
    (frozenset({10}), shape_rows),
    (frozenset({11}), narrow_rows),
    (frozenset({12}), thread_rows),
    (frozenset({13}), barrier_rows),
    (frozenset({14}), build_rows),
    (frozenset({15}), model_rows),
)


def measured_rows(session: BenchSession, sizes: BenchSizes, only: Collection[int]) -> Iterator[BenchRow]:
    """The rows with these numbers, one by one as they are measured."""
    for numbers, part in PARTS:
        if numbers & set(only):
            yield from (row for row in part(session, sizes) if row.number in only)


@dataclass(frozen=True, slots=True)
class BenchReport:
    """The table and the description of the machine."""

    machine: Mapping[str, str]
    rounds: int
    rows: tuple[BenchRow, ...]

    @property
    def missed(self) -> int:
        """How many rows are not as promised."""
        return sum(row.verdict in (RowVerdict.MISSED, RowVerdict.FAILED) for row in self.rows)

    def as_data(self) -> dict[str, object]:
        """The report for machines."""
        rows = [row.as_data() for row in self.rows]
        return {"machine": dict(self.machine), "rounds": self.rounds, "missed": self.missed, "rows": rows}


def run_table(
    python: str | None,
    only: Collection[int],
    rounds: int,
    progress: Callable[[str], None],
    sizes: BenchSizes = FULL,
) -> BenchReport:
    """Measure the rows `only`; `python` has TVM, None: it takes no part. Fails: RM112 (that Python has no TVM)."""
    with ExitStack() as stack:
        tvm = stack.enter_context(TvmProcess(python)) if python else None
        session = BenchSession(rounds, NATIVE, detect_isa(), tvm, numpy_peer.blas(), sizes.sample, progress)
        machine = describe(session)
        return BenchReport(machine, rounds, tuple(measured_rows(session, sizes, only)))
