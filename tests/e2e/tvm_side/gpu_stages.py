"""Runs under TVM's Python: kernels scheduled for a GPU, printed after every pass of the lowering for CUDA.

`gpu_stages.py DIRECTORY` writes `<kernel>-<number>-<pass>.py`, one file for each text that is new. No GPU is needed.
"""

import sys
from pathlib import Path

import tvm
from tvm import te, tirx, topi
from tvm.ir import IRModule
from tvm.s_tir import dlight, pipeline

ROWS, COLUMNS, SIZE = 2, 40, 16


def kernels():
    """Softmax and sum of rows (reductions over threads), a matrix product (cooperative copies to shared memory)."""
    x = te.placeholder((ROWS, COLUMNS), name="X")
    r = te.reduce_axis((0, COLUMNS), name="r")
    total = te.compute((ROWS,), lambda i: te.sum(x[i, r], axis=r), name="S")
    a, b = (te.placeholder((SIZE, SIZE), name=name) for name in "AB")
    k = te.reduce_axis((0, SIZE), name="k")
    product = te.compute((SIZE, SIZE), lambda i, j: te.sum(a[i, k] * b[k, j], axis=k), name="C")
    return {"softmax": (x, topi.nn.softmax(x)), "rowsum": (x, total), "matmul": (a, b, product)}


def printing(directory, name):
    """An instrument that writes every text that is new."""
    known = []

    @tvm.instrument.pass_instrument
    class Printing:
        """Prints after each pass."""

        def run_after_pass(self, mod, info):
            """Write the module, if it changed."""
            text = mod.script()
            if text not in known:
                known.append(text)
                stage = f"{name}-{len(known):02d}-{info.name.rsplit('.', 1)[-1]}.py"
                (directory / stage).write_text(text, encoding="utf-8")

    return Printing()


def main():
    """Schedule and lower each kernel."""
    directory = Path(sys.argv[1])
    target = tvm.target.Target({"kind": "cuda", "arch": "sm_80"})
    rules = (dlight.gpu.Matmul(), dlight.gpu.Reduction(), dlight.gpu.GeneralReduction(), dlight.gpu.Fallback())
    for name, tensors in kernels().items():
        module = IRModule({"main": te.create_prim_func(list(tensors))})
        with target, tvm.transform.PassContext(instruments=[printing(directory, name)]):
            bound = tirx.transform.BindTarget(tvm.target.Target(target, host="llvm"))(module)
            scheduled = dlight.ApplyDefaultSchedule(*rules)(bound)
            pipeline.default_s_tir_pipeline()[0](scheduled)


main()
