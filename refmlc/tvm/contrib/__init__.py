"""`tvm.contrib`: `utils` (`temporary`: folders) and `clang` (C++ as the text of LLVM, where clang is installed)."""

from refmlc.tvm.contrib import clang, temporary as utils
from refmlc.tvm.missing_names import refusal

__all__ = ["clang", "utils"]

__getattr__ = refusal(__name__, __all__)
