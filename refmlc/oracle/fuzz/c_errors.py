"""What a C compiler says of code that TVM has written for the target `c`, so that causes differ in their words.

| the compiler says                  | the words                                                   |
|------------------------------------|-------------------------------------------------------------|
| that it does not know a name       | `half is undeclared`                                        |
| that it does not know `int32_t4`   | `a vector type is undeclared`: they are one cause           |
| that C's function `nan` cannot be a float | `a function of C is taken for a number`             |
| something else                     | its first error, without quotes and numbers                 |

The first error counts alone: those behind it follow from it, or are of the next cause, which is found once this one is
left out. GCC and clang say the same in other words; a row of `conformance/known` has those of GCC (`c_error`).
"""

import re
from collections.abc import Collection

FAILED = "Compilation error:"
ERROR = re.compile(r"\berror: (.*?)(?= (?:\d+|#) \||\n|$)")
QUOTES = re.compile(r"[‘’“”'\"]")
UNDECLARED = re.compile(
    r"(\w+|#)(?: was not declared in this scope| undeclared\b| does not name a type).*"
    r"|(?:use of undeclared identifier|unknown type name) (\w+).*"
)
VECTOR = re.compile(r"(?:half|float|double|u?int\d+_t)\d+")
FUNCTION = re.compile(
    r"(?:no matching function for call to|cannot convert|invalid operands of types) .*\(const char\*\).*"
    r"|wrong type argument to unary minus"  # a number never gives this error
)
NUMBER = re.compile(r"\b\d+\b")
MADE_IN_C = re.compile(r"\bv__?\d*\b")  # variables that TVM makes for values
WORD = re.compile(r"\b[A-Za-z_]\w*")


def c_error(message: str, names: Collection[str] = ()) -> str:
    """The words of the first error of a C compiler in a message of TVM; empty: it has none. `names`: of the program."""
    _, failed, said = message.partition(FAILED)
    error = ERROR.search(said) if failed else None
    if error is None:
        return ""
    words = QUOTES.sub("", error[1]).strip()
    if FUNCTION.fullmatch(words):
        return "a function of C is taken for a number"
    name = UNDECLARED.fullmatch(words)
    if name is None:
        words = MADE_IN_C.sub("v_", NUMBER.sub("#", words))
        return WORD.sub(lambda word: "_" if word[0] in names else word[0], words)
    unknown = (name[1] or name[2]).replace("#", "inf")  # a number, in a message without numbers
    vector = VECTOR.fullmatch(unknown) is not None
    return f"{'a vector type' if vector else '_' if unknown in names else unknown} is undeclared"
