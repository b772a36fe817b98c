"""What the programs of operators have in common: one operator, what it is given, what it gives."""

from book import Judged, given

HEAD = "# from tvm.script import ir as I, tirx as T, relax as R\n"
BINARY = {"add": "add", "subtract": "sub", "multiply": "mul", "divide": "div", "maximum": "max", "minimum": "min"}
RELATIONS = {"equal": "eq", "not_equal": "ne", "less": "lt", "less_equal": "le", "greater": "gt", "greater_equal": "ge"}
BITS = {
    "bitwise_and": "bitwise_and",
    "bitwise_or": "bitwise_or",
    "bitwise_xor": "bitwise_xor",
    "left_shift": "shift_left",
    "right_shift": "shift_right",
}
UNARY = {"abs": "abs", "ceil": "ceil", "floor": "floor", "round": "round", "trunc": "trunc"}
MATHS = (
    "exp",
    "log",
    "sin",
    "cos",
    "tan",
    "sinh",
    "cosh",
    "tanh",
    "asin",
    "acos",
    "atan",
    "asinh",
    "acosh",
    "atanh",
    "sqrt",
    "rsqrt",
    "sigmoid",
    "erf",
)
CLAUSE = {
    "add": "LIB-201",
    "subtract": "LIB-201",
    "multiply": "LIB-201",
    "divide": "LIB-202",
    "maximum": "LIB-207",
    "minimum": "LIB-207",
    **dict.fromkeys(RELATIONS, "LIB-208"),
    **dict.fromkeys(("bitwise_and", "bitwise_or", "bitwise_xor"), "LIB-210"),
    **dict.fromkeys(("left_shift", "right_shift"), "LIB-211"),
    **dict.fromkeys(UNARY, "LIB-101"),
    **dict.fromkeys(MATHS, "LIB-101"),
}
DTYPES = ("float32", "float16", "bfloat16", "float64", "int32", "int8", "uint8", "int64")


def type_of(x):
    return f'R.Tensor({tuple(x.shape)}, "{x.dtype}")'


def program(form, inputs, before=""):
    params = ", ".join(f"{name}: {type_of(x)}" for name, x in zip("abcdefgh", inputs, strict=False))
    lines = "".join(f"    {line}\n" for line in before.split("\n") if line)
    return f"{HEAD}@R.function\ndef main({params}):\n{lines}    y = R.{form}\n    return y\n"


def op(book, name, clauses, form, inputs, found, witness=""):
    """One call of an operator."""
    text = program(form, inputs)
    book.judged(name, clauses.split(), text, [Judged([given(x) for x in inputs], found)], witness=witness)


def several(book, name, clause, params, form, rows):
    """One function, several calls."""
    text = f"{HEAD}@R.function\ndef main({params}):\n    y = R.{form}\n    return y\n"
    book.judged(name, clause.split(), text, [Judged([given(x) for x in inputs], found) for inputs, found in rows])
