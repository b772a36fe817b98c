"""Which instruction set this machine runs.

| machine        | instruction set                                                                   |
|----------------|-----------------------------------------------------------------------------------|
| x86_64         | `avx512` or `avx2` where Linux lists all the flags below for the CPU, else `sse2` |
| … AMD's Zen 4  | `avx512halves`: it executes 64 bytes in two halves                                |
| aarch64, arm64 | `neon`                                                                            |
| any other      | `none`                                                                            |

REFMLC_ISA names a lesser one to use instead.
"""

import os
import platform
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_USAGE
from refmlc.native.options import ISAS, Isa

CPUINFO = Path("/proc/cpuinfo")
AVX512 = frozenset(("avx512f", "avx512bw", "avx512dq", "avx512vl", "avx2", "f16c"))
HALVES = (("vendor_id", "AuthenticAMD"), ("cpu family", "25"))
NEEDED: Mapping[str, frozenset[str]] = {
    "avx512": AVX512,
    "avx512halves": AVX512,
    "avx2": frozenset(("avx2", "f16c")),
}


def detect_isa() -> Isa:
    """The best instruction set here, or the one that REFMLC_ISA names. Fails: RM112 (unknown, or not of this CPU)."""
    return _chosen(os.environ.get("REFMLC_ISA", ""))


@cache
def _chosen(name: str) -> Isa:
    usable = isas_here()
    if not name:
        return ISAS[usable[0]]
    if name not in usable:
        raise fail(BAD_USAGE, f"REFMLC_ISA is `{name}`, this machine runs {', '.join(usable)}")
    return ISAS[name]


def isas_here() -> tuple[str, ...]:
    """The names of what this machine runs, the best one first."""
    return usable_isas(platform.machine().lower(), first_cpu(CPUINFO))


def usable_isas(machine: str, cpu: Mapping[str, str]) -> tuple[str, ...]:
    """The names of what a machine runs of whose first CPU Linux says this, the best one first."""
    flags = frozenset(cpu.get("flags", "").split())
    halves = all(cpu.get(name) == value for name, value in HALVES)
    match machine:
        case "x86_64" | "amd64":
            wide = [name for name, required in NEEDED.items() if required <= flags]
            if halves and "avx512halves" in wide:
                wide.sort(key="avx512halves".__ne__)  # the one to the front, the others as they are
            return (*wide, "sse2", "none")
        case "aarch64" | "arm64":
            return ("neon", "none")
        case _:
            return ("none",)


def first_cpu(path: Path) -> Mapping[str, str]:
    """What Linux says of the first CPU, its flags as far as the system lets programs use them."""
    facts: dict[str, str] = {}
    try:
        with path.open(encoding="ascii", errors="replace") as lines:
            for line in lines:
                name, colon, value = line.partition(":")
                if not colon:
                    break
                facts[name.strip()] = value.strip()
    except OSError:
        pass
    return facts
