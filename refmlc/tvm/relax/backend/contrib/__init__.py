"""`tvm.relax.backend.contrib`: tables of patterns: `example_npu`, `tensorrt`. Each registers its own when imported."""

from refmlc.tvm.missing_names import refusal

__all__ = ["example_npu", "tensorrt"]

_MODULES = {name: f"refmlc.tvm.relax.backend.contrib.{name}" for name in __all__}
__getattr__ = refusal(__name__, __all__, _MODULES)
