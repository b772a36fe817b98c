"""The page: one HTML file with its script, which asks its own server and nobody else.

Text from modules, findings and examples is data in the page or in answers, and becomes text nodes there; pictures of
graphs (escaped by `refmlc.lang.drawing`) are shown as images, traces in a frame of their own. A policy permits the one
script of the page by its hash. Needs the extra `[report]`.
"""

import base64
import hashlib
import json
from dataclasses import dataclass
from importlib.metadata import version
from importlib.resources import files

import jinja2
from markupsafe import Markup

from refmlc.cli.playground.examples import EXAMPLES


@dataclass(frozen=True)
class PlayPage:
    """The page as HTML, and the policy that it is sent with."""

    text: str
    policy: str


def page() -> PlayPage:
    """The page."""
    script = _file("page.js")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = (
        f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; connect-src 'self'; "
        "img-src data:; frame-src 'self'; form-action 'none'; base-uri 'none'"
    )
    data = {"examples": [{"title": example.title, "text": example.text()} for example in EXAMPLES]}
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True)
    html = environment.from_string(_file("page.html")).render(
        version=version("refmlc"),
        css=Markup(_file("page.css")),  # noqa: S704 - a file of refmlc
        script=Markup(script),  # noqa: S704 - a file of refmlc
        data=Markup(text.replace("<", "\\u003c").replace("\u2028", "\\u2028")),  # noqa: S704 - no tag is left in it
    )
    return PlayPage(html, policy)


def _file(name: str) -> str:
    return (files("refmlc.cli.playground") / "templates" / name).read_text(encoding="utf-8")
