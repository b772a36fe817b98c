"""RM7xx Mismatch: an implementation does not do what the program means. The oracle's findings."""

from refmlc.diag.codes.code import Code, instead

WRONG_RESULT = Code(
    "RM701",
    "the result is wrong",
    "",
    "An implementation gives a result that the program does not permit. Where every operator is exact, its bits are "
    "not those of the meaning; where one rounds, it lies outside of a bound that holds for every order of summation "
    "and every contraction that the clauses permit.",
    instead(
        "for k in range(1, 8):  # an implementation's loop, of a sum that begins at 0\n    C[0] += A[k]",
        "for k in range(8):\n    C[0] += A[k]",
    ),
)
WRONG_VERDICT = Code(
    "RM702",
    "the verdict is wrong",
    "",
    "Both tiers of refmlc promise the same verdict at the same place. An implementation that makes this promise ran "
    "an undefined program to its end, or stopped in a defined one.",
    instead(
        "return A[i]  # what promises verdicts, without a look at i",
        'if not 0 <= i < n:\n    raise Undefined("RM304")\nreturn A[i]',
    ),
)
CRASHED = Code(
    "RM703",
    "an implementation crashes at run time",
    "",
    "The process of an implementation ended, or raised an error, while it ran a program that is defined.",
    instead(
        "abort()  # in a call that is defined",
        'say({"stop": "unsupported", "message": "no float16 here"})',
    ),
)
NO_ANSWER = Code(
    "RM704",
    "an implementation gives no answer",
    "",
    "An implementation did not answer within its time on a program that the interpreter runs to its end.",
    instead(
        "while ready == 0:  # a barrier that one thread never reaches\n    ...",
        "T.tvm_storage_sync(scope)",
    ),
)
CONTRADICTION = Code(
    "RM705",
    "an implementation contradicts itself",
    "",
    "Two programs that should mean the same have different results, though no clause permits more than one: a loop "
    "serial and unrolled, an operand constant and loaded, a module before and after a pass or a schedule.",
    instead(
        "y = x * 0.1  # folded in float64, computed in float32",
        "y = x * float32(0.1)  # folded and computed in one format",
    ),
)
WRONG_IMPORT = Code(
    "RM706",
    "an importer changes the model",
    "",
    "A model in a file and the module that an importer made from it have different results on the same inputs: the "
    "framework computes another one than the module of refmlc, or TVM's own importer makes another program than "
    "refmlc's, whose text the same TVM compiles right. The message names the importer.",
    instead(
        "result = torch.remainder(a, b)  # the rule of an importer for the operator Mod with fmod=1",
        "result = torch.fmod(a, b)",
    ),
)
REFUSED_PROGRAM = Code(
    "RM707",
    "an implementation refuses a defined program",
    "",
    "An implementation says that it does not do what the program asks, though the program is well-formed and defined. "
    "A limit that the implementation declares (no such device, no such runtime) is no finding, nor is a refusal on "
    "record for its version: such a call is not taken, and the reason is counted.",
    instead(
        'say({"stop": "rejected", "message": "sort of int8 is not supported"})  # a plain valid module',
        'say({"stop": "unsupported", "message": "no device for threads here"})  # a limit that is declared',
    ),
)
COMPILER_ERROR = Code(
    "RM708",
    "a compiler fails on a defined program",
    "",
    "An implementation fails while it makes a defined module ready: a check of its own state, an error that names no "
    "limit, a signal.",
    instead(
        "assert indices.size() == shape.size()  # false for a vector, which is a valid operand",
        'say({"stop": "rejected", "message": "vectors are not supported"})',
    ),
)
INACCURATE = Code(
    "RM709",
    "accuracy: the result is not that of the definition",
    "",
    "With `--against reference` an implementation is held to the mathematical definition of each operator, in exact "
    "arithmetic: what NumPy, PyTorch or ONNX say that the operator is. A result is farther away than a straightforward "
    "evaluation of the definition can be in its format: by cancellation, a sum that is too narrow, a NaN that is "
    "dropped. The program's own meaning may be the same: its clause then follows the formula of TVM.",
    instead(
        "variance = mean(x * x) - mean(x) * mean(x)  # of 80000 … 80003 in float32: negative, its root NaN",
        "variance = mean((x - mean(x)) * (x - mean(x)))",
    ),
)
NOT_FINITE = Code(
    "RM710",
    "a result is not finite",
    "",
    "A program makes NaN or an infinity from arguments that are all finite, by an operator and not by a constant. That "
    "is what the program means; `refmlc check` notes it with its place, and counts it as a finding with `--finite`.",
    instead(
        "y = T.exp(x) / total  # exp overflows at 89",
        "y = T.exp(x - greatest) / total",
    ),
)
