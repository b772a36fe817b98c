"""Inputs changed at random, each from a seed: texts by tokens, by syntax trees, by lines; the JSON of TVM; bytes.

| function        | changes                                                                                     |
|-----------------|---------------------------------------------------------------------------------------------|
| `mutated`       | a program: characters, tokens, names, numbers, lines, deep nesting                           |
| `grafted`       | a program's syntax tree: parts of others in its place, attributes of every kind              |
| `mutated_graph` | a JSON graph: nodes, kinds, fields, lists, their lengths                                     |
| `mutated_bytes` | a file: bits, bytes, lengths                                                                 |
"""

import ast
import copy
import gzip
import json
import random
import re
import warnings
from functools import cache
from pathlib import Path

PROGRAMS = [path.read_text(encoding="utf-8") for path in sorted(Path(__file__).parents[1].glob("programs/*.py"))]
SAVED = Path(__file__).parents[1] / "programs" / "tvm_saved.json.gz"
TOKEN = re.compile(r"\w+|\s+|.", re.DOTALL)
NUMBERS = (
    *("0", "-1", "9" * 30, "1e400", "0x" + "f" * 60, "None", '"n"', "True", "1.5", "[]", "()", "{}"),
    *("T", "T.int32", "n", "lambda: 0", "1 << 9", "2**70", "range(3)", "T.grid(1)", "A", "*[1, 2]", "1:2"),
)
CHARACTERS = (
    *("\0", "\ud800", "\ufeff", "é", "\t", "\\", "\n\n", "#", "'", '"""', "f'{x}'", ";", "@", "*", "**"),
    *(":=", "...", "\x0c", "\u2028", "\U0001f600"),
)


def flip(choose, text):
    at = choose.randrange(len(text))
    return text[:at] + chr(ord(text[at]) ^ (1 << choose.randrange(7))) + text[at + 1 :]


def delete(choose, text):
    at = choose.randrange(len(text))
    return text[:at] + text[at + choose.randrange(1, 40) :]


def duplicate(choose, text):
    at = choose.randrange(len(text))
    end = at + choose.randrange(1, 80)
    return text[:end] + text[at:end] + text[end:]


def of_tokens(choose, text, kind, change):
    tokens = TOKEN.findall(text)
    places = [number for number, token in enumerate(tokens) if kind(token)]
    if places:
        a, b = choose.choice(places), choose.choice(places)
        change(tokens, a, b)
    return "".join(tokens)


def swap(choose, text):
    def change(tokens, a, b):
        tokens[a], tokens[b] = tokens[b], tokens[a]

    return of_tokens(choose, text, lambda token: not token.isspace(), change)


def rename(choose, text):
    def change(tokens, a, b):
        tokens[a] = tokens[b]

    return of_tokens(choose, text, str.isidentifier, change)


def renumber(choose, text):
    def change(tokens, a, b):
        tokens[a] = choose.choice(NUMBERS)

    return of_tokens(choose, text, str.isdigit, change)


def insert(choose, text):
    at = choose.randrange(len(text))
    what = choose.choice(
        (
            choose.choice(CHARACTERS),
            "(" * choose.choice((5, 150, 300, 5000)),
            choose.choice("-~+") * choose.choice((3, 200, 9000)),
            "9" * choose.choice((20, 400, 5000)),
            " + 1" * choose.choice((3, 500, 5000)),
            "x" * choose.choice((100, 100_000)),
        )
    )
    return text[:at] + what + text[at:]


def nest(choose, text):
    at = choose.randrange(len(text))
    end = text.find("\n", at)
    depth = choose.choice((2, 50, 119, 199, 201, 3000))
    opening, closing = choose.choice((("(", ")"), ("T.exp(", ")"), ("[", "]"), ("A[", "]"), ("not (", ")")))
    return text[:at] + opening * depth + text[at:end] + closing * depth + text[end:]


def lines(choose, text):
    rows = text.split("\n")
    a, b = choose.randrange(len(rows)), choose.randrange(len(rows))
    match choose.randrange(3):
        case 0:
            rows[a], rows[b] = rows[b], rows[a]
        case 1:
            del rows[a]
        case _:
            rows.insert(a, rows[b])
    return "\n".join(rows)


