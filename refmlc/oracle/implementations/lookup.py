"""Implementations by name, as `--impl` takes them, and which of them a file may start.

A file may start refmlc's own implementations; any other needs the user's permission:

| a file names                                                      | then                                        |
|-------------------------------------------------------------------|---------------------------------------------|
| `interp`, `native`, `numpy`, `torch`, `moved`, and a way of these | it is made: code that came with refmlc      |
| anything else: `cmd:…`, `tvm:…`, `py:…`, a function of Python     | refused (RM112) unless the user permits it  |

Decision: own implementations are listed; a new one is refused until somebody reviewed it.

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
from collections.abc import Callable, Iterable
from importlib import import_module
from pathlib import Path
from traceback import format_exception_only
from typing import cast

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_USAGE
from refmlc.diag.errors import RefmlcError
from refmlc.lazy import load
from refmlc.oracle.implementations.implementation import Implementation, Limits
from refmlc.oracle.implementations.interp import Interp, SanitizedInterp
from refmlc.oracle.implementations.native import Native

OWN = frozenset(("interp", "native", "numpy", "torch", "moved"))


def is_own(spec: str) -> bool:
    """True if creating the implementation starts no foreign program."""
    return spec.partition(":")[0].partition("@")[0] in OWN


def trusted(specs: Iterable[str], file: Path | str, *, trust: bool) -> None:
    """Accept the implementations that `file` names. Fails: RM112 for a foreign one without `trust`."""
    for spec in specs:
        if not trust and not is_own(spec):
            refuse(file, spec, started_by(spec), "`--impl SPEC` chooses another implementation")


def refuse(file: Path | str, name: str, started: str, instead: str) -> None:
    """Report the program that `file` would start. Fails: RM112, always."""
    raise fail(
        BAD_USAGE,
        f"`{file}` names a program that is not refmlc's own: `{name}`",
        None,
        f"this would {started}",
        f"`--trust` lets the file start it; {instead}",
    )


def started_by(spec: str) -> str:
    """The effect of creating the implementation, in words."""
    kind, _, rest = spec.partition(":")
    match kind:
        case "cmd":
            return f"run the command: {rest}"
        case "tvm":
            return f"run the program: {rest.partition(',')[0]}"
        case "py":
            return f"import the Python module and call the name in it: {rest}"
        case _:
            return f"look for an implementation: {spec}"


KNOWN = "interp, interp:sanitized, native, native:WAY, numpy, torch, tvm:PYTHON, cmd:COMMAND, py:MODULE:NAME"


def implementation(spec: str, limits: Limits | None = None, *, kept: bool = False) -> Implementation:
    """The implementation that `spec` names. Fails: RM112 (no such one, or it does not start).

    `kept`: in-house C takes compiled libraries from the user's cache, and keeps them there.
    """
    limits = Limits() if limits is None else limits
    kind, colon, rest = spec.partition(":")
    match kind:
        case "interp" if not colon:
            return Interp(limits)
        case "interp" if rest == "sanitized":
            return SanitizedInterp(limits)
        case "native" if rest or not colon:
            return Native(rest, limits, kept=kept)
        case "numpy" if not colon:
            return _loaded("refmlc.oracle.implementations.loops.adapter:Loops")(limits)
        case "torch" if not colon:
            return _torch(limits)
        case "tvm" if rest:
            return _loaded("refmlc.oracle.implementations.real_tvm:Tvm")(rest, limits)
        case "cmd" if rest.strip():
            return _loaded("refmlc.oracle.implementations.command:Command")(_words(rest), limits)
        case "py" if rest.count(":") == 1:
            return _python(rest.partition(":")[0], rest.partition(":")[2], limits)
        case "tvm":
            raise fail(BAD_USAGE, "`tvm` needs a Python that has apache-tvm: `tvm:/path/to/python`")
        case "cmd":
            raise fail(BAD_USAGE, "`cmd` needs a command: `cmd:./my-implementation --flag`")
        case _:
            raise fail(BAD_USAGE, f"no implementation is named `{spec}`", None, f"the implementations: {KNOWN}")


def _loaded(place: str) -> Callable[..., Implementation]:
    """The class of an implementation that most commands do without."""
    return cast("Callable[..., Implementation]", load(place))


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
        return _loaded("refmlc.oracle.implementations.pytorch:Torch")(limits)
    except ImportError as problem:
        raise fail(BAD_USAGE, f"`torch` needs PyTorch: {problem}", None, "pip install 'refmlc[torch]'") from None


def _words(command: str) -> list[str]:
    """The words of a command, as a shell reads them. Fails: RM112."""
    try:
        return shlex.split(command)
    except ValueError as problem:
        raise fail(BAD_USAGE, f"`cmd:{command}` is not a command: {problem}") from None
