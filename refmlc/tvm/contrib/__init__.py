"""`tvm.contrib`: `utils` (`tvm.support.utils`) and `clang` (C++ as the text of LLVM, where clang is installed)."""

from refmlc.tvm.contrib import clang
from refmlc.tvm.missing_names import refusal
from refmlc.tvm.support import folders as utils

__all__ = ["clang", "utils"]

__getattr__ = refusal(__name__, __all__)
