"""Areas `op`, `reject`: operators on every axis, extent, attribute and dtype that their definitions tell apart.

`python write_op_more.py [STEM…]`: the files of these stems, or of all.
"""

import sys

from book import Book
from op_creations import creations, windows
from op_declared import declared
from op_folds import reducing
from op_formulas import formulas
from op_free import free
from op_matrices import letters, products
from op_orders_narrow import orders
from op_pairs import pairs, singles
from op_refused import refused
from op_scans import multinomial, scans
from op_unknown import unknown

PARTS = {
    "scans-more": ("Running sums and products along every axis, and sampling by them.", scans, multinomial),
    "folds-more": ("Reductions over all axes and pairs of axes, and over nothing.", reducing),
    "creations-more": ("Tensors made of shapes and numbers.", creations, windows),
    "products-more": ("Products of matrices, vectors and stacks.", products),
    "formulas-more": ("Activations, choices and quantisation.", formulas),
    "letters-more": ("Sums that are said by letters.", letters),
    "pairs-more": ("Operators of two tensors in every way to broadcast, and of one.", pairs, singles),
    "unknown-more": ("Operators whose arguments are known only in the call.", unknown),
    "declared": ("Results whose types are declared, with formulas as extents.", declared),
    "orders-narrow": ("Orders of numbers of 16 bits.", orders),
    "free-more": ("What the text leaves out, and what the extents of a call decide.", free),
    "refused-more": ("Calls of operators that their definitions refuse.", refused),
}

if __name__ == "__main__":
    for stem, (title, *parts) in PARTS.items():
        if sys.argv[1:] and stem not in sys.argv[1:]:
            continue
        area = "reject" if parts == [refused] else "op"
        pages = Book(area, "hand" if area == "reject" else "numpy", strict=False)
        for part in parts:
            part(pages)
        told = pages.disagreements
        sys.stdout.write(f"{stem} {pages.write(stem, title)}\n")
        sys.stdout.write("".join(f"{line}\n" for line in told))
