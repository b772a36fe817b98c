"""Cases of the suite as a reader sees them: the program, its arguments, and what the call gives.

Of the cases that show a clause the plainest come first: few clauses, a short program, few values.
"""

import ast
import math
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cache
from typing import cast

import numpy as np

from refmlc.oracle.evidence.case_file import CaseCall, CaseFile
from refmlc.oracle.suite import load_suite
from refmlc.oracle.suite.coverage import shown_by
from refmlc.oracle.toml_text import Data
from refmlc_docs.markdown import code_link, fence

MOST_LINES = 24
MOST_VALUES = 24
MOST_CALLS = 2
HEAD = re.compile(r"(?:# )?from [\w.]+ import |\s*$")
PLAIN = {"hand": 0, "exact arithmetic": 1}


@cache
def cases_by_clause() -> Mapping[str, tuple[CaseFile, ...]]:
    """The cases that name each clause or end in one of its codes, the plainest first."""
    rows: dict[str, list[CaseFile]] = defaultdict(list)
    for case in load_suite().cases:
        for name in shown_by(case):
            rows[name].append(case)
    return {name: tuple(sorted(cases, key=lambda case: effort(case, name))) for name, cases in rows.items()}


def effort(case: CaseFile, clause: str) -> tuple[bool, bool, bool, bool, int, int, str]:
    """How much a reader has to take in to see `clause` in `case`; a call that returns is plainer than another."""
    lines = len(program(case)[0])
    values = sum(_count(argument) for argument in case.calls[0].args)
    is_odd = case.id.startswith("finding.") or any(_is_empty(argument) for argument in case.calls[0].args)
    work = 24 * is_odd + 4 * len(case.clauses) + lines + values + 3 * PLAIN.get(case.provenance, 2)
    fails = end_kind(case) != "return"
    refused = end_kind(case) == "reject" and "-9" not in clause
    long = lines > MOST_LINES, values > MOST_VALUES
    return clause not in case.clauses, refused or long[0], fails, long[1], work, len(case.text), case.id


def examples(clause: str, most: int) -> tuple[CaseFile, ...]:
    """At most `most` cases that show `clause` in different programs; the second ends in another way, if one does."""
    rows = cases_by_clause().get(clause, ())
    fitting = [case for case in rows if not effort(case, clause)[1]] or list(rows[:1])
    distinct = list({case.text: case for case in reversed(fitting)}.values())[::-1]
    first, rest = distinct[:1], distinct[1:]
    otherwise = [case for case in rest if end_kind(case) != end_kind(first[0])][:1]
    alike = [case for case in rest if case not in otherwise]
    return tuple((first + otherwise + alike)[:most])


def _is_empty(argument: object) -> bool:
    """Whether an argument is a tensor without elements."""
    return isinstance(argument, dict) and 0 in argument.get("shape", ())


def end_kind(case: CaseFile) -> str:
    """How the first call of a case ends."""
    return str(case.calls[0].assertion["kind"])


def _count(argument: object) -> int:
    """How many elements of an argument stand in the file."""
    match argument:
        case {"values": list(values)}:
            return len(values)
        case {"tuple": list(fields)}:
            return sum(_count(each) for each in fields)
        case {"packed": _}:
            return MOST_VALUES + 1
        case _:
            return 1


def shown(case: CaseFile) -> list[str]:
    """The blocks of a case: the program with the line that decides, then its first calls."""
    lines, numbers = program(case)
    marked = numbers.index(_line(case.calls[0])) + 1 if _line(case.calls[0]) in numbers else 0
    options = [f":emphasize-lines: {marked}"] if marked else []
    calls = "\n\n".join(_call(case, call) for call in case.calls[:MOST_CALLS])
    blocks = [fence("\n".join(lines), "python", ":force:", *options), *([fence(calls)] if calls else [])]
    blocks += [end for end in dict.fromkeys(_end(call, marked) for call in case.calls[:MOST_CALLS]) if end]
    left = len(case.calls) - MOST_CALLS
    return [*blocks, f"The suite has {left} more calls of it."] if left > 0 else blocks


