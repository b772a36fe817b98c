"""JSON Schemas as lists: each object with its keys, their types, and what they say."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from refmlc_docs.citations import ROOT
from refmlc_docs.markdown import fence, folded, inline, label, prose

Schema = Mapping[str, Any]


def schema(path: str) -> str:
    """The schema in the file at `path`: its text, its keys, then each of its definitions."""
    tree = json.loads((ROOT / path).read_text(encoding="utf-8"))
    page = label(path.rsplit("/", 1)[-1].removesuffix(".json") + " " + path.split("/")[-2])
    parts = [prose(str(tree.get("description", ""))), *_keys(tree, page)]
    for name, definition in tree.get("$defs", {}).items():
        parts += [f"({page}-{label(name)})=\n## {inline(name)}", prose(str(definition.get("description", "")))]
        parts += _keys(definition, page)
    parts.append(folded("The schema itself", [fence(json.dumps(tree, indent=1, ensure_ascii=False), "json")]))
    return "\n\n".join(part for part in parts if part)


def _keys(part: Schema, page: str) -> list[str]:
    """What a schema says of a value: the type, or the keys of an object."""
    if "properties" not in part:
        return [f"Value: {kind(part, page)}."]
    return ["\n".join(_lines(part, page, ""))]


def _lines(part: Schema, page: str, margin: str) -> Iterator[str]:
    required = part.get("required", ())
    for name, each in part.get("properties", {}).items():
        optional = "" if name in required else ", optional"
        text = f": {prose(each['description'])}" if each.get("description") else ""
        yield f"{margin}- {inline(name)} ({kind(each, page)}{optional}){text}"
        inner = each.get("items", each) if isinstance(each.get("items", each), Mapping) else {}
        yield from _lines(inner, page, f"{margin}  ")


def kind(part: object, page: str) -> str:
    """The type of a value in words, with links to definitions."""
    match part:
        case True:
            return "anything"
        case {"$ref": str(reference)}:
            name = reference.rsplit("/", 1)[-1]
            return f"[{name}](#{page}-{label(name)})" if "/$defs/" in reference else "the same again"
        case {"const": value}:
            return inline(json.dumps(value, ensure_ascii=False))
        case {"enum": list(values)}:
            return "one of " + ", ".join(inline(json.dumps(each, ensure_ascii=False)) for each in values)
        case {"anyOf": list(parts)} | {"oneOf": list(parts)}:
            return " or ".join(dict.fromkeys(kind(each, page) for each in parts))
        case {"allOf": list(parts)}:
            return " and ".join(kind(each, page) for each in parts)
        case {"prefixItems": list(parts)}:
            return f"list of {', '.join(kind(each, page) for each in parts)}"
        case {"type": "array", "items": items}:
            return f"list of {kind(items, page)}"
        case {"type": "object", "additionalProperties": dict(values)}:
            return f"object of {kind(values, page)}"
        case {"type": list(names)}:
            return " or ".join(names)
        case {"type": str(name)}:
            return name
        case _:
            return "anything"
