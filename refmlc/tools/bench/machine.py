"""Description of the machine: processor, compiler, and versions of the other participants."""

import platform
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path

import numpy as np

from refmlc.native.compile import BuildFailed
from refmlc.native.compile.compiler import find_compiler
from refmlc.tools.bench.session import BenchSession

CPUINFO = Path("/proc/cpuinfo")


def describe(session: BenchSession) -> Mapping[str, str]:
    """The machine and who takes part, by name."""
    return {
        "processor": processor(),
        "instruction set": session.isa.name,
        "compiler": compiler(),
        "Python": platform.python_version(),
        "refmlc": version("refmlc"),
        "NumPy": np.__version__,
        "BLAS": session.blas or "unknown (threadpoolctl names it and limits it to one thread)",
        "TVM": "none is given" if session.tvm is None else session.tvm.version,
    }


def processor() -> str:
    """The name of the processor, with family and model on Linux."""
    entries: dict[str, str] = {}
    try:
        for line in CPUINFO.read_text(encoding="ascii", errors="replace").splitlines():
            name, _, value = line.partition(":")
            entries.setdefault(name.strip(), value.strip())
    except OSError:
        return platform.processor() or platform.machine()
    name = entries.get("model name", platform.machine())
    return f"{name}, family {entries['cpu family']} model {entries['model']}" if "cpu family" in entries else name


def compiler() -> str:
    """The first line that the C compiler prints of itself."""
    try:
        return find_compiler().version.splitlines()[0]
    except BuildFailed as problem:
        return str(problem)
