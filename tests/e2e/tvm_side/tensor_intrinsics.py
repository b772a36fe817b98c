"""Runs under TVM's Python: the tensor intrinsics that TVM registers, as TVM prints them. No device is needed.

`tensor_intrinsics.py DIRECTORY` writes `NAME.desc.py` and `NAME.impl.py` of each pair, and `families.txt`: the module
of `tvm.s_tir.tensor_intrin` that registers it. TVM reads its modules once, which takes most of the time; what they
register is kept on the way.
"""

import importlib
import sys
from pathlib import Path

import tvm
from tvm.s_tir import TensorIntrin

MODULES = ("arm_cpu", "cuda", "hexagon", "metal", "riscv_cpu", "rocm", "x86")
PAIRS = []
original = TensorIntrin.register


def register(name, desc, impl, override=False):
    """Register a pair, and keep it with the module that does."""
    PAIRS.append((sys._getframe(1).f_globals["__name__"].rpartition(".")[2], name, desc, impl))
    return original(name, desc, impl, override)


def texts(func):
    """A function as a module, printed."""
    return tvm.IRModule({"main": func.with_attr("global_symbol", "main")}).script(show_meta=True)


def main():
    """Write each pair."""
    directory = Path(sys.argv[1])
    TensorIntrin.register = staticmethod(register)
    for module in MODULES:
        importlib.import_module(f"tvm.s_tir.tensor_intrin.{module}")
    families = []
    for family, name, desc, impl in PAIRS:
        families.append(f"{name} {family}")
        (directory / f"{name}.desc.py").write_text(texts(desc), "utf-8")
        (directory / f"{name}.impl.py").write_text(texts(impl), "utf-8")
    (directory / "families.txt").write_text("\n".join(families) + "\n", "utf-8")


main()
