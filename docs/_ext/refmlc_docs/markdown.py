"""Text of the project as Markdown: what Markdown would read as markup is escaped, clauses and codes become links."""

import re
from collections.abc import Iterable

from refmlc.lang.spec import AREAS

CODE_SPAN = re.compile(r"(`[^`\n]+`)")
CLAUSE = re.compile(rf"\b(?:{'|'.join(AREAS)})-[0-9]{{3}}\b")
CODE = re.compile(r"\bRM[0-9]{3}\b")
POWER = re.compile(r"(?<![*\w])(\w+)\*\*(-?\w+|\([^()]*\))")
MARKUP = re.compile(r"([\\*_\[\]<>#|~${}^])")
LABEL = re.compile(r"[^a-z0-9]+")


def prose(text: str) -> str:
    """`text` as a paragraph. Spans between backticks stay code; `2**bits` becomes a power."""
    parts = CODE_SPAN.split(" ".join(text.split()))
    return "".join(part if CODE_SPAN.fullmatch(part) else _plain(part) for part in parts)


def _plain(text: str) -> str:
    """A part without code."""
    pieces: list[str] = []
    end = 0
    for power in POWER.finditer(text):
        exponent = power[2].strip("()")
        pieces += [_linked(text[end : power.start()]), f"{power[1]}{{sup}}`{exponent}`"]
        end = power.end()
    return "".join([*pieces, _linked(text[end:])])


def _linked(text: str) -> str:
    escaped = MARKUP.sub(r"\\\1", text)
    linked = CLAUSE.sub(lambda match: clause_link(match[0]), escaped)
    return CODE.sub(lambda match: code_link(match[0]), linked)


def clause_link(name: str) -> str:
    """A link to a clause, from any page."""
    return f"[{name}](#{name.lower()})"


def code_link(name: str) -> str:
    """A link to a code, from any page."""
    return f"[{name}](#{name.lower()})"


def label(text: str) -> str:
    """`text` as a part of an anchor."""
    return LABEL.sub("-", text.lower()).strip("-")


def fence(text: str, language: str = "text", *options: str) -> str:
    """A block of code, fenced so that nothing in `text` ends it."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    ticks = "`" * max(3, longest + 1)
    head = f"{ticks}{{code-block}} {language}"
    return "\n".join([head, *options, *([""] if options else []), text.strip("\n"), ticks])


def inline(text: str) -> str:
    """`text` as a span of code; backticks within are kept."""
    return f"`` {text} ``" if "`" in text else f"`{text}`"


def folded(summary: str, blocks: Iterable[str]) -> str:
    """Blocks that a reader opens; `summary` is plain text."""
    safe = summary.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return "\n\n".join([f"<details>\n<summary>{safe}</summary>", *blocks, "</details>"])


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A table; the cells are Markdown."""
    head = list(head)
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines)
