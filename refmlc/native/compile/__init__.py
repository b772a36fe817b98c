"""C text to a loaded library: by the compiler, at once or beside this process, or from the cache.

| module     | holds                                                              |
|------------|--------------------------------------------------------------------|
| `isa`      | the instruction set of this machine                                |
| `wall`     | that a text is what generators write, before it is compiled        |
| `pieces`   | a text in several, to be compiled side by side                     |
| `compiler` | which compiler, its flags, its runs                                |
| `folder`   | the directory of libraries, and whose it must be                   |
| `cache`    | libraries by what they are made from                               |
| `library`  | functions of a loaded library                                      |
| `make`     | all of it together                                                 |
| `failures` | why there is no library, and the warning about it                  |
"""

from refmlc.native.compile.cache import Cache, default_cache
from refmlc.native.compile.compiler import Effort, find_compiler
from refmlc.native.compile.failures import BuildFailed, Cause, NativeWarning, warn_once
from refmlc.native.compile.isa import detect_isa
from refmlc.native.compile.library import CFunction, Library, ffi
from refmlc.native.compile.make import Build, build, find

__all__ = [
    "Build",
    "BuildFailed",
    "CFunction",
    "Cache",
    "Cause",
    "Effort",
    "Library",
    "NativeWarning",
    "build",
    "default_cache",
    "detect_isa",
    "ffi",
    "find",
    "find_compiler",
    "warn_once",
]
