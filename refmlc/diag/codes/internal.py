"""RM9xx Internal: our bug."""

from refmlc.diag.codes.code import Code

BUG = Code(
    "RM901",
    "refmlc has a bug",
    "",
    "Something that always holds in refmlc does not hold. It is a bug of refmlc, and not of the program; please "
    "report it with the text.",
)
