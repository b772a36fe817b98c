"""Every code refmlc can report, one row each: id, title, clause it follows from, and what it means.

`refmlc explain RM304` prints a row. A code never changes its meaning; a withdrawn one stays reserved.
"""

from dataclasses import dataclass

from refmlc.diag.examples import EXAMPLES


@dataclass(frozen=True, slots=True)
class Code:
    """A row of the catalogue. `clause` names the specification clause, empty for limits of refmlc itself."""

    id: str
    title: str
    clause: str
    explanation: str

    @property
    def example(self) -> str:
        """What breaks the rule, and how it reads corrected, as Markdown; empty for what no program can show."""
        return EXAMPLES.get(self.id, "")


# --- RM1xx Malformed: the text or the input file is not what it says ---------------------------------
SYNTAX = Code(
    "RM101",
    "the text is not Python syntax",
    "",
    "TVMScript is a subset of Python's grammar, and this text is not Python. Brackets and quotes must close, blocks "
    "must be indented, and nothing may nest deeper than Python's own parser follows.",
)
ENCODING = Code(
    "RM102",
    "the text is not UTF-8",
    "",
    "Source files are UTF-8. This one holds bytes that no UTF-8 text has: it may be a binary file, or text in "
    "another encoding, which must be converted first.",
)
NOT_TVMSCRIPT = Code(
    "RM103",
    "the construct is not TVMScript",
    "",
    "The text is Python, but this construct has no meaning in TVMScript. refmlc reads the text as data and never "
    "executes it: a loop over a Python list, a call of a Python function or an import of another module cannot be "
    "resolved.",
)
UNKNOWN_NAME = Code(
    "RM104",
    "the name is not defined",
    "",
    "A name must be bound before it is used: as a parameter, an assignment, a loop variable, a function of the "
    "module, or, for decorators, in the scope around the Python function. Names of the language are reached through "
    "`T`, `R` and `I`.",
)
BAD_ARGUMENTS = Code(
    "RM105",
    "the arguments do not fit",
    "",
    "The construct exists, but does not take these arguments: one is missing, too many, of another kind, or of a "
    "name that it does not have.",
)
UNKNOWN_DTYPE = Code(
    "RM106",
    "the dtype is unknown",
    "",
    "No dtype has this name. Names are TVM's: `float32`, `int8`, `bool`, `bfloat16`, `float8_e4m3fn`; lanes follow "
    "an `x`, as in `float32x4`.",
)
BAD_LITERAL = Code(
    "RM107",
    "the literal does not fit its dtype",
    "",
    "The dtype has no value for this literal: an integer is out of its range, or a string is no number. Literals "
    "are not wrapped; a conversion that wraps is written as a cast.",
)
MISSING_METADATA = Code(
    "RM108",
    "the metadata is missing",
    "",
    "The text refers to `metadata[...]`, as TVM prints constants, but holds no metadata. It can be read and shown; "
    "it cannot run without the values. TVM prints them with `show_meta=True`.",
)
BAD_FILE = Code(
    "RM109",
    "the file cannot be read",
    "",
    "The file is missing, is not readable, or is not of the format that its name says. Nothing of it was used.",
)
REFUSED_PICKLE = Code(
    "RM110",
    "the pickle holds more than arrays",
    "",
    "A pickle may execute anything when it is opened. refmlc opens those that hold NumPy arrays and plain "
    "containers only, and names what else it finds.",
)
BAD_INPUT = Code(
    "RM111",
    "the input does not fit the function",
    "",
    "An argument of the function that is run does not fit: another number of arguments, another shape or dtype than "
    "declared, a shape variable that would have two values at once, or a name that no parameter has.",
)
BAD_USAGE = Code(
    "RM112",
    "the call of refmlc is wrong",
    "",
    "An option or argument of the command, or of a function of the Python API, is not acceptable. The message says "
    "which, and what would be.",
)
BAD_METADATA = Code(
    "RM113",
    "the metadata is broken",
    "",
    "The metadata of a text is a JSON graph of objects that TVM wrote. This one cannot be followed: it is no JSON, "
    "an index is out of range, a field is missing, or an array does not have its size.",
)

