"""Docstrings of the package, which are plain text with backticks and tables, as reStructuredText.

A name of the API is known under its public name: `refmlc.vm.executable.Executable` is `refmlc.Executable`.
"""

import re
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from refmlc_docs.markdown import CLAUSE, CODE

if TYPE_CHECKING:
    from collections.abc import Mapping

PUBLIC = (
    "refmlc",
    "refmlc.testing",
    "refmlc.strategies",
    "refmlc.oracle.suite",
    "refmlc.oracle.implementations.implementation",
)
SPAN = re.compile(r"(`+[^`\n]+`+)")
MARKUP = re.compile(r"([\\*|_])")
ROW = re.compile(r"^\s*\|.*\|\s*$")
RULE = re.compile(r"^\s*\|[\s:|-]+\|\s*$")
NUMBER = re.compile(rf"{CLAUSE.pattern}|{CODE.pattern}")
FIELDS = re.compile(r"\b(Shapes|Dtypes|Units|Order|Fails|Source|Decision|Raises): ")


def process(_app: object, _what: str, _name: str, _object: object, _options: object, lines: list[str]) -> None:
    """Sphinx calls this for each docstring."""
    lines[:] = converted(lines)


def process_help(_app: object, _context: object, lines: list[str]) -> None:
    """Sphinx-click calls this for the help of a command."""
    lines[:] = converted([line.replace("\b", "") for line in lines])


def process_options(_app: object, _context: object, lines: list[str]) -> None:
    """Sphinx-click calls this for the options: directives, and their indented text."""
    lines[:] = [line if line.lstrip().startswith((".", ":")) else _text(line) for line in lines]


def converted(lines: list[str]) -> list[str]:
    """The lines as reStructuredText."""
    written: list[str] = []
    rows: list[list[str]] = []
    code = False
    for line in [*lines, ""]:
        if ROW.match(line):
            if not RULE.match(line):
                rows.append([cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip())[1:-1]])
            continue
        if rows:
            written += [*_table(rows), ""]
            rows = []
        if line.strip().startswith(">>>") and not code:
            code = True
            written.append("")
        elif not line.strip():
            code = False
        indented = line.startswith("    ") and not code
        if (
            indented
            and (not written or not written[-1].startswith(("    ", "::")))
            and (not written or not written[-1].strip())
        ):
            written += ["::", ""]
        written.append(line if code or indented else _text(line))
    return written


def _text(line: str) -> str:
    """A line: spans of code get two backticks, and a border that no letter can hide; other markup is escaped."""
    parts = SPAN.split(line)
    for at in range(1, len(parts), 2):
        parts[at] = f"``{parts[at].strip('`')}``"
        if parts[at + 1][:1].isalnum():
            parts[at] += "\\ "
        if parts[at - 1][-1:].isalnum():
            parts[at] = "\\ " + parts[at]
    for at in range(0, len(parts), 2):
        escaped = FIELDS.sub(r"**\1:** ", MARKUP.sub(r"\\\1", parts[at]))
        parts[at] = NUMBER.sub(lambda match: f":ref:`{match[0]} <{match[0].lower()}>`", escaped)
    return "".join(parts)


def _table(rows: list[list[str]]) -> list[str]:
    width = max(len(row) for row in rows)
    lines = ["", ".. list-table::", "   :header-rows: 1", ""]
    for row in rows:
        for place in range(width):
            cell = _text(row[place].replace("\\|", "|")) if place < len(row) else ""
            lines.append(f"   {'* -' if place == 0 else '  -'} {cell}".rstrip())
    return lines


@cache
def public_names() -> "Mapping[str, str]":
    """The public name of each object of the API, by the name of its definition."""
    names: dict[str, str] = {}
    for place in PUBLIC:
        module = import_module(place)
        for name in getattr(module, "__all__", ()):
            defined = getattr(module, name)
            names.setdefault(
                f"{getattr(defined, '__module__', place)}.{getattr(defined, '__qualname__', name)}", f"{place}.{name}"
            )
    return names


def public_reference(app: Any, env: Any, node: Any, contents: Any) -> Any:  # noqa: ANN401 - Sphinx' own protocol
    """A reference to the definition of a public object, led to its public name."""
    if node.get("refdomain") != "py" or node["reftarget"] not in public_names():
        return None
    target = public_names()[node["reftarget"]]
    return env.domains["py"].resolve_xref(env, node["refdoc"], app.builder, node["reftype"], target, node, contents)
