"""Cases that are written by hand: short texts, arrays, and `«`…`»` around the place of what is wrong.

| in a call        | stands for                                                            |
|------------------|-----------------------------------------------------------------------|
| an array         | a tensor with these elements; as a result, exactly these                |
| `new(shape, d)`  | a tensor that nothing was written to                                  |
| a number         | an int64 or float64; `Typed(5, "int32")` where that matters            |
| `(2, 3)`         | a shape, as the files have it `extents`                                |
| a list           | a tuple                                                               |
| `K`              | a part that is kept                                                   |
| `undefined(…)`, `trap(…)`, `reject(…)` | the kind of end, at the marked place                |
"""

from collections.abc import Sequence

import numpy as np
from book import KEPT, Asked, Book, empty, given, number, want

K = KEPT
HEAD = "# from tvm.script import ir as I, tirx as T, relax as R\n"
new = empty


def undefined(code):
    return {"kind": "undefined", "code": code}


def trap(code):
    return {"kind": "trap", "code": code}


def reject(code):
    return {"kind": "reject", "code": code}


OPEN = {"kind": "open"}


def f32(*values):
    return np.array(values, np.float32)


def f64(*values):
    return np.array(values, np.float64)


def i32(*values):
    return np.array(values, np.int32)


def i64(*values):
    return np.array(values, np.int64)


def boolean(*values):
    return np.array(values, np.bool_)


def marked(text):
    """The text without its marks, and `line:column` of the first."""
    lines = text.split("\n")
    place = next((f"{n}:{line.index('«') + 1}" for n, line in enumerate(lines, 1) if "«" in line), "")
    return text.replace("«", "").replace("»", ""), place


def argument(value):
    match value:
        case dict():
            return value
        case np.ndarray():
            return given(value)
        case np.generic():
            return given(np.array(value))
        case bool():
            return number(value, "bool")
        case int():
            return number(value, "int64")
        case float():
            return number(value, "float64")
        case list():
            return {"tuple": [argument(item) for item in value]}
        case tuple():
            return {"extents": list(value)}
        case None:
            return {"null": True}


def part(value):
    match value:
        case dict():
            return value
        case np.ndarray() | np.generic():
            return want(np.asarray(value))
        case tuple():
            return {"rule": "exact", "extents": list(value)}
        case bool() | int() | float():
            return {"rule": "exact", "value": argument(value)["value"]}


def ask(book: Book, name: str, clauses: Sequence[str] | str, text: str, *calls, func="main", **more) -> None:
    """A case. A call is `(arguments, parts or kind of end)`. A text without a head gets one."""
    clauses = clauses.split() if isinstance(clauses, str) else clauses
    text = text.lstrip("\n")
    if not text.startswith("#") and not more.pop("bare", False):
        text = HEAD + text
    text, place = marked(text)
    asked = []
    for args, wanted in calls:
        if isinstance(wanted, dict) and "kind" in wanted:
            end = {**wanted, **({"place": place} if place and wanted["kind"] != "open" else {})}
            asked.append(Asked([argument(a) for a in args], end))
        else:
            parts = wanted if isinstance(wanted, list) else [wanted]
            asked.append(Asked([argument(a) for a in args], [part(p) for p in parts]))
    book.case(name, clauses, text, func, asked, **more)


def tir(params, body, head="@T.prim_func(s_tir=True)"):
    """A function `main` of TensorIR, whose body is indented by four."""
    lines = "".join(f"    {line}\n" for line in body.strip("\n").split("\n"))
    return f"{head}\ndef main({params}):\n{lines}"
