"""A template of an implementation, in Python with the standard library only: copy it, write your own `taken` and `run`.

It answers the lines of PROTOCOL.md. What it executes are functions of one loop over float32, recognised by their text;
to all else it says `unsupported`, which is never counted as a fault.

    def NAME(A: T.Buffer((N,), "float32"), …, R: T.Buffer((N,), "float32")):
        for i in range(N):
            R[i] = A[i] + B[i]                 also - *, T.fabs(A[i])

Ask it:   refmlc conform --impl 'cmd:python template.py'
"""

import ctypes
import json
import math
import operator
import re
import sys
from array import array
from pathlib import Path

BUFFER = r'(\w+): T\.Buffer\(\((\d+),\), "float32"\)'
LOOP = re.compile(
    r"def (?P<name>\w+)\((?P<params>[^\n]*)\):\n"
    r" +for i in range\((?P<count>\d+)\):\n"
    r" +(?P<left>\w+)\[i\] = (?P<right>[^\n]+)\n(?=\s*(@T\.prim_func|$))"
)
BINARY = re.compile(r"(\w+)\[i\] ([-+*]) (\w+)\[i\]")
ABSOLUTE = re.compile(r"T\.fabs\((\w+)\[i\]\)")
OPERATORS = {"+": operator.add, "-": operator.sub, "*": operator.mul}


class Unsupported(Exception):
    """What this implementation does not take; its words are the message."""


def float32(number):
    """A number rounded once to float32, as every operator has to."""
    return ctypes.c_float(number).value


def taken(text):
    """The functions of a module that are taken: by name the number of operands, of elements, and what is done."""
    found = {}
    for match in LOOP.finditer(text):
        params = re.findall(BUFFER, match["params"])
        names = [name for name, _ in params]
        if len(params) != match["params"].count(":") or {count for _, count in params} != {match["count"]}:
            continue
        binary, absolute = BINARY.fullmatch(match["right"]), ABSOLUTE.fullmatch(match["right"])
        if binary and [binary[1], binary[3], match["left"]] == names:
            found[match["name"]] = (2, int(match["count"]), OPERATORS[binary[2]])
        elif absolute and [absolute[1], match["left"]] == names:
            found[match["name"]] = (1, int(match["count"]), abs)
    return found


def elements(folder, value, count):
    """The elements of a tensor, which lie in a file or stand in the line."""
    if value.get("kind") != "tensor" or value["dtype"] != "float32" or value["shape"] != [count]:
        raise Unsupported("an argument that is no tensor of its own")
    if "values" in value:
        return array("f", map(float, value["values"]))
    return array("f", (folder / value["file"]).read_bytes())


def run(functions, folder, name, args):
    """Call function `name`; the answer. A function writes into its last argument and returns nothing."""
    if name not in functions:
        raise Unsupported(f"`{name}` is no loop over float32 that is taken")
    operands, count, function = functions[name]
    if len(args) != operands + 1:
        raise Unsupported(f"{len(args)} arguments")
    given = [elements(folder, value, count) for value in args[:-1]]
    elements(folder, args[-1], count)
    made = array("f", (float32(function(*each)) for each in zip(*given, strict=True)))
    result = {"kind": "tensor", "dtype": "float32", "shape": [count]}
    if "file" in args[-1]:  # it gets other content
        (folder / args[-1]["file"]).write_bytes(made.tobytes())  # a little-endian machine
        result["file"] = args[-1]["file"]
    else:
        result["values"] = [each if math.isfinite(each) else str(each) for each in made]
    return {"value": {"kind": "null"}, "args": [*args[:-1], result]}


def reply(state, request):
    """The answer to one request."""
    match request["do"]:
        case "hello":
            state["folder"] = Path(request["folder"])
            return {"name": "template-py", "inline": True, "batch": 48}
        case "prepare":
            state["functions"] = taken(request["module"])
            if not state["functions"]:
                raise Unsupported("no function is a loop over float32 that is taken")
            return {"ok": True}
        case "run":
            return run(state["functions"], state["folder"], request["func"], request["args"])
        case other:
            raise Unsupported(f"requests to {other}")


def main():
    """Answer until the end; a batch is a list of requests, each answered by a line with its number."""
    state = {}
    for line in sys.stdin:
        asked = json.loads(line)
        if asked["do"] == "close":
            break
        for request in asked["requests"] if asked["do"] == "batch" else [asked]:
            try:
                answer = reply(state, request)
            except Unsupported as problem:
                answer = {"stop": "unsupported", "message": str(problem)}
            number = {"id": request["id"]} if "id" in request else {}
            sys.stdout.write(json.dumps(number | answer) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
