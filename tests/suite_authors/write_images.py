"""Areas `op` and `reject`: operators of images, by `op_images` and `op_resizing`, attention and losses, by `op_attention`; what they refuse.

`python write_images.py [grids] [resizing] [boxes] [attention] [losses] [more] [reject] [undefined]`: those parts, or all.
"""

import sys

from book import Book
from op_attention import attention, losses, norms, one_sequence, steep, targets_outside, var_len, var_len_outside
from op_images import affine, counted, grids, lost, multibox, reflected, rois
from op_resizing import resizing, resizing_more
from reject_images import AREAS, refusals

PARTS = {
    "grids": (grids, lost, affine),
    "resizing": (resizing, resizing_more),
    "boxes": (rois, multibox, counted),
    "attention": (attention, var_len),
    "losses": (norms, losses),
    "more": (steep, one_sequence, reflected),
}


def results(stem):
    pages = Book("op", "numpy", strict=False)
    for part in PARTS[stem]:
        part(pages)
    sys.stdout.write("".join(f"{line}\n" for line in pages.disagreements))
    sys.stdout.write(f"{stem} {pages.write(f'images-{stem}', f'Operators of Relax, all attributes: {stem}.')}\n")


def refused():
    pages = Book("reject", "hand", strict=False)
    for stem, rows in AREAS.items():
        refusals(pages, rows)
        pages.write(f"images-{stem}", f"What operators of {stem} do not take.")
    sys.stdout.write("".join(f"{line}\n" for line in pages.disagreements))


def outside():
    pages = Book("undefined", "hand", strict=False)
    for part in (var_len_outside, targets_outside):
        part(pages)
    sys.stdout.write("".join(f"{line}\n" for line in pages.disagreements))
    pages.write("images-outside", "Sequences and targets outside of what there is.")


if __name__ == "__main__":
    for part in sys.argv[1:] or (*PARTS, "reject", "undefined"):
        if part == "reject":
            refused()
        elif part == "undefined":
            outside()
        else:
            results(part)
