"""The sanitizer: what a program must not do, and what is better not done, found while it runs.

>>> report = refmlc.observe.sanitize.sanitize(module, "main", [a, b, c])
>>> report.verdict, report.counts["RM321"]

What is looked for; `refmlc explain CODE` says more. *Checked* is checked in every run, by the interpreter and by
guarded C; *watched* is a detector in a file of its own, a client of the interpreter's hooks
(`Machine(module, hooks=Races(FactTable(module)))` is one alone); a *lint* is watched for too and does not end the run.

| code         | finding                                                                                   | how     |
|--------------|-------------------------------------------------------------------------------------------|---------|
| RM304        | out of bounds: an element, a lane, a region of `match_buffer`, memory behind a pointer    | checked |
| RM305        | uninitialised read; with the sanitizer, where it comes from and who should have written   | checked |
| RM306        | integer overflow, of indices too; the least value divided by -1                           | checked |
| RM307, RM308 | division by zero; a shift out of range                                                    | checked |
| RM309, RM311 | a float without integer; a value on which an operation is not defined                     | checked |
| RM310, RM401 | a broken `T.assume`; a failed assertion                                                   | checked |
| RM312        | a binding overruns the domain of its axis                                                 | checked |
| RM313, RM314 | a pointer to no such data; a buffer that is not as declared                               | checked |
| RM315, RM316 | a negative extent; a killed tensor                                                        | checked |
| RM317        | a type that lies: kind, shape, dtype, symbolic dimension                                  | checked |
| RM318        | `T.reads` or `T.writes` too small, of opaque blocks too                                   | watched |
| RM319        | instances along a spatial axis depend on each other: written twice, or really a reduction | watched |
| RM320        | a term of a reduction counted twice, an init that runs again                              | watched |
| RM321        | a race in a parallel, vectorized or thread-bound loop, between two barriers of a block    | watched |
| RM322        | arguments overlap that `noalias` says apart                                               | watched |
| RM323        | an effect in dataflow: a called function writes to an input                               | watched |
| RM324        | a called function leaves parts of its output unwritten                                    | lint    |
| RM325        | a domain is not covered, a reduction lacks terms                                          | lint    |
| RM326        | a reduction without `T.init` starts from a stale value                                    | lint    |
| RM327        | threads of a block wait at different barriers, or one waits in vain                       | checked |
| RM328        | a tensor is used by its old name after a call in place consumed it                        | watched |

`kinds` and `without` switch them: a watched kind that is off is not looked for. A checked one that is off still ends
the run, as there is nothing to go on with; it is not reported then, and the verdict is `unknown`.
"""

from refmlc.observe.sanitize.kinds import ALL, LINTS
from refmlc.observe.sanitize.report import Finding, Report
from refmlc.observe.sanitize.sanitizer import Sanitizer, sanitize

__all__ = ["ALL", "LINTS", "Finding", "Report", "Sanitizer", "sanitize"]
