"""Findings: places in the source, the catalogue of codes, exceptions by kind, rendering."""

from refmlc.diag.diagnostic import Diagnostic, Related
from refmlc.diag.errors import (
    Exhausted,
    IllFormed,
    Internal,
    Malformed,
    Mismatch,
    RefmlcError,
    Trap,
    Undefined,
    Unsupported,
    error,
    fail,
    render,
)
from refmlc.diag.source import Source, Span

__all__ = [
    "Diagnostic",
    "Exhausted",
    "IllFormed",
    "Internal",
    "Malformed",
    "Mismatch",
    "RefmlcError",
    "Related",
    "Source",
    "Span",
    "Trap",
    "Undefined",
    "Unsupported",
    "error",
    "fail",
    "render",
]