MUTATIONS = (flip, delete, duplicate, swap, rename, rename, rename, renumber, renumber, insert, nest, lines, lines)


def mutated(seed):
    choose = random.Random(seed)  # noqa: S311 - a seed to reproduce, nothing secret
    text = choose.choice(PROGRAMS)
    for _ in range(choose.choice((1, 1, 1, 2, 3, 6))):
        text = choose.choice(MUTATIONS)(choose, text) or "x"
    return text


# ------------------------------------------------------------------------------------------------ syntax trees

PIECES = (
    """
R.Tensor((2,), "float32") | R.Tuple(R.Any, R.Object) | R.const([1.0, 2.0], "float32") | R.str("a") | R.shape([1])
metadata["ffi.String"][0] | metadata["ir.GenericConst"][1] | metadata["ffi.Module"][0] | R.Prim("int64") | None | n | x
R.dtype("int8") | R.ExternFunc("f") | R.add(R.const(1.0), R.const(1.0)) | T.StringImm("a") | T.float32 | 1e400 | cls
A.view("") | A.view("void") | A.view(-1) | T.bfloat16(-3.4028234663852886e+38) | R.arange(1, 1e400, 2) | A[0:2]
T.comm_reducer(lambda x, y: x + y, [T.float32(0)]) | T.index_map(lambda i: i) | T.target("llvm") | T.Range(0, 4)
x and x and x | x < x < x | T.max(x, 1) | (x, x, x) | {"a": x} | [x] * 9 | lambda: 0 | T.exp(1) | cls.main
T.if_then_else(x, 1, 2) | T.truncdiv(A[0], A[1]) | T.vscale() | T.int64(2**63 - 1) | T.handle | T.Buffer((2,), "int32")
""".strip()
    .replace("\n", " | ")
    .split(" | ")
)


@cache
def pieces():
    """Expressions to put in place of others: `PIECES`, and those of the programs."""
    found = [ast.parse(text.strip(), mode="eval").body for text in PIECES] * 40
    for text in PROGRAMS:
        found += [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.expr)][::7]
    return found


@cache
def statements():
    """Statements of the programs."""
    return [node for text in PROGRAMS for node in ast.walk(ast.parse(text)) if isinstance(node, ast.stmt)][::3]


def fields(tree, kind):
    """Where in `tree` a node of this kind stands: the node that holds it, the field, the number in a list or None."""
    for node in ast.walk(tree):
        for name, value in ast.iter_fields(node):
            if isinstance(value, kind):
                yield node, name, None
            elif isinstance(value, list):
                yield from ((node, name, at) for at, one in enumerate(value) if isinstance(one, kind))


def put(place, value):
    node, name, at = place
    if at is None:
        setattr(node, name, value)
    else:
        getattr(node, name)[at] = value


def replace_expression(choose, tree):
    put(choose.choice(list(fields(tree, ast.expr))), copy.deepcopy(choose.choice(pieces())))


def replace_statement(choose, tree):
    put(choose.choice(list(fields(tree, ast.stmt))), copy.deepcopy(choose.choice(statements())))


def add_statement(choose, tree):
    node, name, at = choose.choice(list(fields(tree, ast.stmt)))
    getattr(node, name).insert(at or 0, copy.deepcopy(choose.choice(statements())))


def drop_statement(choose, tree):
    node, name, at = choose.choice(list(fields(tree, ast.stmt)))
    if at is not None:
        del getattr(node, name)[at]


def add_attribute(choose, tree):
    """An attribute of any kind, where functions, blocks and modules have theirs."""
    function = choose.choice(
        [node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.With, ast.For))]
    )
    where = choose.choice(("T.func_attr", "R.func_attr", "T.sblock_attr", "I.module_attrs", "T.attr"))
    value = choose.choice((choose.choice(PIECES), ast.unparse(choose.choice(pieces()))))
    text = (
        f"{where}({{'k': {value}}})"
        if where != "T.attr"
        else f"with T.attr({value}, 'k', {choose.choice(PIECES)}):\n    pass"
    )
    function.body.insert(choose.randrange(len(function.body) + 1), ast.parse(text).body[0])