def program(case: CaseFile) -> tuple[list[str], list[int]]:
    """The lines of a case that matter, with their numbers in the text: the function called, and those that it names."""
    lines = case.text.rstrip("\n").splitlines()
    functions = _needed(case.text, case.func)
    if not functions:
        first = next((at for at, line in enumerate(lines) if not HEAD.match(line)), 0)
        return lines[first:], list(range(first + 1, len(lines) + 1))
    numbers: list[int] = []
    if len(functions) > 1:
        numbers += [at for at, line in enumerate(lines, 1) if line.startswith(("@I.ir_module", "class "))]
    for place, node in enumerate(functions):
        first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
        last = node.end_lineno or node.lineno
        numbers += [*([first - 1] if place and not lines[first - 2].strip() else []), *range(first, last + 1)]
    margin = functions[0].col_offset if len(functions) == 1 else 0
    return [lines[number - 1][margin:] for number in numbers], numbers


@cache
def _needed(text: str, name: str) -> tuple[ast.FunctionDef, ...]:
    """The function `name` of a module and all that it names, in order; none where the text has no such function."""
    functions = {node.name: node for node in _functions(text)}
    if name not in functions:
        return ()
    lines = text.splitlines()
    needed = [name]
    for each in needed:
        node = functions[each]
        part = "\n".join(lines[node.lineno : node.end_lineno])
        needed += [other for other in functions if other not in needed and re.search(rf"\b{re.escape(other)}\b", part)]
    return tuple(node for node in _functions(text) if functions[node.name] is node and node.name in needed)


