"""Every code refmlc can report, one row each: id, title, clause it follows from, what it means, an example.

`refmlc explain RM304` prints a row. A code never changes its meaning; a withdrawn one stays reserved. A new one is a
row in its file of `codes/`, and is found here under the name of the row.
"""

# ruff: noqa: F403 - the catalogue is all names of its files, so that a new code is one row in one file
from refmlc.diag.codes.code import Code as Code  # noqa: PLC0414 - the way to export a name again
from refmlc.diag.codes.exhausted import *
from refmlc.diag.codes.ill_formed import *
from refmlc.diag.codes.internal import *
from refmlc.diag.codes.malformed import *
from refmlc.diag.codes.mismatch import *
from refmlc.diag.codes.traps import *
from refmlc.diag.codes.undefined import *
from refmlc.diag.codes.unsupported import *

CODES: dict[str, Code] = {
    row.id: row
    for row in sorted((row for row in list(vars().values()) if isinstance(row, Code)), key=lambda row: row.id)
}
