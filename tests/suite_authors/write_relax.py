"""Areas `relax`, `undefined`, `trap`, `reject`: Relax clause by clause, worked by hand; each part in a file of its own."""

import sys

from relax_calls import calls
from relax_expressions import expressions
from relax_machine import machine
from relax_memory import memory
from relax_static import static
from relax_values import values
from write_tir import Split


class Parts(Split):
    """As `Split`, for `relax`."""

    def write(self, stem, title):
        stem = stem.removeprefix("relax-")
        cases = list(self.cases)
        for area in dict.fromkeys(case.id.split(".")[0] for case in cases):
            self.area = area
            self.cases = [case for case in cases if case.id.split(".")[0] == area]
            Split.__mro__[1].write(self, stem if area == "relax" else f"relax-{stem}", title)


if __name__ == "__main__":
    said = []
    for part in (calls, expressions, values, memory, machine, static):
        pages = Parts(part.__name__)
        part(pages)
        said += pages.disagreements
    sys.stdout.write("".join(f"{line}\n" for line in said))
