"""The one place where source is run: it was made by `writer`, of names and numbers of ours, and sees no builtins.

No text of a module is ever in it (see the package), so nothing that a module says can be executed as Python.
"""

from refmlc.adapters.loops.operators import NotTaken


def define(source: str, held: dict[str, object]) -> None:
    """Put what `source` defines beside the objects that it names. Fails: `NotTaken` (too deep)."""
    held["__builtins__"] = {}
    try:
        exec(compile(source, "<loops>", "exec"), held)  # noqa: S102 - ours only
    except (SyntaxError, RecursionError, MemoryError, OverflowError) as problem:
        raise NotTaken(f"a nesting that Python does not compile ({problem})") from None
