"""The passes of tilelang: a module, or a kernel of tilelang, after each of them. Run it in a Python that has tilelang.

    refmlc passes module.py --impl 'cmd:PYTHON tilelang_passes.py'          a module of plain TensorIR
    PYTHON tilelang_passes.py kernel.py NAME > stages.jsonl                 the kernel NAME that kernel.py defines
    refmlc passes stages.jsonl

The first form answers `passes` of PROTOCOL.md; what tilelang does not take is refused. The second executes kernel.py.
A kernel is shown from the pass on that lowers its tile operators: before it, `T.Parallel` shares a loop among threads,
which TensorIR has no word for. Annotations that hold layouts are left out: they are notes of tilelang to itself. No GPU
is needed: the pipeline ends before a compiler of CUDA starts.
"""

import importlib.util
import json
import os
import re
import sys
from pathlib import Path

import tilelang
from tilelang import tvm

TARGET = {"kind": "cuda", "arch": "sm_80"}
LOWERED = "tl.LowerTileOp"
LAYOUTS = re.compile(r'"layout_map": \{[^{}]*\}(, )?|"parallel_loop_layout": metadata\["[\w.]+"\]\[\d+\](, )?')
WRAPPERS = ("pass_fn", "sequential", "_pipeline")


class Snapshots:
    """Writes each text that is new, from a pass on; empty: from the beginning."""

    def __init__(self, lines, first=""):
        self.lines, self.first = lines, first
        self.last = None
        self.running = []

    def line(self, **values):
        """Write a line at once: the process may end in the next pass."""
        self.lines.write(json.dumps(values) + "\n")
        self.lines.flush()

    def begins(self, name):
        """A pass begins, perhaps within another one."""
        self.running.append("" if name in WRAPPERS else name)
        self.line(within=self.running[-1])

    def ends(self, name, module):
        """It ends: write the module, if it is another one now."""
        if name == self.first:
            self.first = ""
        if name not in WRAPPERS:
            self.snapshot(name, module)
        self.running.pop()
        self.line(within=self.running[-1] if self.running else "")

    def snapshot(self, name, module):
        """Write the module, unless it is as the last one or has parts of its functions only."""
        if self.first or not module.functions or name == "tirx.Filter":
            return
        text = LAYOUTS.sub("", module.script())
        if text != self.last:
            self.last = text
            self.line(name=name, text=text)


def instrument(snapshots):
    """An instrument that writes what each pass leaves."""

    @tvm.instrument.pass_instrument
    class Writing:
        """Watches every pass."""

        def run_before_pass(self, _module, info):
            """Write which pass runs."""
            snapshots.begins(info.name)

        def run_after_pass(self, module, info):
            """Write the module."""
            snapshots.ends(info.name, module)

    return Writing()


def through(what, snapshots):
    """Take a module or a kernel through the pipeline."""
    target = tvm.target.Target(TARGET)
    with target, tvm.transform.PassContext(opt_level=3, instruments=[instrument(snapshots)]):
        tilelang.lower(what, target=target)


def one_line(problem):
    """The last line of a message that says something."""
    lines = [line.strip() for line in str(problem).splitlines() if line.strip()]
    return (lines or [type(problem).__name__])[-1][:500]


def written(request):
    """Write the snapshots of a module; the answer."""
    if request["passes"] is not None:
        return {"stop": "rejected", "message": "the passes of tilelang run as one pipeline"}
    with open(request["file"], "w", encoding="utf-8") as lines:
        snapshots = Snapshots(lines)
        try:
            module = tvm.script.from_source(request["module"])
            module = module if isinstance(module, tvm.IRModule) else tvm.IRModule({"main": module})
            snapshots.snapshot("input", module)
            if len(module.functions) != 1:
                snapshots.line(refused="tilelang lowers one function at a time", declared=True)
                return {"ok": True}
            (name,) = (var.name_hint for var in module.get_global_vars())
            through(module[name].with_attr("global_symbol", name), snapshots)
        except Exception as problem:  # of the compiler, whatever it is
            snapshots.line(refused=one_line(problem), fault="InternalError" in type(problem).__name__)
        else:
            snapshots.line(done=True)
    return {"ok": True}


def serve():
    """Answer lines until the end."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what the compiler prints is no answer
    for line in sys.stdin:
        request = json.loads(line)
        match request["do"]:
            case "hello":
                os.chdir(request["folder"])
                reply = {"name": f"tilelang {tilelang.__version__}", "version": tilelang.__version__, "passes": True}
            case "passes":
                reply = written(request)
            case "close":
                return
            case other:
                reply = {"stop": "unsupported", "message": f"requests to {other}"}
        answers.write(json.dumps(reply) + "\n")
        answers.flush()


def kernel(path, name):
    """The kernel `name` that the file defines."""
    spec = importlib.util.spec_from_file_location(Path(path).stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return getattr(module, name)


def main():
    """Serve, or write the snapshots of a kernel to standard output."""
    if len(sys.argv) == 1:
        serve()
        return
    lines = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    snapshots = Snapshots(lines, LOWERED)
    path, name = sys.argv[1:]
    try:
        through(kernel(path, name), snapshots)
    except Exception as problem:  # of the compiler, whatever it is
        snapshots.line(refused=one_line(problem), fault=True)
    else:
        snapshots.line(done=True)


if __name__ == "__main__":
    main()
