"""The page of a trace: one self-contained HTML file, which works from a file and needs no network.

Text from the program is data in the page, and becomes text nodes there; `refmlc.lang.drawing` escapes the pictures of
graphs. A policy in the head permits the one script of the page by its hash, and no request.
Needs the extra `[report]`.
"""

import base64
import hashlib
import json
from html import escape
from importlib.metadata import version
from importlib.resources import files

import jinja2
from markupsafe import Markup
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer
from pygments.token import STANDARD_TYPES

from refmlc.debug.trace.events import Trace
from refmlc.debug.trace.trace_json import as_data

SCRIPTS = ("events", "cells", "words", "source", "tensors", "graph", "why", "threads", "moments")
LIGHT, DARK = "default", "github-dark"
HEIGHT = 720


def page(trace: Trace) -> str:
    """The page as HTML."""
    script = _script()
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    data = as_data(trace) | {"runs": [_runs(text) for text in trace.sources.values()]}
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True)
    return environment.from_string(_file("trace.html")).render(
        policy=f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'",
        function=trace.function,
        version=version("refmlc"),
        total=trace.total,
        sampling=trace.sampling_note(),
        notes=trace.notes,
        failure=None if trace.failure is None else data["failure"],
        graphs={name: Markup(svg) for name, svg in trace.graphs.items()},  # noqa: S704 - escaped by refmlc.lang.drawing
        css=Markup(_file("trace.css")),  # noqa: S704 - a file of refmlc
        light_style=Markup(_style(LIGHT)),  # noqa: S704 - rules of Pygments
        dark_style=Markup(_style(DARK)),  # noqa: S704 - the same
        script=Markup(script),  # noqa: S704 - a file of refmlc
        data=Markup(text.replace("<", "\\u003c").replace("\u2028", "\\u2028")),  # noqa: S704 - no tag is left in it
    )


def framed(trace: Trace) -> str:
    """The page in a frame, for notebooks. The frame may run its script and nothing else."""
    return f'<iframe sandbox="allow-scripts" width="100%" height="{HEIGHT}" srcdoc="{escape(page(trace))}"></iframe>'


def _runs(text: str) -> list[str | int]:
    """Pygments classes and lengths in turn; the page inserts the program as text only."""
    runs: list[tuple[str, int]] = []
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    for kind, value in PythonLexer(stripnl=False, ensurenl=False).get_tokens(lines):
        name = STANDARD_TYPES.get(kind, "")
        if runs and (runs[-1][0] == name or not value.strip()):
            runs[-1] = (runs[-1][0], runs[-1][1] + len(value))
        else:
            runs.append((name, len(value)))
    return [part for run in runs for part in run]


def _style(name: str) -> str:
    rules = HtmlFormatter(style=name, nobackground=True).get_style_defs(".code").split("\n")
    return "\n".join(rule for rule in rules if rule.startswith(".code ."))


def _script() -> str:
    """All scripts as one function, which defines no global names."""
    parts = "".join(_file(f"{name}.js") for name in SCRIPTS)
    return f'"use strict";\n(() => {{\n{parts}}})();\n'


def _file(name: str) -> str:
    return (files("refmlc.debug.trace") / "templates" / name).read_text(encoding="utf-8")
