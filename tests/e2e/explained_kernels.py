"""Kernels of TVM's tests that have no meaning, traced by hand: the rows of `explained_kernels.toml`.

A row is for the kernels of the files that `files` names, of the tests that `tests` names where it does, whose finding
is as `reason` says: three regular expressions. What is undefined otherwise hides behind no row.
"""

import re
import tomllib
from collections import Counter
from pathlib import Path

FILE = Path(__file__).with_suffix(".toml")
ROWS = tomllib.loads(FILE.read_text(encoding="utf-8"))["kernels"]


def row_of(file, test, reason, rows=ROWS):
    """The row for a finding in a kernel, or None; `test` is empty where a table knows the file alone."""
    for row in rows:
        named = not test or re.search(row.get("tests", ""), test)
        if named and re.search(row["files"], file) and re.search(row["reason"], reason):
            return row
    return None


def told(findings, rows=ROWS):
    """Lines that say how many findings each row explains, and how many none does; each is (file, test, reason)."""
    counts = Counter()
    for finding in findings:
        row = row_of(*finding, rows)
        counts[f"traced, {row['name']} ({', '.join(row['clauses'])})" if row else "not traced"] += 1
    return [f"{count:5} undefined, {cause}" for cause, count in counts.most_common()]
