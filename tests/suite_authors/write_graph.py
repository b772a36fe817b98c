"""Areas `relax`, `undefined`, `trap`, `reject`: the graph function by function, densely, worked by hand."""

import sys

from graph_calls import called
from graph_dims import dims
from graph_library import library
from graph_machine import machine
from graph_shapes import reshaping
from graph_types import types
from write_relax import Parts

if __name__ == "__main__":
    said = []
    for part in (dims, machine, types, reshaping, called, library):
        pages = Parts(part.__name__)
        part(pages)
        said += pages.disagreements
    sys.stdout.write("".join(f"{line}\n" for line in said))
