"""The cache of libraries, by content: what a library is made from is its name.

| part of the directory | holds                                                                                      |
|-----------------------|--------------------------------------------------------------------------------------------|
| `<key>.so`            | a library, and after it (systems ignore that) a mark and a digest of the key and the bytes |
| `work-…/`             | a compilation on its way                                                                   |

A library gets its name when it is complete, by a rename: processes that build the same one at once replace it by
its like. What does not match its digest (altered, truncated, renamed) is not loaded and built again. The least
recently used ones go when all together are larger than the limit; a process that has one loaded keeps it.

Between the check of a library and its loading only the user could alter it: the directory is private (`folder`).
"""

import hashlib
import os
import re
import shutil
import weakref
from collections import OrderedDict
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_USAGE
from refmlc.native.compile.failures import BuildFailed, Cause, warn_once
from refmlc.native.compile.folder import chosen_folder, private_folder
from refmlc.native.compile.library import Library
from refmlc.system.folders import make_folder, sweep
from refmlc.system.regular import open_regular

MARK = b"refmlc-1"
DIGEST = hashlib.sha256().digest_size
DEFAULT_LIMIT = 512 << 20
UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
NAME = re.compile(r"[0-9a-f]{64}\.so")
WORK = "work"
OLD = 86_400.0  # seconds: no compilation takes a day
MOST_LOADED = 256  # libraries that are kept loaded though nobody holds them


@dataclass(frozen=True, slots=True)
class Entry:
    """A library in the directory. Units: bytes; nanoseconds since 1970."""

    path: str
    size: int
    used: int


class Cache:
    """Libraries in one directory, and those that this process has loaded. Units: `limit` in bytes."""

    def __init__(self, folder: Path, limit: int = DEFAULT_LIMIT) -> None:
        """Use `folder`, which is created if need be. Raises BuildFailed (CACHE) where it is not the user's alone."""
        self.folder = private_folder(folder)
        sweep(self.folder, OLD)  # what a killed process left, although nothing may be compiled now
        self.limit = limit
        self._loaded: OrderedDict[str, Library] = OrderedDict()
        self._failed: dict[str, BuildFailed] = {}
        self._added = limit  # bytes added since the directory was looked through

    def find(self, key: str) -> Library | None:
        """The library called `key`; None where there is none, or it is not what it was.

        Raises BuildFailed where this process has tried to build it, and failed.
        """
        if key in self._failed:
            raise self._failed[key]
        library = self._loaded.get(key)
        if library is not None:
            with suppress(KeyError):  # another thread may have dropped it
                self._loaded.move_to_end(key)
            return library
        path = f"{self.folder}/{key}.so"
        if not _intact(path, key):
            return None
        with suppress(OSError):
            os.utime(path)  # what counts as used
        with suppress(BuildFailed):  # another process may just have removed it
            return self._keep(key, Library(path))
        return None

    def remember(self, key: str, failure: BuildFailed) -> None:
        """Building `key` failed: another try in this process need not wait for a compiler that fails, or hangs.

        A full disk is tried again.
        """
        if failure.cause is not Cause.DISK:
            self._failed[key] = failure

    def add(self, key: str, file_path: Path) -> Library:
        """Load the library in the file `file_path`, and move it to where `find` finds it. Raises BuildFailed.

        What is loaded is what was compiled: it is loaded before anybody else can see it.
        """
        path = f"{self.folder}/{key}.so"
        try:
            image = file_path.read_bytes()
            with file_path.open("ab") as file:
                file.write(MARK + _digest(key, image))
            library = Library(str(file_path))
            os.replace(file_path, path)  # noqa: PTH105 - as everything here
        except OSError as problem:
            raise BuildFailed(Cause.DISK, f"{problem.filename or path}: {problem.strerror}") from None
        self._added += len(image)
        if self._added > self.limit // 64:
            self._added = 0
            self.shrink(self.limit)
        return self._keep(key, library)

    def _keep(self, key: str, library: Library) -> Library:
        self._loaded[key] = library
        if len(self._loaded) > MOST_LOADED:
            self._loaded.popitem(last=False)
        return library

    def workplace(self) -> Path:
        """A new directory beside the libraries, which the caller removes. Raises BuildFailed (DISK, CACHE)."""
        try:
            private_folder(self.folder)  # it may have been removed since
            return make_folder(WORK, self.folder)
        except OSError as problem:
            raise BuildFailed(Cause.DISK, f"{problem.filename or self.folder}: {problem.strerror}") from None

    def entries(self) -> list[Entry]:
        """The libraries in the directory, the least recently used first."""
        libraries = []
        with os.scandir(self.folder) as files:
            for file in files:
                with suppress(OSError):
                    if NAME.fullmatch(file.name):
                        status = file.stat(follow_symlinks=False)
                        libraries.append(Entry(file.path, status.st_size, status.st_mtime_ns))
        return sorted(libraries, key=lambda entry: (entry.used, entry.path))

    def shrink(self, limit: int) -> int:
        """Remove libraries until the rest has at most `limit` bytes, and what killed processes left; how many."""
        sweep(self.folder, OLD)
        entries, removed = self.entries(), 0
        total = sum(entry.size for entry in entries)
        for entry in entries:
            if total <= limit:
                break
            with suppress(OSError):
                os.unlink(entry.path)  # noqa: PTH108 - as everything here
                removed += 1
            total -= entry.size
        return removed


def default_cache() -> Cache:
    """The cache that the environment asks for; where it cannot be used: one warning, and one for this process only.

    Fails: RM112 (REFMLC_CACHE_SIZE is no size). Raises BuildFailed where there is not even room for that.
    """
    try:
        folder = chosen_folder()
        return _cache_at(folder, chosen_limit())
    except BuildFailed as failure:
        warn_once(failure)
        return temporary_cache()


@lru_cache(maxsize=8)
def _cache_at(folder: Path, limit: int) -> Cache:
    return Cache(folder, limit)


@lru_cache(maxsize=1)
def temporary_cache() -> Cache:
    """A cache that ends with this process. Raises BuildFailed (DISK)."""
    try:
        folder = make_folder("cache").resolve()
    except OSError as problem:
        raise BuildFailed(Cause.DISK, f"{problem.filename}: {problem.strerror}") from None
    cache = Cache(folder)
    weakref.finalize(cache, shutil.rmtree, folder, ignore_errors=True)
    return cache


def chosen_limit() -> int:
    """The bytes that REFMLC_CACHE_SIZE allows: a number, K, M or G after it. Fails: RM112."""
    text = os.environ.get("REFMLC_CACHE_SIZE", "")
    if not text:
        return DEFAULT_LIMIT
    match = re.fullmatch(r"([0-9]+)\s*([KMG]?)", text.strip().upper(), re.ASCII)
    if match is None:
        raise fail(BAD_USAGE, f"REFMLC_CACHE_SIZE is `{text}`; a size looks like 512M")
    return int(match[1]) * UNITS[match[2]]


def _intact(path: str, key: str) -> bool:
    """Whether the file at `path` is a library with its digest, for this key."""
    try:
        with open_regular(path, os.O_NOFOLLOW) as file:
            content = file.read()
    except OSError:
        return False
    image = content[: -len(MARK) - DIGEST]
    return len(image) > 0 and content[len(image) :] == MARK + _digest(key, image)


def _digest(key: str, image: bytes) -> bytes:
    return hashlib.sha256(key.encode() + image).digest()