# --- RM2xx IllFormed: a static rule is broken ---------------------------------------------------------
TYPE_MISMATCH = Code(
    "RM201",
    "the types do not agree",
    "TIR-902",
    "Two types must agree here and do not: the operands of an operator, a value and the place that it is stored to, "
    "a condition that is not bool, an index that is not an integer, or a declared type and the type that follows "
    "from the value. TVMScript converts nothing behind one's back where the IR has no conversion.",
)
SHAPE_MISMATCH = Code(
    "RM202",
    "the shapes do not agree",
    "RLX-905",
    "A tensor is given where one of another shape is declared. Shape variables of a called function take their "
    "values from the arguments; what contradicts for every value of them is reported. Where `call_tir` is "
    "concerned, the buffer's shape is what counts.",
)
OUT_OF_SCOPE = Code(
    "RM203",
    "the variable is used outside its scope",
    "TIR-901",
    "A variable or buffer is visible from its definition to the end of the construct that defines it: a loop "
    "variable in its loop, a block variable in its block, an allocation in the rest of its sequence, a Relax "
    "variable in its branch or function.",
)
DATAFLOW_ESCAPE = Code(
    "RM204",
    "a dataflow variable escapes its block",
    "RLX-902",
    "A variable that is bound in a dataflow block belongs to this block. Only those that `R.output` names can be "
    "used after it.",
)
DATAFLOW_EFFECT = Code(
    "RM205",
    "an effect stands in a dataflow block",
    "RLX-903",
    "A dataflow block is free of effects, so that its bindings can be reordered or removed. Printing, asserting, "
    "killing memory and calling functions that are not pure belong between dataflow blocks.",
)
ARITY = Code(
    "RM206",
    "the number of arguments is wrong",
    "RLX-904",
    "The called function takes another number of arguments. A TensorIR function called by `call_tir` takes the "
    "inputs, then the outputs, then the values of shape variables.",
)
UNKNOWN_FUNCTION = Code(
    "RM207",
    "the module has no such function",
    "RLX-904",
    "The module has no function of this name. Functions of the module are named `cls.f`, or by `f` itself; a "
    "function from outside is called by its name as a string, with `R.call_dps_packed` or `R.call_packed`.",
)
RANK_MISMATCH = Code(
    "RM208",
    "the number of indices is not the rank",
    "TIR-904",
    "A buffer is accessed with one index for each of its dimensions. A buffer of shape `()` is accessed with `[()]`.",
)
BLOCK_RULE = Code(
    "RM209",
    "the block breaks a rule of blocks",
    "TIR-907",
    "A block has one binding for each of its axes; axes are integers with integer domains.",
)
DUPLICATE = Code(
    "RM210",
    "the name is defined twice",
    "TIR-908",
    "A name stands for one thing: two parameters of a function, two functions of a module or two public symbols "
    "have different names, and a variable is not defined again where it is visible.",
)
UNDEFINED_SYMBOL = Code(
    "RM211",
    "the shape variable is never defined",
    "TIR-906",
    "A shape variable gets its value from a parameter: it must be a dimension of one by itself, or a scalar "
    "parameter, or be bound by `R.match_cast`. From `n * 2` alone, `n` is not determined.",
)
IMPURE = Code(
    "RM212",
    "a pure function has an effect",
    "RLX-903",
    "A Relax function is pure unless it says `pure=False`. A pure one must not print, assert, kill memory or call "
    "what is not pure. `relax.force_pure` switches the rule off, as TVM's lowering does.",
)
BAD_LOOP_CONTROL = Code(
    "RM213",
    "break or continue stands outside a loop",
    "TIR-909",
    "`break` and `continue` concern the innermost loop around them, and here is none.",
)

