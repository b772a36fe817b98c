"""Reasons why calls were not compared, grouped: messages that differ only in numbers and names are one reason.

The first message of a group stands for all. At most `MOST_REASONS` are kept by name; the rest is counted together.
"""

import re
from collections.abc import Iterable, Mapping
from typing import TypeAlias

QUOTED = re.compile(r"`[^`]*`")
HEXES = re.compile(r"\b0x[0-9a-f]+\b")
NUMBERS = re.compile(r"[-+]?\b(?:\d+(?:\.\d*)?(?:e[-+]?\d+)?|inf|nan)\b", re.IGNORECASE)
LISTS = re.compile(r"\[[#, ]*\]|\([#, ]*\)")
FILES = re.compile(r'File "[^"]*[/\\]([^"/\\]+)"')
SPACES = re.compile(r"\s+")
MOST_REASONS = 100
OTHERS = "other reasons"

Reasons: TypeAlias = Mapping[str, int]
"""How often each reason occurred."""


def normalised(message: str) -> str:
    """The message without what differs from program to program."""
    text = FILES.sub(r"\1", message)
    text = NUMBERS.sub("#", HEXES.sub("#", QUOTED.sub("_", text)))
    return SPACES.sub(" ", LISTS.sub("#", text)).strip()


def counted(messages: Iterable[str]) -> dict[str, int]:
    """How many messages there are of each group, by the first of the group."""
    counts: dict[str, int] = {}
    add(counts, ((message, 1) for message in messages))
    return counts


def add(counts: dict[str, int], more: Iterable[tuple[str, int]]) -> None:
    """Add reasons with their counts to `counts`."""
    first = {normalised(message): message for message in counts}
    for message, count in more:
        key = normalised(message)
        if key not in first:
            first[key] = message if len(counts) < MOST_REASONS else OTHERS
        counts[first[key]] = counts.get(first[key], 0) + count


def merge(counts: dict[str, dict[str, int]], more: Mapping[str, Reasons]) -> None:
    """Add the reasons of each path to those of `counts`."""
    for path, reasons in more.items():
        add(counts.setdefault(path, {}), reasons.items())


def reason_lines(reasons: Reasons, most: int) -> list[str]:
    """The most frequent reasons, a line each; then how many calls the others have."""
    ranked = sorted(reasons.items(), key=lambda item: -item[1])
    lines = [f"{count:,} {reason}" for reason, count in ranked[:most]]
    rest = sum(count for _, count in ranked[most:])
    return [*lines, f"{rest:,} for {len(ranked) - most:,} other reasons"] if rest else lines
