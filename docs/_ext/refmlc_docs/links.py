"""Every internal link of the built pages leads to a page and an anchor that exist."""

import re
from collections.abc import Iterator
from functools import cache
from html import unescape
from pathlib import Path
from urllib.parse import unquote

TARGET = re.compile(r"<(?:a|link|img|script|object|source)\b[^>]*?\s(?:href|src|data)=\"([^\"]*)\"")
ANCHOR = re.compile(r"<[a-zA-Z][^>]*?\s(?:id|name)=\"([^\"]+)\"")
OUTSIDE = re.compile(r"[a-z][a-z0-9+.-]*:|//")


def problems(folder: Path) -> Iterator[str]:
    """One line for each link that leads nowhere."""

    @cache
    def anchors(path: Path) -> frozenset[str]:
        return frozenset(unescape(name) for name in ANCHOR.findall(path.read_text(encoding="utf-8")))

    for page in sorted(folder.rglob("*.html")):
        for target in sorted(set(TARGET.findall(page.read_text(encoding="utf-8")))):
            if OUTSIDE.match(target):
                continue
            place, _, anchor = unescape(target).partition("#")
            path = (page.parent / unquote(place.partition("?")[0])).resolve() if place else page
            if not path.is_file():
                yield f"{page.relative_to(folder)}: `{target}` is no page"
            elif anchor and path.suffix == ".html" and unquote(anchor) not in anchors(path):
                yield f"{page.relative_to(folder)}: `{target}` is no place in that page"
