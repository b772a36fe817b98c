"""The bytes of a file, within a limit; and failures that name the file."""

import gzip
import zlib
from pathlib import Path

from refmlc.diag import RefmlcError, fail
from refmlc.diag.catalogue import BAD_FILE, MEMORY_EXHAUSTED
from refmlc.system.regular import open_regular

MAX_BYTES = 4 << 30
_GZIP = b"\x1f\x8b"


def bad_file(path: Path, message: str) -> RefmlcError:
    """The failure RM109 for `path`."""
    return fail(BAD_FILE, f"{path}: {message}")


def too_large(path: Path, limit: int) -> RefmlcError:
    """The failure RM603 for `path`."""
    return fail(MEMORY_EXHAUSTED, f"{path}: holds more than {limit} bytes")


def read_bytes(path: Path, limit: int = MAX_BYTES) -> bytes:
    """The content of `path`, unpacked where it is gzip. Fails: RM109, RM603.

    Unpacking stops at `limit`, whatever the packed file claims.
    """
    try:
        with open_regular(path) as file:
            packed = file.read(len(_GZIP)) == _GZIP
            file.seek(0)
            content = gzip.GzipFile(fileobj=file).read(limit + 1) if packed else file.read(limit + 1)
    except (OSError, EOFError, zlib.error) as reason:
        raise unreadable(path, reason) from None
    if len(content) > limit:
        raise too_large(path, limit)
    return content


def unreadable(path: Path, reason: Exception) -> RefmlcError:
    """RM109 for what the operating system or a decompressor says."""
    strerror = getattr(reason, "strerror", None)
    return bad_file(path, strerror or f"the file is damaged: {reason}")
