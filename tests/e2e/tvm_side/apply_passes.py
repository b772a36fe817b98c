"""Runs where TVM is: TVM's own passes on modules; JSON on stdin, JSON on stdout.

In: `[{"text": …, "passes": ["FuseOps", "FuseTIR"]}]`. Out: for each the text of the module after each pass.
"""

import json
import sys

from tvm import relax
from tvm.script import from_source


def result(case):
    module = from_source(case["text"])
    texts = []
    for name in case["passes"]:
        module = getattr(relax.transform, name)()(module)
        texts.append(module.script(show_meta=True))
    return texts


if __name__ == "__main__":
    json.dump([result(case) for case in json.load(sys.stdin)], sys.stdout)
