"""Area `op`: operators of Relax as TVM 0.27 computed them, `operator_results.py` of tests/e2e/tvm_side being asked.

`python write_op_sample.py DIRECTORY`, the results that it made. What TVM explains away (`explained_operators.toml`) is
left out. Where refmlc's bits are TVM's, both say so; else TVM's lie inside of the interval that the contracts leave.
"""

import json
import re
import sys
import tomllib
from pathlib import Path

import numpy as np
from book import Book, Judged, given
from rounding import stored

from refmlc.lang.spec.loader import clauses

EXPLAINED = Path(__file__).resolve().parents[1] / "e2e" / "explained_operators.toml"
MOST, EACH = 300, 6
"""Elements of a case, cases of an operator; of an operator whose cases are all larger, the smallest."""


def clause_of():
    """The clause of each operator, by the table of operators."""
    table = (Path(__file__).resolve().parents[2] / "conformance" / "spec" / "graph-operators.md").read_text(
        encoding="utf-8"
    )
    rows = re.findall(r"^\| `([\w.]+)` \|.*\| ((?:LIB|RLX|TIR)-\d+) \|$", table, re.MULTILINE)
    known = clauses()
    return {name: clause for name, clause in rows if clause in known}


def arrays(folder, entry, letter):
    held = np.load(folder / f"{entry['stem']}.npz")
    found = []
    for number in range(len(entry["arrays"])):
        key = f"{letter}{number}"
        if key in entry["arrays"]:
            name, shape = entry["arrays"][key]
            found.append(np.frombuffer(held[key].tobytes(), stored(name)).reshape(shape))
    return found


def main(folder):
    left_out = tomllib.loads(EXPLAINED.read_text(encoding="utf-8"))["differs"]
    ids, found = clause_of(), {}
    book = Book("op", "agreed: interp and TVM 0.27 llvm", strict=False)
    for entry in json.loads((folder / "index.json").read_text(encoding="utf-8")):
        operator, _, variant = entry["name"].partition("/")
        if not entry["run"] or entry["name"] in left_out or operator not in ids:
            continue
        inputs, outputs = arrays(folder, entry, "i"), arrays(folder, entry, "o")
        text = (folder / f"{entry['stem']}.py").read_text(encoding="utf-8")
        name = f"op.{word(operator)}.{word(variant) or 'plain'}"
        while name in found:
            name += "-again"
        found[name] = (operator, text, inputs, outputs)
    for name, (operator, text, inputs, outputs) in sorted(chosen(found).items()):
        value = outputs[0] if len(outputs) == 1 else outputs
        book.judged(
            name,
            [ids[operator]],
            text if text.endswith("\n") else text + "\n",
            [Judged([given(a) for a in inputs], value)],
        )
    sys.stdout.write("".join(f"{line}\n" for line in book.disagreements))
    by_letter = {}
    for case in book.cases:
        by_letter.setdefault(case.id.split(".")[1][0], []).append(case)
    total = 0
    for letter, cases in by_letter.items():
        book.cases = cases
        total += book.write(f"sample-{letter}", "Operators of Relax as TVM computed them too.")
    sys.stdout.write(f"{total} cases\n")


def chosen(found):
    """Some of each operator, from all over its list."""
    kept = {}
    for operator in {row[0] for row in found.values()}:
        mine = [name for name, row in found.items() if row[0] == operator]
        size = {name: sum(a.size for a in (*found[name][2], *found[name][3])) for name in mine}
        small = [name for name in mine if size[name] <= MOST] or [min(mine, key=size.__getitem__)]
        step = max(1, len(small) / EACH)
        for number in range(min(EACH, len(small))):
            name = small[int(number * step)]
            kept[name] = found[name]
    return kept


def word(text):
    return re.sub(r"[^a-z0-9]+", "-", text.lower().replace("_", "-")).strip("-").replace(".", "-")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
