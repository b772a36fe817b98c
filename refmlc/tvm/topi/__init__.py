"""`tvm.topi`: the operators as functions of tensor expressions, with TVM's names, in `nn`, `image`, `vision` too."""

from refmlc.tvm.topi import image, nn, vision
from refmlc.tvm.topi.names import members

__all__ = ["image", "nn", "vision"]

__getattr__, __dir__ = members()
