"""The writers: what a page names by `<!-- write NAME ARGUMENTS -->` on a line of its own."""

import re
from collections.abc import Callable, Mapping

from refmlc_docs import book, codes, commands, documents, grammar, instructions, schemas

WRITE = re.compile(r"^<!-- write (?P<name>[\w-]+)(?P<arguments>.*?) -->$", re.MULTILINE)
WRITERS: Mapping[str, Callable[..., str]] = {
    "clauses": book.chapter,
    "clause-index": book.index,
    "codes": codes.kind,
    "commands": commands.group,
    "document": documents.document,
    "grammar": grammar.grammar,
    "ptx-forms": instructions.executed_forms,
    "ptx-elsewhere": instructions.executed_elsewhere,
    "ptx-missing": instructions.missing_forms,
    "schema": schemas.schema,
    "tile-operators": book.tile_operators,
}


def text_for(match: re.Match[str]) -> str:
    """The Markdown of the writer that `match` names."""
    return WRITERS[match["name"]](*match["arguments"].split())
