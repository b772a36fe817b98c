"""An implementation of its own that reads trees, no TVMScript, and uses nothing of refmlc: loops over whole tensors.

It takes functions of TensorIR with tensors of float32 and int32, serial loops, stores, and `+ - *` on loads, loop
variables and constants of int32 within its range. It is written from the words of `conformance`. `tree_adapter.py
[BATCH]`.
"""

import ctypes
import json
import math
import operator
import sys

OPERATORS = {"add": operator.add, "sub": operator.sub, "mul": operator.mul}


class Unsupported(Exception):
    """What it does not take."""


def named(node, found):
    """Note every variable and buffer of a tree by its number, which stands where it comes first."""
    if isinstance(node, dict):
        if "id" in node:
            found[node["id"]] = node
        for each in node.values():
            named(each, found)
    elif isinstance(node, list):
        for each in node:
            named(each, found)
    return found


def number(node):
    """The number of a variable or buffer, where it comes first or again."""
    return node["ref"] if "ref" in node else node["id"]


def float32(value):
    return ctypes.c_float(value).value


class Function:
    """One function: its tensors by the number of their buffers."""

    def __init__(self, tree, shared):
        if tree["is"] != "tir.PrimFunc" or tree["ret_dtype"] is not None:
            raise Unsupported(tree["is"])
        self.tree = tree
        self.buffers = {number(key): shared[number(buffer)] for key, buffer in tree["buffer_map"]["map"]}

    def called(self, args):
        """The arguments after a call."""
        order = [self.buffers.get(number(param)) for param in self.tree["params"]]
        if None in order or len(order) != len(args):
            raise Unsupported("an argument that is no tensor")
        self.memory, self.place = {}, {}
        for buffer, arg in zip(order, args, strict=True):
            extents = [self.extent(each) for each in buffer["shape"]]
            kind = buffer["dtype"]["dtype"]
            plain = buffer["strides"] == [] and buffer["elem_offset"] is None and kind in ("float32", "int32")
            if not plain or (arg.get("dtype"), arg.get("shape")) != (kind, extents) or "values" not in arg:
                raise Unsupported("an argument that is not small, compact, of float32 or int32")
            self.memory[buffer["id"]] = (
                kind,
                extents,
                [float(each) if kind == "float32" else each for each in arg["values"]],
            )
        self.done(self.tree["body"])
        made = [self.memory[buffer["id"]][2] for buffer in order]
        shown = [[each if math.isfinite(each) else str(each) for each in values] for values in made]
        return [{**arg, "values": values} for arg, values in zip(args, shown, strict=True)]

    def extent(self, node):
        if node.get("is") != "tir.IntImm":
            raise Unsupported("a symbolic extent")
        return node["value"]

    def done(self, node):
        """Execute a statement."""
        match node:
            case {"is": "tir.For", "kind": {"enum": "ForKind.serial"}, "thread": None, "step": None, **rest}:
                first = self.value(rest["min"])[1]
                for at in range(first, first + self.value(rest["extent"])[1]):
                    self.place[number(rest["loop_var"])] = at
                    self.done(rest["body"])
            case {"is": "tir.BufferStore", "predicate": None, "buffer": buffer, "indices": indices, "value": value}:
                kind, values, at = self.element(buffer, indices)
                made = self.value(value)
                if made[0] != kind:
                    raise Unsupported("a store of another dtype")
                values[at] = made[1]
            case {"is": "tir.SeqStmt", "seq": stmts}:
                for each in stmts:
                    self.done(each)
            case _:
                raise Unsupported(node.get("is", "a reference"))

    def element(self, buffer, indices):
        """The dtype, the elements, and which of them is meant."""
        if number(buffer) not in self.memory:
            raise Unsupported("a buffer that is no argument")
        kind, extents, values = self.memory[number(buffer)]
        at = 0
        for index, extent in zip(indices, extents, strict=True):
            one = self.value(index)[1]
            if not 0 <= one < extent:
                raise Unsupported("an index out of bounds")
            at = at * extent + one
        return kind, values, at

    def value(self, node):
        """The dtype and the value of an expression."""
        match node:
            case {"ref": at} if at in self.place:
                return "int32", self.place[at]
            case {"is": "tir.IntImm", "dtype": {"dtype": "int32"}, "value": int(value)}:
                return "int32", value
            case {"is": "tir.BufferLoad", "predicate": None, "buffer": buffer, "indices": indices}:
                kind, values, at = self.element(buffer, indices)
                return kind, values[at]
            case {"is": "tir.Apply", "op": op, "args": [left, right]} if op in OPERATORS:
                (kind, one), (other, two) = self.value(left), self.value(right)
                made = OPERATORS[op](one, two) if kind == other else None
                if kind == "float32" and made is not None:
                    return kind, float32(made)
                if made is None or not -(2**31) <= made < 2**31:
                    raise Unsupported("mixed dtypes, or int32 beyond its range")
                return kind, made
            case _:
                raise Unsupported(node.get("op", node.get("is", "a reference")))


def answer(state, request):
    """The answer to one request."""
    match request["do"]:
        case "hello":
            told = {"batch": int(sys.argv[1])} if len(sys.argv) > 1 else {}
            return {"name": "trees", "inline": True, "tree": True, **told}
        case "prepare":
            if request["tree"] is None:
                return {"stop": "rejected", "message": "refmlc does not read it either"}
            state["shared"], state["functions"] = named(request["tree"], {}), dict(request["tree"]["functions"]["map"])
            return {"ok": True}
        case _:
            tree = state["functions"][request["func"]]
            return {"value": {"kind": "null"}, "args": Function(tree, state["shared"]).called(request["args"])}


def main():
    """Answer until the end."""
    state = {}
    for line in sys.stdin:
        asked = json.loads(line)
        if asked["do"] == "close":
            break
        for request in asked["requests"] if asked["do"] == "batch" else [asked]:
            try:
                made = answer(state, request)
            except Unsupported as problem:
                made = {"stop": "unsupported", "message": str(problem)}
            made |= {"id": request["id"]} if "id" in request else {}
            sys.stdout.write(json.dumps(made) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
