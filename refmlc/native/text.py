"""The gate: what of a program reaches C, and the one writer of C.

| what                            | becomes                                                                     |
|---------------------------------|-----------------------------------------------------------------------------|
| names, places, notes for people | `comment`: letters, digits, `_ .,:()[]-`; any other character becomes `_`   |
| a name of the IR                | `identifier`, `Names`: a word that neither C nor a header nor a symbol uses |
| a string                        | nothing: generated C has none                                               |
| a number, an operator, a dtype  | code that generators write, line by line, through `Text`                    |

A `Line` is C that passed `Text`; nothing else makes one. `Text` refuses (RM902) a line of code that holds a comment, a
string, a backslash, a trigraph, a digraph, a `#` or an end of line. What is written is checked once more, as a whole,
before it is compiled (`refmlc.native.compile.wall`, NAT-008).
"""

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import PurePath
from typing import NewType

from refmlc.diag import fail
from refmlc.diag.catalogue import UNSAFE_C
from refmlc.diag.source import Span

Line = NewType("Line", str)
"""A line of C that may be compiled. Only `Text` makes one."""

INDENT = "  "
COLUMN = 76
LONGEST = 240  # characters of a comment, of an identifier
_OTHER = re.compile(r"[^A-Za-z0-9_ .,:()\[\]-]")
_CODE = re.compile(r"[A-Za-z0-9_ ()\[\]{}<>=!+\-*/%&|^~?:;,.]*")
_BY_HAND = re.compile(r"/[*/]|\*/|\?\?|%:|<[:%]|[:%]>")
_HEADER = re.compile(r"rm_[a-z]+\.h")
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

# ------------------------------------------------------------------------------------------------------- comments


def comment(text: str) -> str:
    """A comment that says `text`, as far as its characters are harmless; quotes around names are left out."""
    plain = _OTHER.sub("_", text.replace("`", ""))
    return f"/* {plain if len(plain) <= LONGEST else f'{plain[:LONGEST]}...'} */"


def place(span: Span | None) -> str:
    """`gemm.py:14` of a span; nothing where there is none. For a comment."""
    return "" if span is None else f"{_file(span.source.name)}:{span.line}"


@lru_cache(maxsize=64)
def _file(path: str) -> str:
    """The name of a file without its folders."""
    return PurePath(path).name


# ---------------------------------------------------------------------------------------------------- identifiers

TAKEN = frozenset(
    (
        *("auto", "break", "case", "char", "const", "continue", "default", "do", "double", "else", "enum"),
        *("extern", "float", "for", "goto", "if", "inline", "int", "long", "register", "restrict", "return"),
        *("short", "signed", "sizeof", "static", "struct", "switch", "typedef", "union", "unsigned", "void"),
        *("volatile", "while", "bool", "true", "false", "asm", "typeof", "linux", "unix", "run", "status", "leave"),
        *("main", "NULL", "INFINITY", "NAN", "memset", "memcpy", "memchr", "free", "aligned_alloc", "fma", "fmaf"),
        *("size_t", "uintptr_t", "intptr_t", "alignas", "alignof", "constexpr", "nullptr", "thread_local"),
        *("static_assert", "offsetof", "alloca", "aligned", "unreachable", "i386", "typeof_unqual"),
        *("LITTLE_ENDIAN", "BIG_ENDIAN", "PDP_ENDIAN", "BYTE_ORDER", "FD_SETSIZE", "NFDBITS"),
        *(f"{sign}int{bits}_t" for sign in ("", "u") for bits in (8, 16, 32, 64)),
    )
)
"""Words of C, and what generated functions use themselves."""
_RESERVED = re.compile(
    r"[0-9_]|rm_|RM_|entry_|(?:m[0-9]+_)?[fg][0-9]+_|U?INT|M_|FP_|FLT_|L?DBL_|DECIMAL_|HUGE_|EXIT_|RAND_|MB_|SIZE_|"
    r"PTRDIFF_|SIG_|W(?:CHAR|INT|EXIT|IF|TERM|STOP|CORE|NO|UN|CONT)|MATH_|math_err|"
    r"CLOCKS?_|PTHREAD_|SCHED_|sched_|TIMER?_"
)
"""How names of headers, of the system's headers, and of generated functions begin; macros among them."""


def identifier(text: str) -> str:
    """`text` with everything that C does not allow replaced; never a name of a header or of a generated function."""
    plain = re.sub(r"[^A-Za-z0-9_]", "_", text[:LONGEST]) or "v"
    return f"v_{plain}" if _RESERVED.match(plain) else plain


