"""The findings of checked files in the forms that other tools read.

| file          | holds                                                          |
|---------------|----------------------------------------------------------------|
| `files`       | a checked file; its findings in one list, with places and keys |
| `sarif`       | SARIF 2.1.0: code scanning, editors                            |
| `junit`       | JUnit XML: test results                                        |
| `annotations` | lines of a pull request, as GitHub Actions reads them          |
| `xml_text`    | what all JUnit files have: clean text, counts                  |
"""

from refmlc.oracle.findings.annotations import annotations
from refmlc.oracle.findings.files import CheckedFile
from refmlc.oracle.findings.junit import junit
from refmlc.oracle.findings.sarif import sarif

__all__ = ["CheckedFile", "annotations", "junit", "sarif"]
