"""Reports as JUnit XML: a suite for each implementation, a test case for each case.

| verdict                                                          | element                                     |
|------------------------------------------------------------------|---------------------------------------------|
| pass, permitted                                                  | a test case that holds nothing              |
| crash, timeout                                                   | `error`                                     |
| fail, missed-trap, over-strict, and what a row expects otherwise | `failure`                                   |
| known, unsupported, not scored                                   | `skipped`, with the reason                  |
| a problem of the run                                             | a test case `expectations` with a `failure` |

Characters that XML 1.0 does not have are replaced.
"""

from collections.abc import Sequence
from xml.etree.ElementTree import Element, SubElement

from refmlc.oracle.findings.xml_text import count_outcomes, document, xml_text
from refmlc.oracle.suite.report.text import case_lines
from refmlc.oracle.suite.result import CaseResult, CaseVerdict, SuiteReport

ERRORS = (CaseVerdict.CRASH, CaseVerdict.TIMEOUT)
SKIPPED = (CaseVerdict.KNOWN, CaseVerdict.UNSUPPORTED, None)


def junit(reports: Sequence[SuiteReport]) -> str:
    root = Element("testsuites", name="refmlc conform")
    for report in reports:
        _suite(root, report)
    return document(root)


def _suite(root: Element, report: SuiteReport) -> None:
    suite = SubElement(root, "testsuite", name=xml_text(f"{report.implementation} {report.version}".rstrip()))
    suite.set("time", f"{report.seconds:.3f}")
    for result in report.results:
        _case(suite, report, result)
    for problem in _problems(report):
        case = SubElement(suite, "testcase", classname="expectations", name=xml_text(problem), time="0.000")
        SubElement(case, "failure", message=xml_text(problem), type="expectations")
    count_outcomes(suite)


def _problems(report: SuiteReport) -> list[str]:
    return [*report.problems, *(["the run was interrupted"] if report.interrupted else [])]


def _case(suite: Element, report: SuiteReport, result: CaseResult) -> None:
    area, _, name = result.id.partition(".")
    case = SubElement(
        suite, "testcase", classname=xml_text(area), name=xml_text(name or area), time=f"{result.seconds:.4f}"
    )
    verdict = result.verdict
    if not result.expected:
        tag = "error" if verdict in ERRORS else "failure"
        element = SubElement(case, tag, message=xml_text(result.unexpected or result.why), type=_word(verdict))
        element.text = xml_text("\n".join(case_lines(result)))
    elif verdict in SKIPPED:
        reason = f"{result.known}: {report.reasons.get(result.known, '')}" if result.known else result.why
        SubElement(case, "skipped", message=xml_text(f"{_word(verdict)}: {reason}".rstrip(": ")))


def _word(verdict: CaseVerdict | None) -> str:
    return "not scored" if verdict is None else verdict.value
