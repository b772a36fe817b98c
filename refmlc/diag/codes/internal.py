"""RM9xx Internal: our bug."""

from refmlc.diag.codes.code import Code

BUG = Code(
    "RM901",
    "refmlc has a bug",
    "",
    "Something that always holds in refmlc does not hold. It is a bug of refmlc, and not of the program; please "
    "report it with the text.",
)

UNSAFE_C = Code(
    "RM902",
    "generated C holds what no generator writes",
    "NAT-008",
    "The C that refmlc made of the program holds a word, a character or a line that its generators do not write. It is "
    "not compiled: it could do anything. It is a bug of refmlc, and perhaps an attack by whoever wrote the program; "
    "please report it with the text.",
)
