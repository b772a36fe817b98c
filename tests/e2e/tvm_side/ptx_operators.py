"""The PTX operators that texts call, by the names under which TVM registers them.

Run inside TVM's environment: `python ptx_operators.py`, with JSON on the standard input, texts by name. Prints JSON:
by name the operators without `tirx.ptx.`, none where TVM does not read the text. Each text has a process of its own.
"""

import json
import os
import sys

import tvm
import tvm_ffi
from tvm.script import ir as I, tirx as T

PREFIX = "tirx.ptx."


def operators(text):
    """The registered names in a text."""
    names, seen, todo = set(), set(), [tvm.script.from_source(text, {"T": T, "I": I})]
    while todo:
        node = todo.pop()
        if isinstance(node, tvm.ir.Op):
            names.add(node.name)
        elif isinstance(node, tvm_ffi.Array):
            todo += list(node)
        elif isinstance(node, tvm_ffi.Map):
            todo += list(node.values())
        elif isinstance(node, tvm_ffi.Object) and node.__chandle__() not in seen:
            seen.add(node.__chandle__())
            todo += fields(node)
    return sorted(name.removeprefix(PREFIX) for name in names if name.startswith(PREFIX))


def fields(node):
    """The values of the fields of a node."""
    rows = [each.__dict__.get("__tvm_ffi_type_info__") for each in type(node).__mro__]
    return [getattr(node, field.name, None) for row in rows if row is not None for field in row.fields]


def apart(text):
    """The operators of a text, read in another process: TVM may end by a fault."""
    out, into = os.pipe()
    if os.fork() == 0:
        try:
            os.write(into, json.dumps(operators(text)).encode())
        finally:
            os._exit(0)
    os.close(into)
    with os.fdopen(out) as answer:
        content = answer.read()
    os.wait()
    return json.loads(content or "[]")


if __name__ == "__main__":
    sys.stdout.write(json.dumps({name: apart(text) for name, text in json.load(sys.stdin).items()}))
