"""`tvm.relax.backend.pattern_registry`: patterns by name. One that is registered later comes before an earlier one."""

from collections.abc import Sequence
from typing import TypeAlias

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_ARGUMENTS
from refmlc.rewrite.partition import FusionPattern
from refmlc.tvm.missing_names import refusal

__all__ = ["Pattern", "get_pattern", "get_patterns_with_prefix", "register_patterns"]

Pattern: TypeAlias = FusionPattern | tuple[object, ...]
"""A pattern for `FuseOpsByPattern`, or what its constructor takes."""

_REGISTERED: list[FusionPattern] = []


def fusion_pattern(item: Pattern) -> FusionPattern:
    """The pattern that a tuple is. Fails: RM105."""
    match item:
        case FusionPattern():
            return item
        case tuple():
            return FusionPattern(*item)  # type: ignore[arg-type]  # the user's
        case _:
            raise fail(BAD_ARGUMENTS, f"a pattern is a FusionPattern or a tuple; this is {type(item).__name__}")


def register_patterns(patterns: Sequence[Pattern]) -> None:
    """Register patterns. Fails: RM105."""
    _REGISTERED.extend(map(fusion_pattern, patterns))


def get_patterns_with_prefix(prefix: str) -> list[FusionPattern]:
    """The patterns whose names begin so. Order: the last that was registered first."""
    return [pattern for pattern in reversed(_REGISTERED) if pattern.name.startswith(prefix)]


def get_pattern(name: str) -> FusionPattern | None:
    """The pattern of a name, the last one that was registered."""
    return next((pattern for pattern in reversed(_REGISTERED) if pattern.name == name), None)


__getattr__ = refusal(__name__, __all__)
