"""Modules in real TVM, each in a process of its own: run, rewritten or printed. Run inside TVM's environment.

Reads from stdin a list of `{"module": text, "action": …, "arguments": [[dtype, shape, hex] …], "steps": […]}`.

| action     | what is done                                                  | the answer                 |
|------------|---------------------------------------------------------------|----------------------------|
| `run`      | compiled, called: prim_funcs write into their last argument   | `array`: dtype, shape, hex |
| `legalize` | LegalizeOps                                                   | `text`: the module         |
| `show`     | the same, printed with its constants in full                  | `text`                     |
| `type`     | nothing                                                       | `type`: of what main gives |
| `schedule` | the steps (`apply_steps`)                                     | `text`                     |
| `schedule-run` | the same, compiled and called                             | as of `run`                |

Where `main` returns a tuple of tensors the answer of `run` is `arrays`. Other answers: `error` ("Kind: message"),
`signal` (a number); SIGALRM means that it took too long. The first answer is `version`: TVM's.
"""

import json
import os
import signal
import sys

import ml_dtypes
import numpy as np
import tvm
from apply_steps import apply, schedule_of
from tvm import relax
from tvm.script import from_source

LIMIT = 120  # seconds


def numpy_dtype(name: str) -> np.dtype:
    """The dtype of an array, by TVM's name."""
    return np.dtype(getattr(ml_dtypes, name, None) or name)


def run(module: tvm.IRModule, arguments: list) -> dict:
    """The array that `main` returns, or those in a tuple, or its last argument."""
    if isinstance(module["main"], relax.Function):
        machine = relax.VirtualMachine(tvm.compile(module, tvm.target.Target("llvm")), tvm.cpu())
        found = machine["main"](*arguments)
    else:
        tvm.compile(module, "llvm")["main"](*arguments)
        found = arguments[-1]
    return {"array": told(found)} if hasattr(found, "numpy") else {"arrays": [told(one) for one in found]}


def told(tensor) -> list:
    """A tensor as dtype, shape and bytes."""
    array = tensor.numpy()
    return [str(array.dtype), list(array.shape), array.tobytes().hex()]


def stepped(request: dict) -> tvm.IRModule:
    """The module after the steps."""
    schedule = schedule_of(request["module"])
    for step in request["steps"]:
        apply(schedule, *step)
    return schedule.mod


def arguments_of(request: dict) -> list:
    """The tensors of a call."""
    arrays = [np.frombuffer(bytes.fromhex(raw), numpy_dtype(d)).reshape(s) for d, s, raw in request["arguments"]]
    return [tvm.runtime.tensor(array) for array in arrays]


def type_of(function: relax.Function) -> str:
    """The type of what a function gives, as text."""
    found = getattr(function, "ret_ty", None) or function.ret_struct_info
    return found.script()


def act(request: dict) -> dict:
    """The answer."""
    if request["action"] == "schedule":
        return {"text": stepped(request)["main"].script()}
    if request["action"] == "schedule-run":
        return run(stepped(request), arguments_of(request))
    module = from_source(request["module"])
    if not isinstance(module, tvm.IRModule):
        module = tvm.IRModule({"main": module.with_attr("global_symbol", "main")})
    if request["action"] == "type":
        return {"type": type_of(module["main"])}
    if request["action"] == "run":
        return run(module, arguments_of(request))
    return {"text": relax.transform.LegalizeOps()(module).script(show_meta=request["action"] == "show")}


def answer(request: dict, into: int) -> None:
    """In the child: write the answer."""
    signal.alarm(LIMIT)
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())
    try:
        found = act(request)
    except Exception as failure:
        found = {"error": f"{type(failure).__name__}: {failure}"}
    with os.fdopen(into, "w") as pipe:
        json.dump(found, pipe)
    os._exit(0)


def ask(request: dict) -> dict:
    """The answer of a child, or the signal that ended it."""
    out, into = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(out)
        answer(request, into)
    os.close(into)
    with os.fdopen(out) as pipe:
        text = pipe.read()
    status = os.waitpid(child, 0)[1]
    if os.WIFSIGNALED(status):
        return {"signal": os.WTERMSIG(status)}
    return json.loads(text) if text else {"error": f"the process ended with status {os.WEXITSTATUS(status)}"}


if __name__ == "__main__":
    found = [{"version": tvm.__version__}, *(ask(request) for request in json.load(sys.stdin))]
    json.dump(found, sys.stdout)
