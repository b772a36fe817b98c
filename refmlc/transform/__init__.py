"""Modules made from modules: one file for each transform, with what it keeps."""

from refmlc.transform.legalize import legalize_ops

__all__ = ["legalize_ops"]
