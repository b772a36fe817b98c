"""Shared by the programs beside this one: read and write lines of JSON, read modules, run a child per module.

| who        | does                                                                                  |
|------------|---------------------------------------------------------------------------------------|
| the parent | imports TVM, which takes a second, and reads lines: a fork never meets threads of TVM |
|            | (`read_once`: what TVM makes when it first reads a module is there for every child)   |
| `Child`    | reads, compiles and runs what belongs to one module; when it dies, that is the answer |
"""

import gc
import inspect
import json
import os
import re
import signal
import sys
from contextlib import contextmanager, suppress
from itertools import takewhile

import ml_dtypes
import numpy as np
import tvm
from tvm.script import from_source

LONGEST = 400
NUMBER = re.compile(r"[0-9]{1,18}")
YOUNG = 1_000_000  # objects between two looks for cycles
DECLARED = ("not linked", "not enabled", "TIRx schedule dispatch failed", "Cannot resolve ScopeIdDef for target")
AROUND = ("Error in pass: ", "Location (TVMScript): ")  # begin what TVM adds to a message: the module, whole
LIMITS = ("not support", "unsupported", "not implemented", "only support", "cannot emit", "unknown intrinsic")
MISSING = re.compile(r"cannot find (?:\w+ )?(?:packed|(?:ffi::)?function)|is not registered", re.IGNORECASE)
THREADS = re.compile(r'"(?:blockIdx|threadIdx)\.|T\.device_entry\(')
FIRST = """
# from tvm.script import ir as I, relax as R, tirx as T
@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def copied(A: T.Buffer((2,), "float32"), B: T.Buffer((2,), "float32")):
        for i in range(2):
            with T.sblock("B"):
                v = T.axis.spatial(2, i)
                B[v] = A[v]

    @R.function
    def main(x: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
        with R.dataflow():
            y = R.exp(x)
            R.output(y)
        return y
"""


def serve(answer, answers=None):
    """Answer requests until the input ends or says `close`; what TVM prints goes to standard error.

    `answers` gives the replies to the requests of a batch, as they come.
    """
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    for line in sys.stdin:
        request = json.loads(line)
        if request["do"] == "close":
            break
        for reply in answers(request["requests"]) if request["do"] == "batch" else [answer(request)]:
            replies.write(json.dumps(reply) + "\n")
            replies.flush()


def name():
    """What answers."""
    return f"tvm {tvm.__version__}"


def numpy_dtype(text):
    """The NumPy dtype called `text`."""
    return np.dtype(getattr(ml_dtypes, text, None) or text)


def module_of(text):
    """The module that `text` is; a function alone is its `main`."""
    with frames_alone():
        module = from_source(text, check_well_formed=False)
    return module if isinstance(module, tvm.IRModule) else tvm.IRModule({"main": module})


@contextmanager
def frames_alone():
    """Let `inspect.stack()` give frames without their lines of source in this block.

    TVM's parser asks for them at each decorator, which takes half of its time, and uses none where it reads a text.
    """
    whole = inspect.stack

    def frames(context=None):
        frame, infos = inspect.currentframe().f_back, []
        if context is not None:
            return inspect.getouterframes(frame, context)
        while frame:
            code = frame.f_code
            infos.append(inspect.FrameInfo(frame, code.co_filename, frame.f_lineno, code.co_name, None, None))
            frame = frame.f_back
        return infos

    inspect.stack = frames
    try:
        yield
    finally:
        inspect.stack = whole


def read_once():
    """Read a module before children are forked: the tables of TVM's parser are half of the time of a small one.

    What is loaded by then is never garbage: a child that looked through it would copy all of its pages.
    """
    module_of(FIRST)
    gc.collect()
    gc.freeze()
    gc.set_threshold(YOUNG, 1000, 1000)


def target_of(text):
    """The target that `llvm -mcpu=haswell -opt-level=0` spells; the versions take no such text, but its parts."""
    kind, *flags = text.split()
    pairs = [flag.lstrip("-").partition("=")[::2] for flag in flags]
    values = {key: int(value) if NUMBER.fullmatch(value) else value or True for key, value in pairs}
    return tvm.target.Target({"kind": kind, **values})


def one_line(problem):
    """An error in a line: what a diagnostic of TVM's parser says, or else the message."""
    lines = [line.strip() for line in str(problem).splitlines() if line.strip()]
    lines = list(takewhile(lambda line: not line.startswith(AROUND), lines)) or lines
    shown = [line for line in lines if line.startswith("error:")] or lines
    return f"{type(problem).__name__}: {' '.join(shown)}"[:LONGEST]


def refusal(problem, text):
    """Why TVM does not take `text`: `unsupported`, a declared limit, or `rejected`; and whether that is its fault.

    No fault is a message that names a limit, and a diagnostic of the parser.
    """
    message = one_line(problem)
    if declared(str(problem), text):
        return "unsupported", False
    parser = type(problem).__name__ == "DiagnosticError" and "Check failed" not in message
    limit = isinstance(problem, NotImplementedError) or any(words in str(problem).lower() for words in LIMITS)
    return "rejected", not (parser or limit)


def declared(message, text):
    """Whether this build lacks what the module needs: a runtime, a target, a function of others that `text` names."""
    if any(words in message for words in DECLARED):
        return True
    words = re.findall(r"[\w.]+", message) if MISSING.search(message) else ()
    return any(f'"{word}"' in text for word in words)


def device_of(functions):
    """What functions need besides a CPU, in words; empty: nothing."""
    for function in functions:
        target = (function.attrs or {}).get("target")
        if target is not None and target.kind.name not in ("llvm", "c"):
            return f"this process has no device of kind {target.kind.name}"
        if isinstance(function, tvm.tirx.PrimFunc) and THREADS.search(function.script(show_meta=False)):
            return "this process has no device with threads"
    return ""


@contextmanager
def alarm(seconds):
    """End the process by SIGALRM when this takes longer, whatever it is doing."""
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


class Child:
    """A process in which `work(requests, replies)` runs: two files of lines."""

    def __init__(self, work):
        theirs, self.requests = os.pipe()
        replies, ours = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            status = 1
            try:
                os.close(self.requests)
                os.close(replies)
                with os.fdopen(theirs) as requests, os.fdopen(ours, "w") as out:
                    work(requests, out)
                status = 0
            finally:
                os._exit(status)  # never back into the parent's loop
        os.close(theirs)
        os.close(ours)
        self.lines = os.fdopen(replies)
        self.alive = True

    def ask(self, line):
        """The answer to `line`."""
        with suppress(BrokenPipeError):
            os.write(self.requests, line.encode())
        return self.answer()

    def answer(self):
        """The next line, or how it died."""
        line = self.lines.readline()
        if line:
            return json.loads(line)
        status = self.close()
        if not os.WIFSIGNALED(status):
            return {"stop": "crashed", "message": f"the process ended with status {os.WEXITSTATUS(status)}"}
        number = os.WTERMSIG(status)
        if number == signal.SIGALRM:
            return {"stop": "timed out", "message": "no answer within its time"}
        return {"stop": "crashed", "message": f"the process was killed by {signal.Signals(number).name}"}

    def close(self):
        """End it; its status."""
        self.alive = False
        os.close(self.requests)
        self.lines.close()
        return os.waitpid(self.pid, 0)[1]
