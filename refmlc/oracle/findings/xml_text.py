"""What all JUnit files of refmlc have: text that XML 1.0 can hold, counts of outcomes, the head."""

import re
from xml.etree.ElementTree import Element, indent, tostring

NO_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
COUNTED = (("tests", "testcase"), ("failures", "failure"), ("errors", "error"), ("skipped", "skipped"))


def xml_text(text: str) -> str:
    """The text; characters that XML 1.0 does not have are replaced."""
    return NO_XML.sub("\ufffd", text)


def count_outcomes(suite: Element) -> None:
    """Set the numbers of test cases, failures, errors and skipped ones of a suite."""
    for name, tag in COUNTED:
        suite.set(name, str(sum(1 for _ in suite.iter(tag))))


def document(root: Element) -> str:
    """The whole file."""
    indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(root, encoding="unicode") + "\n"
