"""The rule for an operator: what writes it, and reads the numbers among its arguments."""

from collections.abc import Callable
from typing import TypeAlias

from refmlc.diag import fail
from refmlc.diag.catalogue import UNSUPPORTED_OP
from refmlc.frontends.emitter import Operand

Rule: TypeAlias = Callable[..., Operand]
"""`rule(emitter, *arguments, **named)`, the arguments being PyTorch's; gives a tensor, a tuple of some, a number."""


def whole(value: Operand) -> int:
    """A number that must be known before it runs. Fails: RM501."""
    if not isinstance(value, int):
        raise fail(UNSUPPORTED_OP, f"a known number is needed here; this is {type(value).__name__}")
    return int(value)
