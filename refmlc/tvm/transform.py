"""`tvm.transform`: passes one after the other, and the context that they run in."""

from typing import Self

from refmlc.tvm.missing_names import refusal
from refmlc.tvm.relax.transform import Pass, Sequential, module_pass

__all__ = ["Pass", "PassContext", "Sequential", "module_pass"]


class PassContext:
    """Options of passes. They say nothing here: no result depends on them."""

    def __init__(self, **options: object) -> None:
        self.options = options

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """End."""


__getattr__ = refusal(__name__, __all__)
