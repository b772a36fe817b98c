"""Building: the key of a translation unit, the cache, the compiler.

The key is a digest of the text, every header in `headers`, the compiler (path and version), its flags, the instruction
set, the machine's architecture, the rules that the text was checked by, and the number of this format. Decision: not
refmlc's version; whatever of it matters to a library is in the text and the headers.

A text is checked where it is compiled (`wall`, NAT-008). What is in the cache under its key was checked by the same
rules, so finding it takes no check.
"""

import hashlib
import platform
from dataclasses import replace
from functools import lru_cache

from refmlc.native.compile.cache import Cache
from refmlc.native.compile.compiler import HEADERS, LIMIT, Compiler, compile_unit, find_compiler
from refmlc.native.compile.failures import BuildFailed, Cause
from refmlc.native.compile.library import Library
from refmlc.native.compile.wall import rules
from refmlc.native.options import Isa
from refmlc.system.folders import Folder

FORMAT = "2"


def build(
    text: str, isa: Isa, *, cache: Cache | None, tiny: bool = False, quick: bool = False, limit: float = LIMIT
) -> Library:
    """The library that the translation unit `text` compiles to, loaded. Units: `limit` in seconds.

    `cache` None: compiled in any case, and kept nowhere. `tiny`: by a compiler that is quick, where there is one.
    `quick`: with less optimisation. Raises BuildFailed, and has then left nothing behind. Fails: RM902.
    """
    compiler = replace(find_compiler(tiny=tiny), quick=quick)
    if cache is None:
        return _unkept(compiler, text, isa, limit)
    headers = headers_digest()
    key = key_of(text, compiler, isa, headers)
    library = cache.find(key)
    if library is not None:
        return library
    try:
        with cache.workplace() as folder:
            path = compile_unit(compiler, text, isa, folder, limit)
            headers_digest.cache_clear()
            if headers_digest() != headers:  # somebody edits them: what was compiled has another key, or none
                return Library(str(path))
            return cache.add(key, path)
    except BuildFailed as failure:
        cache.remember(key, failure)
        raise


def _unkept(compiler: Compiler, text: str, isa: Isa, limit: float) -> Library:
    try:
        folder = Folder("library")
    except OSError as problem:
        raise BuildFailed(Cause.DISK, f"{problem.filename}: {problem.strerror}") from None
    with folder as path:
        return Library(str(compile_unit(compiler, text, isa, path, limit)))


def key_of(text: str, compiler: Compiler, isa: Isa, headers: bytes) -> str:
    """The name of the library that `text` compiles to."""
    return hashlib.sha256(_surroundings(compiler, isa, headers) + text.encode()).hexdigest()


@lru_cache(maxsize=64)
def _surroundings(compiler: Compiler, isa: Isa, headers: bytes) -> bytes:
    """A digest of all that a library depends on but its text."""
    parts = (compiler.path, compiler.version, *compiler.flags(isa), isa.name, platform.machine(), rules(), FORMAT)
    return hashlib.sha256("\0".join(parts).encode() + headers).digest()


@lru_cache(maxsize=1)
def headers_digest() -> bytes:
    """A digest of the names and contents of all headers. Read once, and again whenever something was compiled."""
    digest = hashlib.sha256()
    for path in sorted(HEADERS.glob("*.h")):
        content = path.read_bytes()
        digest.update(f"{path.name}\0{len(content)}\0".encode() + content)
    return digest.digest()
