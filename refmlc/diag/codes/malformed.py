"""RM1xx Malformed: the text or the input file does not have its format."""

from refmlc.diag.codes.code import Code, advice, instead

SYNTAX = Code(
    "RM101",
    "the text is not Python syntax",
    "",
    "TVMScript is a subset of Python's grammar, and this text is not Python. Brackets and quotes must close, blocks "
    "must be indented, and nothing may nest deeper than Python's own parser follows.",
    instead(
        "A[i = 1",
        "A[i] = 1",
    ),
)
ENCODING = Code(
    "RM102",
    "the text is not UTF-8",
    "",
    "Source files are UTF-8. This one holds bytes that no UTF-8 text has: it may be a binary file, or text in "
    "another encoding, which must be converted first.",
    instead(
        'refmlc.read_file("model.so")',
        'refmlc.read_file("model.py")',
    ),
)
NOT_TVMSCRIPT = Code(
    "RM103",
    "the construct is not TVMScript",
    "",
    "The text is Python, but this construct has no meaning in TVMScript. refmlc reads the text as data and never "
    "executes it: constants and calls with constants are computed, but a loop over a Python list or a call of a "
    "function of another module cannot be. There are two ways out. Write the values into the text. Or, where the file "
    "is a program that you trust, let Python execute it: `python -m refmlc.tvm --show FILE` prints the modules that "
    "it makes.",
    instead(
        "for name in [0, 1]:\n    A[name] = B[name]",
        "for name in range(2):\n    A[name] = B[name]",
    ),
)
UNKNOWN_NAME = Code(
    "RM104",
    "the name is not defined",
    "",
    "A name must be bound before it is used: as a parameter, an assignment, a loop variable, a function of the "
    "module, or, for decorators, in the scope around the Python function. Names of the language are reached through "
    "`T`, `R` and `I`.",
    instead(
        "B[i] = A[j]",
        "for i, j in T.grid(8, 8):\n    B[i] = A[j]",
    ),
)
BAD_ARGUMENTS = Code(
    "RM105",
    "the arguments do not fit",
    "",
    "The construct exists, but does not take these arguments: one is missing, too many, of another kind, or of a "
    "name that it does not have.",
    instead(
        "for i in T.serial(0, 8, 1, 1):\n    ...",
        "for i in T.serial(0, 8):\n    ...",
    ),
)
UNKNOWN_DTYPE = Code(
    "RM106",
    "the dtype is unknown",
    "",
    "No dtype has this name. Names are TVM's: `float32`, `int8`, `bool`, `bfloat16`, `float8_e4m3fn`; lanes follow "
    "an `x`, as in `float32x4`.",
    instead(
        'A: T.Buffer((8,), "real32")',
        'A: T.Buffer((8,), "float32")',
    ),
)
BAD_LITERAL = Code(
    "RM107",
    "the literal does not fit its dtype",
    "",
    "The dtype has no value for this literal: an integer is out of its range, or a string is not a number. Literals "
    "do not wrap; a conversion that wraps is written as a cast.",
    instead(
        "A[0] = T.int8(300)",
        'A[0] = T.Cast("int8", T.int32(300))',
    ),
)
MISSING_METADATA = Code(
    "RM108",
    "the metadata is missing",
    "",
    "The text refers to `metadata[...]`, as TVM prints constants, but holds no metadata. It can be read and shown. "
    "It cannot run without the values, which TVM prints with `show_meta=True`.",
    instead(
        'w = metadata["relax.expr.Constant"][0]',
        "print(module.script(show_meta=True))",
    ),
)
BAD_FILE = Code(
    "RM109",
    "the file cannot be read",
    "",
    "The file is missing, is not readable, or does not have the format that its name says. refmlc used nothing of it.",
    instead(
        "refmlc run missing.py",
        "refmlc run model.py",
    ),
)
REFUSED_PICKLE = Code(
    "RM110",
    "the pickle holds more than arrays",
    "",
    "A pickle may execute anything when it is opened. refmlc opens those that hold NumPy arrays and plain "
    "containers only, and names anything else that it finds.",
    instead(
        "refmlc run model.py --params whole_model.pkl",
        "refmlc run model.py --params arrays.npz",
    ),
)
BAD_INPUT = Code(
    "RM111",
    "the input does not fit the function",
    "",
    "An argument of the function that is run does not fit: another number of arguments, another shape or dtype than "
    "declared, a shape variable that would have two values at once, or a name that no parameter has.",
    instead(
        'vm["main"](numpy.zeros((1, 784)))  # float64, declared float32',
        'vm["main"](numpy.zeros((1, 784), "float32"))',
    ),
)
BAD_USAGE = Code(
    "RM112",
    "the arguments of refmlc are wrong",
    "",
    "An option or argument of the command, or of a function of the Python API, is not valid. The message says "
    "which one, and what is valid.",
    instead(
        'refmlc.build(module, tier="fast")',
        'refmlc.build(module, tier="auto")',
    ),
)
BAD_METADATA = Code(
    "RM113",
    "the metadata is broken",
    "",
    "The metadata of a text is a JSON graph of objects that TVM wrote. This one is invalid: it is not JSON, "
    "an index is out of range, a field is missing, or an array does not have its size.",
    instead(
        '# Metadata omitted. Use show_meta=True in script() method to show it.\nmetadata = "…"',
        "print(module.script(show_meta=True))",
    ),
)
NO_VALUE = Code(
    "RM114",
    "the name has no constant value",
    "SCR-002",
    "The text binds the name, but reading, which executes nothing, cannot know its value: it is bound twice, changed, "
    "bound in a branch or a loop, imported, a parameter, or bound to something other than a constant. Bind it once, "
    "to numbers, strings, tuples or lists of them, or write the value in its place. A file that you trust may also be "
    "executed: `python -m refmlc.tvm --show FILE` prints the modules that it makes.",
    instead(
        'N = 8\nN *= 2\n\n@T.prim_func(s_tir=True)\ndef f(A: T.Buffer((N,), "float32")): ...',
        'N = 8 * 2\n\n@T.prim_func(s_tir=True)\ndef f(A: T.Buffer((N,), "float32")): ...',
    ),
)
BROKEN_CONTRACT = Code(
    "RM115",
    "the arguments violate a contract that is written for them",
    "",
    "`--assume`, `assume=` or the file of contracts beside the module says what arguments satisfy; those of the caller "
    "do not. Nothing is said about the program: the call is outside of what was promised for it.",
    advice(
        'refmlc check rows.py --func main --assume "indptr: ascending" --input indptr=indptr.npy',
        "Give arguments that satisfy the contract, or leave out what is not meant.",
    ),
)
