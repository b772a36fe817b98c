"""What may follow the path in `tvm:PYTHON`: `,target=c,opt=0`. `real_tvm` has the table."""

from collections.abc import Mapping, Sequence

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_USAGE

MODES = ("bytecode", "compiled")
LEVELS = ("0", "1", "2", "3")
KNOWN = "target=…, mode=bytecode or compiled, opt=0 … 3, cuda"


def options_of(words: Sequence[str]) -> Mapping[str, object]:
    """What `target=c`, `opt=0` and so on say. Fails: RM112."""
    options: dict[str, object] = {}
    for word in words:
        key, _, value = word.strip().partition("=")
        if key in options:
            raise fail(BAD_USAGE, f"the option `{key}` of `tvm` is given twice")
        match key, value:
            case "target", str() if value.strip():
                options[key] = value.strip()
            case "mode", str() if value in MODES:
                options[key] = value
            case "opt", str() if value in LEVELS:
                options[key] = int(value)
            case "cuda", "":
                options[key] = True
            case _:
                raise fail(BAD_USAGE, f"`tvm` has no option `{word.strip()}`", None, f"its options: {KNOWN}")
    if "cuda" in options and "target" in options:
        raise fail(BAD_USAGE, "`tvm` takes `cuda` or a target, not both")
    return options
