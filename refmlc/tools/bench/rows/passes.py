"""Rows 4 and 9: passes over memory and rows of it.

| row | what                                | against | goal    |
|-----|-------------------------------------|---------|---------|
| 4   | softmax 1024²                       | TVM     | ≥ 2.5x  |
| 4   | layernorm 1024²                     | TVM     | ≥ 24x   |
| 4   | mul-add-relu-mul, 4 M elements      | TVM     | ≥ 1.2x  |
| 9   | exp, correctly rounded, 16 M elements | TVM   | ≥ 1.8x  |

That exp is right for all 2³² arguments is a matter of the soak tests (`tests/unit/kernels`); here all that is timed is
compared.
"""

from collections.abc import Iterator

from refmlc.tools.bench.row import BenchRow
from refmlc.tools.bench.session import TVM, Session
from refmlc.tools.bench.sizes import Sizes
from refmlc.tools.bench.workloads import elementwise, exp, layernorm, softmax


def pass_rows(session: Session, sizes: Sizes) -> Iterator[BenchRow]:
    """Row 4."""
    yield session.compare(softmax(sizes.rows, sizes.rows), (TVM,)).row(4, TVM, 2.5)
    yield session.compare(layernorm(sizes.rows, sizes.rows), (TVM,)).row(4, TVM, 24)
    yield session.compare(elementwise(sizes.elementwise), (TVM,)).row(4, TVM, 1.2)


def exp_rows(session: Session, sizes: Sizes) -> Iterator[BenchRow]:
    """Row 9."""
    yield session.compare(exp(sizes.exp), (TVM,)).row(9, TVM, 1.8)
