"""TVMScript text to IR (`read`, `read_file`) and back (`show`); one table of spellings per generation of the language."""

from refmlc.script.reader.text import read, read_file, read_source

__all__ = ["read", "read_file", "read_source"]
