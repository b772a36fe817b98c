"""Runs under TVM's Python: the tensor intrinsics that TVM registers, as TVM prints them. No device is needed.

`tensor_intrinsics.py DIRECTORY` writes `NAME.desc.py` and `NAME.impl.py` of each pair, and `families.txt`: the module
of `tvm.s_tir.tensor_intrin` that registers it. The modules are loaded again, with a look at what they register.
"""

import importlib
import sys
from pathlib import Path

import tvm
import tvm_ffi
from tvm.s_tir import TensorIntrin

MODULES = ("arm_cpu", "cuda", "hexagon", "metal", "riscv_cpu", "rocm", "x86")
PAIRS = []


def register(name, desc, impl, override=False):
    """Keep a pair instead of registering it again."""
    PAIRS.append((name, desc, impl))


def again(name, f=None, override=False):
    """Register a function that is registered already."""
    return original(name, f, True)


original, tvm_ffi.register_global_func = tvm_ffi.register_global_func, again


def texts(func):
    """A function as a module, printed."""
    return tvm.IRModule({"main": func.with_attr("global_symbol", "main")}).script(show_meta=True)


def main():
    """Write each pair."""
    directory = Path(sys.argv[1])
    names = [f"tvm.s_tir.tensor_intrin.{module}" for module in MODULES]
    modules = [importlib.import_module(name) for name in names]
    TensorIntrin.register = staticmethod(register)
    families = []
    for module in modules:
        PAIRS.clear()
        importlib.reload(module)
        for name, desc, impl in PAIRS:
            families.append(f"{name} {module.__name__.rpartition('.')[2]}")
            (directory / f"{name}.desc.py").write_text(texts(desc), "utf-8")
            (directory / f"{name}.impl.py").write_text(texts(impl), "utf-8")
    (directory / "families.txt").write_text("\n".join(families) + "\n", "utf-8")


main()
