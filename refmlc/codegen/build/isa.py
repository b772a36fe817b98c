"""Which instruction set this machine runs.

| machine           | instruction set                                                                            |
|-------------------|--------------------------------------------------------------------------------------------|
| x86_64            | `avx512` or `avx2` where Linux lists all the flags below for the CPU, else `sse2`           |
| aarch64, arm64    | `neon`                                                                                      |
| any other         | `none`                                                                                      |

REFMLC_ISA names a lesser one to use instead.
"""

import os
import platform
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from refmlc.codegen.options import ISAS, Isa
from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_USAGE

CPUINFO = Path("/proc/cpuinfo")
NEEDED: Mapping[str, frozenset[str]] = {
    "avx512": frozenset(("avx512f", "avx512bw", "avx512dq", "avx512vl", "avx2", "f16c")),
    "avx2": frozenset(("avx2", "f16c")),
}


def detect_isa() -> Isa:
    """The best instruction set here, or the one that REFMLC_ISA names. Fails: RM112 (unknown, or not of this CPU)."""
    return _chosen(os.environ.get("REFMLC_ISA", ""))


@cache
def _chosen(wanted: str) -> Isa:
    usable = usable_isas(platform.machine().lower(), _cpu_flags(CPUINFO))
    if not wanted:
        return ISAS[usable[0]]
    if wanted not in usable:
        raise fail(BAD_USAGE, f"REFMLC_ISA is `{wanted}`, this machine runs {', '.join(usable)}")
    return ISAS[wanted]


def usable_isas(machine: str, flags: frozenset[str]) -> tuple[str, ...]:
    """The names of what a machine with these CPU flags runs, the best one first."""
    match machine:
        case "x86_64" | "amd64":
            return (*(name for name, needed in NEEDED.items() if needed <= flags), "sse2", "none")
        case "aarch64" | "arm64":
            return ("neon", "none")
        case _:
            return ("none",)


def _cpu_flags(path: Path) -> frozenset[str]:
    """What Linux says the first CPU has, as far as the system lets programs use it."""
    try:
        with path.open(encoding="ascii", errors="replace") as lines:
            for line in lines:
                name, _, value = line.partition(":")
                if name.strip() == "flags":
                    return frozenset(value.split())
    except OSError:
        pass
    return frozenset()
