"""Areas `tir`, `undefined`, `trap`: elements, buffers, pointers, loops and blocks, worked by hand.

`python write_tir_memory.py [PART…]` writes the parts of these names, all where none is named.
"""

import sys

from tir_borders import borders
from tir_elements import elements
from tir_instances import instances
from tir_iterations import iterations
from tir_lane_memory import lane_memory
from tir_meetings import meetings
from tir_pointers import pointers
from tir_rounds import rounds
from tir_storage import storage
from tir_turns import turns
from write_tir import Split

PARTS = {
    "elements": elements,
    "storage": storage,
    "pointers": pointers,
    "rounds": rounds,
    "turns": turns,
    "instances": instances,
    "meetings": meetings,
    "borders": borders,
    "iterations": iterations,
    "lane-memory": lane_memory,
}


def main(*names):
    for name in names or PARTS:
        book = Split(name)
        PARTS[name](book)
        sys.stdout.write("".join(f"{line}\n" for line in book.disagreements))


if __name__ == "__main__":
    main(*sys.argv[1:])
