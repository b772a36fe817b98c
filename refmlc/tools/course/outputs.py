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
    expected, actual = _lines(output.text), _lines(text)
    if expected == actual:
        return OutputVerdict(output.line, EQUAL)
    reason = _reason(expected, actual, document)
    if reason == "":
        return OutputVerdict(output.line, DIFFERS, f"{_short(expected)} in the chapter, {_short(actual)} here")
    return OutputVerdict(output.line, EQUAL if reason == "numbers" else EXPLAINED, reason)


def _lines(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.strip().splitlines())


def _short(text: str, limit: int = 60) -> str:
    flat = " ".join(text.split())
    return f"`{flat if len(flat) <= limit else flat[: limit - 1] + '…'}`"


def _reason(expected: str, actual: str, document: Document) -> str:
    """Why the two differ; empty where no reason is known."""
    if "Downloading http" in expected:
        return "download"
    if _ADDRESS.search(expected) and _squeezed(_ADDRESS.sub("0x", expected)) == _squeezed(_ADDRESS.sub("0x", actual)):
        return "address"
    if _CLASS.match(expected) and _CLASS.match(actual) and "refmlc." in actual:
        return f"class: {actual} here"
    if _value(expected) is not None and _value(expected) == _value(actual):
        return "brackets"
    if _skeleton(expected, ()) == _skeleton(actual, ()) and _close(expected, actual):
        return "numbers"
    if document.draws_an_image and _skeleton(expected, document.class_names) == _skeleton(actual, document.class_names):
        return "another image"
    return ""


def _squeezed(text: str) -> str:
    """The text with columns and rulers of any width alike."""
    return re.sub(r"-+", "-", " ".join(text.split()))


def _value(text: str) -> object:
    try:
        literal = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return None
    return list(literal) if isinstance(literal, tuple | list) else None


def _skeleton(text: str, names: Sequence[str]) -> str:
    """The text with numbers, and names of classes, replaced; spaces do not count."""
    for name in sorted(names, key=len, reverse=True):
        text = text.replace(name, "§")
    return re.sub(r"\s+", "", _NUMBER.sub("#", text))


def _close(expected: str, actual: str) -> bool:
    actual_numbers, expected_numbers = (
        np.array([float(number) for number in _NUMBER.findall(text)]) for text in (actual, expected)
    )
    if actual_numbers.shape != expected_numbers.shape or not actual_numbers.size:
        return False
    return bool(
        np.all(np.abs(actual_numbers - expected_numbers) <= TOLERANCE * max(1.0, float(np.abs(expected_numbers).max())))
    )
