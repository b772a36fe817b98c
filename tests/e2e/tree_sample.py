"""Modules printed by real TVM as JSON trees: text, JSON and text again are the same module.

`python tests/e2e/tree_sample.py --sample DIRECTORY` (a sample made by `sample_table.py`) prints how many are the same;
exit 1 where one is not.
"""

import argparse
import json
import sys
from pathlib import Path

from rich.console import Console

from refmlc.lang.ir.equal import first_difference
from refmlc.lang.ir.tree import module_of, tree_of
from refmlc.lang.script import show
from refmlc.lang.wellformed.reader_checks import read


def difference(path):
    """Where what comes back differs from the module in `path`; None: nowhere."""
    module = read(path.read_text(encoding="utf-8"), path.name, check=False)
    back = module_of(json.loads(json.dumps(tree_of(module))))
    return first_difference(module, back) or first_difference(module, read(show(back, show_meta=True), check=False))


def main():
    """Print the count, and what differs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sample", type=Path, required=True)
    paths = sorted(parser.parse_args().sample.glob("*.py"))
    found = {path.name: difference(path) for path in paths}
    console = Console(width=120)
    for name, where in found.items():
        if where is not None:
            console.print(f"{name}: {where}", markup=False)
    same = sum(where is None for where in found.values())
    console.print(f"{same} of {len(found)} modules come back the same")
    return int(same < len(found))


if __name__ == "__main__":
    sys.exit(main())
