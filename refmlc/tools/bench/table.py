"""The table: which part measures which rows, in the order in which they are shown."""

from collections.abc import Callable, Collection, Iterator
from typing import TypeAlias

from refmlc.tools.bench.row import BenchRow
from refmlc.tools.bench.rows.calls import call_rows, compile_rows, network_rows
from refmlc.tools.bench.rows.guards import guard_rows
from refmlc.tools.bench.rows.passes import exp_rows, pass_rows
from refmlc.tools.bench.rows.products import conv2d_rows, matmul_rows, narrow_rows
from refmlc.tools.bench.rows.shapes import shape_rows
from refmlc.tools.bench.session import Session
from refmlc.tools.bench.sizes import Sizes

Part: TypeAlias = Callable[[Session, Sizes], Iterator[BenchRow]]

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
)


def measured_rows(session: Session, sizes: Sizes, only: Collection[int]) -> Iterator[BenchRow]:
    """The rows with these numbers, one by one as they are measured."""
    for numbers, part in PARTS:
        if numbers & set(only):
            yield from (row for row in part(session, sizes) if row.number in only)
