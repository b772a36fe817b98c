"""Which versions are affected: few runs, by bisection where there are many.

Up to four versions are all run. Of more, the oldest and the newest are; where they differ, bisection finds where the
behaviour changes, and what lies between two equal ends is inferred, and said to be.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

MOST_RUNS = 4
WORDS = re.compile(r"dev|post[0-9]+|[0-9]+")
LONGEST = 8


@dataclass(frozen=True)
class VersionVerdict:
    """A version: affected or not, in `word`; `inferred`: not run, but between versions that were."""

    version: str
    affected: bool
    word: str
    inferred: bool = False


def verdicts(versions: Sequence[str], run: Callable[[int], tuple[bool, str]]) -> list[VersionVerdict]:
    """The verdict on each version. `run` tells by its number whether one is affected, and in which word.

    Order: `versions` are in order of time. Runs: all, or 2 and the logarithm of their number.
    """
    known: dict[int, tuple[bool, str]] = {}

    def tried(number: int) -> tuple[bool, str]:
        if number not in known:
            known[number] = run(number)
        return known[number]

    if len(versions) <= MOST_RUNS:
        for number in range(len(versions)):
            tried(number)
    elif tried(0)[0] != tried(len(versions) - 1)[0]:
        low, high = 0, len(versions) - 1
        while high - low > 1:
            middle = (low + high) // 2
            if tried(middle)[0] == tried(low)[0]:
                low = middle
            else:
                high = middle
    return [_verdict(version, number, known) for number, version in enumerate(versions)]


def _verdict(version: str, number: int, known: dict[int, tuple[bool, str]]) -> VersionVerdict:
    if number in known:
        return VersionVerdict(version, *known[number])
    below = max(each for each in known if each < number)
    return VersionVerdict(version, known[below][0], known[below][1], inferred=True)


def in_order(versions: Sequence[str]) -> list[int]:
    """The numbers of versions in order of time: `0.9` before `0.27.0.post1`."""
    return sorted(range(len(versions)), key=lambda number: _key(versions[number]))


def _key(version: str) -> list[int]:
    """The numbers of a version; a version in development comes before the one that it becomes."""
    numbers = [-1 if word.startswith("dev") else int(word.removeprefix("post")) for word in WORDS.findall(version)]
    return [*numbers, *[0] * (LONGEST - len(numbers))]
