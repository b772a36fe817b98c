"""Values as text of TOML: a reader gets the same value back, whatever characters it has."""

from collections.abc import Mapping
from typing import TypeAlias

Data: TypeAlias = "dict[str, Data] | list[Data] | str | int | float | bool | None"
"""What a file of TOML, or an object of JSON, holds."""

SHORT = {"\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r", '"': '\\"', "\\": "\\\\"}


def toml_value(value: Data, *, nested: bool = False) -> str:
    """A value. A text of several lines is one, verbatim where it can be; in a list or table it stands in one line."""
    match value:
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case float():
            return repr(value)
        case str() if "\n" in value and not nested:
            return _lines(value)
        case str():
            return f'"{_escaped(value)}"'
        case list():
            return f"[{', '.join(toml_value(item, nested=True) for item in value)}]"
        case Mapping():
            pairs = (f"{_key(key)} = {toml_value(item, nested=True)}" for key, item in value.items())
            return "{ " + ", ".join(pairs) + " }"
        case None:
            raise TypeError("TOML has no null")


def _key(key: str) -> str:
    return (
        key
        if key and all(char.isascii() and (char.isalnum() or char in "_-") for char in key)
        else f'"{_escaped(key)}"'
    )


def _escaped(text: str) -> str:
    """A basic string's inside: what may not stand there is escaped, and nothing else."""
    return "".join(SHORT.get(char) or (_code(char) if _forbidden(char) else char) for char in text)


def _forbidden(char: str) -> bool:
    return ord(char) < 0x20 or ord(char) == 0x7F or 0xD800 <= ord(char) < 0xE000


def _code(char: str) -> str:
    return "\\ufffd" if ord(char) >= 0xD800 else f"\\u{ord(char):04x}"


def _lines(text: str) -> str:
    """A text of several lines: literal, unless it holds what a literal cannot."""
    if (
        "'''" not in text
        and not text.endswith("'")
        and not any(_forbidden(char) for char in text if char not in "\n\t")
    ):
        return f"'''\n{text}'''"
    return '"""\n' + "\n".join(_escaped(line) for line in text.split("\n")) + '"""'
