"""Runs where TVM is: passes on modules with constants; JSON on stdin, JSON on stdout, as in `apply_passes.py`.

For each pass the text without metadata, since 0.27 ends with a fault where it writes it, and the values of the
constants of `main` in the order in which the text names them.
"""

import json
import sys

from tvm import relax
from tvm.script import from_source


def constants(func):
    found = []

    def visit(node):
        values = getattr(node, "value", None)
        if hasattr(values, "numpy") and values.numpy().ndim and not any(node.same_as(one) for one in found):
            found.append(node)

    relax.analysis.post_order_visit(func, visit)
    return [one.value.numpy().tolist() for one in found]


def result(case):
    module = from_source(case["text"])
    stages = []
    for name in case["passes"]:
        module = getattr(relax.transform, name)()(module)
        stages.append([module.script(), constants(module["main"])])
    return stages


if __name__ == "__main__":
    json.dump([result(case) for case in json.load(sys.stdin)], sys.stdout)
