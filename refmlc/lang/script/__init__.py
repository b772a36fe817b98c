"""TVMScript text to IR (`read`, `read_file`) and back (`show`); one table of spellings per generation of the language.

Live classes and functions are decorated with `ir_module`, `T.prim_func`, `R.function` (`front`), or given to
`read_live`.
"""

from refmlc.lang.script.front import I, R, T, ir, ir_module, relax, tir, tirx
from refmlc.lang.script.live import read_live
from refmlc.lang.script.printer import show
from refmlc.lang.script.reader.text import program_of, read, read_file, read_source, single, source_of

__all__ = [
    "I",
    "R",
    "T",
    "ir",
    "ir_module",
    "program_of",
    "read",
    "read_file",
    "read_live",
    "read_source",
    "relax",
    "show",
    "single",
    "source_of",
    "tir",
    "tirx",
]
