"""A finding as a report that a maintainer acts on: small, with a script that needs nothing of refmlc.

| file           | holds                                                                         |
|----------------|-------------------------------------------------------------------------------|
| `subject`      | what a file records: a case of `check`, a finding of a campaign               |
| `report`       | the facts on a program: reduction, pass, neighbours, versions, clauses, rows  |
| `steps`        | the facts on steps that TVM applies to a program                              |
| `neighbours`   | programs that differ in one size, dtype or option, and what becomes of them   |
| `versions`     | which versions are affected, in few runs                                      |
| `script`       | a program with TVM alone that prints the difference                           |
| `steps_script` | a program with TVM alone that applies steps and prints the difference         |
| `document`     | the text of an issue, as Markdown and as HTML                                 |
| `facts`        | facts that both kinds of reports have, as parts of a text                     |
| `text`         | a report on a program as the text of an issue                                 |
| `steps_text`   | a report on steps as the text of an issue                                     |
"""

from refmlc.oracle.issue import steps_text, text
from refmlc.oracle.issue.document import IssueText, as_html, as_markdown
from refmlc.oracle.issue.report import IssueReport, report_of
from refmlc.oracle.issue.steps import StepReport, steps_report
from refmlc.oracle.issue.subject import IssueSubject, read_subject

__all__ = [
    "IssueReport",
    "IssueSubject",
    "StepReport",
    "html",
    "issue_text",
    "markdown",
    "read_subject",
    "report_of",
    "steps_report",
]


def issue_text(report: IssueReport | StepReport, script_name: str = "") -> IssueText:
    """The report as the text of an issue. `script_name`: the file that the script is written to."""
    if isinstance(report, StepReport):
        return steps_text.issue_text(report, script_name)
    return text.issue_text(report, script_name)


def markdown(report: IssueReport | StepReport, script_name: str = "") -> str:
    """The report as Markdown."""
    return as_markdown(issue_text(report, script_name))


def html(report: IssueReport | StepReport, script_name: str = "") -> str:
    """The report as a page that loads nothing."""
    return as_html(issue_text(report, script_name))
