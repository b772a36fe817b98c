"""IR to TVMScript text, in the dialect of each generation: `show`."""

from refmlc.lang.script.printer.module import show

__all__ = ["show"]
