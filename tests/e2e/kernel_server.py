"""Executes kernels for another process: a line of JSON with a text and its arguments, then their bytes; the same back.

    {"text", "name", "watched", "arguments": [{"dtype", "shape"} or {"number"}]}, the arrays       a call
    {"verdict", "reason"}, the arrays as they are left                                             the answer

A call that is watched by the sanitizer's detectors ends at a race, for example; it may take four times as long.

| verdict       | meaning                                                             |
|---------------|---------------------------------------------------------------------|
| `executed`    | the arrays follow, in their order                                   |
| `unsupported` | unsupported by name                                                 |
| `undefined`   | a finding: the kernel has no meaning for these arguments            |
| `refused`     | refmlc does not read the text, or a static rule is broken           |
| `late`        | it takes too long, too many steps, or too much memory               |
| `traceback`   | refmlc ends by a bug of its own                                     |
"""

import json
import os
import resource
import signal
import sys
import traceback
from math import prod

import ml_dtypes  # noqa: F401 - NumPy has its dtypes by name then
import numpy as np

from refmlc.diag import Exhausted, IllFormed, Internal, Malformed, RefmlcError, Unsupported, error
from refmlc.lang.script import read
from refmlc.lang.wellformed import check_module
from refmlc.observe.sanitize.kinds import ALL, LINTS
from refmlc.observe.sanitize.sanitizer import Sanitizer
from refmlc.run.interp.machine import Machine
from refmlc.run.memory.tensor import Tensor

KINDS = ((Unsupported, "unsupported"), (Exhausted, "late"), (Malformed, "refused"), (IllFormed, "refused"))
BYTES = 6 << 30
WATCHED = 4  # times as long as a call without detectors


class Late(Exception):
    """The time of one kernel is over."""


def stop(*_: object) -> None:
    """End what is done with a kernel."""
    raise Late


def verdict_on(failure):
    """The verdict and the reason."""
    if isinstance(failure, Late | MemoryError):
        return "late", "it takes too long, or too much memory"
    if isinstance(failure, RefmlcError) and not isinstance(failure, Internal):
        reason = f"{failure.code.id} {failure.diagnostic.message}"
        return next((verdict for kind, verdict in KINDS if isinstance(failure, kind)), "undefined"), reason
    where = traceback.extract_tb(failure.__traceback__)[-1]
    return "traceback", f"{type(failure).__name__}: {failure} ({where.name}, line {where.lineno})"


def executed(text, name, arguments, seconds, watched):
    """Execute a kernel: its arrays are changed. Fails as it does, or as a detector does that watches."""
    signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds * (WATCHED if watched else 1))
    try:
        module = read(text, "kernel")
        for problem in check_module(module):
            if problem.code.kind == "Unsupported":  # what TVM leaves ill-formed behind a pass may be executed
                raise error(problem)
        name = name if name in module.functions else next(iter(module.functions))
        function = module.functions[name]
        values = []
        for number, argument in enumerate(arguments):
            buffer = function.buffer_map.get(function.params[number]) if number < len(function.params) else None
            is_array = isinstance(argument, np.ndarray) and buffer is not None
            values.append(Tensor.from_numpy(argument, buffer.dtype) if is_array else argument)
        hooks = Sanitizer(module, ALL - LINTS) if watched else None
        Machine(module, hooks=hooks).call(name, values)
    finally:
        signal.alarm(0)


def serve(source, sink, seconds):
    """Answer calls until there are no more."""
    for line in iter(source.readline, b""):
        call = json.loads(line)
        arguments = []
        for each in call["arguments"]:
            if "number" in each:
                arguments.append(each["number"])
                continue
            dtype, shape = np.dtype(each["dtype"]), tuple(each["shape"])
            arguments.append(np.frombuffer(bytearray(source.read(dtype.itemsize * prod(shape))), dtype).reshape(shape))
        try:
            executed(call["text"], call["name"], arguments, seconds, call["watched"])
            verdict, reason = "executed", ""
        except Exception as failure:  # noqa: BLE001 - a traceback is a bug to be listed
            verdict, reason = verdict_on(failure)
        sink.write(json.dumps({"verdict": verdict, "reason": reason}).encode() + b"\n")
        for argument in arguments if verdict == "executed" else ():
            sink.write(argument.tobytes() if isinstance(argument, np.ndarray) else b"")
        sink.flush()


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever is printed is no answer
    serve(sys.stdin.buffer, answers, int(sys.argv[1]))
