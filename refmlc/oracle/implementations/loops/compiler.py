"""The one place where source is run: it was made by `writer`, of names and numbers of ours, and sees no builtins.

No text of a module is ever in it (see the package), so nothing that a module says can be executed as Python. The one
builtin is for NumPy, which imports parts of itself for an error message through its caller.
"""

from importlib import import_module
from types import ModuleType

from refmlc.oracle.implementations.loops.operators import NotTaken


def define(source: str, namespace: dict[str, object]) -> None:
    """Put what `source` defines beside the objects that it names. Fails: `NotTaken` (too deep)."""
    namespace["__builtins__"] = {"__import__": _of_numpy}
    try:
        exec(compile(source, "<loops>", "exec"), namespace)  # noqa: S102 - ours only
    except (SyntaxError, RecursionError, MemoryError, OverflowError) as problem:
        raise NotTaken(f"a nesting that Python does not compile ({problem})") from None


def _of_numpy(name: str, *_: object) -> ModuleType:
    """A part of NumPy, and nothing else."""
    if name.partition(".")[0] != "numpy":
        raise ImportError(f"{name} is not part of NumPy")
    return import_module(name)
