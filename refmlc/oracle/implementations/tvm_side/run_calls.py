"""The other side of `tvm`: runs in an environment that has apache-tvm, and needs nothing of refmlc.

It speaks the protocol of `command`; its first argument says as JSON how to compile: `target`, `mode`, `opt`, `cuda`,
the pipelines (`real_tvm` has the table). It runs with TVM 0.25, 0.26 and 0.27. For each module a child is forked, which
compiles and runs it; when the child dies, that is the answer. A module that comes again at once meets the child that
has it: reading is what takes TVM longest.

| request   | the child                                                                              |
|-----------|----------------------------------------------------------------------------------------|
| `prepare` | parses; compiles the Relax functions, or the only prim_func                            |
| `run`     | calls a Relax function in the virtual machine, or a prim_func, which is compiled alone |
| `batch`   | one child does all of its modules, since a fork takes longer than a small module       |

The module that ends the child of a batch is sent again to a child of its own, and the rest in another one: its answer
does not depend on what went before. Any other answer of a batch may: who reports a difference asks again alone.
"""

import json
import mmap
import os
import re
import sys
import tempfile
from contextlib import nullcontext

import numpy as np
import tvm
from line_server import (
    Child,
    alarm,
    device_of,
    module_of,
    name,
    numpy_dtype,
    one_line,
    read_once,
    refusal,
    serve,
    target_of,
)
from tvm import relax


class Phase:
    """Whether a child is inside the block: a byte that it shares with its parent, who reads it when the child died."""

    def __init__(self):
        self.byte = mmap.mmap(-1, 1)

    def __enter__(self):
        self.byte[0] = 1

    def __exit__(self, *_problem):
        self.byte[0] = 0

    @property
    def entered(self):
        """Whether it is, or was when it died."""
        return self.byte[0] == 1


BUILDING = Phase()
TOGETHER = 48  # modules of a batch
OPTIONS = {"target": "llvm", "mode": "bytecode", "opt": None, "cuda": False}
PIPELINES = ("tir_pipeline", "relax_pipeline")


class Refused(Exception):
    """TVM does not take the module, or the arguments. `stop` says how, `mark` whether cleanly."""

    def __init__(self, stop, message, mark=""):
        super().__init__(message)
        self.stop = stop
        self.mark = mark


def packed():
    """The dtypes of which a tensor holds several elements in a byte: kernels take each for a byte."""
    narrow = [f"{sign}int{bits}" for sign in ("", "u") for bits in (1, 2, 3, 4, 6)]
    return {*narrow, "float4_e2m1fn", "float6_e2m3fn", "float6_e3m2fn"}


class Values:
    """Values of one call: read from files of the folder, written back after it to files whose names begin so."""

    def __init__(self, folder, device, prefix):
        self.folder = folder
        self.device = device
        self.prefix = prefix
        self.tensors = []
        self.count = 0

    def taken(self, spec):
        """The value that `spec` spells."""
        kind, value = spec["kind"], spec.get("value")
        if kind == "tensor":
            if spec["dtype"] in packed():
                raise Refused(
                    "unsupported", f"TVM packs the elements of a tensor of {spec['dtype']}, its kernels do not"
                )
            path = os.path.join(self.folder, spec["file"])
            array = np.fromfile(path, numpy_dtype(spec["dtype"])).reshape(spec["shape"])
            self.tensors.append(tvm.runtime.tensor(array, self.device))
            return self.tensors[-1]
        if kind == "same":
            return self.tensors[value]
        if kind == "shape":
            return tvm.runtime.ShapeTuple(value)
        if kind == "tuple":
            return [self.taken(item) for item in value]
        return float(value) if kind == "float" else value

    def given(self, value):
        """`value` as JSON."""
        if value is None:
            return {"kind": "null"}
        if isinstance(value, bool):
            return {"kind": "bool", "value": value}
        if isinstance(value, int):
            return {"kind": "int", "value": value}
        if isinstance(value, float):
            return {"kind": "float", "value": value if np.isfinite(value) else str(value)}
        if isinstance(value, str):
            return {"kind": "string", "value": value}
        if isinstance(value, tvm.runtime.Tensor):
            return self.written(value)
        if isinstance(value, tvm.runtime.ShapeTuple):
            return {"kind": "shape", "value": [int(size) for size in value]}
        if isinstance(value, (list, tuple, tvm.ir.Array)):
            return {"kind": "tuple", "value": [self.given(item) for item in value]}
        raise Refused("unsupported", f"it returns an object of type {type(value).__name__}")

    def written(self, tensor):
        """Write the tensor to a file."""
        array = tensor.numpy()
        name = f"{self.prefix}{self.count}"
        self.count += 1
        array.tofile(os.path.join(self.folder, name))
        return {"kind": "tensor", "dtype": str(tensor.dtype), "shape": list(array.shape), "file": name}


OLDER = {
    "out_ty=": "out_sinfo=",
    "ty_args=": "sinfo_args=",
    r"R\.Any\b": "R.Object",
    r"T\.handle\([^()]*\)\.ty\b": '"handle"',
}
NUMBER = re.compile(r'(\w+): (?:T\.int64|R\.Prim\("int64"\))')
SIGNATURE = re.compile(r"(@R\.function[^\n]*\n( *)def \w+\()([^\n]*)(\) *(?:->[^\n]*)?:\n)")


