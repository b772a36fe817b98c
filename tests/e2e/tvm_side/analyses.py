"""Runs where TVM is: what its `relax.analysis` says of functions; a text on stdin, JSON on stdout.

Names of variables, those of branches and of dimensions left out: there are none of the latter in older versions.
"""

import json
import sys

from tvm.relax import analysis
from tvm.script import from_source

module = from_source(sys.stdin.read())
main = module["main"]


def names(variables):
    found = [getattr(one, "name_hint", None) or one.name for one in variables]
    return [name for name in found if not name.endswith(("_then", "_else"))]


def visited(expr):
    found = []
    analysis.post_order_visit(expr, lambda node: found.append(type(node).__name__.replace("DataflowVar", "Var")))
    return [name for name in found if name in ("Op", "Var", "GlobalVar", "Tuple", "Call")]


json.dump(
    {
        "bound": names(analysis.bound_vars(main)),
        "free": names(analysis.free_vars(main)),
        "free in the body": names(analysis.free_vars(main.body)),
        "used": names(analysis.used_vars(main)),
        "globals": names(analysis.all_global_vars(main)),
        "values": names(analysis.get_var2val(main)),
        "bindings": {key: len(found) for key, found in analysis.name_to_binding(main).items()},
        "chain": {names([var])[0]: names(readers) for var, readers in analysis.udchain(main.body.blocks[0]).items()},
        "circles": [names(group) for group in analysis.detect_recursion(module)],
        "defined": names(analysis.defined_symbolic_vars(main)),
        "undefined": names(analysis.free_symbolic_vars(main)),
        "visited": visited(main.body.blocks[0].bindings[1].value),
    },
    sys.stdout,
)
