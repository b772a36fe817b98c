"""The programs that a file may start by naming them: refmlc's own; any other needs the user's permission.

| a file names                                                      | then                                        |
|-------------------------------------------------------------------|---------------------------------------------|
| `interp`, `native`, `numpy`, `torch`, `moved`, and a way of these | it is made: code that came with refmlc      |
| anything else: `cmd:…`, `tvm:…`, `py:…`, a function of Python     | refused (RM112) unless the user permits it  |

Decision: own implementations are listed; a new one is refused until somebody reviewed it.
"""

from collections.abc import Iterable
from pathlib import Path

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_USAGE

OWN = frozenset(("interp", "native", "numpy", "torch", "moved"))


def is_own(spec: str) -> bool:
    """True if creating the implementation starts no foreign program."""
    return spec.partition(":")[0].partition("@")[0] in OWN


def trusted(specs: Iterable[str], file: Path | str, *, trust: bool) -> None:
    """Accept the implementations that `file` names. Fails: RM112 for a foreign one without `trust`."""
    for spec in specs:
        if not trust and not is_own(spec):
            refuse(file, spec, started_by(spec), "`--impl SPEC` chooses another implementation")


def refuse(file: Path | str, what: str, started: str, instead: str) -> None:
    """Report the program that `file` would start. Fails: RM112, always."""
    raise fail(
        BAD_USAGE,
        f"`{file}` names a program that is not refmlc's own: `{what}`",
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
