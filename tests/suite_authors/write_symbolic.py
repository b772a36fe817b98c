"""Area `op`: cases that there are, of tensors whose extents are known only when the function is called.

The extents of each parameter become symbols of its own, `a0`, `a1` … for `a`. What comes of the call is what the first
case says, whose witness it is; operators that need to know their extents are left out.
"""

import re
import sys
from collections import Counter
from dataclasses import replace

from book import Book, disagreement

from refmlc.oracle.evidence import read_case
from refmlc.oracle.suite.suite import load_suite

MOST = 1
PARAMETER = re.compile(r"\b(\w+): R\.Tensor\(\(([0-9, ]+)\), ")
RESULT = re.compile(r"^(\s*def \w+\(.*\)) -> .*:$", re.MULTILINE)
ANNOTATION = re.compile(r"^(\s+\w+): [^=]*?(?= = R\.)", re.MULTILINE)


def main(root):
    book, counts = Book("op", ""), Counter()
    for case in load_suite(root).cases:
        text, number = PARAMETER.subn(symbols, ANNOTATION.sub(r"\1", RESULT.sub(r"\1:", case.text)))
        operator = case.id.split(".")[1]
        if not case.id.startswith("op.") or not number or counts[operator] >= MOST or "match_cast" in text:
            continue
        if case.calls[0].assertion["kind"] != "return":
            continue
        made = replace(case, id=f"{case.id}-symbolic", text=text, features=(*case.features, "symbolic"))
        made = read_case(made.toml(), made.id)
        wrong, detectors = disagreement(made)
        if not wrong and not detectors:
            counts[operator] += 1
            book.cases.append(replace(made, features=tuple(sorted(set(made.features)))))
    sys.stdout.write(f"{book.write('symbolic', 'Operators of tensors whose extents are symbols.')}\n")


def symbols(found):
    """The parameter with names for its extents."""
    extents = [each.strip() for each in found[2].split(",") if each.strip()]
    names = "".join(f'"{found[1]}{axis}", ' for axis in range(len(extents)))
    return f"{found[1]}: R.Tensor(({names.removesuffix(' ')}), "


if __name__ == "__main__":
    from book import ROOT

    main(ROOT)
