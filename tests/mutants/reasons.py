"""Why mutants survive: rows of `survivors.toml`, and of `suite_survivors/` for what the suite alone cannot kill.

A row has `why` and a list of `mutants`: lines as the judges print them, copied. Only what stands before `|` counts:

| key                            | stands for                                                           |
|--------------------------------|----------------------------------------------------------------------|
| `0123456789ab compare 17.1`    | of a unit of code (`units`) the first change by that rule at a place |
| `0123456789ab compare *`       | all changes of the unit by that rule                                 |
| `0123456789ab *`               | all changes of the unit                                              |
| `0123456789ab~c0ffee …`        | the same, of one among units that are alike: others are not meant    |

No rename touches a key. Where the code changes, its digest does, and the reason lapses. `python
tests/mutants/reasons.py` lists such rows, and those that fit several units; `--refresh` writes what follows `|` anew.
"""

import argparse
import json
import re
import sys
import tomllib
from collections import defaultdict
from functools import cached_property
from pathlib import Path

import c_mutations
import python_mutations

HERE = Path(__file__).parent
OF_ALL_TESTS = HERE / "survivors.toml"
FILES = (OF_ALL_TESTS, *sorted((HERE / "suite_survivors").glob("*.toml")))
ROW = re.compile(
    r"(?P<unit>[0-9a-f]{12})(?:~(?P<context>[0-9a-f]{6}))? (?P<what>[a-z]+ \d+\.\d+|[a-z]+ \*|\*)(?: \| .*)?", re.DOTALL
)


class Reasons:
    """The reasons, for the code of a tree: by row, and the rows by digest."""

    def __init__(self, tree=HERE.parents[1], files=FILES):
        rows = [row for file in files for row in tomllib.loads(file.read_text("utf-8")).get("survivor", [])]
        self._tree = tree
        self.why = {line: row["why"] for row in rows for line in row["mutants"]}
        self.digests = defaultdict(list)
        for line in self.why:
            row = ROW.fullmatch(line)
            if row is None:
                raise ValueError(f"no key of a mutant: {line}")
            self.digests[row["unit"]].append(row)

    @cached_property
    def files(self):
        """The files of the tree that mutants are made of, in which a digest stands: by digest, once for each unit."""
        files = defaultdict(list)
        for path in (*sorted((self._tree / "refmlc").rglob("*.py")), *sorted((self._tree / "kernels_c").glob("*.h"))):
            made_by = c_mutations if path.suffix == ".h" else python_mutations
            for unit in made_by.units_of(path.read_text("utf-8")):
                files[unit.digest].append(path)
        return files

    def row_of(self, name):
        """The row that explains a mutant, by what is printed of it; None: there is none."""
        mutant = ROW.fullmatch(name)
        whats = (mutant["what"], f"{mutant['what'].split(' ')[0]} *", "*")
        rows = (row for row in self.digests.get(mutant["unit"], ()) if row["what"] in whats)
        return next((row[0] for row in rows if self._is_meant(row, mutant["context"])), None)

    def _is_meant(self, row, context):
        """Whether a row is about the unit with that context: the only one with its digest needs none."""
        return row["context"] == context or len(self.files[row["unit"]]) == 1

    def explained(self):
        """The names of all mutants of the tree for which there is a reason, by row."""
        names = defaultdict(list)
        for path in sorted({path for digest in self.digests for path in self.files[digest]}):
            for mutant in self._mutants(path):
                row = self.row_of(mutant.name)
                if row is not None:
                    names[row].append(mutant.name)
        return names

    def _mutants(self, path):
        text = path.read_text("utf-8")
        if path.suffix == ".h":
            return c_mutations.mutants_of(path.name, text)
        module = ".".join(path.relative_to(self._tree).with_suffix("").parts)
        return python_mutations.mutants_of(module, text, all_compile=False)

    def lapsed(self):
        """Rows that explain nothing, each with what has become of its unit."""
        explained = self.explained()
        return {line: self._fate(ROW.fullmatch(line)) for line in self.why if line not in explained}

    def _fate(self, row):
        units = [str(path.relative_to(self._tree)) for path in self.files[row["unit"]]]
        if not units:
            return "no code has this digest"
        return f"no such mutant in {units[0]}" if len(units) == 1 else f"not clear which is meant: {', '.join(units)}"


def refreshed(text, explained):
    """The text of a file of reasons, in which what follows `|` is as the code is named now."""
    for row, names in explained.items():
        key, hint = row.partition(" | ")[0], names[0].partition(" | ")[2]
        if key.endswith("*"):
            hint = " ".join(hint.split(" ")[:2])
        text = text.replace(json.dumps(row, ensure_ascii=False), json.dumps(f"{key} | {hint}", ensure_ascii=False))
    return text


def main():
    """Print rows that explain nothing; exit 1 where there are such."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--refresh", action="store_true", help="write what follows `|` anew")
    reasons = Reasons()
    if parser.parse_args().refresh:
        explained = reasons.explained()
        for file in FILES:
            file.write_text(refreshed(file.read_text("utf-8"), explained), "utf-8")
    lapsed = reasons.lapsed()
    for line, fate in lapsed.items():
        sys.stdout.write(f"{fate}: {line}\n")
    raise SystemExit(bool(lapsed))


if __name__ == "__main__":
    main()
