"""What Sphinx calls: the writers of pages, the roles of the book, the source pages, the checks at the end."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from docutils import nodes
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer
from sphinx.util import logging

from refmlc_docs import docstrings, links
from refmlc_docs.citations import citations, source
from refmlc_docs.writers import WRITE, text_for

if TYPE_CHECKING:
    from docutils.parsers.rst.states import Inliner
    from sphinx.application import Sphinx

LOG = logging.getLogger(__name__)


def connect(app: "Sphinx") -> None:
    """Register everything."""
    app.connect("source-read", write)
    app.connect("html-collect-pages", source_pages)
    app.connect("autodoc-process-docstring", docstrings.process)
    for part in ("description", "epilog"):
        app.connect(f"sphinx-click-process-{part}", docstrings.process_help)
    for part in ("options", "arguments"):
        app.connect(f"sphinx-click-process-{part}", docstrings.process_options)
    app.connect("missing-reference", docstrings.public_reference)
    app.connect("build-finished", check_links)
    for name in ("clause", "case", "count", "source"):
        app.add_role(name, _span(name))
    app.add_role("place", place)


def write(app: "Sphinx", docname: str, text: list[str]) -> None:
    """Put the Markdown of the writers in place of the lines that name them."""

    def written(match: re.Match[str]) -> str:
        app.env.note_reread()
        if match["name"] == "pages":
            return pages(app, docname)
        return text_for(match)

    if docname:
        text[0] = WRITE.sub(written, text[0])


def pages(app: "Sphinx", docname: str) -> str:
    """The other pages of the folder of `docname`, by name. A glob of Sphinx warns of a folder that has none yet."""
    folder = docname.rpartition("/")[0]
    names = sorted(name for name in app.env.found_docs if name.rpartition("/")[0] == folder and name != docname)
    return "\n".join(["```{toctree}", ":maxdepth: 1", "", *(f"/{name}" for name in names), "```"])


def _span(name: str) -> Callable[..., tuple[list[nodes.Node], list[nodes.system_message]]]:
    """A role whose text is shown in the style `name`."""

    def role(
        _role: str,
        rawtext: str,
        text: str,
        _line: int,
        _inliner: "Inliner",
        _options: object = None,
        _content: object = None,
    ) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        return [nodes.inline(rawtext, text, classes=[f"refmlc-{name}"])], []

    return role


def place(
    _role: str,
    rawtext: str,
    text: str,
    _line: int,
    inliner: "Inliner",
    _options: object = None,
    _content: object = None,
) -> tuple[list[nodes.Node], list[nodes.system_message]]:
    """A role for `FILE:LINE NAME`: a link to the page of the source."""
    where, _, name = text.partition(" ")
    file, _, line = where.partition(":")
    app = inliner.document.settings.env.app
    docname = inliner.document.settings.env.docname
    up = "../" * docname.count("/")
    if app.builder.name == "dirhtml":
        up += "../"
    target = nodes.reference(rawtext, f"{file}:{line}", refuri=f"{up}{page_of(file)}.html#line-{line}", internal=True)
    tail = [nodes.Text(" in "), nodes.literal(name, name)] if name else []
    return [target, *tail], []


def page_of(file: str) -> str:
    """The page of a file of the package."""
    return f"source/{file.removesuffix('.py')}"


def source_pages(app: "Sphinx") -> Iterator[tuple[str, dict[str, Any], str]]:
    """A page for each file that cites a clause, with a place to link to for each line."""
    del app
    formatter = HtmlFormatter(linenos="inline", lineanchors="line", anchorlinenos=True, cssclass="highlight")
    for file in sorted({row.file for rows in citations().values() for row in rows}):
        body = f"<h1>{file}</h1>\n{highlight(source(file), PythonLexer(), formatter)}"
        yield page_of(file), {"parents": [], "title": file, "body": body}, "page.html"


def check_links(app: "Sphinx", failure: Exception | None) -> None:
    """Warn of each internal link that leads nowhere. `-W` makes that an error."""
    if failure is None and app.builder.format == "html":
        for problem in links.problems(Path(app.outdir)):
            LOG.warning("%s", problem)
