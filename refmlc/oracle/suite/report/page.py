"""The page of a run: one HTML file that needs nothing else, works from a file, and asks for nothing over the network.

Everything that cases, modules and answers say is data in the page, and becomes text nodes there: nothing of it is ever
read as HTML or as a script. A policy in the head permits the one script of the page by its hash, and no request.
Needs the extra `[report]`.
"""

import base64
import hashlib
import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from importlib.resources import files

import jinja2
from markupsafe import Markup

from refmlc.lang.spec import clauses
from refmlc.oracle.evidence.listing import DARK, LIGHT, style
from refmlc.oracle.evidence.numbers import Data
from refmlc.oracle.suite.report.page_case import case_data, module_data
from refmlc.oracle.suite.report.text import summary
from refmlc.oracle.suite.result import NOT_SCORED, Report
from refmlc.oracle.suite.suite import Suite
from refmlc.oracle.suite.verdict import FAULTS, GRAVEST

AREAS = {
    "NUM": "Numbers",
    "TIR": "TensorIR",
    "RLX": "Relax",
    "LIB": "Operators",
    "NAT": "C",
    "SCR": "Texts",
    "": "Without a clause",
}
VERDICTS = (*(verdict.value for verdict in GRAVEST), NOT_SCORED)


def page(suite: Suite, reports: Sequence[Report]) -> str:
    """The page as a text."""
    script = _file("page.js")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    data = json.dumps(page_data(suite, reports), ensure_ascii=False, separators=(",", ":"))
    return _template().render(
        policy=f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'",
        suite=suite.version,
        count=len({result.id for report in reports for result in report.results}),
        reports=reports,
        names=short_names(reports),
        verdicts=VERDICTS,
        faults=[verdict.value for verdict in FAULTS],
        summary=summary,
        version=version("refmlc"),
        css=Markup(_file("page.css")),  # noqa: S704 - a file of refmlc
        light_style=Markup(style(LIGHT)),  # noqa: S704 - rules of Pygments
        dark_style=Markup(style(DARK)),  # noqa: S704 - the same
        script=Markup(script),  # noqa: S704 - a file of refmlc
        data=Markup(data.replace("<", "\\u003c").replace("\u2028", "\\u2028")),  # noqa: S704 - no tag is left in it
    )


def page_data(suite: Suite, reports: Sequence[Report]) -> dict[str, object]:
    """The data of the page's script."""
    results = [{result.id: result for result in report.results} for report in reports]
    there = [case for case in suite.cases if any(case.id in each for each in results)]
    modules = {text: number for number, text in enumerate(dict.fromkeys(case.text for case in there))}
    cases = [case_data(case, modules[case.text], [each.get(case.id) for each in results], reports) for case in there]
    names = short_names(reports)
    return {
        "verdicts": VERDICTS,
        "implementations": [f"{name} {report.version}".rstrip() for name, report in zip(names, reports, strict=True)],
        "names": names,
        "areas": AREAS,
        "clauses": _clauses([name for case in there for name in case.clauses]),
        "modules": [module_data(text) for text in modules],
        "cases": cases,
    }


def short_names(reports: Sequence[Report]) -> list[str]:
    """Short names of the implementations: without folders of programs, unless two would be the same."""
    short = [_short(report.implementation) for report in reports]
    twice = Counter((name, report.version) for name, report in zip(short, reports, strict=True))
    return [
        name if twice[name, report.version] == 1 else report.implementation
        for name, report in zip(short, reports, strict=True)
    ]


def _short(name: str) -> str:
    """`tvm` of `tvm:/a/bin/python`; `cmd:python mine.py` of `cmd:/a/bin/python /b/mine.py`."""
    if name.startswith("cmd:"):
        return re.sub(r"(?:(?<=\s)|(?<=^cmd:))/\S*/", "", name)
    return re.sub(r"^(\w+):/[^,]*", r"\1", name)


def _clauses(names: Sequence[str]) -> Mapping[str, Data]:
    """Title and text of the clauses that are named."""
    rows = clauses()
    there = sorted(set(names) & rows.keys())
    return {name: {"title": rows[name].title, "text": rows[name].text} for name in there}


def _template() -> jinja2.Template:
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True)
    return environment.from_string(_file("page.html"))


def _file(name: str) -> str:
    return (files("refmlc.oracle.suite.report") / "templates" / name).read_text(encoding="utf-8")
