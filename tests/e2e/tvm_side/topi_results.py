"""Calls of real TVM's `topi` and their results: `python topi_results.py CALLS OUT`, in TVM's environment.

CALLS is JSON: a name to an expression, as `tests/programs/topi_calls.toml` has them. OUT gets an .npz: `name/0` … are
the inputs in the order they were made, `name/out` is the result; `name/error` says why there is none.
"""

import json
import sys
from pathlib import Path

import numpy as np
import tvm
from tvm import te, topi


class Inputs:
    """Makes placeholders and their values, the same on both sides."""

    def __init__(self, place):
        self.tensors, self.arrays = [], []
        self.place = place

    def x(self, *shape):
        return self.add(np.random.default_rng(len(self.arrays)).normal(size=shape).astype("float32"))

    def i(self, below, *shape):
        return self.add(np.random.default_rng(len(self.arrays)).integers(0, below, shape).astype("int64"))

    def add(self, array):
        self.arrays.append(array)
        self.tensors.append(self.place(array.shape, dtype=str(array.dtype), name=f"p{len(self.arrays)}"))
        return self.tensors[-1]


def result(text):
    inputs = Inputs(te.placeholder)
    made = eval(text, {"topi": topi, "x": inputs.x, "i": inputs.i})  # noqa: S307 - our own file
    func = te.create_prim_func([*inputs.tensors, made])
    out = tvm.runtime.empty([int(size) for size in made.shape], str(made.dtype))
    tvm.compile(tvm.IRModule({"main": func}), target="llvm")(*map(tvm.runtime.tensor, inputs.arrays), out)
    return inputs.arrays, out.numpy()


def main(calls, out):
    found = {}
    for name, text in json.loads(Path(calls).read_text()).items():
        try:
            arrays, array = result(text)
        except Exception as reason:
            found[f"{name}/error"] = np.array(str(reason).strip().splitlines()[-1])
            continue
        found.update({f"{name}/{number}": one for number, one in enumerate(arrays)})
        found[f"{name}/out"] = array
    np.savez(out, **found)


if __name__ == "__main__":
    main(*sys.argv[1:])
