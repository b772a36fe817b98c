"""The sanitizer: undefined behaviour and lints of a program, found while it runs.

>>> report = refmlc.observe.sanitize.sanitize(module, "main", [a, b, c])
>>> report.verdict, report.counts["RM321"]

`refmlc explain` lists the codes, RM3xx; `refmlc explain CODE` says more on one. Each is one of three kinds:

| kind      | codes             | found                                                                               |
|-----------|-------------------|-------------------------------------------------------------------------------------|
| *checked* | `kinds.CHECKED`   | in every run, by the interpreter and guarded C: accesses, arithmetic, declarations  |
| *watched* | `ALL` but `LINTS` | by a detector in a file of its own, a client of the interpreter's hooks             |
| *lint*    | `LINTS`           | by a detector too; the run continues                                                |

`Machine(module, hooks=Races(FactTable(module)))` is one detector alone. RM305 is checked; its detector (`origin`)
adds the store that should have written the element.

`kinds` and `without` switch them: a watched kind that is off is not checked. A checked one that is off still ends the
run, which cannot continue; it is not reported, and the verdict is `unknown`.
"""

from refmlc.observe.sanitize.kinds import ALL, LINTS
from refmlc.observe.sanitize.report import Finding, Report
from refmlc.observe.sanitize.sanitizer import Sanitizer, sanitize

__all__ = ["ALL", "LINTS", "Finding", "Report", "Sanitizer", "sanitize"]
