"""RM9xx Internal: a bug in refmlc."""

from refmlc.diag.codes.code import Code

BUG = Code(
    "RM901",
    "refmlc has a bug",
    "",
    "An invariant of refmlc is violated. This is a bug in refmlc, not in the program; please report it with the "
    "program.",
)

UNSAFE_C = Code(
    "RM902",
    "generated C contains unexpected text",
    "NAT-008",
    "The C that refmlc generated from the program contains a word, a character or a line that its generators never "
    "write. refmlc does not compile it, because it could do anything. This is a bug in refmlc, and perhaps an attack "
    "by the author of the program; please report it with the program.",
)

PROOF_CONTRADICTED = Code(
    "RM903",
    "a call contradicts a proof",
    "",
    "The prover says that two programs mean the same for all arguments, or that one of them is undefined for all, and "
    "the interpreter finds arguments for which that is false. One of the two is wrong. This is a bug in refmlc; please "
    "report it with both programs.",
)
