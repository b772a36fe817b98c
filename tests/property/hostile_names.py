"""Hostile names for every name slot of a module, and a lexer of C that shares nothing with the generator.

The lexer does what C's translation phases 1 to 3 do: trigraphs, spliced lines, then comments, strings and tokens.
"""

import dataclasses
import re
from collections.abc import Mapping

from hypothesis import strategies as st

from refmlc.diag.source import Source
from refmlc.lang.ir import IRModule, relax, tir

PARTS = (
    *("*/", "/*", "//", "\n", "\r", "\\", "*\\", "\\\n", "/\\\n", "*\\\n/", "??/", "??/\n", '"', "'", "#", "%:", "<%"),
    *("#include <stdlib.h>\n", "\n#define int64_t", "\0", "%s", "é", "\u2028", "\ud800", "\x1b]0;", "{", "}", "(", ")"),
    *(";", " ", "0", "`", "$", "rm_", "RM_DONE", "run", "status", "leave", "f0_main", "entry_", "system", "memchr"),
    *('system("id");', "__attribute__((constructor))", "extern int system(const char *);", "int", "NULL", "errno"),
)
hostile = st.lists(st.sampled_from(PARTS), min_size=1, max_size=5).map("".join)
names = st.lists(hostile, min_size=1, max_size=12)


def renamed(module, given):
    """`module`, all names in it replaced in place: of functions, variables, buffers, blocks, attributes, files."""
    fresh = Fresh(given)
    functions = {name: fresh(name) for name in module.functions}
    seen, stack = {}, [module]
    while stack:
        here = stack.pop()
        if id(here) in seen:
            continue
        seen[id(here)] = here
        if isinstance(here, Mapping):
            stack += here.values()
        elif isinstance(here, tuple | list | set | frozenset):
            stack += here
        elif dataclasses.is_dataclass(here) and type(here).__module__.startswith(("refmlc.lang.ir", "refmlc.diag")):
            _rename(here, fresh, functions)
            stack += [getattr(here, field.name) for field in dataclasses.fields(here)]
    renamed_functions = {functions[name]: function for name, function in module.functions.items()}
    return IRModule(renamed_functions, source=module.source)


class Fresh:
    """The names of the list in turn, those of functions each another one; it counts the slots that got one."""

    def __init__(self, given):
        self._given = given
        self.number = 0

    def __call__(self, before):
        self.number += 1
        return f"{self._given[self.number % len(self._given)]}{'' if before is None else self.number}"


def _rename(node, fresh, functions):
    match node:
        case tir.GlobalVar():
            object.__setattr__(node, "name", functions.get(node.name, node.name))
        case Source():
            object.__setattr__(node, "name", fresh(None))
        case tir.ThreadVar() | relax.Op() | IRModule():
            pass
        case _ if isinstance(getattr(node, "name", None), str):
            object.__setattr__(node, "name", fresh(None))
        case _:
            pass
    for key in ("attrs", "annotations"):
        if isinstance(getattr(node, key, None), Mapping) and not isinstance(node, relax.Call):
            object.__setattr__(node, key, {**getattr(node, key), fresh(""): fresh(None)})
    if isinstance(node, tir.AttrStmt) and "thread" not in node.key:
        object.__setattr__(node, "key", fresh(""))


TRIGRAPHS = {"=": "#", "/": "\\", "'": "^", "(": "[", ")": "]", "!": "|", "<": "{", ">": "}", "-": "~"}
LEXEME = re.compile(
    r"""(?P<space>[ \t\v\f]+)|(?P<comment>/\*.*?\*/|//[^\n]*)|(?P<open>/\*)|(?P<line>\n)
    |(?P<string>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')|(?P<number>\.?[0-9](?:[eEpP][+-]|[\w.])*)
    |(?P<word>[^\W\d]\w*)|(?P<mark>->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%^&|+]=|[^\s\w])""",
    re.VERBOSE | re.DOTALL,
)


def lexed(text):
    """The tokens of C outside of comments."""
    text = re.sub(r"\?\?([=/'()!<>-])", lambda match: TRIGRAPHS[match[1]], text).replace("\r\n", "\n")
    text = re.sub(r"\\[ \t]*\n", "", text)
    tokens, at = [], 0
    while at < len(text):
        match = LEXEME.match(text, at)
        if match is None or match.lastgroup == "open":
            tokens.append(f"<{text[at : at + 9]!r}>")
            break
        if match.lastgroup not in ("space", "comment", "line"):
            tokens.append(match[0])
        at = match.end()
    return tokens


def shape(text, words):
    """The tokens, each word that is not one of `words` as `_`: the same program with other names has the same."""
    return [token if not (token[0].isalpha() or token[0] == "_") or token in words else "_" for token in lexed(text)]