def rename_node(choose, tree):
    named = [node for node in ast.walk(tree) if isinstance(node, (ast.Name, ast.Attribute, ast.keyword, ast.arg))]
    a, b = choose.choice(named), choose.choice(named)
    field = {ast.Name: "id", ast.Attribute: "attr", ast.keyword: "arg", ast.arg: "arg"}
    setattr(a, field[type(a)], getattr(b, field[type(b)]) or "x")


def drop_argument(choose, tree):
    lists = [part for node in ast.walk(tree) for _, part in ast.iter_fields(node) if isinstance(part, list) and part]
    part = choose.choice(lists)
    match choose.randrange(3):
        case 0:
            del part[choose.randrange(len(part))]
        case 1:
            part.append(choose.choice(part))
        case _:
            choose.shuffle(part)


GRAFTS = (
    *(replace_expression, replace_expression, replace_expression, replace_statement, add_statement, drop_statement),
    *(add_attribute, add_attribute, rename_node, rename_node, drop_argument),
)


def grafted(seed):
    """A program with parts of its syntax tree changed, as text."""
    choose = random.Random(seed)  # noqa: S311 - a seed to reproduce, nothing secret
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = ast.parse(choose.choice(PROGRAMS))
        try:
            for _ in range(choose.choice((1, 1, 2, 3))):
                choose.choice(GRAFTS)(choose, tree)
            return ast.unparse(ast.fix_missing_locations(tree))
        except (AttributeError, TypeError, ValueError, IndexError, RecursionError):
            return mutated(seed)  # no tree that has a text


# ------------------------------------------------------------------------------------------------ graphs, files

WORDS = (
    *(True, False, None, 0, 1, -1, 2**31, 2**63, 2**70, 1.5, float("inf"), "", "x", "void", "int32", "i0", "float32x4"),
    *("*/\n//", "nan", [], {}, [0], [1, 2, 3], {"a": 1}, "handle", "int8x70000", "relax.add", "tirx.exp"),
)


@cache
def graphs():
    return [row["json"] for row in json.loads(gzip.decompress(SAVED.read_bytes())).values()]


def change_graph(choose, nodes):
    at = choose.randrange(len(nodes))
    node, other = nodes[at], choose.choice(nodes)
    if not isinstance(node, dict) or not isinstance(other, dict):
        return
    data = node.get("data")
    match choose.randrange(6), data:
        case 0, _:
            nodes[at] = other
        case 1, _:
            node["type"] = other["type"]
        case ((2 | 3), dict() | list()) if data:
            key = choose.choice(list(data)) if isinstance(data, dict) else choose.randrange(len(data))
            del data[key]
        case ((4 | 5), dict() | list()) if data:
            key = choose.choice(list(data)) if isinstance(data, dict) else choose.randrange(len(data))
            data[key] = choose.choice((choose.randrange(len(nodes)), choose.choice(WORDS)))
        case _:
            node["data"] = choose.choice((other.get("data"), choose.choice(WORDS)))


def mutated_graph(seed):
    """A module that TVM saved as JSON, changed."""
    choose = random.Random(seed)  # noqa: S311 - a seed to reproduce, nothing secret
    graph = json.loads(choose.choice(graphs()))
    for _ in range(choose.choice((1, 1, 1, 2, 3))):
        change_graph(choose, graph["nodes"])
    return json.dumps(graph)


def mutated_bytes(seed):
    """The bytes of a program or of a graph, changed."""
    choose = random.Random(seed)  # noqa: S311 - a seed to reproduce, nothing secret
    data = bytearray(choose.choice((*PROGRAMS, *graphs()[:10])).encode())
    for _ in range(choose.choice((1, 1, 3, 20))):
        at = choose.randrange(len(data))
        match choose.randrange(4):
            case 0:
                data[at] ^= 1 << choose.randrange(8)
            case 1:
                del data[at : at + choose.randrange(1, 200)]
            case 2:
                data[at:at] = choose.randbytes(choose.randrange(1, 9))
            case _:
                data[at:at] = data[at // 2 : at // 2 + choose.randrange(1, 100)]
        data = data or bytearray(b"x")
    return bytes(data)
