"""Tiers: the ways in which a function can be executed. One is chosen per function when a module is built.

| tier     | what                                      | here                                  |
|----------|-------------------------------------------|---------------------------------------|
| `interp` | the interpreter, which is the meaning     | every function                        |
| `native` | compiled C                                | not yet: asking for it is unsupported |
| `auto`   | the best one that can take the function   | `interp`                              |
"""

from collections.abc import Mapping
from enum import Enum

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_USAGE, UNSUPPORTED_CONSTRUCT
from refmlc.ir import IRModule


class Tier(Enum):
    """A way to execute a function."""

    INTERP = "interp"
    NATIVE = "native"


NAMES = ("auto", *(tier.value for tier in Tier))


def choose_tiers(module: IRModule, wanted: str) -> Mapping[str, Tier]:
    """The tier of each function of `module`. Fails: RM112 (no tier has this name), RM504 (not there yet)."""
    if wanted not in NAMES:
        raise fail(BAD_USAGE, f"there is no tier `{wanted}`: the tiers are {', '.join(NAMES)}")
    if wanted == Tier.NATIVE.value:
        raise fail(UNSUPPORTED_CONSTRUCT, "the tier `native` does not exist yet: functions are interpreted")
    return dict.fromkeys(module.functions, Tier.INTERP)