def words(texts: Iterable[str]) -> frozenset[str]:
    """The identifiers in C texts."""
    return frozenset(word for text in texts for word in _WORD.findall(text))


class Names:
    """The identifiers that are taken in a C function, or in a part of one."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        """`taken` are used by what is around; so are the words of C and of the frame of generated functions."""
        self._taken = {*TAKEN, *taken}
        self._numbers: dict[str, int] = {}

    def new(self, wanted: str) -> str:
        """An identifier like `wanted` that is free."""
        base = identifier(wanted)
        name, number = base, self._numbers.get(base, 0)
        while name in self._taken:
            number += 1
            name = f"{base}_{number}"
        self._numbers[base] = number
        self._taken.add(name)
        return name

    @contextmanager
    def scope(self) -> Iterator[None]:
        """Identifiers that are taken here are free again afterwards."""
        before = set(self._taken), dict(self._numbers)
        try:
            yield
        finally:
            self._taken, self._numbers = before


# ----------------------------------------------------------------------------------------------------------- code


class Text:
    """Lines of C, growing."""

    def __init__(self, depth: int = 0) -> None:
        """`depth` is the level of the first line."""
        self.lines: list[Line] = []
        self._depth = depth

    def line(self, code: str, span: Span | None = None, note: str = "") -> None:
        """Append a line of code; its place and `note` follow as a comment. Fails: RM902."""
        _refuse_by_hand(code)
        where = place(span)
        note = f"{where}, {note}" if where and note else where or note
        indented = INDENT * self._depth + code if code else ""
        self.lines.append(Line(f"{indented:<{COLUMN}} {comment(note)}" if note else indented))

    def comment(self, text: str, span: Span | None = None) -> None:
        """Append a line that is a comment, with a place in front."""
        text = f"{place(span)}, {text}" if span is not None else text
        self.lines.append(Line(INDENT * self._depth + comment(text)))

    def include(self, header: str) -> None:
        """Append the inclusion of a header of ours. Fails: RM902."""
        if not _HEADER.fullmatch(header):
            raise _unsafe(header)
        self.lines.append(Line(f'#include "{header}"'))

    def define(self, word: str) -> None:
        """Append the definition of a word that headers ask for. Fails: RM902."""
        if not (word.startswith("RM_") and _WORD.fullmatch(word)):
            raise _unsafe(word)
        self.lines.append(Line(f"#define {word}"))

    def unroll(self, count: int) -> None:
        """Append what makes a compiler repeat the body of the next loop."""
        self.lines.append(Line(f"#pragma GCC unroll {count:d}"))

    def paste(self, lines: Iterable[Line]) -> None:
        """Append lines that are indented among themselves."""
        indent = INDENT * self._depth
        self.lines.extend([Line(indent + line) if line and line[0] != "#" else line for line in lines])

    def add(self, collected: Iterable[Line]) -> None:
        """Append lines as they are."""
        self.lines.extend(collected)

    @contextmanager
    def block(self, head: str = "", span: Span | None = None, note: str = "") -> Iterator[None]:
        """Lines in braces after `head`."""
        self.line(f"{head} {{" if head else "{", span, note)
        self._depth += 1
        try:
            yield
        finally:
            self._depth -= 1
            self.line("}")

    @contextmanager
    def apart(self) -> Iterator[list[Line]]:
        """Lines that are collected apart, a level deeper: what to do with them is decided afterwards."""
        outer, self.lines = self.lines, []
        self._depth += 1
        collected = self.lines
        try:
            yield collected
        finally:
            self._depth -= 1
            self.lines = outer


def _refuse_by_hand(code: str) -> None:
    """Fails: RM902 where `code` holds what only this module makes, or what no generator writes."""
    if not _CODE.fullmatch(code) or _BY_HAND.search(code):
        raise _unsafe(code)


def _unsafe(code: str) -> Exception:
    return fail(UNSAFE_C, f"a generator writes `{code[:LONGEST]}` as code", None, "the C is not compiled")


def bare(code: str) -> str:
    """An expression without parentheses around the whole of it, which a place of its own does not need."""
    depth = 0
    for at, character in enumerate(code):
        depth += (character == "(") - (character == ")")
        if depth == 0:
            return code[1:-1] if character == ")" and at == len(code) - 1 and code[0] == "(" else code
    return code
