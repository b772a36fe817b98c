"""RM5xx Unsupported: a limit of refmlc."""

from refmlc.diag.codes.code import Code, advice, instead

UNSUPPORTED_OP = Code(
    "RM501",
    "the operator is not supported",
    "",
    "refmlc does not define the meaning of this operator, or no operator has this name. The program may be "
    "correct. `LegalizeOps` of TVM turns most operators into TensorIR, which runs.",
    advice(
        "y = R.ccl.allreduce(x)",
        """It communicates with other workers, and refmlc executes only one. Check the functions without it
(`refmlc check FILE --func NAME`), or the module after TVM's `LegalizeOps`. If the message says that no operator has
this name, check the spelling.""",
    ),
)
UNSUPPORTED_INTRINSIC = Code(
    "RM502",
    "the intrinsic is not supported",
    "",
    "refmlc reads and shows this intrinsic, and does not execute it: it belongs to one kind of hardware, or to the "
    "internals of a runtime. That says nothing about the program.",
    advice(
        "T.tvm_warp_shuffle(mask, A[0], 0, 32, 32)",
        "It belongs to one kind of hardware. Check the function as it is before it is lowered for that hardware.",
    ),
)
UNSUPPORTED_DTYPE = Code(
    "RM503",
    "the dtype is not supported here",
    "",
    "The operation has no meaning on this dtype in refmlc: arithmetic on bool, for example. TVM refuses most of these "
    "too, or leaves them to the target.",
    instead(
        "T.max(A[0] > 0.0, B[0] > 0.0)",
        "T.Or(A[0] > 0.0, B[0] > 0.0)",
    ),
)
UNSUPPORTED_CONSTRUCT = Code(
    "RM504",
    "the construct is not supported",
    "",
    "refmlc does not define this construct yet, or cannot prove that a requested step is legal. The message "
    "names it. This is neither agreement nor a finding.",
    advice(
        'x: R.DTensor((8, 8), "float32", "mesh[0]", "S[0]")',
        "It places a tensor on several devices. Check the functions without it: `refmlc check FILE --func NAME`.",
    ),
)
UNSUPPORTED_DEVICE = Code(
    "RM505",
    "the device is not supported",
    "",
    "refmlc executes on the CPU. Memory and functions of other devices are read and shown only.",
    instead(
        'vm["main"](torch.ones(4, device="cuda"))',
        'vm["main"](torch.ones(4))',
    ),
)
