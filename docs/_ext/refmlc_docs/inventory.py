"""The names of other projects that the pages refer to, as inventories for intersphinx.

`docs/inventories.toml` has a table for each project: its address, and a page for each name.
"""

import tomllib
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import cast

from refmlc_docs.citations import ROOT

LISTED = ROOT / "docs" / "inventories.toml"
ROLES = {"class": "py:class", "function": "py:function", "module": "py:module", "exception": "py:exception"}


def write_inventories(folder: Path, *, online: bool) -> Mapping[str, tuple[str, str | None]]:
    """The value of `intersphinx_mapping`; the inventories are written into `folder`, or fetched where `online`."""
    folder.mkdir(parents=True, exist_ok=True)
    mapping: dict[str, tuple[str, str | None]] = {}
    for project, table in tomllib.loads(LISTED.read_text(encoding="utf-8")).items():
        place = folder / f"{project}.inv"
        place.write_bytes(inventory(project, table))
        mapping[project] = (table["address"], None if online else str(place))
    return mapping


def inventory(project: str, table: Mapping[str, object]) -> bytes:
    """An inventory of Sphinx, version 2: a head in plain text, then the compressed lines."""
    head = f"# Sphinx inventory version 2\n# Project: {project}\n# Version: \n"
    head += "# The remainder of this file is compressed using zlib.\n"
    lines = []
    for kind, role in ROLES.items():
        rows = cast("Mapping[str, str]", table.get(kind, {}))
        lines += [f"{name} {role} 1 {page} -\n" for name, page in rows.items()]
    return head.encode() + zlib.compress("".join(lines).encode())
