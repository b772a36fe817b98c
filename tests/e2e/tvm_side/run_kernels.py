"""Run kernels with real TVM's default `llvm` build. Run inside TVM's environment.

`python run_kernels.py DIRECTORY SHARE SHARES` takes every SHARES-th batch of `DIRECTORY/jobs.json`: a list of `text`,
`arrays` [[dtype, elements] …], the last one the result's, and whether it is compiled `alone`. The raw bytes of the
inputs are in `N.npz`; the result goes to `N.out` as bytes, or why there is none to `N.no`.

A batch is compiled as one module in a process of its own; when that fails, by an exception or a signal, its halves
are tried, down to the one kernel that is refused or crashes.
"""

import json
import os
import sys
from pathlib import Path

import ml_dtypes
import numpy as np
import tvm
from tvm.script import from_source

BATCH = 32


def numpy_dtype(name: str) -> np.dtype:
    """The dtype of an array, by TVM's name."""
    return np.dtype(getattr(ml_dtypes, name, None) or name)


def tensors(directory: Path, number: int, job: dict) -> list:
    """The inputs, and the result filled with zeros."""
    raw = np.load(directory / f"{number}.npz")
    result = []
    for index, (dtype, count) in enumerate(job["arrays"]):
        key = f"arr_{index}"
        data = raw[key].tobytes() if key in raw else bytes(count * numpy_dtype(dtype).itemsize)
        result.append(tvm.runtime.tensor(np.frombuffer(data, numpy_dtype(dtype))))
    return result


def run(directory: Path, batch: list[tuple[int, dict]]) -> None:
    """Compile a batch as one module, run each of its kernels."""
    functions = {f"k{n}": from_source(job["text"]).with_attr("global_symbol", f"k{n}") for n, job in batch}
    executable = tvm.compile(tvm.IRModule(functions), "llvm")
    for number, job in batch:
        arguments = tensors(directory, number, job)
        executable[f"k{number}"](*arguments)
        (directory / f"{number}.out").write_bytes(arguments[-1].numpy().tobytes())


def attempt(directory: Path, batch: list[tuple[int, dict]]) -> None:
    """Run a batch in a child; where that fails, its halves; of one kernel, note how it failed."""
    child = os.fork()
    if child == 0:
        try:
            run(directory, batch)
        except Exception as failure:
            lines = str(failure).strip().splitlines() or [type(failure).__name__]
            (directory / f"{batch[0][0]}.no").write_text(f"refused: {lines[-1]}")
            os._exit(1)
        os._exit(0)
    status = os.waitpid(child, 0)[1]
    if status == 0:
        return
    if len(batch) > 1:
        attempt(directory, batch[: len(batch) // 2])
        attempt(directory, batch[len(batch) // 2 :])
    elif os.WIFSIGNALED(status):
        (directory / f"{batch[0][0]}.no").write_text(f"crash: signal {os.WTERMSIG(status)}")


def main() -> None:
    """Every batch of this share."""
    directory, share, shares = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    jobs = list(enumerate(json.loads((directory / "jobs.json").read_text())))
    together = [(number, job) for number, job in jobs if not job["alone"]]
    batches = [together[start : start + BATCH] for start in range(0, len(together), BATCH)]
    batches += [[(number, job)] for number, job in jobs if job["alone"]]
    for batch in batches[share::shares]:
        attempt(directory, batch)


if __name__ == "__main__":
    main()
