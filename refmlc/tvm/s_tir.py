"""`tvm.s_tir`: schedules, as 0.27 calls them."""

from refmlc.tvm.missing_names import refusal

__all__ = ["Schedule"]  # noqa: F822 - looked up when it is named

__getattr__ = refusal(__name__, __all__, {"Schedule": "refmlc.rewrite.schedule:Schedule"})
"""`Schedule` brings the oracle with it when it is named first."""
