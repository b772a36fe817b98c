"""A finding as a report that a maintainer acts on: small, with a script that needs nothing of refmlc.

| file         | holds                                                                           |
|--------------|---------------------------------------------------------------------------------|
| `subject`    | what a file records: a case of `check`, a finding of a campaign                 |
| `report`     | the facts: reduction, pass, neighbours, versions, clauses, known rows           |
| `neighbours` | programs that differ in one size, dtype or option, and what becomes of them     |
| `versions`   | which versions are affected, in few runs                                        |
| `script`     | a program with TVM alone that prints the difference                             |
| `text`       | the report as Markdown, and as HTML                                             |
"""

from refmlc.oracle.issue.report import IssueReport, report_of
from refmlc.oracle.issue.subject import IssueSubject, read_subject
from refmlc.oracle.issue.text import html, markdown

__all__ = ["IssueReport", "IssueSubject", "html", "markdown", "read_subject", "report_of"]