# --- RM3xx Undefined: the program has no meaning for this input ---------------------------------------
OUT_OF_BOUNDS = Code(
    "RM304",
    "an access is out of bounds",
    "TIR-006",
    "Each index lies in 0 … extent - 1 of its own axis. An access that leaves its axis is undefined even when it "
    "stays inside the memory of the buffer, as `A[0, 5]` of shape (2, 4) does. TVM's compiled code reads or writes "
    "whatever lies there.",
)
UNINITIALISED = Code(
    "RM305",
    "an uninitialised element is read",
    "TIR-007",
    "Fresh storage has no values. An element must be written before it is read; compiled code sees whatever the "
    "memory held.",
)
INT_OVERFLOW = Code(
    "RM306",
    "integer arithmetic overflows",
    "NUM-101",
    "Integer arithmetic at 32 and 64 bits must have a representable result, because TVM's compiled code relies on "
    "that. Narrower integers wrap around.",
)
DIVISION_BY_ZERO = Code(
    "RM307",
    "an integer is divided by zero",
    "NUM-104",
    "The divisor of an integer division or remainder is not 0. Compiled code ends the process.",
)
SHIFT_RANGE = Code(
    "RM308",
    "a shift count is out of range",
    "NUM-202",
    "A shift count lies in 0 … bits - 1. What compiled code does with others depends on the machine and on "
    "vectorisation.",
)
FLOAT_TO_INT = Code(
    "RM309",
    "a float has no value in the integer dtype",
    "NUM-702",
    "A float converts to an integer by dropping its fraction, when the result is in the range of the dtype. NaN, "
    "infinities and greater values have no integer; compiled code gives different garbage in different places.",
)
ASSUMPTION = Code(
    "RM310",
    "an assumption does not hold",
    "TIR-306",
    "`T.assume` promises the compiler a condition. The program is undefined where it is false.",
)
BAD_ARGUMENT_VALUE = Code(
    "RM311",
    "an operation is not defined on the value",
    "NUM-203",
    "The operation has no result on this value, as the number of leading zeros of 0.",
)
BINDING_RANGE = Code(
    "RM312",
    "a block variable leaves its domain",
    "TIR-217",
    "A block axis has a domain, and each binding lies in it. The compiler plans with the domain, and not with the "
    "loops around the block; where not all instances are meant, `T.where` leaves them out.",
)
BAD_POINTER = Code(
    "RM313",
    "a pointer does not point to such data",
    "TIR-207",
    "A pointer is used that is null, whose storage has ended, that is not aligned to the element, or that does not "
    "point to such elements.",
)
MATCH_FAILED = Code(
    "RM314",
    "a buffer does not match its declaration",
    "TIR-004",
    "`T.match_buffer` declares shape, dtype, strides and offset of what it is given. This storage is otherwise.",
)
BAD_EXTENT = Code(
    "RM315",
    "an extent is negative",
    "TIR-203",
    "Extents of loops, axes, shapes and allocations are not negative. 0 is a number of times and a size like others.",
)
USE_AFTER_KILL = Code(
    "RM316",
    "a killed tensor is used",
    "RLX-304",
    "After a kill a variable is gone. So is a tensor in a storage once another tensor is allocated in its bytes.",
)
INFO_LIES = Code(
    "RM317",
    "a value does not have its declared type",
    "RLX-012",
    "A declared type is a promise that later steps rely on. This value does not have it: another kind, dtype, rank "
    "or extent.",
)
UNDECLARED_ACCESS = Code(
    "RM318",
    "a block accesses what it does not declare",
    "TIR-221",
    "`T.reads` and `T.writes` name everything that an instance of a block accesses outside of it. Schedules and the "
    "placement of buffers rely on that, so an access beyond them may meet memory that is not there, or not yet.",
)
SPATIAL_CONFLICT = Code(
    "RM319",
    "instances along a spatial axis depend on each other",
    "TIR-222",
    "Instances of a block that differ in a spatial axis may be executed in any order, or at once. None of them writes "
    "an element that another one reads or writes. An axis that adds up, or carries a value on, is no spatial one.",
)
REPEATED_TERM = Code(
    "RM320",
    "a reduction folds a term twice or starts again",
    "TIR-223",
    "Between two inits, each value of the reduce axes is executed once. Bindings that repeat a value count a term "
    "twice; an init that runs again before the last term drops what was folded.",
)
RACE = Code(
    "RM321",
    "iterations race",
    "TIR-225",
    "Iterations of a parallel, vectorized or thread-bound loop may be executed at the same time. Two of them access "
    "the same element here, and one writes it, so the result depends on which comes first.",
)
BROKEN_NOALIAS = Code(
    "RM322",
    "arguments share memory against a promise",
    "TIR-009",
    "With `tir.noalias` a function promises that what it writes through one parameter is accessed through no other. "
    "The compiler reorders loads and stores by that promise; the arguments of this call overlap.",
)
HIDDEN_EFFECT = Code(
    "RM323",
    "a called function writes to an input",
    "RLX-209",
    "A function that `call_tir` or `call_dps_packed` calls writes its outputs only. It may be called in a dataflow "
    "block, moved, or left out. `call_tir_inplace` says which inputs are written.",
)
UNWRITTEN_OUTPUT = Code(
    "RM324",
    "an output is not all written",
    "RLX-210",
    "A lint: a function was given memory for its output and left elements of it as they were. Reading one is "
    "undefined; returning one gives the caller whatever the memory held.",
)
NOT_COVERED = Code(
    "RM325",
    "points of a block's domain are not executed",
    "TIR-224",
    "A lint: the bindings of a block never take some values of its axes' domains. Where the axis reduces, terms are "
    "missing; where the block writes to a parameter, elements keep what the caller left there.",
)
STALE_START = Code(
    "RM326",
    "a reduction starts from a stale value",
    "TIR-224",
    "A lint: a block with a reduce axis and no `T.init` folds onto a value that nothing in this call of the function "
    "wrote. The result depends on what was in the memory before.",
)

