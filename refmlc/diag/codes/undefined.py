"""RM3xx Undefined: the program has no meaning for this input."""

from refmlc.diag.codes.code import Code

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
    "The operation has no result on this value: 0 has no number of leading zeros, for example.",
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
    "`T.match_buffer` declares shape, dtype, strides and offset of what it is given. This storage has others.",
)
BAD_EXTENT = Code(
    "RM315",
    "an extent is negative",
    "TIR-203",
    "Extents of loops, axes, shapes and allocations are not negative. 0 is allowed: such a loop does nothing, such a "
    "tensor is empty.",
)
USE_AFTER_KILL = Code(
    "RM316",
    "a killed tensor is used",
    "RLX-304",
    "A variable is not used after it is killed, and a tensor in a storage not after another tensor is allocated in the "
    "same bytes.",
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
    "an element that another one reads or writes. An axis along which values are summed or carried on is a reduce "
    "axis.",
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
BARRIER_DIVERGENCE = Code(
    "RM327",
    "threads do not come to the same barrier",
    "TIR-227",
    "All threads of a block wait at a barrier, or at a reduction over threads; it is one for all of them. "
    "Some reach another one here, or none: hardware waits for ever, or goes on as if there were no barrier.",
)
USE_AFTER_INPLACE = Code(
    "RM328",
    "a tensor is used after a call in place consumed it",
    "RLX-214",
    "`call_tir_inplace` and `call_inplace_packed` write into arguments, which from then on have the name of the "
    "result. Here the old name is used. The operators count as pure, so a compiler may move this use before the call.",
)
