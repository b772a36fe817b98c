"""Areas `tir`, `undefined`, `trap`: calls, lowered calls, vectors, integers and threads of TensorIR, worked by hand."""

import sys

from calls_folds import folds
from calls_integers import integers
from calls_lowered import fields
from calls_mended import mended
from calls_outside import functions, outside
from calls_packed import lowered
from calls_plain import plain
from calls_scopes import scopes
from calls_threads import groups
from calls_vectors import lanes
from write_tir import Split

PARTS = (fields, lowered, lanes, outside, functions, integers, groups, folds, scopes, plain, mended)


def main():
    """Each part is a book of its own."""
    told = []
    for part in PARTS:
        book = Split(f"calls-{part.__name__}")
        part(book)
        book.write(f"calls-{part.__name__}", part.__doc__)
        told += book.disagreements
    sys.stdout.write("".join(f"{line}\n" for line in told))


if __name__ == "__main__":
    main()
