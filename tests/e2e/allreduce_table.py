"""Reductions over threads, executed as they are written and after real TVM's LowerThreadAllreduce for CUDA.

`python tests/e2e/allreduce_table.py --tvm PYTHON`, where PYTHON has apache-tvm. No GPU is needed. Values are small
whole numbers, so that the order of a sum does not matter, and both have to leave the same. Each row is one shape of
the threads, with the number of kernels, of those that are equal, and what became of the others.

The column `in C` counts the lowered kernels that compiled code executes to the end, with the same bits.

Exit status 1: a kernel differs, compiled code does, or a kernel has no meaning after the lowering.
"""

import argparse
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from itertools import product
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from refmlc.diag import RefmlcError, Unsupported
from refmlc.lang.dtypes.storage import storage_dtype
from refmlc.lang.script import read
from refmlc.run.interp.machine import Machine
from refmlc.run.memory.tensor import Tensor
from refmlc.vm import VirtualMachine, build

SIDE = Path(__file__).parent / "tvm_side" / "lower_allreduce.py"
SHAPES = ((8, 1), (16, 1), (32, 1), (33, 1), (64, 1), (128, 1), (256, 1), (8, 4), (32, 4), (16, 3), (64, 2))
OPS = {"sum": ("x + y", 0), "max": ("T.max(x, y)", -100), "min": ("T.min(x, y)", 100)}
DTYPES = ("float32", "float16", "int32", "int64")
CONDITIONS = {"all": "T.bool(True)", "some": "tx < {}"}
TEXT = """
# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def main(A: T.Buffer(({size},), "{dtype}"), B: T.Buffer(({size},), "{dtype}")):
        T.func_attr({{"target": T.target({{
            "kind": "cuda", "arch": "sm_80", "max_num_threads": 1024, "thread_warp_size": 32
        }}, host="llvm")}})
        bx = T.launch_thread("blockIdx.x", 2)
        ty = T.launch_thread("threadIdx.y", {y})
        tx = T.launch_thread("threadIdx.x", {x})
        total = T.alloc_buffer((1,), "{dtype}", scope="local")
        with T.attr(T.comm_reducer(lambda x, y: {fold}, [T.{dtype}({identity})]), "reduce_scope", T.int32(0)):
            T.tvm_thread_allreduce(T.uint32(1), A[{place}], {condition}, total[0], tx)
        B[{place}] = total[0]
"""
CONSOLE = Console(width=140, highlight=False)


def kernel(shape, op, dtype, condition):
    """The text of a kernel that reduces over `threadIdx.x`, once for each `threadIdx.y` and block."""
    x, y = shape
    fold, identity = OPS[op]
    return TEXT.format(
        size=2 * y * x,
        dtype=dtype,
        x=x,
        y=y,
        fold=fold,
        identity=identity,
        place=f"bx * {x * y} + ty * {x} + tx",
        condition=condition.format(max(x // 2, 1)),
    )


def executed(text, dtype, size, seed, *, in_c=False):
    """What a kernel leaves; in C, None where the call does not end there."""
    module = read(text, "kernel.py")
    name = next(iter(module.functions))
    function = module.functions[name]
    stored = storage_dtype(function.buffer_map[function.params[0]].dtype)
    values = np.random.default_rng(seed).integers(-9, 10, size).astype(stored)
    out = np.zeros(size, stored)
    dtypes = [function.buffer_map[parameter].dtype for parameter in function.params]
    args = [Tensor.from_numpy(array, each) for array, each in zip((values, out), dtypes, strict=True)]
    if not in_c:
        Machine(module).call(name, args)
        return out
    machine = VirtualMachine(build(module, tier="native"))
    machine[name](*args)
    return out if machine.native.counts.native else None


def tried(path, shape, dtype):
    """The verdict on one kernel, and the reason."""
    low = path.with_suffix(".lowered")
    if not low.exists():
        return "refused by TVM", path.with_suffix(".refused").read_text("utf-8")
    size = 2 * shape[0] * shape[1]
    try:
        before = executed(path.read_text("utf-8"), dtype, size, 1)
    except RefmlcError as failure:
        return "not executed", f"{failure.code.id} {failure.diagnostic.message}"
    try:
        after = executed(low.read_text("utf-8"), dtype, size, 1)
    except Unsupported as failure:
        return "unsupported", f"{failure.code.id} {failure.diagnostic.message}"
    except RefmlcError as failure:
        return "undefined", f"{failure.code.id} {failure.diagnostic.message}"
    if before.tobytes() != after.tobytes():
        return "different", f"{before} and {after}"
    compiled = executed(low.read_text("utf-8"), dtype, size, 1, in_c=True)
    if compiled is not None and compiled.tobytes() != after.tobytes():
        return "different", f"{after} and in C {compiled}"
    return ("equal" if compiled is None else "in C"), ""


def main():
    """Print the table and the reasons."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tvm", required=True, help="a Python that has apache-tvm")
    parser.add_argument("--keep", type=Path, help="where texts are kept")
    options = parser.parse_args()
    verdicts, reasons = defaultdict(Counter), Counter()
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.keep or Path(temporary)
        folder.mkdir(exist_ok=True)
        rows = list(product(SHAPES, OPS, DTYPES, CONDITIONS))
        paths = [folder / f"k{number:03}.py" for number in range(len(rows))]
        for path, (shape, op, dtype, condition) in zip(paths, rows, strict=True):
            path.write_text(kernel(shape, op, dtype, CONDITIONS[condition]), "utf-8")
        subprocess.run([options.tvm, str(SIDE), str(folder)], check=True, timeout=600)
        for path, (shape, op, dtype, condition) in zip(paths, rows, strict=True):
            verdict, reason = tried(path, shape, dtype)
            verdicts[shape][verdict] += 1
            if reason:
                reasons[verdict, reason[:160], f"{shape} {op} {dtype} {condition}"] += 1
    names = sorted({name for counts in verdicts.values() for name in counts})
    result = Table(title="reductions over threads, and what LowerThreadAllreduce makes of them")
    for column in ("threads", "kernels", *names):
        result.add_column(column, justify="right")
    for shape, counts in verdicts.items():
        result.add_row(f"{shape[0]} x {shape[1]}", str(counts.total()), *(str(counts[name]) for name in names))
    CONSOLE.print(result)
    for (verdict, reason, where), _ in reasons.most_common(12):
        CONSOLE.print(f"{verdict}: {where}: {reason}", markup=False, soft_wrap=True)
    return int(any(counts["different"] + counts["undefined"] for counts in verdicts.values()))


if __name__ == "__main__":
    sys.exit(main())
