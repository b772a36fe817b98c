"""Compare the output of a block with the output in the chapter.

| outputs                                   | compared                                          |
|-------------------------------------------|---------------------------------------------------|
| TVMScript                                 | both read; by structure (`structure`)             |
| numbers, with or without text around them | text exactly, numbers within 1e-4 of the greatest |
| all else                                  | exactly, but for spaces at the ends of lines      |

A difference has one of these reasons, or none: then it is reported as such.

| reason        | both are equal, but for                                                  |
|---------------|--------------------------------------------------------------------------|
| another image | numbers and names of classes, where the chapter draws an image at random |
| download      | lines that tell of a download                                            |
| address       | addresses of memory                                                      |
| class         | the name of the class: refmlc's objects are its own                      |
| brackets      | a tuple in the place of a list                                           |
| picture       | it is not compared                                                       |
"""

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from refmlc.tools.course.document import Document, Output
from refmlc.tools.course.structure import is_script, structure_of

EQUAL, EXPLAINED, DIFFERS = "equal", "explained", "differs"
TOLERANCE = 1e-4

_NUMBER = re.compile(r"[-+]?(?:\d+\.\d*|\.\d+|\d+)(?:[eE][-+]?\d+)?")
_ADDRESS = re.compile(r"0x[0-9a-f]+")
_CLASS = re.compile(r"^(?:<class ')?[A-Za-z_]\w*(?:\.[\w<>]+)+(?:'>)?$")


@dataclass(frozen=True)
class OutputVerdict:
    """The verdict on one output: `equal`, `explained` or `differs`, and why."""

    line: int
    verdict: str
    reason: str = ""


def compare(output: Output, text: str, document: Document) -> OutputVerdict:
    """Compare what the chapter prints with what was printed."""
    if output.kind == "image":
        return OutputVerdict(output.line, EXPLAINED, "picture")
    if is_script(output.text):
        reasons, difference = structure_of(output.text, text, document.generation)
        verdict = DIFFERS if difference else EQUAL
        return OutputVerdict(output.line, verdict, difference or "; ".join(reasons))
    wanted, given = _lines(output.text), _lines(text)
    if wanted == given:
        return OutputVerdict(output.line, EQUAL)
    reason = _reason(wanted, given, document)
    if reason == "":
        return OutputVerdict(output.line, DIFFERS, f"{_short(wanted)} in the chapter, {_short(given)} here")
    return OutputVerdict(output.line, EQUAL if reason == "numbers" else EXPLAINED, reason)


def _lines(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.strip().splitlines())


def _short(text: str, limit: int = 60) -> str:
    flat = " ".join(text.split())
    return f"`{flat if len(flat) <= limit else flat[: limit - 1] + '…'}`"


def _reason(wanted: str, given: str, document: Document) -> str:
    """Why the two differ; empty where no reason is known."""
    if "Downloading http" in wanted:
        return "download"
    if _ADDRESS.search(wanted) and _squeezed(_ADDRESS.sub("0x", wanted)) == _squeezed(_ADDRESS.sub("0x", given)):
        return "address"
    if _CLASS.match(wanted) and _CLASS.match(given) and "refmlc." in given:
        return f"class: {given} here"
    if _value(wanted) is not None and _value(wanted) == _value(given):
        return "brackets"
    if _skeleton(wanted, ()) == _skeleton(given, ()) and _close(wanted, given):
        return "numbers"
    if document.draws_an_image and _skeleton(wanted, document.class_names) == _skeleton(given, document.class_names):
        return "another image"
    return ""


def _squeezed(text: str) -> str:
    """The text with columns and rulers of any width alike."""
    return re.sub(r"-+", "-", " ".join(text.split()))


def _value(text: str) -> object:
    try:
        found = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return None
    return list(found) if isinstance(found, tuple | list) else None


def _skeleton(text: str, names: Sequence[str]) -> str:
    """The text with numbers, and names of classes, replaced; spaces do not count."""
    for name in sorted(names, key=len, reverse=True):
        text = text.replace(name, "§")
    return re.sub(r"\s+", "", _NUMBER.sub("#", text))


def _close(wanted: str, given: str) -> bool:
    mine, theirs = (np.array([float(one) for one in _NUMBER.findall(text)]) for text in (given, wanted))
    if mine.shape != theirs.shape or not mine.size:
        return False
    return bool(np.all(np.abs(mine - theirs) <= TOLERANCE * max(1.0, float(np.abs(theirs).max()))))
