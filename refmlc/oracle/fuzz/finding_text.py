"""A finding as a file for people: TOML with the program as a text, its arguments, and how to make it again."""

import json
from collections.abc import Mapping

from refmlc.oracle.fuzz.result import FindingRecord, Json
from refmlc.oracle.fuzz.settings import Settings


def finding_text(settings: Settings, finding: FindingRecord, shrunk: Json | None) -> str:
    """The text of the file. Where the program was made smaller, that one is the case, and the first one follows."""
    smaller = shrunk.get("case") if shrunk else None
    rows = [
        ("code", finding.code),
        ("path", finding.path),
        ("verdict", finding.verdict),
        ("message", finding.message),
        ("signature", finding.signature),
        ("count", finding.count),
        ("seed", finding.seed),
        ("kind", finding.kind),
        ("implementations", list(settings.implementations)),
    ]
    if shrunk and "problem" in shrunk:
        rows.append(("not_shrunk", str(shrunk["problem"])))
    lines = [f"{name} = {as_toml(value)}" for name, value in rows]
    if isinstance(smaller, Mapping):
        lines += ["", "[case]", *_table(smaller), "", "[first]", *_table(finding.case)]
    else:
        lines += ["", "[case]", *_table(finding.case)]
    return "\n".join([*lines, ""])


def _table(case: Mapping[str, object]) -> list[str]:
    return [f"{as_toml(name)} = {as_toml(value)}" for name, value in case.items() if value is not None]


def as_toml(value: object) -> str:
    """A value of JSON in TOML; texts of several lines stay readable."""
    match value:
        case str() if "\n" in value and "'''" not in value and value.isprintable() | _plain(value):
            return f"'''\n{value}'''"
        case Mapping():
            return "{" + ", ".join(f"{as_toml(str(key))} = {as_toml(item)}" for key, item in value.items()) + "}"
        case list() | tuple():
            return f"[{', '.join(as_toml(item) for item in value)}]"
        case float() if value != value or abs(value) == float("inf"):  # noqa: PLR0124 - NaN
            return str(value)
        case None:
            return '""'
        case _:
            return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _plain(text: str) -> bool:
    return all(line.isprintable() or not line for line in text.replace("\t", " ").split("\n"))
