"""Areas `tir`, `undefined`, `trap`: TensorIR clause by clause, worked by hand; each part in a file of its own."""

import sys

from book import Book
from tir_blocks import blocks
from tir_expressions import expressions
from tir_functions import bounds, functions
from tir_intrinsics import intrinsics
from tir_rejected import refused_conditions, rejected
from tir_statements import statements
from tir_threads import threads


def main():
    """Each part is a book of its own area; what is undefined or traps goes to those areas."""
    told = []
    for part in (expressions, statements, blocks, threads, functions, bounds, intrinsics, rejected, refused_conditions):
        book = Split(part.__name__)
        part(book)
        told += book.disagreements
    sys.stdout.write("".join(f"{line}\n" for line in told))


class Split(Book):
    """A book whose cases go to the areas that their ids name."""

    def __init__(self, stem):
        super().__init__("tir", "hand", strict=False)
        self.stem = stem

    def write(self, stem, title):
        cases = list(self.cases)
        for area in dict.fromkeys(case.id.split(".")[0] for case in cases):
            self.area = area
            self.cases = [case for case in cases if case.id.split(".")[0] == area]
            super().write(f"tir-{stem}" if area != "tir" else stem, title)


if __name__ == "__main__":
    main()
