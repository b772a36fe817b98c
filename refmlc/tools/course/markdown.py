"""Code blocks of Markdown: fences.

| fence                                           | is                                 |
|-------------------------------------------------|------------------------------------|
| ```` ```{.python .input n=1} ````               | code that is executed              |
| ```` ```python ````                             | code, or an excerpt                |
| ```` ```{.python .output} ````, Python          | code: so some chapters have it     |
| ```` ```{.output}````, `text`, `console`        | an output                          |
| without a language, after "Output:" or an image | an output                          |
| without a language, that Python parses          | code, or an excerpt; comments of   |
|                                                 | HTML in it are comments            |
| without a language, otherwise                   | an output, where a block is before |
| any other language                              | nothing                            |
"""

import re
import textwrap
from collections.abc import Iterator

from refmlc.tools.course.document import Block, Output
from refmlc.tvm.session import Cell

_FENCE = re.compile(r"^ {0,3}(```+)(.*)$")
_ANNOUNCED = re.compile(r"^\W*(outputs?|prints?|results?|输出)", re.IGNORECASE)
_HTML = re.compile(r"^ *(<!--.*-->) *$", re.MULTILINE)
_OUTPUTS = ("output", "text", "console", "txt")


def blocks(text: str) -> Iterator[Block]:
    """The blocks of a text, in order."""
    blocks_so_far: list[Block] = []
    for line, language, body, before in _fences(text):
        kind = _kind(language, body, before)
        if kind == "output" and blocks_so_far:
            last = blocks_so_far[-1]
            outputs = (*last.outputs, Output(line, "text", body))
            blocks_so_far[-1] = Block(last.number, last.line, last.text, outputs, last.marked)
        elif kind == "code":
            number, text_of_code = len(blocks_so_far) + 1, _HTML.sub(r"# \1", body)
            blocks_so_far.append(Block(number, line, text_of_code, (), ".input" in language))
    yield from blocks_so_far


def _fences(text: str) -> Iterator[tuple[int, str, str, str]]:
    """Line, language, body, and the last line of text before, of each fence."""
    lines = text.split("\n")
    number, before = 0, ""
    while number < len(lines):
        opening = _FENCE.match(lines[number])
        if opening is None:
            before = lines[number].strip() or before
            number += 1
            continue
        end = number + 1
        while end < len(lines) and not lines[end].strip().startswith(opening[1]):
            end += 1
        body = textwrap.dedent("\n".join(lines[number + 1 : end])) + "\n"
        yield number + 2, opening[2].strip(), body, before
        number, before = end + 1, ""


def _kind(language: str, body: str, before: str) -> str:
    words = re.findall(r"[a-z]+", language.lower())
    if words[:2] == ["python", "output"] and _is_python(body):
        return "code"
    if any(word in _OUTPUTS for word in words):
        return "output"
    if words:
        return "code" if words[0] in ("python", "py") else ""
    if _ANNOUNCED.match(before) or before.startswith("!["):
        return "output"
    return "code" if _is_python(body) else "output"


def _is_python(body: str) -> bool:
    try:
        Cell(_HTML.sub(r"# \1", body)).parsed()
    except SyntaxError:
        return False
    return True
