"""`tvm.topi.image`: functions for images."""

from refmlc.tvm.topi.names import members

__getattr__, __dir__ = members("image.")
