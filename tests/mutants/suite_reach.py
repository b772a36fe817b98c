"""Which cases execute which line, and how long each takes: noted once, kept beside the results.

A line of the file is a case: its digest, the processor time that it takes, and for each module the lines that it
executes, as the bits of a number. New cases are noted when they are there; another text of a module begins anew.

Decision: of each function the first calls of a case are followed line by line, of later ones nothing is noted: that
takes twice the time of the suite, and not fifteen times. So cases that call the function of a line may execute it
though nothing says so: they are asked last.
"""

import json
import sys
import time
from dataclasses import dataclass

from judged_tree import digest
from suite_cases import first_broken

TOGETHER = 300
FOLLOWED = 3


@dataclass(frozen=True)
class Reach:
    """`ids` in the order in which they are asked; `times` in seconds; by module and id the bits of lines."""

    ids: list
    times: dict
    lines: dict

    def ids_of(self, path, first, last):
        """The cases that execute one of the lines, in order."""
        bits, found = ((1 << last - first + 1) - 1) << first, self.lines.get(path, {})
        return [one for one in self.ids if found.get(one, 0) & bits]


class Notes:
    """The file for a tree, and what is missing in it."""

    def __init__(self, tree, patterns, folder):
        self._tree = tree
        self.paths = [str(path.relative_to(tree)) for pattern in patterns for path in sorted(tree.glob(pattern))]
        name = digest(*((tree / path).read_text("utf-8") for path in self.paths))
        self._file = folder / f"suite-reach-{name}.jsonl"
        self._rows = {}
        folder.mkdir(parents=True, exist_ok=True)
        for line in self._file.read_text("utf-8").splitlines() if self._file.exists() else ():
            row = json.loads(line) if line.endswith("}") else {}
            self._rows[row.get("case", ""), row.get("digest", "")] = row

    def parts(self, digests, ids):
        """Lists of ids that nothing is noted of."""
        left = [one for one in ids if (one, digests[one]) not in self._rows]
        return [left[start : start + TOGETHER] for start in range(0, len(left), TOGETHER)]

    def note(self, cases, digests):
        """Ask these cases and write what they reach; why one does not hold."""
        lines = Lines({str(self._tree / path): path for path in self.paths})
        sys.settrace(lines)
        broken, wrong = first_broken(cases, reached=lines.begin)
        sys.settrace(None)
        lines.begin("")
        if broken:
            return broken, wrong
        rows = [{"case": name, "digest": digests[name], **row} for name, row in lines.rows]
        with self._file.open("a", encoding="utf-8") as file:
            file.write("".join(json.dumps(row) + "\n" for row in rows))
        return "", ""

    def reach(self, digests, ids):
        """What is noted of these cases."""
        lines, times = {}, {}
        for one in ids:
            row = self._rows[one, digests[one]]
            times[one] = row["time"]
            for path, bits in row["lines"].items():
                lines.setdefault(path, {})[one] = int(bits, 16)
        return Reach(list(ids), times, lines)


class Lines:
    """What `sys.settrace` is told, case by case."""

    def __init__(self, files):
        self._files, self._case, self._start = files, "", 0.0
        self._calls, self._lines, self.rows = {}, {}, []

    def begin(self, name):
        """The case that is called so begins; the one before is over."""
        now = time.process_time()
        if self._case:
            lines = {path: f"{sum(1 << line for line in found):x}" for path, found in self._lines.items()}
            self.rows.append((self._case, {"time": round(now - self._start, 4), "lines": lines}))
        self._case, self._start = name, now
        self._calls, self._lines = {}, {}

    def __call__(self, frame, _event, _arg):
        """A function is called."""
        code = frame.f_code
        number = self._calls.get(id(code), 0)  # the code itself would be hashed constant by constant
        if number >= FOLLOWED:
            return None
        self._calls[id(code)] = number + 1 if code.co_filename in self._files else FOLLOWED
        if code.co_filename not in self._files:
            return None
        lines = self._lines.setdefault(self._files[code.co_filename], set())
        lines.add(code.co_firstlineno)

        def line(frame, _event, _arg):
            lines.add(frame.f_lineno)
            return line

        return line
