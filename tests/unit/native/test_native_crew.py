"""`rm_in_threads` with parts that are written by hand: each number once, and the status of what went wrong first."""

import ctypes
import subprocess
from pathlib import Path

import pytest

from refmlc.native.compile.compiler import find_compiler
from refmlc.native.options import ISAS

pytestmark = pytest.mark.needs("compiler")

HEADERS = Path(__file__).parents[3] / "kernels_c"
DONE, NO_MEMORY = 0, 3
WAITING = -1
TEXT = """
#include "rm_threads.h"

/* Numbers hold the status that they end in, -1: they wait until they are to stop; the executed ones get 100 more. */
static int64_t part(rm_run *const run, const rm_cells *const cells, const int64_t first, const int64_t last) {
  int64_t status = RM_DONE;
  int64_t *const numbers = RM_CELLS(cells, 0);
  for (int64_t at = first; at < last; ++at) {
    const int64_t end = numbers[at];
    numbers[at] += 100;
    while (end < 0) RM_LOOK(1 << 16, (void)0);
    if (end > 0) return end;
  }
leave: RM_UNUSED;
  return status;
}

int64_t in_threads(int64_t *numbers, int64_t count, int64_t threads) {
  rm_run run = {.fuel = INT64_MAX, .turns = INT64_MAX};
  const rm_cells cells[1] = {numbers};
  return rm_in_threads(&run, part, cells, count, threads);
}
"""


@pytest.fixture(scope="module")
def in_threads(tmp_path_factory):
    folder, compiler = tmp_path_factory.mktemp("crew"), find_compiler()
    source, made = folder / "crew.c", folder / "crew.so"
    source.write_text(TEXT)
    flags = (*compiler.flags(ISAS["none"]), f"-I{HEADERS}", "-fvisibility=default")
    subprocess.run([compiler.path, *flags, str(source), "-o", str(made), "-lm", "-lpthread"], check=True)
    library = ctypes.CDLL(str(made))
    library.in_threads.restype = ctypes.c_int64

    def call(numbers, threads):
        cells = (ctypes.c_int64 * len(numbers))(*numbers)
        status = library.in_threads(cells, ctypes.c_int64(len(numbers)), ctypes.c_int64(threads))
        return status, list(cells)

    return call


@pytest.mark.parametrize("threads", [1, 2, 3, 7, 300])
@pytest.mark.parametrize("count", [0, 1, 2, 5, 64])
def test_each_number_is_executed_once(in_threads, count, threads):
    assert in_threads([DONE] * count, threads) == (DONE, [100] * count)


@pytest.mark.parametrize(
    "numbers",
    [
        [DONE, WAITING, NO_MEMORY],
        [DONE, NO_MEMORY, WAITING],
        [DONE, DONE, NO_MEMORY],
        [NO_MEMORY, DONE, WAITING],
    ],
)
def test_the_status_is_the_cause_and_not_that_others_were_stopped(in_threads, numbers):
    """Who sees `RM_STOPPED` takes it for an interrupt."""
    assert in_threads(numbers, 3)[0] == NO_MEMORY
