"""The findings of checked files as JUnit XML: a suite for each file, a test case for each function.

| function, file                               | element                                           |
|----------------------------------------------|---------------------------------------------------|
| a function without a finding, or accepted    | a test case that holds nothing                    |
| with findings                                | `failure`: the first as its message, all as text  |
| without calls, or compared with nothing      | `skipped`, with the reason                        |
| a file that cannot be read                   | a test case `file` with an `error`                |
"""

from collections.abc import Sequence
from xml.etree.ElementTree import Element, SubElement

from refmlc.diag.render import render_text
from refmlc.oracle.check.causes import FunctionResult
from refmlc.oracle.check.report import ALONE
from refmlc.oracle.findings.files import CheckedFile, ListedFinding
from refmlc.oracle.findings.xml_text import count_outcomes, document, xml_text


def junit(files: Sequence[CheckedFile]) -> str:
    """The file."""
    root = Element("testsuites", name="refmlc check")
    for file in files:
        suite = SubElement(root, "testsuite", name=xml_text(file.name))
        findings = [*file.findings()]
        for row in () if file.report is None else file.report.rows:
            _case(suite, file, row, [finding for finding in findings if finding.function == row.name])
        if file.failure is not None:
            case = SubElement(suite, "testcase", classname=xml_text(file.name), name="file")
            _outcome(case, "error", file.failure.diagnostic.code.id, file.failure.diagnostic.message, str(file.failure))
        count_outcomes(suite)
    return document(root)


def _case(suite: Element, file: CheckedFile, row: FunctionResult, findings: Sequence[ListedFinding]) -> None:
    case = SubElement(suite, "testcase", classname=xml_text(file.name), name=xml_text(row.name))
    reported = [finding.diagnostic for finding in findings if finding.accepted is None]
    if reported:
        text = "\n\n".join(map(render_text, reported))
        _outcome(case, "failure", reported[0].code.id, reported[0].message, text)
    elif row.problem is not None:
        SubElement(case, "skipped", message=xml_text(f"{row.problem.code.id}: {row.problem.message}"))
    elif not row.compared and not findings:
        SubElement(case, "skipped", message=ALONE if row.executed else "nothing was compared")


def _outcome(case: Element, tag: str, code: str, message: str, text: str) -> None:
    SubElement(case, tag, message=xml_text(f"{code}: {message}"), type=code).text = xml_text(text)
