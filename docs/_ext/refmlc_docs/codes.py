"""The catalogue of codes: each with its title, kind, meaning, an example, and the message that a user sees."""

import tomllib
from collections.abc import Mapping
from functools import cache

from refmlc.diag.catalogue import CODES
from refmlc.diag.codes.code import Code
from refmlc.diag.errors import KINDS
from refmlc_docs.citations import ROOT
from refmlc_docs.markdown import clause_link, fence, folded, prose

MESSAGES = ROOT / "tests" / "golden" / "diagnostics"


def kind(name: str) -> str:
    """The codes of the kind `name`, `Undefined` say."""
    rows = [row for row in CODES.values() if row.kind == name]
    if not rows:
        message = f"no code is of the kind {name}"
        raise ValueError(message)
    return "\n\n".join(section(row) for row in rows)


def section(row: Code) -> str:
    """One code."""
    parts = [
        f"({row.id.lower()})=\n## {prose(row.title[0].upper() + row.title[1:])} {{clause}}`{row.id}`",
        prose(row.explanation),
    ]
    if row.example:
        parts.append(row.example.replace("```python\n", "```{code-block} python\n:force:\n\n"))  # `…` is no Python
    if row.id in messages():
        program, message = messages()[row.id]
        parts.append(folded("A program, and the message", [fence(program, "python"), fence(message)]))
    if row.clause:
        parts.append(f"Follows from clause {clause_link(row.clause)}.")
    status = KINDS[row.kind].exit_code
    parts.append(f"{{count}}`{row.kind}, exit status {status}`")
    return "\n\n".join(parts)


@cache
def messages() -> Mapping[str, tuple[str, str]]:
    """The shortest program of the golden tests for each code, and its message."""
    rows: dict[str, tuple[str, str]] = {}
    for path in sorted(MESSAGES.glob("*.toml")):
        case = tomllib.loads(path.read_text(encoding="utf-8"))
        if "program" in case:
            shown = (case["program"], case["message"])
            rows[case["code"]] = min(rows.get(case["code"], shown), shown, key=lambda pair: len(pair[0]))
    return {
        name: (program.strip("\n"), message.strip("\n"))
        for name, (program, message) in rows.items()
        if len(program) < 2000
    }
