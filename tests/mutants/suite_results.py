"""What became of mutants, a line of JSON for each, appended as it is known: no kill spoils it.

A killed one stays so while the case that killed it is the same; a survivor is asked what is new when the suite is
another: beside the file stands which cases a suite has.
"""

import json
from functools import cache


class Results:
    """The file, and what it says."""

    def __init__(self, path):
        self.path = path
        lines = path.read_text("utf-8").splitlines() if path.exists() else []
        self._rows = {}
        for line in lines:
            if line.endswith("}"):  # the last one may be cut
                row = json.loads(line)
                self._rows[row["key"]] = row

    def get(self, key, digests, suite):
        """The row of a mutant, where it still holds."""
        row = self._rows.get(key)
        if row is None:
            return None
        if row["state"] == "killed":
            return row if row["by"] and digests.get(row["case"]) == row["by"] else None
        return row if row["suite"] == suite else None

    def put(self, key, suite, mutant, state, case, why):
        """Keep it; the row."""
        row = row_of(key, suite, mutant, state, case, why)
        self._rows[key] = row
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")
        return row

    def keep_suite(self, name, digests):
        """Keep which cases a suite has."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._file_of(name).write_text(json.dumps(sorted(digests)), "utf-8")

    def cases_before(self, key):
        """The digests of the cases that a mutant has survived already."""
        row = self._rows.get(key)
        return self._cases(row["suite"]) if row is not None and row["state"] == "survived" else frozenset()

    @cache  # noqa: B019 - there is one of these
    def _cases(self, suite):
        file = self._file_of(suite)
        return frozenset(json.loads(file.read_text("utf-8"))) if file.exists() else frozenset()

    def _file_of(self, suite):
        return self.path.parent / f"suite-cases-{suite}.json"

    def killers(self):
        """The place of each mutant that was killed, and the case that did it."""
        return [(row["place"], row["case"]) for row in self._rows.values() if row["state"] == "killed"]


def row_of(key, suite, mutant, state, case, why):
    """What is kept of a mutant, and said of it."""
    by = suite.digests.get(case, "")
    row = {"key": key, "state": state, "case": case, "by": by, "suite": suite.whole, "why": why[:300]}
    return row | {"place": mutant.place, "name": mutant.name}
