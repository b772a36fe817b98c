"""RM5xx Unsupported: our limit."""

from refmlc.diag.codes.code import Code

UNSUPPORTED_OP = Code(
    "RM501",
    "the operator is not supported",
    "",
    "refmlc does not define the meaning of this operator, or there is no operator of this name. That says nothing "
    "about the program. `LegalizeOps` of TVM turns most operators into TensorIR, which runs.",
)
UNSUPPORTED_INTRINSIC = Code(
    "RM502",
    "the intrinsic is not supported",
    "",
    "refmlc reads and shows this intrinsic, and does not execute it: it belongs to one kind of hardware, or to the "
    "inside of a runtime. That says nothing about the program.",
)
UNSUPPORTED_DTYPE = Code(
    "RM503",
    "the dtype is not supported here",
    "",
    "The operation has no meaning on this dtype in refmlc: arithmetic on bool, for example. TVM refuses most of these "
    "too, or leaves them to the target.",
)
UNSUPPORTED_CONSTRUCT = Code(
    "RM504",
    "the construct is not supported",
    "",
    "refmlc does not define this construct yet, or cannot show that a step which was asked for is legal. The message "
    "names it. That says nothing about the program: it is neither agreement nor a finding.",
)
UNSUPPORTED_DEVICE = Code(
    "RM505",
    "the device is not supported",
    "",
    "refmlc executes on the CPU. Memory and functions of other devices are read and shown only.",
)
