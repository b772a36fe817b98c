"""`tvm.s_tir`: schedules, as 0.27 calls them."""

from refmlc.tvm.missing_names import refusal

__all__ = ["Schedule", "TensorIntrin", "dlight"]  # noqa: F822 - looked up when it is named

_SCHEDULES = {name: f"refmlc.rewrite.schedule:{name}" for name in ("Schedule", "TensorIntrin")}

__getattr__ = refusal(__name__, __all__, {**_SCHEDULES, "dlight": "refmlc.tvm.dlight"})
"""`Schedule` brings the oracle with it when it is named first."""
