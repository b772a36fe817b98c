r"""The wall before the compiler: a unit is compiled only if all of it is what generators write (NAT-008).

| of a unit                   | must be                                                                            |
|-----------------------------|------------------------------------------------------------------------------------|
| every character             | printable ASCII, no `\`, `'`, `$`, `@`, no digraph or trigraph: C splices no lines |
| a comment                   | on one line, of the characters that `refmlc.native.text.comment` lets through      |
| a line with `#` or `"`      | the inclusion of a header of ours, `RM_USE_…`, `RM_MATH_LIBM`, `GCC unroll`        |
| a line outside of functions | a macro that defines helpers for dtypes and numbers                                |
| a function                  | `int64_t f0_…`, `g0_…`, `m0_f0_…`, `void *entry_…`, its brackets in pairs          |
| a word                      | of C as far as it is used, of a header, or declared in the function                |
| what is called              | a word: a helper, a function above, one of a few of libc; no value, no pointer     |
| a cast to a pointer         | of the workspace, of the panels of a tile                                          |
| a number                    | decimal, or hexadecimal floating-point                                             |

Decision: it does not know what the generators meant, only what they can write at all. It stands apart from them and
from the gate (`refmlc.native.text`): what either forgets is found here. It raises RM902, so nobody takes a text that
was tampered with for one that a compiler did not like.
"""

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, fields
from functools import cache
from itertools import chain

from refmlc.diag import fail
from refmlc.diag.catalogue import UNSAFE_C
from refmlc.lang.dtypes import SCALARS
from refmlc.lang.ops.scalar import SCALAR_OPS

KEYWORDS = (
    *("const", "restrict", "void", "bool", "double", "unsigned", "char", "size_t", "uint8_t", "int64_t", "_Alignas"),
    *("if", "else", "for", "break", "continue", "goto", "return", "true", "false", "NULL", "NAN", "INFINITY"),
    *("INT32_MIN", "INT32_MAX", "INT64_MIN", "INT64_MAX", "__attribute__", "aligned", "run", "status", "leave"),
)
"""Words of C and of the frame of functions that are not called."""
CALLED = (
    *("if", "for", "_Alignas", "__attribute__", "aligned", "INT64_C", "UINT64_C", "UINT32_C"),
    *("fma", "fmaf", "memset", "memchr", "aligned_alloc", "free"),
    *(
        "rm_overlap",
        "rm_times",
        "rm_give",
        "rm_arrays",
        "rm_fresh",
        "rm_steps",
        "rm_unlock",
        "rm_lock",
        "rm_use",
        "rm_entry_of",
        "rm_refusal",
        "rm_in_threads",
        "RM_CELLS",
        "RM_WITHIN",
        "RM_CHECK",
        "RM_PAY",
    ),
    *("RM_UNLIKELY", "RM_TAKE", "RM_TO", "RM_LOAD", "RM_STORE", "RM_IOTA", "RM_TIMES_CELL", "RM_FETCH"),
    *("RM_FETCH_TO_WRITE", "RM_STREAMED", "RM_SCARCE", "RM_LOOK", "RM_RUN_OF"),
)
STATUSES = (
    *(
        "RM_DONE",
        "RM_CHECK_FAILED",
        "RM_FUEL_EXHAUSTED",
        "RM_NO_MEMORY",
        "RM_OVERLAP",
        "RM_NOT_APPLICABLE",
        "RM_UNUSED",
    ),
    *("rm_run", "rm_block", "rm_entry", "rm_cells", "rm_python", "rm_args"),
)
VERBS = (
    *("splat", "select", "load", "load_part", "store", "store_part", "stream", "past", "copy", "gather", "scatter"),
    *("max", "min", "abs", "narrow", "cast_float32", "transpose", "exp", "isnan"),
)
"""What headers do with vectors."""
DEFINERS = (
    *("DEFINE_CAST", "DEFINE_REINTERPRET", "VECTOR", "VECTOR_BOOL", "VECTOR_STREAM", "VECTOR_COPY", "TRANSPOSE"),
    *("EXP_WHOLE", "EXP_HALVES"),
)
"""What defines helpers for dtypes, outside of functions."""
HEADERS = (
    *("guard", "dtypes", "convert", "arith", "division", "bitwise", "compare", "integral", "transcendental"),
    *("floating", "fixed", "vector", "python", "threads"),
)
COMMENT = re.compile(r"/\* [A-Za-z0-9_ .,:()\[\]-]* \*/")
STRANGE = re.compile(r"[^\n -~]|[\\'$@`]|\?\?|//|%:|<[:%]|[:%]>")
WORD = re.compile(r"(?<![\w.])(?<!->)[A-Za-z_]\w*")
CALL = re.compile(r"([A-Za-z_]\w*)\s*\(")
NUMBER = re.compile(r"(?<![\w.])\.?[0-9](?:[eEpP][+-]|[\w.])*")
KNOWN_NUMBER = re.compile(r"(?:[0-9]+(?:\.[0-9]*)?(?:e[+-]?[0-9]+)?|0x[01](?:\.[0-9a-f]+)?p[+-][0-9]+)f?")
FUNCTION = re.compile(
    r"^(?:int64_t |void \*(?=entry_))((?:m[0-9]+_)?[fg][0-9]+_\w+|entry_\w+)\(([^(){}]*)\) \{\n(.*?)^\}$",
    re.MULTILINE | re.DOTALL,
)
POINTER = re.compile(r"\([^()]*\*\s*(?:const|restrict|\s)*\)")
BOUND = re.compile(r"\bgoto\b(?! leave;)|\b__attribute__(?!\(\(aligned\(64\)\)\))|\bleave\b(?!;|:)")
"""What is known in one place only."""
SECOND = re.compile(r"for \(int64_t \w+ = \w+, ([A-Za-z]\w*);")
"""A loop with two variables: of the strip, and of its end."""
APPLIED = re.compile(r"[\])}]\s*\(")


