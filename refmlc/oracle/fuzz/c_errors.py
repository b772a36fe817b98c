"""What a C compiler says of code that TVM has written for the target `c`, so that causes are told apart.

| the compiler says                  | the words                                                   |
|------------------------------------|-------------------------------------------------------------|
| that it does not know a name       | `half is undeclared`                                        |
| that it does not know `int32_t4`   | `a vector type is undeclared`: they are one cause           |
| something else                     | its first error, without quotes and numbers                 |

The first error counts alone: those behind it follow from it, or are of the next cause, which is found once this one is
left out. GCC and clang say the same in other words; a row of `conformance/known` has those of GCC (`c_error`).
"""

import re

FAILED = "Compilation error:"
ERROR = re.compile(r"\berror: (.*?)(?= (?:\d+|#) \||\n|$)")
QUOTES = re.compile(r"[‘’“”'\"]")
UNDECLARED = re.compile(
    r"(\w+)(?: was not declared in this scope| undeclared\b| does not name a type).*"
    r"|(?:use of undeclared identifier|unknown type name) (\w+).*"
)
VECTOR = re.compile(r"(?:half|float|double|u?int\d+_t)\d+")
NUMBER = re.compile(r"\b\d+\b")


def c_error(message: str) -> str:
    """The words of the first error of a C compiler in a message of TVM; empty: it has none."""
    _, failed, said = message.partition(FAILED)
    error = ERROR.search(said) if failed else None
    if error is None:
        return ""
    words = QUOTES.sub("", error[1]).strip()
    name = UNDECLARED.fullmatch(words)
    if name is None:
        return NUMBER.sub("#", words)
    unknown = name[1] or name[2]
    return f"{'a vector type' if VECTOR.fullmatch(unknown) else unknown} is undeclared"
