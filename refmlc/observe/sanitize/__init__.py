"""The sanitizer: what a program must not do, and what is better not done, found while it runs.

>>> report = refmlc.observe.sanitize.sanitize(module, "main", [a, b, c])
>>> report.verdict, report.counts["RM321"]

`refmlc explain` lists the codes, RM3xx; `refmlc explain CODE` says more on one. Each is one of three kinds:

| kind      | codes             | looked for                                                                          |
|-----------|-------------------|-------------------------------------------------------------------------------------|
| *checked* | `kinds.CHECKED`   | in every run, by the interpreter and guarded C: accesses, arithmetic, declarations  |
| *watched* | `ALL` but `LINTS` | by a detector in a file of its own, a client of the interpreter's hooks             |
| *lint*    | `LINTS`           | by a detector too; the run goes on                                                  |

`Machine(module, hooks=Races(FactTable(module)))` is one detector alone. RM305 is checked; its detector (`origin`)
adds where the element should have been written.

`kinds` and `without` switch them: a watched kind that is off is not looked for. A checked one that is off still ends
the run, as there is nothing to go on with; it is not reported then, and the verdict is `unknown`.
"""

from refmlc.observe.sanitize.kinds import ALL, LINTS
from refmlc.observe.sanitize.report import Finding, Report
from refmlc.observe.sanitize.sanitizer import Sanitizer, sanitize

__all__ = ["ALL", "LINTS", "Finding", "Report", "Sanitizer", "sanitize"]
