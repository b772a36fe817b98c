"""RM4xx Trap: the program stops itself."""

from refmlc.diag.codes.code import Code, advice, instead

ASSERT_FAILED = Code(
    "RM401",
    "an assertion failed",
    "TIR-202",
    "The condition of an assertion is false. The program stops here with the message of the assertion: its "
    "arguments do not meet a requirement of its author.",
    instead(
        'vm["f"](numpy.ones(5, "float32"))  # f begins with: assert n == 4, "n is 4"',
        'vm["f"](numpy.ones(4, "float32"))',
    ),
)
NO_PACKED_FUNC = Code(
    "RM402",
    "the packed function is not registered",
    "TIR-341",
    "The program calls an external function by a name that nobody registered. `refmlc.register_func(name, "
    "function)` registers one; Python functions get tensors, and write into the last ones when they are called by "
    "`call_dps_packed`.",
    instead(
        'vm["main"](x)  # main calls "env.relu"',
        'refmlc.register_func("env.relu", relu)\nvm = refmlc.VirtualMachine(ex)\nvm["main"](x)',
    ),
)
PACKED_RAISED = Code(
    "RM403",
    "the packed function raised",
    "RLX-132",
    "An external function ended in an exception of its own. The message names both; the exception is its `__cause__`.",
    instead(
        "def relu(x, out):\n    numpy.maximum(x, 0, out=out)  # tensors are not arrays: TypeError",
        "def relu(x, out):\n    numpy.maximum(x.numpy(), 0, out=out.numpy())",
    ),
)
PACKED_RESULT = Code(
    "RM404",
    "the packed function returned an invalid value",
    "RLX-132",
    "An external function returned something that the program cannot use: an object that is not a tensor, "
    "shape, number or string, or a value of another type than declared.",
    instead(
        'def f(x):\n    return {"y": x}',
        "def f(x):\n    return x",
    ),
)
CAST_FAILED = Code(
    "RM405",
    "a match_cast failed",
    "RLX-122",
    "`R.match_cast` checks rank, dtype and extents when the program runs. The value does not have the type that it is "
    "cast to.",
    instead(
        'y = R.match_cast(x, R.Tensor((4, n), "float32"))  # x has shape (5, 2)',
        'y = R.match_cast(x, R.Tensor((m, n), "float32"))',
    ),
)
TVM_THROW = Code(
    "RM406",
    "the program threw an error",
    "TIR-326",
    "The program reached `T.tvm_throw_last_error`, which lowered code uses to propagate a failure.",
    advice(
        "T.tvm_throw_last_error()  # after a call that failed",
        "The cause is the call before it, whose status the program checks.",
    ),
)
