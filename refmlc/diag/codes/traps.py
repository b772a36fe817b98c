"""RM4xx Trap: the program stops itself."""

from refmlc.diag.codes.code import Code

ASSERT_FAILED = Code(
    "RM401",
    "an assertion failed",
    "TIR-202",
    "The condition of an assertion is false. The program stops here, with the message that it gives: its author asks "
    "for other arguments.",
)
NO_PACKED_FUNC = Code(
    "RM402",
    "the packed function is not registered",
    "TIR-341",
    "The program calls a function from outside by a name that nobody registered. `refmlc.register_func(name, "
    "function)` registers one; Python functions get tensors, and write into the last ones when they are called by "
    "`call_dps_packed`.",
)
PACKED_RAISED = Code(
    "RM403",
    "the packed function raised",
    "RLX-132",
    "A function from outside ended in an exception of its own. The message names both; the exception is its "
    "`__cause__`.",
)
PACKED_RESULT = Code(
    "RM404",
    "the packed function returned what it must not",
    "RLX-132",
    "A function from outside returned something that has no place in the program: an object that is no tensor, "
    "shape, number or string, or one of another type than declared.",
)
CAST_FAILED = Code(
    "RM405",
    "a match_cast failed",
    "RLX-122",
    "`R.match_cast` checks rank, dtype and extents when the program runs. The value does not have the type that it is "
    "cast to.",
)
TVM_THROW = Code(
    "RM406",
    "the program threw an error",
    "TIR-326",
    "The program reached `T.tvm_throw_last_error`, by which lowered code passes on a failure.",
)
