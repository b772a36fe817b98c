"""IR to C as it is written: grades 1 and 2, and the frame around the tiles of grade 3."""

from refmlc.native.emit.module import emit_module

__all__ = ["emit_module"]