@cache
def _functions(text: str) -> tuple[ast.FunctionDef, ...]:
    """The functions in a text of Python; none in one that is not."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return ()
    return tuple(node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))


def _line(call: CaseCall) -> int:
    place = call.assertion.get("place")
    return int(place.partition(":")[0]) if isinstance(place, str) and place else 0


def _end(call: CaseCall, line: int) -> str:
    """How a call ends that does not return."""
    code = call.assertion.get("code")
    where = f" in line {line}" if line > 0 else ""
    match call.assertion["kind"]:
        case "undefined":
            return f"Undefined: {code_link(str(code))}{where}."
        case "trap":
            return f"The program stops itself: {code_link(str(code))}{where}."
        case "reject":
            return f"The text is refused: {code_link(str(code))}{where}."
        case "open":
            return "Recorded, and never scored."
        case _:
            return ""


def _call(case: CaseFile, call: CaseCall) -> str:
    """The arguments of a call, and the parts of its result; empty for a call without either."""
    names = _names(case, len(call.args))
    lines = [f"{name} = {value(argument)}" for name, argument in zip(names, call.args, strict=True)]
    if call.assertion["kind"] == "return":
        lines += [f"{case.func}({', '.join(names)}) gives"]
        parts = cast("list[Data]", call.assertion["parts"])
        lines += [
            f"    {label} = {expected(part)}"
            for label, part in zip(_labels(names, call, len(parts)), parts, strict=True)
        ]
    return "\n".join(lines)


def _names(case: CaseFile, count: int) -> list[str]:
    """The names of the parameters of the function that is called; numbers, where the text has none."""
    names = [[each.arg for each in node.args.args] for node in _functions(case.text) if node.name == case.func]
    return names[0] if names and len(names[0]) == count else [f"argument {place}" for place in range(count)]


def _labels(names: Sequence[str], call: CaseCall, count: int) -> list[str]:
    """What each part is: what is returned, field by field, then each tensor among the arguments."""
    tensors = [label for name, argument in zip(names, call.args, strict=True) for label in _tensors(name, argument)]
    returned = count - len(tensors)
    if returned < 0:
        return [f"part {place}" for place in range(count)]
    head = ["result"] if returned == 1 else [f"result[{place}]" for place in range(returned)]
    return [*head, *tensors]


def _tensors(name: str, argument: object) -> list[str]:
    match argument:
        case {"tuple": list(fields)}:
            return [label for place, each in enumerate(fields) for label in _tensors(f"{name}[{place}]", each)]
        case {"dtype": _} | {"same": _}:
            return [name]
        case _:
            return []


def value(data: object) -> str:
    """A value as text."""
    match data:
        case {"same": int(number)}:
            return f"the tensor of argument {number} again"
        case {"number": str(dtype), "value": number}:
            return f"{dtype} {element(number, dtype)}"
        case {"extents": list(extents)}:
            return f"shape {_tuple(extents)}"
        case {"tuple": list(fields)}:
            return f"({', '.join(value(each) for each in fields)})"
        case {"null": _}:
            return "null"
        case {"dtype": str(dtype), "shape": list(shape), **rest}:
            layout = "".join(f", {key} {rest[key]}" for key in ("strides", "offset", "locked") if key in rest)
            return f"{dtype} {_tuple(shape)}{layout}: {_elements(dtype, shape, rest)}"
        case _:
            return str(data)


def _elements(dtype: str, shape: list[int], data: object) -> str:
    match data:
        case {"generator": "unwritten"}:
            return "nothing is written"
        case {"generator": str(rule), **numbers}:
            settings = [f"{key} {number}" for key, number in numbers.items() if key not in ("strides", "offset")]
            return f"{rule}({', '.join(settings)})"
        case {"values": list(values)}:
            return nested(values, shape, dtype)
        case _:
            return f"{math.prod(shape)} elements"


def nested(values: Sequence[object], shape: Sequence[int], dtype: str) -> str:
    """Elements in row-major order as nested lists, at most MOST_VALUES of them."""
    if not shape:
        return element(values[0], dtype)
    if len(values) > MOST_VALUES:
        return f"[{', '.join(element(each, dtype) for each in values[:MOST_VALUES])}, … {len(values)} elements]"
    step = math.prod(shape[1:])
    parts = [nested(values[at * step : (at + 1) * step], shape[1:], dtype) for at in range(shape[0])]
    return f"[{', '.join(parts)}]"


def element(item: object, dtype: str) -> str:
    """One element: a float in the fewest digits that name it in its dtype; `_`: not written."""
    if not isinstance(item, str) or item in ("_", "nan", "inf", "-inf"):
        return str(item)
    if "x" not in item:
        return item
    number = float.fromhex(item)
    narrow = {"float32": np.float32, "float16": np.float16}.get(dtype.partition("x")[0])
    return str(narrow(number)) if narrow else repr(number)


def expected(part: object) -> str:
    """What a part must be."""
    match part:
        case {"rule": "kept"}:
            return "as before"
        case {"rule": "any"}:
            return "anything"
        case {"rule": "hash"}:
            return "elements with a recorded digest"
        case {"rule": "one of", "options": list(options), **rest}:
            dtype = str(rest.get("dtype", ""))
            return "element by element one of " + ", ".join(
                f"{{{', '.join(element(each, dtype) for each in choices)}}}" for choices in options[:MOST_VALUES]
            )
        case {"rule": "certified", "low": list(low), "high": list(high)}:
            pairs = [_interval(least, most) for least, most in zip(low, high, strict=True)]
            return f"[{', '.join(pairs[:MOST_VALUES])}]"
        case {"rule": "ulp", "ulps": ulps, "dtype": str(dtype), "shape": list(shape), **rest}:
            return f"within {ulps} ulp of {_elements(dtype, shape, rest)}"
        case {"dtype": str(dtype), "shape": list(shape), **rest}:
            return _elements(dtype, shape, rest)
        case {"value": number, **rest}:
            return element(number, str(rest.get("dtype", rest.get("number", ""))))
        case {"extents": list(extents)}:
            return f"shape {_tuple(extents)}"
        case {"null": _}:
            return "null"
        case _:
            return str(part)


def _interval(least: object, most: object) -> str:
    """The interval of an element; a single number where there is no other in it."""
    return _short(least) if least == most else f"{_short(least)} … {_short(most)}"


def _short(item: object) -> str:
    """A bound in six digits: it is a binary64 number of seventeen."""
    return f"{float.fromhex(item):.6g}" if isinstance(item, str) and "x" in item else str(item)


def _tuple(extents: Sequence[int]) -> str:
    return f"({', '.join(map(str, extents))}{',' if len(extents) == 1 else ''})"
