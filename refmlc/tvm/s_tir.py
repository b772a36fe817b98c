"""`tvm.s_tir`: schedules, as 0.27 calls them."""

from refmlc.tvm.missing_names import refusal

__all__ = ["Schedule", "TensorIntrin"]  # noqa: F822 - looked up when it is named

__getattr__ = refusal(
    __name__, __all__, {name: f"refmlc.rewrite.schedule:{name}" for name in ("Schedule", "TensorIntrin")}
)
"""`Schedule` brings the oracle with it when it is named first."""
