"""Areas `schedule`, `lowered`, `te`, `gpu`, `model`: modules that TVM 0.27 printed, with what it computed.

`python write_sample.py DIRECTORY`, what `tests/e2e/tvm_side/make_sample.py` made. A function of TensorIR writes its last
argument.
"""

import json
import sys
import tomllib
from fnmatch import fnmatchcase
from pathlib import Path

from book import Book, Judged, empty, given
from write_op_sample import arrays, word

EXPLAINED = Path(__file__).resolve().parents[1] / "e2e" / "explained.toml"
KEEP = {"schedule": 80, "lowered": 45, "te": 29, "gpu": 14, "model": 12}
CLAUSES = {
    "schedule": ["TIR-216", "TIR-217", "TIR-218"],
    "lowered": ["TIR-001", "TIR-203"],
    "te": ["TIR-216", "TIR-203"],
    "gpu": ["TIR-208"],
    "model": ["RLX-116", "RLX-135"],
}
MOST, LINES, LONGEST = 1200, 110, 9000


def main(folder):
    rows = json.loads((folder / "index.json").read_text(encoding="utf-8"))
    left_out = [
        name for row in tomllib.loads(EXPLAINED.read_text(encoding="utf-8"))["difference"] for name in row["names"]
    ]
    for group, most in KEEP.items():
        mine = [row for row in rows if row["group"] == group and row["run"] and fits(folder, row)]
        mine = [row for row in mine if not any(fnmatchcase(f"{group}/{row['name']}", name) for name in left_out)]
        book = Book(group, "agreed: interp and TVM 0.27 llvm", strict=False)
        step = max(1, len(mine) / most)
        for number in range(min(most, len(mine))):
            one(book, folder, group, mine[int(number * step)])
        sys.stdout.write("".join(f"{line}\n" for line in book.disagreements))
        sys.stdout.write(f"{group}: {book.write('sample', 'Modules that TVM printed and computed.')}\n")


def fits(folder, row):
    text = (folder / f"{row['stem']}.py").read_text(encoding="utf-8")
    size = sum(array.size for letter in "io" for array in arrays(folder, row, letter))
    return text.count("\n") <= LINES and len(text) < LONGEST and size <= MOST


def one(book, folder, group, row):
    text = (folder / f"{row['stem']}.py").read_text(encoding="utf-8").rstrip("\n") + "\n"
    inputs, outputs = arrays(folder, row, "i"), arrays(folder, row, "o")
    name = f"{group}.{word(row['name'].removeprefix('gpu/').replace('@', ' at '))}".replace("..", ".")
    args = [given(x) for x in inputs]
    if group == "model":
        call = Judged(args, outputs[0] if len(outputs) == 1 else outputs)
    else:
        args[-1] = empty(inputs[-1].shape, str(inputs[-1].dtype))
        call = Judged(args, written={len(args) - 1: outputs[0]})
    book.judged(name, CLAUSES[group], text, [call], func=row["entry"])


if __name__ == "__main__":
    main(Path(sys.argv[1]))
