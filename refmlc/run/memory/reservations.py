"""The bytes of a storage that operations which are not complete read or write (TIA-002)."""

from collections.abc import Iterator
from dataclasses import dataclass, field

BUCKET = 16
"""Reservations are found by the number of the bucket. Units: bytes."""


@dataclass(slots=True, eq=False)
class Reserved:
    """Bytes `start` … `end` - 1, which the operation `owner` reads or, with `written`, writes until it is complete.

    `overwritten`: others have written some of them since, as far as it is known already.
    """

    start: int
    end: int
    written: bool
    owner: object
    overwritten: bool = False


@dataclass(slots=True)
class Reservations:
    """All of one storage. `rewritten`: of units read in part, the bytes written since, a bit each."""

    buckets: dict[int, list[Reserved]] = field(default_factory=dict)
    rewritten: dict[int, int] = field(default_factory=dict)

    def add(self, item: Reserved) -> None:
        """Reserve its bytes."""
        for number in _numbers(item.start, item.end):
            self.buckets.setdefault(number, []).append(item)

    def remove(self, item: Reserved) -> None:
        """End a reservation."""
        for number in _numbers(item.start, item.end):
            rest = [other for other in self.buckets[number] if other is not item]
            if rest:
                self.buckets[number] = rest
            else:
                del self.buckets[number]
        if not self.buckets:
            self.rewritten.clear()

    def at(self, start: int, end: int) -> Iterator[Reserved]:
        """What reserves any byte from `start` to `end` - 1."""
        if self.buckets:
            for number in _numbers(start, end):
                for item in self.buckets.get(number, ()):
                    if item.start < end and start < item.end:
                        yield item


def _numbers(start: int, end: int) -> range:
    return range(start // BUCKET, (end - 1) // BUCKET + 1)
