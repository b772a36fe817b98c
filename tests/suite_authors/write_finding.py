"""Area `finding`: what the clauses say of the programs of conformance/known, where TVM deviates.

One case for each row that has no cases, or names this one; others are shown by cases of their operators.

The rows were written by hand, with the value that the clauses give; the place of what is undefined is told here.
"""

import sys
import tomllib
from pathlib import Path

import ml_dtypes
import numpy as np
from book import KEPT, Asked, Book, empty, given, stop, want

from refmlc.lang.ir import tir
from refmlc.lang.wellformed.reading import read

ROOT = Path(__file__).resolve().parents[2] / "conformance" / "known"
AT = {
    "division-by-zero": "12 // A[i]",
    "division-overflow": "A[i] // B[i]",
    "overflow": "A[i] + 1",
    "shift-count": "A[i] << B[i]",
    "float-out-of-range": 'T.Cast("int8", A[i])',
    "load-out-of-bounds": "A[i + 1]",
    "load-next-row": "A[i, i + 5]",
    "uninitialised-read": "A[i]",
}
RESULTS = {"arange-type": np.array([7, 5, 3, 1, -1], np.int64)}
CONSTANTS = np.array([4.0, 6.0], np.float32)


def array(typed):
    name, values, *shape = typed
    found = np.array(values, np.dtype(getattr(ml_dtypes, name, None) or name))
    return found.reshape(shape[0]) if shape else found


def place(text, what):
    lines = text.split("\n")
    number = next(n for n in range(len(lines) - 1, -1, -1) if what in lines[n])
    return f"{number + 1}:{lines[number].rindex(what) + 1}"


def wanted(row, args, is_prim):
    expected = row["expected"]
    if row["id"] in RESULTS:
        return [want(RESULTS[row["id"]])]
    match expected:
        case "text":
            return [want(CONSTANTS), KEPT]
        case str() if expected.startswith("RM"):
            kind = {"3": "undefined", "4": "trap"}.get(expected[2], "reject")
            return stop(kind, expected, place(row["module"], AT[row["id"]]) if row["id"] in AT else "")
        case list():
            if is_prim:
                others = {"rule": "any"} if row.get("steps") else KEPT  # blocks may write to them
                return [others] * (len(args) - 1) + [want(array(expected))]
            return [want(array(expected)), *[KEPT] * len(args)]
    return None


def main():
    book = Book("finding", "hand", strict=False)
    for file in sorted(ROOT.glob("*.toml")):
        for row in tomllib.loads(file.read_text(encoding="utf-8")).get("deviation", []):
            if "module" in row and f"finding.{row['id']}" in row.get("cases", (f"finding.{row['id']}",)):
                one(book, row)
    count = book.write("recorded", "What the clauses say of programs of which an implementation deviates.")
    sys.stdout.write("".join(f"{line}\n" for line in book.disagreements) + f"{count} cases\n")


def one(book, row):
    text = row["module"]
    if f"finding.{row['id']}" in {case.id for case in book.cases}:
        return
    module = read(text, check=False)
    is_prim = isinstance(module.functions["main"], tir.PrimFunc)
    arrays = [array(each) for each in row["input"]] or (
        [np.array([3.0, 4.0], np.float32)] if row["expected"] == "text" else []
    )
    args = [given(each) for each in arrays]
    if is_prim and row["expected"] != "text":
        args[-1] = empty(arrays[-1].shape, str(arrays[-1].dtype))
    found = wanted(row, args, is_prim)
    if found is None or row.get("refmlc"):
        sys.stdout.write(f"left out: {row['id']}: {row['expected']!r:.60} {row.get('action', '')}\n")
        return
    book.case(f"finding.{row['id']}", row["clauses"], text, "main", [Asked(args, found)])


if __name__ == "__main__":
    main()
