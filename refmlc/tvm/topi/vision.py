"""`tvm.topi.vision`: functions for boxes."""

from refmlc.tvm.topi.names import members

__getattr__, __dir__ = members("vision.")
