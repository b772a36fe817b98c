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
SYNTAX = Code("RM101", "the text is not Python syntax", "", "TVMScript is a subset of Python's grammar.")
ENCODING = Code("RM102", "the text is not UTF-8", "", "Source files are UTF-8.")
NOT_TVMSCRIPT = Code(
    "RM103", "the construct is not TVMScript", "", "This Python construct has no meaning in TVMScript."
)
UNKNOWN_NAME = Code("RM104", "the name is not defined", "", "A name must be bound before it is used.")
BAD_ARGUMENTS = Code("RM105", "the arguments do not fit", "", "The construct takes other arguments.")
UNKNOWN_DTYPE = Code("RM106", "the dtype is unknown", "", "No dtype has this name.")
BAD_LITERAL = Code("RM107", "the literal does not fit its dtype", "", "The value has no representation in the dtype.")
MISSING_METADATA = Code(
    "RM108", "the metadata is missing", "", "`metadata[...]` is used but the text holds no metadata."
)
BAD_FILE = Code("RM109", "the file cannot be read", "", "The file is missing, unreadable, or not of its format.")
REFUSED_PICKLE = Code(
    "RM110", "the pickle holds more than arrays", "", "Only arrays and plain containers are unpickled."
)
BAD_INPUT = Code(
    "RM111", "the input does not fit the function", "", "Count, shape, dtype or name of an argument is off."
)
BAD_USAGE = Code("RM112", "the call of refmlc is wrong", "", "An argument of the command or the API is not acceptable.")
BAD_METADATA = Code("RM113", "the metadata is broken", "", "The metadata of a text is a graph of objects in JSON.")

# --- RM2xx IllFormed: a static rule is broken ---------------------------------------------------------
TYPE_MISMATCH = Code("RM201", "the types do not agree", "", "Operands or operand and place have different types.")
SHAPE_MISMATCH = Code("RM202", "the shapes do not agree", "", "Argument and parameter have different shapes.")
OUT_OF_SCOPE = Code("RM203", "the variable is used outside its scope", "", "A variable is visible in its scope only.")
DATAFLOW_ESCAPE = Code("RM204", "a dataflow variable escapes its block", "", "Only variables in `R.output` leave it.")
DATAFLOW_EFFECT = Code("RM205", "an effect stands in a dataflow block", "", "A dataflow block is free of effects.")
ARITY = Code("RM206", "the number of arguments is wrong", "", "The callee takes another number of arguments.")
UNKNOWN_FUNCTION = Code("RM207", "the module has no such function", "", "A GlobalVar names a function of the module.")
RANK_MISMATCH = Code("RM208", "the number of indices is not the rank", "", "One index per dimension of the buffer.")
BLOCK_RULE = Code("RM209", "the block breaks a rule of blocks", "", "Bindings, axes and init of a block must fit.")
DUPLICATE = Code("RM210", "the name is defined twice", "", "A variable is defined once, a function once.")
UNDEFINED_SYMBOL = Code("RM211", "the shape variable is never defined", "", "A shape variable must be bound by a type.")
IMPURE = Code("RM212", "a pure function has an effect", "", "A function said to be pure must not have effects.")
BAD_LOOP_CONTROL = Code("RM213", "break or continue stands outside a loop", "", "They end the innermost loop.")

# --- RM3xx Undefined: the program has no meaning for this input ---------------------------------------
OUT_OF_BOUNDS = Code("RM304", "an access is out of bounds", "", "Each index lies in 0 … extent - 1 of its axis.")
UNINITIALISED = Code("RM305", "an uninitialised element is read", "", "An element is written before it is read.")
INT_OVERFLOW = Code("RM306", "integer arithmetic overflows", "NUM-101", "32 and 64 bit results must be representable.")
DIVISION_BY_ZERO = Code(
    "RM307", "an integer is divided by zero", "NUM-104", "The divisor of an integer division is not 0."
)
SHIFT_RANGE = Code("RM308", "a shift count is out of range", "NUM-202", "A shift count lies in 0 … bits - 1.")
FLOAT_TO_INT = Code(
    "RM309", "a float has no value in the integer dtype", "NUM-702", "NaN, inf, out of range do not convert."
)
ASSUMPTION = Code("RM310", "an assumption does not hold", "", "`T.assume` promises its condition.")
BAD_ARGUMENT_VALUE = Code("RM311", "an operation is not defined on the value", "NUM-203", "As clz(0).")
BINDING_RANGE = Code("RM312", "a block variable leaves its domain", "", "A binding lies in the domain of its axis.")
BAD_POINTER = Code("RM313", "a pointer does not point to such data", "", "Null, freed, foreign or misaligned pointer.")
MATCH_FAILED = Code("RM314", "a buffer does not match its declaration", "", "Shape, dtype, strides must match.")
BAD_EXTENT = Code("RM315", "an extent is negative", "", "Shapes and allocation sizes are not negative.")
USE_AFTER_KILL = Code("RM316", "a killed tensor is used", "", "After a kill or an in-place call the tensor is gone.")
INFO_LIES = Code("RM317", "a value does not have its declared type", "", "Struct info must be true of the value.")

# --- RM4xx Trap: the program stops itself ---------------------------------------------------------------
ASSERT_FAILED = Code("RM401", "an assertion failed", "", "The condition of an assert is false.")
NO_PACKED_FUNC = Code("RM402", "the packed function is not registered", "", "No function has this name.")
PACKED_RAISED = Code("RM403", "the packed function raised", "", "The function from outside ended in an exception.")
PACKED_RESULT = Code("RM404", "the packed function returned what it must not", "", "Wrong kind, dtype or shape.")
CAST_FAILED = Code("RM405", "a match_cast failed", "", "The value does not have the type that it is cast to.")
TVM_THROW = Code("RM406", "the program threw an error", "", "`tvm_throw_last_error` was reached.")

# --- RM5xx Unsupported: our limit ---------------------------------------------------------------------
UNSUPPORTED_OP = Code("RM501", "the operator is not supported", "", "refmlc does not define this operator yet.")
UNSUPPORTED_INTRINSIC = Code("RM502", "the intrinsic is not supported", "", "Read and shown, not executed.")
UNSUPPORTED_DTYPE = Code(
    "RM503", "the dtype is not supported here", "", "The operation has no meaning on this dtype yet."
)
UNSUPPORTED_CONSTRUCT = Code(
    "RM504", "the construct is not supported", "", "refmlc does not define this construct yet."
)
UNSUPPORTED_DEVICE = Code("RM505", "the device is not supported", "", "refmlc executes on the CPU.")

# --- RM6xx Exhausted ------------------------------------------------------------------------------------
STEPS_EXHAUSTED = Code("RM601", "the step budget is used up", "", "The run took more statements than allowed.")
DEPTH_EXHAUSTED = Code("RM602", "the nesting is too deep", "", "Calls or text nest deeper than allowed.")
MEMORY_EXHAUSTED = Code("RM603", "the memory budget is used up", "", "An allocation is larger than what is left.")
TEXT_TOO_LARGE = Code("RM604", "the text is too large", "", "The text is longer than the reader's limit.")
TIME_EXHAUSTED = Code("RM605", "the time budget is used up", "", "The run took longer than allowed.")

# --- RM9xx Internal -------------------------------------------------------------------------------------
BUG = Code("RM901", "refmlc has a bug", "", "An invariant of refmlc does not hold. Please report it.")

CODES: dict[str, Code] = {row.id: row for row in list(vars().values()) if isinstance(row, Code)}
