"""TVMScript in documents: whole modules, functions and fragments of functions, from Markdown, reST and HTML output.

A document shows TVMScript in fenced blocks, in indented blocks, and as highlighted HTML (`<pre>` with a `<span>`
around each token). What counts is found by its decorators; fragments are blocks that use `R.call_…` or `R.dataflow`
without a definition around them.
"""

import ast
import html
import os
import re
import textwrap
from dataclasses import dataclass
from pathlib import Path

SEEDS = os.environ.get("REFMLC_SEEDS", "")
"""Where the documents lie: `*.txt`."""

_DECORATOR = re.compile(r"^( *)@(tvm\.script\.ir_module|I\.ir_module|T\.prim_func|R\.function)\b")
_TAG = re.compile(r"<[^>]*>")
_PRE = re.compile(r"<pre[^>]*>(.*?)</pre>", re.DOTALL)
_FENCE = re.compile(r"^ ?```[^\n]*\n(.*?)^ ?```", re.DOTALL | re.MULTILINE)
_INDENTED = re.compile(r"(?:^[ ]{3,}[^\n]*\n|^\n)+", re.MULTILINE)
_USES = frozenset(("call_tir", "call_dps_packed", "dataflow"))


@dataclass(frozen=True)
class Piece:
    """A piece of a document: `module`, `function` or `fragment`; where it begins; its text, dedented."""

    document: str
    line: int
    kind: str
    text: str

    def __str__(self) -> str:
        return f"{self.document[:3]}-{self.kind}-{self.line}"


def documents() -> list[Path]:
    return sorted(Path(SEEDS).glob("*.txt")) if SEEDS else []


def pieces(path: Path) -> list[Piece]:
    """All TVMScript in a document, in its order."""
    text = _plain(path.read_text(encoding="utf-8"))
    lines = text.split("\n")
    found: list[Piece] = []
    number = 0
    while number < len(lines):
        begins = _DECORATOR.match(lines[number])
        if begins is None:
            number += 1
            continue
        end = _end_of(lines, number, len(begins[1]))
        kind = "module" if begins[2].endswith("ir_module") else "function"
        body = textwrap.dedent("\n".join(lines[number:end])).rstrip() + "\n"
        found.append(Piece(path.stem, number + 1, kind, body))
        number = end
    return sorted(found + _fragments(path.stem, text), key=lambda piece: piece.line)


def _plain(text: str) -> str:
    """The document with highlighted HTML as plain text, line for line."""

    def unescaped(match: re.Match[str]) -> str:
        lines = html.unescape(_TAG.sub("", match[1])).split("\n")
        return "\n".join([f"    {lines[0]}", *lines[1:]])

    return _PRE.sub(lambda match: "\n" + unescaped(match), text)


def _end_of(lines: list[str], start: int, indent: int) -> int:
    """One past the last line of the definition whose decorator is line `start`."""
    number, header = start + 1, False
    while number < len(lines):
        line = lines[number]
        depth = len(line) - len(line.lstrip())
        if line.lstrip().startswith("```"):
            break
        if line.strip() and depth <= indent:
            if header and not line.lstrip().startswith(")"):
                break
            header = True
        number += 1
    return number


def _fragments(document: str, text: str) -> list[Piece]:
    blocks = [(text.count("\n", 0, match.start(1)) + 1, match[1]) for match in _FENCE.finditer(text)]
    rest = _FENCE.sub(lambda match: "\n" * match[0].count("\n"), text)
    blocks += [(rest.count("\n", 0, match.start()) + 1, match[0]) for match in _INDENTED.finditer(rest)]
    found = []
    for line, raw in blocks:
        body = textwrap.dedent(raw).strip("\n") + "\n"
        try:
            tree = ast.parse(body)
        except SyntaxError:
            continue
        nodes = list(ast.walk(tree))
        if any(isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.Import)) for node in nodes):
            continue
        if any(_uses_relax(node) for node in nodes):
            found.append(Piece(document, line, "fragment", body))
    return found


def _uses_relax(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and (node.value.id == "R" and node.attr in _USES)
    )


def inside(function: str, module: str) -> str:
    """`module` with its `main` replaced by `function`, another `main`."""
    tree = ast.parse(module)
    (owner,) = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    (old,) = [node for node in owner.body if isinstance(node, ast.FunctionDef) and node.name == "main"]
    lines = module.split("\n")
    first = min(decorator.lineno for decorator in old.decorator_list) - 1
    return "\n".join(lines[:first]) + "\n" + textwrap.indent(function, "    ")
