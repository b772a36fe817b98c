"""Modules made from modules: one file for each transform, with what it keeps."""

from refmlc.transform.deduce import deduced, deduced_function
from refmlc.transform.legalize import legalize_ops

__all__ = ["deduced", "deduced_function", "legalize_ops"]