def spelled(text):
    """TVMScript of 0.27 as this version has it: and `cls.f` in prim_funcs, which none reads, by name."""
    if "cls = " not in text:
        text = re.sub(r"\bcls\.", "Module.", text)
    if tvm.__version__.startswith("0.25."):
        for new, old in OLDER.items():
            text = re.sub(rf"\b{new}", old, text)
        text = SIGNATURE.sub(numbered, text)
    return text


def numbered(signature):
    """The head of a Relax function as 0.25 has it: a number is a parameter with a value, which the body declares."""
    head, indent, parameters, tail = signature.groups()
    names = NUMBER.findall(parameters)
    parameters = NUMBER.sub(r'\1_number: R.Prim(value="\1")', parameters)
    return f"{head}{parameters}{tail}" + "".join(f"{indent}    {name} = T.int64()\n" for name in names)


def with_threads(module, scope):
    """The prim_funcs with loops bound to threads, as TVM's default schedules do, where none is."""
    dlight = getattr(tvm, "s_tir", tvm).dlight
    with scope:
        return dlight.ApplyDefaultSchedule(dlight.gpu.Reduction(), dlight.gpu.Fallback())(module)


class Compiler:
    """How modules are compiled: the options of this process."""

    def __init__(self, options):
        self.options = OPTIONS | options
        self.target = target_of("cuda" if self.options["cuda"] else self.options["target"])
        self.device = tvm.cuda() if self.options["cuda"] else tvm.cpu()
        self.pipelines = {key: options[key] for key in PIPELINES if key in options}

    def compiled(self, module):
        """An executable; C is compiled by the system's compiler and loaded."""
        with self.level():
            executable = tvm.compile(module, self.target, **self.pipelines)
        return self.loaded(executable)

    def machine(self, module):
        """The virtual machine of a module with Relax functions."""
        with self.level():
            executable = relax.build(module, self.target, exec_mode=self.options["mode"], **self.pipelines)
        return relax.VirtualMachine(self.loaded(executable), self.device)

    def level(self):
        """The level of optimisation, if the options have one."""
        level = self.options["opt"]
        return nullcontext() if level is None else tvm.transform.PassContext(opt_level=level)

    def loaded(self, executable):
        """`executable`, or what was loaded from the library of its C."""
        if self.target.kind.name != "c":
            return executable
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "module.so")
            executable.export_library(path)
            return tvm.runtime.load_module(path)


class Module:
    """A module, compiled on demand."""

    def __init__(self, text, hello):
        self.folder = hello["folder"]
        self.hello = hello
        self.compiler = Compiler(hello["options"])
        self.machine = None
        self.kernels = {}
        self.text = text
        self.module = module = compiled(lambda: self.read(text), text)
        self.names = {var.name_hint for var in module.functions}
        self.prim_funcs = {name for name in self.names if not isinstance(module[name], relax.Function)}
        if any(isinstance(function, relax.Function) for function in module.functions.values()):
            self.machine = self.taken(self.names, lambda: self.compiler.machine(module))
        elif len(self.names) == 1:
            self.entry(next(iter(self.names)))

    def read(self, text):
        """TVM's module of the text."""
        return module_of(spelled(text))

    def taken(self, names, work):
        """What `work` gives, which compiles or runs these functions; a refusal is declared where they need a device."""
        try:
            return compiled(work, self.text)
        except Refused as refused:
            functions = map(self.module.__getitem__, sorted(names))
            device = "" if self.compiler.options["cuda"] else device_of(functions)
            if not device:
                raise
            raise Refused("unsupported", f"{device}: {refused}") from None

    def entry(self, name):
        """The function called `name`, compiled."""
        if name not in self.names:
            raise Refused("unsupported", f"the module has no function {name}")
        function = self.module[name]
        if isinstance(function, relax.Function):
            return self.machine[name]
        if name not in self.kernels:
            alone = tvm.IRModule({self.module.get_global_var(each): self.module[each] for each in self.reached(name)})
            alone[self.module.get_global_var(name)] = function.with_attr("global_symbol", name)
            if self.compiler.options["cuda"]:
                alone = with_threads(alone, self.compiler.target)
            self.kernels[name] = self.taken(self.reached(name), lambda: self.compiler.compiled(alone)[name])
        return self.kernels[name]

    def reached(self, name):
        """The prim_func called `name`, and those that it names, as functions or in strings: `name` is the first."""
        names = [name]
        for each in names:
            mentioned = set(re.findall(r"(?<!\bT\.)\b\w+", self.module[each].script(show_meta=False)))
            names += sorted(other for other in self.prim_funcs & mentioned if other not in names)
        return names

    def run(self, name, specs, prefix="r"):
        """Call `name`; the names of the files of its results begin with `prefix`."""
        with alarm(self.hello["prepare_seconds"]), BUILDING:
            function = compiled(lambda: self.entry(name), self.text)
        values = Values(self.folder, self.compiler.device, prefix)
        args = refusing(lambda: [values.taken(spec) for spec in specs], "unsupported")
        with alarm(self.hello["seconds"]):
            result = self.taken(
                self.names if self.machine else self.reached(name), lambda: ran(lambda: function(*args), self.text)
            )
        return {"value": values.given(result), "args": [values.given(arg) for arg in args]}


