"""Registered functions of real TVM called, run inside TVM's environment: requests as JSON on standard input.

A request is `[name, [argument, …]]`, an argument a number, a string, or `{"tensor": [dtype, shape, hex]}`. Writes
`{"names": [every registered name], "answers": [answer, …]}`, an answer being `{"error": text}`, or
`{"tensors": [[dtype, shape, hex], …], "result": …}`: the tensors among the arguments after the call, what it returned.
"""

import json
import sys

import numpy as np
import tvm
import tvm_ffi


def written(array: np.ndarray) -> list:
    return [str(array.dtype), list(array.shape), np.ascontiguousarray(array).tobytes().hex()]


def argument(value: object) -> object:
    if isinstance(value, dict):
        name, shape, raw = value["tensor"]
        return tvm.runtime.tensor(np.frombuffer(bytes.fromhex(raw), name).reshape(shape).copy())
    return value


def result(value: object) -> object:
    if hasattr(value, "numpy"):
        return written(value.numpy())
    if value is None or isinstance(value, int | str):
        return value
    return [result(part) for part in value]


def answer(name: str, given: list) -> dict:
    args = [argument(value) for value in given]
    try:
        found = tvm_ffi.get_global_func(name)(*args)
    except Exception as problem:
        return {"error": str(problem)}
    tensors = [written(arg.numpy()) for arg in args if hasattr(arg, "numpy")]
    return {"tensors": tensors, "result": result(found)}


if __name__ == "__main__":
    answers = [answer(*request) for request in json.load(sys.stdin)]
    sys.stdout.write(json.dumps({"names": tvm_ffi.registry.list_global_func_names(), "answers": answers}))
