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
| `model`        | the facts on a model that TVM imports                                         |
| `case_model`   | the model that a case of `check` is on, which the user names                  |
| `model_script` | a program with TVM and ONNX alone that imports a model                        |
| `torch_script` | the same for a module of PyTorch                                              |
| `model_issue`  | a report on a model as the text of an issue                                   |
| `facts`        | facts that all kinds of reports have, as parts of a text                     |
| `text`         | a report on a program as the text of an issue                                 |
| `steps_text`   | a report on steps as the text of an issue                                     |
"""

from refmlc.oracle.issue import model_issue, steps_text, text
from refmlc.oracle.issue.case_model import finding_of_case
from refmlc.oracle.issue.document import IssueText, as_html, as_markdown
from refmlc.oracle.issue.model import ModelReport, model_report
from refmlc.oracle.issue.report import IssueReport, report_of
from refmlc.oracle.issue.steps import StepReport, steps_report
from refmlc.oracle.issue.subject import IssueSubject, read_subject

__all__ = [
    "AnyReport",
    "IssueReport",
    "IssueSubject",
    "ModelReport",
    "StepReport",
    "finding_of_case",
    "html",
    "issue_text",
    "markdown",
    "model_report",
    "read_subject",
    "report_of",
    "steps_report",
]


AnyReport = IssueReport | StepReport | ModelReport


def issue_text(report: AnyReport, script_name: str = "") -> IssueText:
    """The report as the text of an issue. `script_name`: the file that the script is written to."""
    if isinstance(report, ModelReport):
        return model_issue.issue_text(report, script_name)
    if isinstance(report, StepReport):
        return steps_text.issue_text(report, script_name)
    return text.issue_text(report, script_name)


def markdown(report: AnyReport, script_name: str = "") -> str:
    """The report as Markdown."""
    return as_markdown(issue_text(report, script_name))


def html(report: AnyReport, script_name: str = "") -> str:
    """The report as a page that loads nothing."""
    return as_html(issue_text(report, script_name))
