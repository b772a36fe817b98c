"""The sanitizer: what a program must not do, and what is better not done, found while it runs.

>>> report = refmlc.sanitize.sanitize(module, "main", [a, b, c])
>>> report.verdict, report.counts["RM321"]

`kinds` has the table of what is looked for. Each kind is a detector in a file of its own, a client of the
interpreter's hooks: `Machine(module, hooks=Races(FactTable(module)))` is one alone.
"""

from refmlc.sanitize.kinds import ALL, LINTS
from refmlc.sanitize.report import Finding, Report
from refmlc.sanitize.sanitizer import Sanitizer, sanitize

__all__ = ["ALL", "LINTS", "Finding", "Report", "Sanitizer", "sanitize"]
