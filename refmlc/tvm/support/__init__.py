"""`tvm.support`: folders that are removed at the end, by TVM's name `utils.tempdir`."""

from refmlc.tvm.missing_names import refusal
from refmlc.tvm.support import folders as utils

__all__ = ["utils"]

__getattr__ = refusal(__name__, __all__)
