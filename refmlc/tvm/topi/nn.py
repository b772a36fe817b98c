"""`tvm.topi.nn`: functions for networks."""

from refmlc.tvm.topi.names import members

__getattr__, __dir__ = members("nn.")