# --- RM4xx Trap: the program stops itself ---------------------------------------------------------------
ASSERT_FAILED = Code(
    "RM401",
    "an assertion failed",
    "TIR-202",
    "The condition of an assertion is false. The program asked to be stopped here, with the message that it gives.",
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
    "`R.match_cast` checks at run time what is not known before: rank, dtype, extents. The value does not have the "
    "type that it is cast to.",
)
TVM_THROW = Code(
    "RM406",
    "the program threw an error",
    "TIR-326",
    "The program reached `T.tvm_throw_last_error`, by which lowered code passes on a failure.",
)

# --- RM5xx Unsupported: our limit ---------------------------------------------------------------------
UNSUPPORTED_OP = Code(
    "RM501",
    "the operator is not supported",
    "",
    "refmlc reads and shows this operator, and does not define its meaning yet. That says nothing about the "
    "program. `LegalizeOps` of TVM turns most operators into TensorIR, which runs.",
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
    "The operation has no meaning on this dtype in refmlc, as arithmetic on bool. TVM refuses most of these too, or "
    "leaves them to the target.",
)
UNSUPPORTED_CONSTRUCT = Code(
    "RM504",
    "the construct is not supported",
    "",
    "refmlc does not define this construct yet. That says nothing about the program.",
)
UNSUPPORTED_DEVICE = Code(
    "RM505",
    "the device is not supported",
    "",
    "refmlc executes on the CPU. Memory and functions of other devices are read and shown only.",
)

# --- RM6xx Exhausted ------------------------------------------------------------------------------------
STEPS_EXHAUSTED = Code(
    "RM601",
    "the step budget is used up",
    "",
    "The run took as many steps as its budget allows. A step is a statement, an iteration or a binding. Nothing is "
    "known about the program: it may be long, or without end.",
)
DEPTH_EXHAUSTED = Code(
    "RM602",
    "the nesting is too deep",
    "",
    "Calls, expressions or statements nest deeper than allowed: a recursion without end, or a text that no one "
    "wrote by hand.",
)
MEMORY_EXHAUSTED = Code(
    "RM603",
    "the memory budget is used up",
    "",
    "An allocation is larger than what is left of the memory budget, or than the machine has.",
)
TEXT_TOO_LARGE = Code(
    "RM604",
    "the text is too large",
    "",
    "The text is longer than what the reader takes. The limit keeps reading within bounded time and memory.",
)
TIME_EXHAUSTED = Code(
    "RM605",
    "the time budget is used up",
    "",
    "The run took longer than its time budget. Nothing is known about the program.",
)

# --- RM9xx Internal -------------------------------------------------------------------------------------
BUG = Code(
    "RM901",
    "refmlc has a bug",
    "",
    "Something that always holds in refmlc does not hold. It is a bug of refmlc, and not of the program; please "
    "report it with the text.",
)

CODES: dict[str, Code] = {row.id: row for row in list(vars().values()) if isinstance(row, Code)}
