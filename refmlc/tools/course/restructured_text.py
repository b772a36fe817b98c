"""Code blocks of reStructuredText: `.. code:: python`, and what stands after it.

| directive                                    | is                          |
|----------------------------------------------|-----------------------------|
| `.. code:: python`, `.. code-block:: python` | code, or an excerpt         |
| `.. parsed-literal::` of class `output`      | an output                   |
| `.. raw:: html` with `<pre>`                 | an output: highlighted text |
| `.. figure:: output_…`                       | an output: a picture        |
"""

import html
import re
import textwrap
from collections.abc import Iterator
from dataclasses import replace

from refmlc.tools.course.document import Block, Output

_DIRECTIVE = re.compile(r"^( *)\.\. ([\w-]+):: *(.*)$")
_TAG = re.compile(r"<[^>]*>")
_PRE = re.compile(r"<pre[^>]*>(.*)</pre>", re.DOTALL)


def blocks(text: str) -> Iterator[Block]:
    """The blocks of a text, in order."""
    blocks_so_far: list[Block] = []
    for line, name, argument, body in _directives(text):
        if name in ("code", "code-block") and argument.startswith("python"):
            blocks_so_far.append(Block(len(blocks_so_far) + 1, line, body))
            continue
        output = _output(line, name, argument, body)
        if output is not None and blocks_so_far:
            blocks_so_far[-1] = replace(blocks_so_far[-1], outputs=(*blocks_so_far[-1].outputs, output))
    yield from blocks_so_far


def _directives(text: str) -> Iterator[tuple[int, str, str, str]]:
    """Line of the body, name, argument and body of each directive."""
    lines = text.split("\n")
    number = 0
    while number < len(lines):
        opening = _DIRECTIVE.match(lines[number])
        number += 1
        if opening is None:
            continue
        while number < len(lines) and not lines[number].strip():
            number += 1
        begin, indent = number, len(opening[1])
        while number < len(lines) and (not lines[number].strip() or _depth(lines[number]) > indent):
            number += 1
        yield begin + 1, opening[2], opening[3].strip(), textwrap.dedent("\n".join(lines[begin:number])).rstrip() + "\n"


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip())


def _output(line: int, name: str, argument: str, body: str) -> Output | None:
    if name == "parsed-literal" and ":class: output" in body:
        return Output(line, "text", body.partition(":class: output\n")[2].lstrip("\n"))
    if name == "figure" and argument.startswith("output"):
        return Output(line, "image", argument)
    if name == "raw" and argument == "html" and (preformatted := _PRE.search(body)):
        return Output(line, "html", html.unescape(_TAG.sub("", preformatted[1])))
    return None
