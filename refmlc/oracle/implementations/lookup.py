"""Implementations by name, as `--impl` takes them.

| spec                    | is                                                            |
|-------------------------|---------------------------------------------------------------|
| `interp`                | the interpreter                                               |
| `interp:sanitized`      | the same, watched by every detector                           |
| `native`, `native:WAY`  | in-house C (`ways`)                                           |
| `numpy`                 | plain NumPy: loops of Python over arrays (`loops`)            |
| `torch`                 | graphs of Relax through PyTorch (`pytorch`)                   |
| `tvm:PYTHON`            | real TVM in the Python at this path, in a separate process    |
| `tvm:PYTHON,opt=0,…`    | the same, compiled in another way: `real_tvm` has the options |
| `cmd:COMMAND ARGUMENTS` | any program that speaks `command`'s protocol                  |
| `py:MODULE:NAME`        | an object of Python: `NAME(limits)` gives an `Implementation` |
"""

import shlex
from importlib import import_module
from traceback import format_exception_only
from typing import cast

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_USAGE
from refmlc.diag.errors import RefmlcError
from refmlc.lazy import load
from refmlc.oracle.implementations.command import Command
from refmlc.oracle.implementations.implementation import Implementation
from refmlc.oracle.implementations.interp import Interp
from refmlc.oracle.implementations.limits import Limits
from refmlc.oracle.implementations.loops.adapter import Loops
from refmlc.oracle.implementations.native import Native
from refmlc.oracle.implementations.real_tvm import Tvm
from refmlc.oracle.implementations.sanitizer import SanitizedInterp

KNOWN = "interp, interp:sanitized, native, native:WAY, numpy, torch, tvm:PYTHON, cmd:COMMAND, py:MODULE:NAME"


def implementation(spec: str, limits: Limits | None = None) -> Implementation:
    """The implementation that `spec` names. Fails: RM112 (no such one, or it does not start)."""
    limits = Limits() if limits is None else limits
    kind, colon, rest = spec.partition(":")
    match kind:
        case "interp" if not colon:
            return Interp(limits)
        case "interp" if rest == "sanitized":
            return SanitizedInterp(limits)
        case "native" if rest or not colon:
            return Native(rest, limits)
        case "numpy" if not colon:
            return Loops(limits)
        case "torch" if not colon:
            return _torch(limits)
        case "tvm" if rest:
            return Tvm(rest, limits)
        case "cmd" if rest.strip():
            return Command(_words(rest), limits)
        case "py" if rest.count(":") == 1:
            return _python(rest.partition(":")[0], rest.partition(":")[2], limits)
        case "tvm":
            raise fail(BAD_USAGE, "`tvm` needs a Python that has apache-tvm: `tvm:/path/to/python`")
        case "cmd":
            raise fail(BAD_USAGE, "`cmd` needs a command: `cmd:./my-implementation --flag`")
        case _:
            raise fail(BAD_USAGE, f"no implementation is named `{spec}`", None, f"the implementations: {KNOWN}")


def _python(module: str, name: str, limits: Limits) -> Implementation:
    """What `name` of a module of Python gives. Fails: RM112."""
    try:
        result = getattr(import_module(module), name)(limits)
    except (ImportError, AttributeError) as problem:
        raise fail(BAD_USAGE, f"no implementation is named `py:{module}:{name}`: {problem}") from None
    except RefmlcError:
        raise
    except (Exception, SystemExit) as problem:  # noqa: BLE001 - somebody else's code
        error = format_exception_only(problem)[-1].strip().partition("\n")[0]
        raise fail(BAD_USAGE, f"`py:{module}:{name}` does not start: {error}") from None
    if not isinstance(result, Implementation):
        raise fail(BAD_USAGE, f"`py:{module}:{name}` returns {type(result).__name__}, which is not an implementation")
    return result


def _torch(limits: Limits) -> Implementation:
    """PyTorch, which is an extra. Fails: RM112 where it is not installed."""
    try:
        return cast("Implementation", load("refmlc.oracle.implementations.pytorch.adapter:Torch")(limits))
    except ImportError as problem:
        raise fail(BAD_USAGE, f"`torch` needs PyTorch: {problem}", None, "pip install 'refmlc[torch]'") from None


def _words(command: str) -> list[str]:
    """The words of a command, as a shell reads them. Fails: RM112."""
    try:
        return shlex.split(command)
    except ValueError as problem:
        raise fail(BAD_USAGE, f"`cmd:{command}` is not a command: {problem}") from None
