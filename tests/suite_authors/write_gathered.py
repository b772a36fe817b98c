"""Areas `op` and `undefined`: calls that the tests of the operators make.

`python write_gathered.py ROWS…`, what `gather_calls` wrote. A call that returns is a case with the arrays that the test
had of NumPy or PyTorch; one that has no meaning is a case with the code that the test asserts. Programs that the suite
has already are left out.
"""

import json
import re
import sys
from collections import Counter
from pathlib import Path

from book import ROOT, Asked, Book, Judged
from write_op_sample import clause_of, word

from refmlc.diag.catalogue import CODES
from refmlc.oracle.evidence.literals import tensor_of
from refmlc.oracle.suite.suite import load_suite

OPERATOR = re.compile(r"\bR\.((?:nn\.|image\.|vision\.|grad\.|memory\.|dist\.)?[a-z_0-9]+)\(")
STOPS = {"RM3": "undefined", "RM4": "trap"}
MOST = 6  # of an operator
TESTS = Path(__file__).resolve().parents[2]


def main(*files):
    rows = [row for file in files for row in json.loads(Path(file).read_text(encoding="utf-8"))]
    ids, suite = clause_of(), load_suite(ROOT)
    known = {(case.text.strip(), json.dumps(call.args)) for case in suite.cases for call in case.calls}
    taken, counts = {case.id for case in suite.cases}, Counter()
    results, stops = Book("op", "numpy", strict=False), Book("undefined", "hand", strict=False)
    for text, func, args, code, test, wanted in rows:
        operator = next((name for name in reversed(OPERATOR.findall(text)) if name in ids), "")
        whole = text.strip() + "\n"
        if (whole.strip(), json.dumps(args)) in known or len(whole) > 3000:
            continue
        known.add((whole.strip(), json.dumps(args)))
        if code[:3] in STOPS and CODES[code].clause:
            name = named(f"undefined.{word(operator or code)}", test, taken)
            clauses = list(dict.fromkeys([*([ids[operator]] if operator else []), CODES[code].clause]))
            stops.case(name, clauses, whole, func, [Asked(args, {"kind": STOPS[code[:3]], "code": code})])
        elif not code and wanted and operator and counts[operator] < MOST:
            counts[operator] += 1
            arrays = [tensor_of(part).numpy() for part in wanted]
            call = Judged(args, arrays[0] if len(arrays) == 1 else arrays)
            name = named(f"op.{word(operator)}", test, taken)
            results.judged(name, [ids[operator]], whole, [call], func=func, witness=witness(test))
    for book in (results, stops):
        sys.stdout.write("".join(f"{line}\n" for line in book.disagreements))
        by_letter = {}
        for case in book.cases:
            by_letter.setdefault(word(case.id.split(".")[1])[0], []).append(case)
        for letter, cases in sorted(by_letter.items()):
            book.cases = cases
            sys.stdout.write(f"{book.area} {letter}: {book.write(f'called-{letter}', 'Calls that tests make.')}\n")


def witness(test):
    """Who computed what a test compares with."""
    return "torch" if "torch" in (TESTS / test.split("::")[0]).read_text(encoding="utf-8") else "numpy"


def named(stem, test, taken):
    """The words of the test, with a number where that is taken."""
    inside = re.search(r"::test_(\w+)", test)
    words = "-".join((inside.group(1) if inside else "called").split("_")[:4])[:28].strip("-")
    name, number = f"{stem}.{words}", 2
    while name in taken:
        name, number = f"{stem}.{words}-{number}", number + 1
    taken.add(name)
    return name


if __name__ == "__main__":
    main(*sys.argv[1:])
