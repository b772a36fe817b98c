"""Reductions with real TVM, each program built in several ways. Run inside TVM's environment.

`python run_reductions.py DIRECTORY` reads `jobs.json` (`texts` by kind and dtype, `jobs` with `kind` and `dtype`) and
`in.npz` (`a0`, `b0`, …), and writes `out.npz`: `"0 tvm default"` and so on.

| way          | is                                                                |
|--------------|-------------------------------------------------------------------|
| tvm default  | target `llvm`                                                     |
| tvm native   | the processor's own instructions, FMA among them                  |
| tvm parts    | the loop split in 8, partial sums by rfactor, then summed          |
| tvm vectors  | the same with the partial sums side by side in a vector            |
| tvm unrolled | the loop split in 4, unrolled, with the processor's instructions   |

TVM 0.27's rfactor of a symbolic extent gives lanes beyond it no init, but sums them: of fewer than 8 terms they
are memory that was never written (which the certificate called wrong at once). So both are taken from 8 terms on.
"""

import json
import sys
from pathlib import Path

import numpy as np
import tvm
from tvm import s_tir
from tvm.script import from_source

LANES = 8
NATIVE = {"kind": "llvm", "mattr": ["+avx2", "+fma", "+f16c"]}


def parts(module):
    """The reduction split, its remainders summed apart."""
    schedule = s_tir.Schedule(module)
    block = schedule.get_sblock("C")
    _, k = schedule.get_loops(block)
    _, inner = schedule.split(k, [None, LANES])
    schedule.rfactor(inner, 0)
    return schedule.mod


def vectors(module):
    """The reduction split, its remainders in the lanes of a vector."""
    schedule = s_tir.Schedule(module)
    block = schedule.get_sblock("C")
    _, k = schedule.get_loops(block)
    _, inner = schedule.split(k, [None, LANES])
    partial = schedule.rfactor(inner, 0)
    schedule.vectorize(schedule.get_loops(partial)[-1])
    return schedule.mod


def unrolled(module):
    """The reduction split, the inner loop unrolled."""
    schedule = s_tir.Schedule(module)
    _, k = schedule.get_loops(schedule.get_sblock("C"))
    _, inner = schedule.split(k, [None, 4])
    schedule.unroll(inner)
    return schedule.mod


WAYS = {
    "tvm default": (lambda module: module, "llvm"),
    "tvm native": (lambda module: module, NATIVE),
    "tvm parts": (parts, "llvm"),
    "tvm vectors": (vectors, NATIVE),
    "tvm unrolled": (unrolled, NATIVE),
}


def built(text):
    """The program by way; ways that TVM refuses are left out."""
    module = tvm.IRModule({"main": from_source(text).with_attr("global_symbol", "main")})
    found = {}
    for way, (change, target) in WAYS.items():
        try:
            found[way] = tvm.compile(change(module), tvm.target.Target(target))["main"]
        except Exception as failure:
            sys.stderr.write(f"{way}: {type(failure).__name__}: {str(failure).strip().splitlines()[-1]}\n")
    return found


def main():
    """Run all jobs."""
    directory = Path(sys.argv[1])
    jobs = json.loads((directory / "jobs.json").read_text())
    inputs = np.load(directory / "in.npz")
    programs = {key: built(text) for key, text in jobs["texts"].items()}
    results = {}
    for number, job in enumerate(jobs["jobs"]):
        for way, run in programs[f"{job['kind']} {job['dtype']}"].items():
            if way in ("tvm parts", "tvm vectors") and len(inputs[f"a{number}"]) < LANES:
                continue
            out = tvm.runtime.tensor(np.zeros(1, job["dtype"]))
            run(tvm.runtime.tensor(inputs[f"a{number}"]), tvm.runtime.tensor(inputs[f"b{number}"]), out)
            results[f"{number} {way}"] = out.numpy()
    np.savez(directory / "out.npz", **results)


main()
