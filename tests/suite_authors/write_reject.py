"""Area `reject`: texts that the tests of the reader and of the static rules refuse, where TVM 0.27 refuses them too.

`python write_reject.py ROWS REFUSED [STEM]`, what `gather_rejects` and `refused_by_tvm` wrote. The code is the one that
a test asserts; the place is stated where a golden message has it, which a person read. With STEM new files of that name
are written, of texts that the suite does not have.
"""

import json
import re
import sys
from pathlib import Path

from book import ROOT, Asked, Book

from refmlc.diag.catalogue import CODES
from refmlc.oracle.suite.suite import load_suite

LONGEST = 3000


def main(rows, refused, stem=""):
    book, names, texts = Book("reject", "hand; TVM 0.27 refuses it as well", strict=False), set(), set()
    if stem:
        cases = load_suite(ROOT).cases
        names, texts = {case.id for case in cases}, {case.text.strip() for case in cases}
    for (text, code, place, test, *_), tvm in zip(rows, refused, strict=True):
        if (
            not tvm
            or text.strip() in texts
            or len(text) > LONGEST
            or (not text.isprintable() and re.search(r"[\ud800-\udfff\x00\r\x0b\x0c]", text))
        ):
            continue
        if re.search("[\ud800-\udfff]", text) or text.count("\n") > 150:
            continue
        name = named(code, test, names)
        golden = "test_golden" in test
        end = {"kind": "reject", "code": code, **({"place": place} if golden and place else {})}
        book.case(name, [CODES[code].clause] if CODES[code].clause else [], text, "main", [Asked([], end)])
    sys.stdout.write("".join(f"{line}\n" for line in book.disagreements))
    by_code = {}
    for case in book.cases:
        by_code.setdefault(case.id.split(".")[1], []).append(case)
    for code, cases in sorted(by_code.items()):
        book.cases = cases
        name = f"{stem}-{code}" if stem else code
        sys.stdout.write(f"{name} {book.write(name, f'Texts that are refused as {code.upper()}.')}\n")


def named(code, test, names):
    """`reject.rm105.words-of-the-test`, with a number where that is taken."""
    inside = re.search(r"\[(.*)\]", test, re.DOTALL)
    said = inside.group(1) if inside else test.rpartition("::")[2]
    words = re.sub(r"-RM\d+.*$", "", said)
    stem = re.sub(r"[^a-z0-9]+", "-", words.lower()).strip("-")[:36].strip("-") or "text"
    name, number = f"reject.{code.lower()}.{stem}", 2
    while name in names:
        name, number = f"reject.{code.lower()}.{stem}-{number}", number + 1
    names.add(name)
    return name


if __name__ == "__main__":
    main(*(json.loads(Path(each).read_text(encoding="utf-8")) for each in sys.argv[1:3]), *sys.argv[3:])
