"""`tvm.s_tir`: schedules, as 0.27 calls them; `dlight` and `meta_schedule` find some."""

from refmlc.tvm.missing_names import refusal

__all__ = ["Schedule", "TensorIntrin", "dlight", "meta_schedule", "transform"]

_SCHEDULES = {name: f"refmlc.rewrite.schedule:{name}" for name in ("Schedule", "TensorIntrin")}
_MODULES = {"dlight": "refmlc.tvm.s_tir.dlight", "meta_schedule": "refmlc.tvm.meta_schedule"}
_MODULES |= {"transform": "refmlc.tvm.s_tir.transform"}

__getattr__ = refusal(__name__, __all__, {**_SCHEDULES, **_MODULES})
"""`Schedule` brings the oracle with it when it is named first."""
