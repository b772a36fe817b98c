"""What a file may have started by naming it: refmlc's own ways, and nothing else without a word of the user.

| a file names                                                      | then                                        |
|-------------------------------------------------------------------|---------------------------------------------|
| `interp`, `native`, `numpy`, `torch`, `moved`, and a way of these | it is made: code that came with refmlc      |
| anything else: `cmd:…`, `tvm:…`, `py:…`, a function of Python     | refused (RM112), without a word of the user |

Decision: what is own is listed, what is foreign is not: a new way is refused until somebody has looked at it.
"""

from collections.abc import Iterable
from pathlib import Path

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_USAGE

OWN = frozenset(("interp", "native", "numpy", "torch", "moved"))


def is_own(spec: str) -> bool:
    """Whether making the implementation starts nothing that came from elsewhere."""
    return spec.partition(":")[0].partition("@")[0] in OWN


def trusted(specs: Iterable[str], file: Path | str, *, trust: bool) -> None:
    """Let pass what `file` names. Fails: RM112 where something of it is not refmlc's own and `trust` is not given."""
    for spec in specs:
        if not trust and not is_own(spec):
            refuse(file, spec, started_by(spec), "`--impl SPEC` says what is asked")


def refuse(file: Path | str, what: str, started: str, instead: str) -> None:
    """Say what `file` would have started. Fails: RM112, always."""
    raise fail(
        BAD_USAGE,
        f"`{file}` names a program that is not refmlc's own: `{what}`",
        None,
        f"this would {started}",
        f"`--trust` lets the file start it; {instead}",
    )


def started_by(spec: str) -> str:
    """What making the implementation does, in words."""
    kind, _, rest = spec.partition(":")
    match kind:
        case "cmd":
            return f"run the command: {rest}"
        case "tvm":
            return f"run the program: {rest.partition(',')[0]}"
        case "py":
            return f"import the module of Python, and call the name in it: {rest}"
        case _:
            return f"look for an implementation: {spec}"
