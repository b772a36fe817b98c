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
| `pass`     | the passes that the steps spell, `relax.FuseOps(0)`           | `text`                     |
| `pass-run` | the same, compiled and called                                 | as of `run`                |
| `run-c`    | as `run`, by way of the target `c` and a C compiler           | as of `run`                |
| `reread` | printed, read again, compiled and called                      | as of `run`                |
| `gradient` | Gradient of `main`, compiled and called                       | `array`: by the first argument |
| `import`   | the text of a model of ONNX by TVM's importer, compiled and called | as of `run`            |
| `torch`    | a call of PyTorch (`torch_call`) by TVM's importer, compiled and called | as of `run`       |
| `layout`   | the layout that the text makes, applied to each of its elements | `array`: their places      |

Where `main` returns a tuple of tensors the answer of `run` is `arrays`. Other answers: `error` ("Kind: message"),
`signal` (a number); SIGALRM means that it took too long. The first answer is `version`: TVM's.
"""

import ast
import json
import os
import signal
import sys
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

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


def run_c(module: tvm.IRModule, arguments: list) -> dict:
    """The last argument of `main`, a prim_func that goes through C."""
    with TemporaryDirectory() as folder:
        library = str(Path(folder) / "module.so")
        tvm.compile(module, "c").export_library(library)
        tvm.runtime.load_module(library)["main"](*arguments)
    return {"array": told(arguments[-1])}


def gradient(module: tvm.IRModule, arguments: list) -> dict:
    """The gradient of `main` by its first argument: the adjoint gives a pair of the result and all gradients."""
    adjoint = relax.transform.Gradient("main")(module)["main_adjoint"].with_attr("global_symbol", "main")
    machine = relax.VirtualMachine(tvm.compile(tvm.IRModule({"main": adjoint}), "llvm"), tvm.cpu())
    return {"array": told(machine["main"](*arguments)[1][0])}


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


def passed(module: tvm.IRModule, steps: list[str]) -> tvm.IRModule:
    """The module after passes: each spelled with literals, `config=` for options of `PassContext`."""
    target = tvm.target.Target("llvm")
    for step in steps:
        call = ast.parse(step, mode="eval").body
        options = {key.arg: ast.literal_eval(key.value) for key in call.keywords}
        config = options.pop("config", {})
        home = getattr(tvm, call.func.value.id).transform
        with target, tvm.transform.PassContext(config=config):
            places = [target] if call.func.attr == "BindTarget" else map(ast.literal_eval, call.args)
            module = getattr(home, call.func.attr)(*places, **options)(module)
    return module


def imported(text: str) -> tvm.IRModule:
    """The module that TVM's importer makes of a model of ONNX."""
    import onnx  # noqa: PLC0415 - only where a row needs it
    from tvm.relax.frontend.onnx import from_onnx  # noqa: PLC0415 - as above

    return from_onnx(onnx.parser.parse_model(text))


def imported_call(request: dict) -> tvm.IRModule:
    """The module that TVM's importer makes of a call of PyTorch."""
    import torch  # noqa: PLC0415 - only where a row needs it
    from torch_call import exported  # noqa: PLC0415 - as above
    from tvm.relax.frontend.torch import from_exported_program  # noqa: PLC0415 - as above

    tensors = [torch.from_numpy(array.copy()) for array in arrays_of(request)]
    return from_exported_program(exported(request["module"], tensors), unwrap_unit_return_tuple=True)


def places_of(text: str) -> dict:
    """Where the layout that an expression makes puts its elements, in order."""
    from tvm.tirx.layout import S, TileLayout  # noqa: PLC0415 - TVM 0.25 has none

    layout = eval(text, {"__builtins__": {}, "TileLayout": TileLayout, "S": S})  # noqa: S307 - the text of a row
    simple, size = tvm.sym.Analyzer(), int(layout.size())
    places = [int(simple.simplify(value)) for i in range(size) for value in layout.apply(i).values()]
    return {"array": ["int64", [size], np.array(places, "int64").tobytes().hex()]}


def arrays_of(request: dict) -> list:
    """The arrays of a call."""
    return [np.frombuffer(bytes.fromhex(raw), numpy_dtype(d)).reshape(s) for d, s, raw in request["arguments"]]


def arguments_of(request: dict) -> list:
    """The tensors of a call."""
    return [tvm.runtime.tensor(array) for array in arrays_of(request)]


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
    if request["action"] == "import":
        return run(imported(request["module"]), arguments_of(request))
    if request["action"] == "torch":
        return run(imported_call(request), arguments_of(request))
    if request["action"] == "layout":
        return places_of(request["module"])
    module = from_source(request["module"])
    if not isinstance(module, tvm.IRModule):
        module = tvm.IRModule({"main": module.with_attr("global_symbol", "main")})
    if request["action"] in ("pass", "pass-run"):
        module = passed(module, request["steps"])
        return {"text": module.script()} if request["action"] == "pass" else run(module, arguments_of(request))
    if request["action"] == "type":
        return {"type": type_of(module["main"])}
    if request["action"] == "reread":
        return run(from_source(module.script()), arguments_of(request))
    if request["action"] in RUNS:
        return RUNS[request["action"]](module, arguments_of(request))
    return {"text": relax.transform.LegalizeOps()(module).script(show_meta=request["action"] == "show")}


RUNS = {"run": run, "run-c": run_c, "gradient": gradient}


def answer(request: dict, into: int) -> None:
    """In the child: write the answer."""
    signal.alarm(LIMIT)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stderr.fileno())
    os.dup2(nowhere, sys.stdout.fileno())  # TVM's importer prints what it does not take
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


def import_once(requests: list) -> None:
    """Import what models need before children are forked, where it is there."""
    if any(request["action"] == "import" for request in requests) and find_spec("onnx"):
        import onnx  # noqa: F401, PLC0415 - as above
        import tvm.relax.frontend.onnx  # noqa: PLC0415 - as above
    if any(request["action"] == "torch" for request in requests) and find_spec("torch"):
        import torch_call  # noqa: F401, PLC0415 - as above
        import tvm.relax.frontend.torch  # noqa: F401, PLC0415 - as above


if __name__ == "__main__":
    asked = json.load(sys.stdin)
    import_once(asked)
    found = [{"version": tvm.__version__}, *(ask(request) for request in asked)]
    json.dump(found, sys.stdout)
