"""The error for a missing name: one message, never a guess."""

from collections.abc import Iterable


def missing(module: str, name: str, names: Iterable[str] = ()) -> AttributeError:
    """The error for `name`, which `module` does not have; `names` are those it has."""
    path = module.removeprefix("refmlc.")
    known = ", ".join(sorted(one for one in names if not one.startswith("_")))
    here = f"; `{path}` has {known}" if known else ""
    return AttributeError(f"`{path}.{name}` is not covered: refmlc reads, builds and runs modules on the CPU{here}")
