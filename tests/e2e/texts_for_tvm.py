"""What refmlc shows in the newest dialect, read by real TVM: every module of the conformance suite, and of a sample.

`python tests/e2e/texts_for_tvm.py --tvm PYTHON [--sample DIRECTORY]` prints how many texts come to what:

| verdict       | meaning                                                                                    |
|---------------|--------------------------------------------------------------------------------------------|
| `equal`       | TVM reads the text that the module is written in, and ours, as structurally equal modules  |
| `equal again` | TVM does not read the former; what it prints of ours is the module, but for what it infers |
| `explained`   | a row of `explained_texts.toml` says why it is neither                                     |
| `wrong`       | none does                                                                                  |

Exit status 1: a text is wrong, or a row explains nothing or another number of texts than it says.
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
import tomllib
from collections import Counter
from dataclasses import replace
from pathlib import Path

from rich.console import Console

from refmlc.diag import RefmlcError
from refmlc.lang.ir import relax, tir
from refmlc.lang.ir.equal import first_difference
from refmlc.lang.ir.visit import rewrite
from refmlc.lang.script import read, show
from refmlc.oracle.suite import load_suite

HERE = Path(__file__).parent
COMPARE = HERE / "tvm_side" / "compare_texts.py"


def texts(sample):
    """The texts by name: of the suite each once, by the first case that has it."""
    found = {}
    for case in load_suite().cases:
        found.setdefault(case.text, case.id)
    named = {name: text for text, name in found.items()}
    for entry in json.loads((sample / "index.json").read_text()) if sample else ():
        named[f"sample.{entry['stem']}"] = (sample / f"{entry['stem']}.py").read_text("utf-8")
    return named


def written(named, directory):
    """The modules of the texts that are read, shown into the directory; what is not shown, with its reason."""
    modules, refused = {}, {}
    for name, text in named.items():
        try:
            module = read(text, name)
        except RefmlcError:
            continue  # no module: a case of texts that are refused
        try:
            shown = show(module, show_meta=True)
        except RefmlcError as failure:
            refused[name] = f"not shown: {failure.diagnostic.message}"
            continue
        modules[name] = module
        (directory / f"{name}.py").write_text(text, "utf-8")
        (directory / f"{name}.shown").write_text(shown, "utf-8")
    return modules, refused


def bare(module):
    """The module without what TVM infers as it reads: types of bindings and results, regions of blocks."""

    def change(node):
        match node:
            case tir.SBlock():
                return replace(node, reads=None, writes=None)
            case relax.VarBinding() | relax.MatchCast():
                return replace(node, var=replace(node.var, ty=None))
            case relax.Function():
                return replace(node, ret_ty=None)
        return node

    return rewrite(module, change)


def judged(name, module, verdict, reason, directory):
    """The verdict of the table, and what is said."""
    if verdict == "equal":
        return "equal", ""
    if verdict != "unreadable":
        return "wrong", f"{verdict}: {reason}"
    back = directory / f"{name}.back"
    if not back.exists():
        return "wrong", "TVM ends as it prints it"
    try:
        other = read(back.read_text("utf-8"), name)
    except RefmlcError as failure:
        return "wrong", f"TVM's text is not read: {failure.diagnostic.message}"
    difference = first_difference(bare(module), bare(other))
    return ("equal again", "") if difference is None else ("wrong", f"differs: {difference}")


def explained(found):
    """The texts that are wrong, those explained taken out; complaints about rows."""
    rows = tomllib.loads((HERE / "explained_texts.toml").read_text("utf-8"))["reason"]
    counts, complaints = Counter(), []
    for name, (verdict, said) in found.items():
        for number, row in enumerate(rows):
            if verdict == "wrong" and re.search(row["says"], said) and re.search(row.get("names", ""), name):
                found[name] = ("explained", said)
                counts[number] += 1
                break
    for number, row in enumerate(rows):
        here = counts[number]
        if here != row["count"]:
            complaints.append(f"{row['count']} texts are said to be explained by {row['says']!r}, and {here} are")
    return complaints


def main():
    """Print the table; exit status 1 where something is not as it should be."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tvm", required=True)
    parser.add_argument("--sample", type=Path)
    parser.add_argument("--names", default="", help="a regular expression: of these texts alone")
    parser.add_argument("--keep", type=Path, help="where the texts are left")
    options = parser.parse_args()
    console = Console(width=160)
    with tempfile.TemporaryDirectory() as folder:
        directory = options.keep or Path(folder)
        directory.mkdir(exist_ok=True)
        modules, refused = written(
            {name: text for name, text in texts(options.sample).items() if re.search(options.names, name)}, directory
        )
        subprocess.run([options.tvm, str(COMPARE), str(directory)], check=True, capture_output=True)
        verdicts = json.loads((directory / "verdicts.json").read_text())
        found = {name: judged(name, modules[name], *verdicts[name], directory) for name in modules}
    found |= {name: ("wrong", reason) for name, reason in refused.items()}
    complaints = explained(found)
    counts = Counter(verdict for verdict, _ in found.values())
    for verdict in ("equal", "equal again", "explained", "wrong"):
        console.print(f"{verdict:12} {counts[verdict]:5}")
    for name, (verdict, said) in found.items():
        if verdict == "wrong":
            console.print(f"WRONG {name}: {said}", markup=False, highlight=False, soft_wrap=True)
    for complaint in () if options.names else complaints:
        console.print(complaint, markup=False, highlight=False)
    return int(bool(counts["wrong"] or (options.sample and not options.names and complaints)))


if __name__ == "__main__":
    sys.exit(main())
