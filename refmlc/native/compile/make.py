"""Building: the key of a translation unit, the cache, the compiler.

The key is a digest of the text, every header in `headers`, the compiler (path and version), its flags, the instruction
set, the machine's architecture, the rules that the text was checked by, and the number of this format. Decision: not
refmlc's version; whatever of it matters to a library is in the text and the headers.

A text is checked where it is compiled (`wall`, NAT-008). What is in the cache under its key was checked by the same
rules, so finding it takes no check.
"""

import hashlib
import os
import platform
import shutil
import weakref
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import lru_cache

from refmlc.native.compile.cache import Cache
from refmlc.native.compile.compiler import HEADERS, LIMIT, Compilation, Compiler, Effort, find_compiler
from refmlc.native.compile.failures import BuildFailed, Cause
from refmlc.native.compile.library import Library
from refmlc.native.compile.wall import rules
from refmlc.native.options import Isa
from refmlc.system.command import GLANCE
from refmlc.system.folders import Folder

FORMAT = "4"


def build(
    text: str, isa: Isa, *, cache: Cache | None, tiny: bool = False, effort: Effort = Effort.FULL, limit: float = LIMIT
) -> Library:
    """The library that the translation unit `text` compiles to, loaded. Units: `limit` in seconds.

    `cache` None: compiled in any case, and kept nowhere. `tiny`: by a compiler that is quick, where there is one.
    Raises BuildFailed, and has then left nothing behind. Fails: RM902.
    """
    compiler = find_compiler(tiny=tiny, effort=effort, size=len(text))
    if cache is None:
        return _unkept(compiler, text, isa, limit)
    key = key_of(text, compiler, isa, headers_digest())
    return cache.find(key) or Build(text, isa, cache, compiler, limit).wait()


def find(text: str, isa: Isa, cache: Cache, effort: Effort = Effort.FULL) -> Library | None:
    """What `build` gives, if `cache` has it. Raises BuildFailed, also where building it failed before."""
    return cache.find(key_of(text, find_compiler(effort=effort), isa, headers_digest()))


class Build:
    """A library on its way into `cache`: compiled beside this process. It ends with the object, or the process.

    In a fork of the process that began it, the library never comes.
    """

    def __init__(self, text: str, isa: Isa, cache: Cache, compiler: Compiler, limit: float = LIMIT) -> None:
        """Begin it. Raises BuildFailed. Fails: RM902."""
        self._cache = cache
        self._headers = headers_digest()
        self._key = key_of(text, compiler, isa, self._headers)
        self._owner = os.getpid()
        work = ExitStack()
        self.close: Callable[[], object] = weakref.finalize(self, _end, work, self._owner)
        with self._ending():
            folder = cache.workplace()
            work.callback(shutil.rmtree, folder, ignore_errors=True)
            self._compilation = Compilation(compiler, text, isa, folder, limit)
            work.callback(self._compilation.close)

    def library(self, seconds: float = 0.0) -> Library | None:
        """The library, loaded, if it is there within about `seconds`; None: not yet. Raises BuildFailed."""
        if not self.is_ours:
            return None
        with self._ending():
            path = self._compilation.library(seconds)
            if path is None:
                return None
            headers_digest.cache_clear()
            is_current = headers_digest() == self._headers  # else somebody edits them: it has another key, or none
            library = self._cache.add(self._key, path) if is_current else Library(str(path))
            self.close()
            return library

    @property
    def is_ours(self) -> bool:
        """Whether this process began it."""
        return os.getpid() == self._owner

    def wait(self) -> Library:
        """The library, loaded. Raises BuildFailed. Requires that it is ours."""
        while (library := self.library(GLANCE)) is None:
            pass
        return library

    @contextmanager
    def _ending(self) -> Iterator[None]:
        """End the build where what is done here fails."""
        try:
            yield
        except BaseException as failure:
            self.close()
            if isinstance(failure, BuildFailed):
                self._cache.remember(self._key, failure)
            raise


def _end(work: ExitStack, owner: int) -> None:
    """End the compiler and remove its files; a fork leaves that to the process that began."""
    if os.getpid() == owner:
        work.close()


def _unkept(compiler: Compiler, text: str, isa: Isa, limit: float) -> Library:
    try:
        folder = Folder("library")
    except OSError as problem:
        raise BuildFailed(Cause.DISK, f"{problem.filename}: {problem.strerror}") from None
    with folder as path:
        return Library(str(Compilation(compiler, text, isa, path, limit).wait()))


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
