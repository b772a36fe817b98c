"""Run by TVM's own interpreter: `time_module.py MODULE.py ARGUMENTS.npz RUNS` prints the median of `main`, in ms.

TVM's default build of the CPU it runs on, one thread; the time of the thread, after two calls that are not counted.
"""

import os
import statistics
import sys
import time
from pathlib import Path

os.environ["TVM_NUM_THREADS"] = "1"

import numpy as np
import tvm
from tvm import relax


def main() -> None:
    """Build, run, print."""
    text, arrays, runs = sys.argv[1:]
    module = tvm.script.from_source(Path(text).read_text(encoding="utf-8"))
    executable = tvm.compile(module, target="llvm")
    machine = relax.VirtualMachine(executable, tvm.cpu())
    with np.load(arrays) as given:
        args = [tvm.runtime.tensor(given[name]) for name in given.files]
    taken = []
    for turn in range(int(runs) + 2):
        start = time.thread_time()
        machine["main"](*args)
        if turn > 1:
            taken.append(time.thread_time() - start)
    sys.stdout.write(f"{1000 * statistics.median(taken)}\n")


main()