def compiled(work, text):
    """What `work` gives, which reads or compiles `text`. A refusal names a limit, or is the parser's; else a fault."""
    try:
        return work()
    except Refused:
        raise
    except Exception as problem:
        stop, fault = refusal(problem, text)
        raise Refused(stop, one_line(problem), "fault" if fault else "") from None


def ran(work, text):
    """What `work` gives, which runs; a refusal names a limit, or is a check of arguments."""
    try:
        return work()
    except Exception as problem:
        stop, fault = refusal(problem, text)
        if stop == "unsupported":
            raise Refused(stop, one_line(problem)) from None
        clean = isinstance(problem, (ValueError, TypeError)) or not fault
        raise Refused("trap", one_line(problem), "refused" if clean else "") from None


def refusing(work, stop="rejected"):
    """What `work` gives; what it raises is TVM's refusal."""
    try:
        return work()
    except Refused:
        raise
    except Exception as problem:
        raise Refused(stop, one_line(problem)) from None


def answered(work):
    """What `work` gives, or why not."""
    try:
        return work()
    except Refused as refused:
        reply = {"stop": refused.stop, "message": str(refused)}
        return reply | {refused.mark: True} if refused.mark else reply


class Holder:
    """What a child answers with: the module that it was sent last, of `kind`."""

    def __init__(self, hello, kind):
        self.hello = hello
        self.kind = kind
        self.module = None
        self.prepared = None

    def prepare(self, text):
        """Read and compile `text`."""
        self.module = None

        def work():
            with alarm(self.hello["prepare_seconds"]), BUILDING:
                self.module = compiled(lambda: self.kind(text, self.hello), text)
            return {"ok": True}

        self.prepared = answered(work)
        return self.prepared

    def run(self, request, prefix="r"):
        """Call a function of it; or why it is not held."""
        if self.module is None:
            return self.prepared
        return answered(lambda: self.module.run(request["func"], request["args"], prefix))


def held(text, hello, kind):
    """A child that has compiled `text`, a module of `kind`; `prepared` says whether it did."""

    def work(requests, replies):
        holder = Holder(hello, kind)
        replies.write(json.dumps(holder.prepare(text)) + "\n")
        replies.flush()
        for line in requests if holder.module is not None else ():
            replies.write(json.dumps(holder.run(json.loads(line))) + "\n")
            replies.flush()

    child = Child(work)
    child.prepared = child.answer()
    return child


def batch_child(requests, hello, kind):
    """A child that answers all of `requests`, which are about several modules, in order."""

    def work(_requests, replies):
        holder = Holder(hello, kind)
        for request in requests:
            preparing = request["do"] == "prepare"
            reply = holder.prepare(request["module"]) if preparing else holder.run(request, f"r{request['id']}_")
            replies.write(json.dumps(reply) + "\n")
            replies.flush()

    return Child(work)


def replies_to(state, requests, kind=Module):
    """The answers to the requests of a batch, each with its number."""
    rest = list(requests)
    while rest:
        child = batch_child(rest, state["hello"], kind)
        at = 0
        for request in rest:
            reply = child.answer()
            if not child.alive:
                break
            at += 1
            yield reply | {"id": request["id"]}
        else:
            child.close()
            return
        first = max(number for number in range(at + 1) if rest[number]["do"] == "prepare")
        end = next((number for number in range(at + 1, len(rest)) if rest[number]["do"] == "prepare"), len(rest))
        for number in range(first, end):  # the module that ended it, alone
            reply = reply_to(state, rest[number], kind)
            if number >= at:
                yield reply | {"id": rest[number]["id"]}
        rest = rest[end:]


def reply_to(state, request, kind=Module):
    """The answer to one request; modules are of `kind`."""
    match request["do"]:
        case "hello":
            state["hello"] = request | {"options": json.loads(sys.argv[1]) if len(sys.argv) > 1 else {}}
            return {"name": name(), "batch": TOGETHER}
        case "prepare":
            if "child" in state and state["child"].alive:
                if state["text"] == request["module"]:
                    return state["child"].prepared
                state["child"].close()
            state["text"] = request["module"]
            state["child"] = held(state["text"], state["hello"], kind)
            return state["child"].prepared
        case "run":
            if not state["child"].alive:
                state["child"] = held(state["text"], state["hello"], kind)
                if "stop" in state["child"].prepared:
                    return state["child"].prepared | {"building": True}
            reply = state["child"].ask(json.dumps(request) + "\n")
            died_building = not state["child"].alive and BUILDING.entered
            return reply | {"building": True} if died_building else reply


if __name__ == "__main__":
    memory = {}
    read_once()
    serve(lambda request: reply_to(memory, request), lambda requests: replies_to(memory, requests))
