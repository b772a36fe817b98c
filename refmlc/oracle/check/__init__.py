"""`refmlc.check`: every function of a module examined on several calls, as the command of this name does.

>>> report = refmlc.check("gemm.py", implementations=["native", "tvm:/path/to/python"])
>>> print(report)
>>> assert report.ok, report

| file      | holds                                                                                      |
|-----------|--------------------------------------------------------------------------------------------|
| `program` | a function with its calls: arguments that are given, the rest made; branches not reached      |
| `purposes`| purposes × ways, and why there are calls of each                                           |
| `model`   | a model in a file: its framework as a witness, findings on importers                          |
| `run`     | `check`, and the same function by function                                                |
| `proofs`  | what is proved of variants, and of loops in place of threads                               |
| `causes`  | the result of a function; findings of several calls that are one fault                     |
| `suppressions`, `baseline` | findings that are accepted with a reason: by a comment, by a file         |
| `report`  | the table, remarks, findings and summary, as text, HTML and data                             |
"""

from refmlc.oracle.check.report import CheckReport
from refmlc.oracle.check.run import check

__all__ = ["CheckReport", "check"]
