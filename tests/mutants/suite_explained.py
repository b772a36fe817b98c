"""Which mutants need not be killed: those that stand in `survivors.toml` or `suite_survivors/`, with the reason.

A row has `why`, and `names` of mutants or `patterns` of names. `*` in a pattern is any text, and stands neither in the
module nor in the function: a pattern is for what is the same all over a function, such as its quicker way.
"""

import re
import tomllib
from functools import cache
from pathlib import Path

HERE = Path(__file__).parent


@cache
def explained():
    """The names, and by pattern what matches the names that it stands for."""
    files = [HERE / "survivors.toml", *sorted((HERE / "suite_survivors").glob("*.toml"))]
    rows = [row for file in files for row in tomllib.loads(file.read_text("utf-8")).get("survivor", [])]
    patterns = {pattern for row in rows for pattern in row.get("patterns", ())}
    return {name for row in rows for name in row.get("names", ())}, {each: _matcher(each) for each in patterns}


def is_explained(name):
    """Whether there is a reason why a mutant survives."""
    names, patterns = explained()
    return name in names or any(matches(name) for matches in patterns.values())


def _matcher(pattern):
    """What a name must match: all but `*` is itself."""
    return re.compile(".*".join(map(re.escape, pattern.split("*")))).fullmatch
