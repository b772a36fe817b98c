"""The other side of `tvm_process`: programs compiled and called with the time taken, for `llvm` as it is by default.

| request                                 | does                                               | answer                |
|-----------------------------------------|----------------------------------------------------|-----------------------|
| `version`                               | nothing                                            | `version`             |
| `load` name, text, func, arrays, output | compiles the text, runs it once, writes the result | nothing               |
| `run` name, calls                       | calls it `calls` times                             | `ns`, of this thread  |
| `compile` name                          | `tvm.compile` of the module again                  | `ns`, of this process |

A prim_func is called with the arrays and the output; a Relax function with the arrays. Arrays are files of raw bytes.
"""

from time import process_time_ns, thread_time_ns

import numpy as np
import tvm
from line_server import module_of, numpy_dtype, one_line, serve, target_of
from tvm import relax

TARGET = target_of("llvm")


def tensor(spec):
    """An array that was written to a file."""
    array = np.fromfile(spec["path"], numpy_dtype(spec["dtype"])).reshape(spec["shape"])
    return tvm.runtime.tensor(array)


class Program:
    """A compiled program with its arguments."""

    def __init__(self, request):
        self.module = module_of(request["text"])
        self.arguments = [tensor(spec) for spec in request["arrays"]]
        output, name = request["output"], request["func"]
        function = self.module[name]
        if isinstance(function, relax.Function):
            self.executable = relax.VirtualMachine(tvm.compile(self.module, TARGET), tvm.cpu())
            self.function = self.executable[name]
            result = self.function(*self.arguments)
        else:
            self.module = tvm.IRModule({name: function.with_attr("global_symbol", name)})
            self.executable = tvm.compile(self.module, TARGET)
            self.function = self.executable[name]
            result = tvm.runtime.tensor(np.zeros(output["shape"], numpy_dtype(output["dtype"])))
            self.arguments.append(result)
            self.function(*self.arguments)
        result.numpy().tofile(output["path"])

    def run(self, calls):
        """Nanoseconds of this thread for `calls` calls."""
        function, arguments = self.function, self.arguments
        start = thread_time_ns()
        for _ in range(calls):
            function(*arguments)
        return thread_time_ns() - start

    def compile(self):
        """Nanoseconds of this process for one compilation."""
        start = process_time_ns()
        tvm.compile(self.module, TARGET)
        return process_time_ns() - start


def answer(programs, request):
    """What to answer."""
    match request["do"]:
        case "version":
            return {"version": tvm.__version__}
        case "load":
            programs[request["name"]] = Program(request)
            return {}
        case "run":
            return {"ns": programs[request["name"]].run(request["calls"])}
        case "compile":
            return {"ns": programs[request["name"]].compile()}


def told(programs, request):
    """What to answer, or why there is nothing."""
    try:
        return answer(programs, request)
    except Exception as problem:
        return {"error": one_line(problem)}


if __name__ == "__main__":
    loaded = {}
    serve(lambda request: told(loaded, request))
