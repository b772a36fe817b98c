"""Documents of other folders as pages: their links lead to pages here, or become code where there is no page."""

import re
from collections.abc import Mapping

from refmlc_docs.citations import ROOT
from refmlc_docs.markdown import prose

PAGES: Mapping[str, str] = {
    "conformance/FINDINGS.md": "/reference/findings.md",
    "conformance/README.md": "/reference/suite.md",
    "conformance/adapters/PROTOCOL.md": "/reference/protocol.md",
    "conformance/adapters/README.md": "/reference/implementation.md",
    "conformance/known/README.md": "/reference/deviations.md",
    "refmlc/debug/dap/PROTOCOL.md": "/reference/dap.md",
}
"""Documents that stand elsewhere in the repository, and the pages that show them."""

LINK = re.compile(r"\[([^\]\n]+)\]\(([^)\s]+)\)")
DROPPED = re.compile(r"[^\w\- ]")


def document(path: str) -> str:
    """The document at `path` of the repository, as a page."""
    text = (ROOT / path).read_text(encoding="utf-8")
    return LINK.sub(lambda match: _link(path, match[1], match[2]), text)


def _link(path: str, text: str, target: str) -> str:
    """A link of the document `path`, from its page."""
    if target.startswith(("#", "https:", "http:")):
        return f"[{text}]({target})"
    place, _, anchor = target.partition("#")
    parts: list[str] = []
    for part in [*path.split("/")[:-1], *place.split("/")]:
        if part == "..":
            parts.pop()
        else:
            parts.append(part)
    page = PAGES.get("/".join(parts))
    return f"[{text}]({page}{'#' if anchor else ''}{anchor})" if page else prose(text)


def heading_anchor(row: Mapping[str, object]) -> str:
    """The anchor of a deviation on the page of findings: what is made of its heading there."""
    text = f"{row['id']}: {row['title']}"
    return DROPPED.sub("", text.lower()).replace(" ", "-")
