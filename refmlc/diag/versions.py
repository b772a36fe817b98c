"""Versions of file formats: a file that refmlc writes has it as `format = N`, and its reader asks for it.

| a file whose version is | is                                                                        |
|-------------------------|---------------------------------------------------------------------------|
| the reader's, or older  | read, where the reader knows the older one                                |
| newer                   | refused: RM109, which says that a newer refmlc wrote it                   |
| missing                 | `missing`, where the format has that: people write such files by hand     |
| else                    | refused: RM109, which says that it is no such file                        |

`docs/reference/file-formats.md` lists the formats; `tests/meta/test_meta_formats.py` holds writers and readers to it.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from refmlc.diag.catalogue import BAD_FILE
from refmlc.diag.errors import fail

KEY = "format"


@dataclass(frozen=True, slots=True)
class FileFormat:
    """A format of files: its `name` in messages, the `version` that is written, the `oldest` that is read.

    `missing`: the version of a file that has none; 0: it is no such file.
    """

    name: str
    version: int = 1
    oldest: int = 1
    missing: int = 0

    def require(self, data: Mapping[str, object], place: str) -> int:
        """The version of a file that holds `data`. Fails: RM109 for one that this refmlc does not read."""
        version = data.get(KEY, self.missing or None)
        if isinstance(version, bool) or not isinstance(version, int):
            raise fail(BAD_FILE, f"`{place}` has no `{KEY}`, a whole number: it is no {self.name} that refmlc wrote")
        if not self.oldest <= version <= self.version:
            age = "a newer" if version > self.version else "an older"
            reads = f"{self.oldest} to {self.version}" if self.oldest < self.version else str(self.version)
            message = f"`{place}` is version {version} of the format of a {self.name}: {age} refmlc wrote it"
            raise fail(BAD_FILE, message, None, f"this refmlc reads version {reads}")
        return version