@dataclass(frozen=True, slots=True)
class Shapes:
    """What depends on the dtypes and operators there are."""

    directive: re.Pattern[str]
    definition: re.Pattern[str]
    helper: re.Pattern[str]
    declared: re.Pattern[str]
    cast: re.Pattern[str]
    pointer: re.Pattern[str]


def check_unit(text: str) -> None:
    """Whether generators can have written `text`. Fails: RM902, with the first thing that they cannot have written."""
    _refuse(STRANGE.search(text))
    shapes = _shapes()
    code = COMMENT.sub(" ", text)
    _refuse(re.search(r"/\*|\*/", code))
    code = shapes.directive.sub("", code)
    _refuse(re.search(r'[#"]', code))
    functions: set[str] = set()
    outside, end = [], 0
    for function in FUNCTION.finditer(code):
        outside.append(code[end : function.start()])
        end = function.end()
        _check_function(function[2], function[3], functions, shapes)
        functions.add(function[1])
    for line in chain.from_iterable(part.splitlines() for part in (*outside, code[end:])):
        if line.strip() and not shapes.definition.fullmatch(line.rstrip()):
            raise _unknown(line)


def _check_function(params: str, body: str, functions: set[str], shapes: Shapes) -> None:
    """The body of a function that may call `functions` and the headers' helpers."""
    whole = f"({params}) {{{body}}}"
    _check_pairs(body)
    declared = {*shapes.declared.findall(whole), *SECOND.findall(body)}
    for word in sorted({*WORD.findall(whole)} - declared - _words()):
        if word not in functions and not shapes.helper.fullmatch(word):
            raise _unknown(word)
    for word in sorted({*CALL.findall(body)} - _called()):
        if word not in functions and not shapes.helper.fullmatch(word):
            raise _unknown(f"{word}(")
    _refuse(BOUND.search(body))
    for number in sorted({*NUMBER.findall(whole)}):
        if not KNOWN_NUMBER.fullmatch(number):
            raise _unknown(number)
    plain = shapes.pointer.sub(" ", body)
    _refuse(POINTER.search(plain))
    _refuse(APPLIED.search(shapes.cast.sub(" ", plain)))


def _check_pairs(body: str) -> None:
    """Every bracket is closed in the function in which it is opened."""
    for opening, closing in (("{", "}"), ("(", ")"), ("[", "]")):
        if body.count(opening) != body.count(closing):
            raise _unknown(opening)
    depth = 0
    for brace in re.findall("[{}]", body):
        depth += 1 if brace == "{" else -1
        if depth < 0:
            raise _unknown("}")


def _refuse(match: re.Match[str] | None) -> None:
    if match is not None:
        raise _unknown(match[0])


def _unknown(token: str) -> Exception:
    return fail(UNSAFE_C, f"the generated C holds {ascii(token)[:80]}", None, "it is not compiled")


@cache
def _words() -> frozenset[str]:
    return frozenset((*KEYWORDS, *CALLED, *STATUSES))


@cache
def _called() -> frozenset[str]:
    return frozenset(CALLED)


@cache
def _shapes() -> Shapes:
    """The shapes of what is written, with the names of dtypes and operators in them."""
    dtype, op = (f"(?:{'|'.join(sorted(names, key=len, reverse=True))})" for names in (SCALARS, SCALAR_OPS))
    vector, verb = f"{dtype}x[0-9]+", f"(?:{'|'.join(VERBS)})"
    value = f"(?:{vector}|{dtype}_cell|{dtype})"
    helper = (
        rf"rm_(?:{value}|(?:get|put)_{dtype}|{op}_{dtype}(?:_undefined)?|cast_{dtype}_{dtype}(?:_undefined)?|"
        rf"reinterpret_{dtype}_{dtype}|{verb}_{vector})|{vector}"
    )
    header, use = rf'"rm_(?:{"|".join(HEADERS)})\.h"', rf"(?:USE_{dtype}|MATH_LIBM)"
    kind = rf"(?:int64_t|uint8_t|bool|double|void|unsigned char|rm_(?:{value}|run|block|entry|cells|python|args))"
    argument = rf"(?:rm_)?{dtype}|[0-9]+"
    return Shapes(
        directive=re.compile(rf"^#(?:include {header}|define RM_{use}|pragma GCC unroll [0-9]+)$", re.MULTILINE),
        definition=re.compile(rf"RM_(?:{'|'.join(DEFINERS)})\((?:{argument})(?:, (?:{argument}))*\)"),
        helper=re.compile(helper),
        declared=re.compile(rf"(?<![\w.]){kind}(?: |(?: \*(?:restrict |const )*))([A-Za-z]\w*)(?=[ ,;)\[])"),
        cast=re.compile(rf"\((?:int64_t|double|size_t|rm_{value})\)"),
        pointer=re.compile(rf"\(uint8_t \*\)(?=workspace\b)|\(rm_{dtype} \*\)(?=\(panels\b)"),
    )


@cache
def rules() -> str:
    """A digest of all that is checked: a library that another wall let through has another name."""
    return hashlib.sha256("\n".join(_all_rules()).encode()).hexdigest()


def _all_rules() -> Iterator[str]:
    yield from (getattr(_shapes(), field.name).pattern for field in fields(Shapes))
    yield from (pattern.pattern for pattern in (COMMENT, STRANGE, WORD, CALL, NUMBER, KNOWN_NUMBER, FUNCTION))
    yield from (pattern.pattern for pattern in (POINTER, APPLIED, BOUND, SECOND))
    yield from (*KEYWORDS, *CALLED, *STATUSES)
