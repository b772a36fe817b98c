"""Wrong variants of C headers: one token, cast, guard or arm at a time. Nothing is chosen by hand.

| rule       | what becomes of it                                                          |
|------------|-----------------------------------------------------------------------------|
| `operator` | `+` `-`, `<` `<=`, `&&` `||`, `<<` `>>`, `&` `|`, … swapped; `!`, `~` left out |
| `constant` | a number is one more, one less, or its exponent is                           |
| `cast`     | a conversion is left out                                                    |
| `width`    | a type is the next narrower or wider one; `double` is `float`                 |
| `guard`    | an `if` never, or always, holds; a predicate is false                          |
| `arms`     | the arms of `? :` are swapped                                               |
| `function` | `ceil` is `floor`, `rint` is `trunc`, `fabs` is nothing, …                     |

A mutant is known by a key that survives renames (`units`): lines may move.
"""

import re
from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass

from units import c_units

TOKEN = re.compile(
    r"(?P<comment>/\*.*?\*/|//[^\n]*)|(?P<string>\"(?:[^\"\\]|\\.)*\")|(?P<space>(?:\s|\\\n)+)|(?P<paste>\#\#?)"
    r"|(?P<number>(?:0[xX][0-9a-fA-F.]+(?:[pP][+-]?\d+)?|\d+\.?\d*(?:[eE][+-]?\d+)?)[uUlLfF]*)"
    r"|(?P<word>[A-Za-z_]\w*)|(?P<sign><<=|>>=|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|->|\+\+|--|.)",
    re.DOTALL,
)
DIRECTIVE = re.compile(r"^#\s*(?!define)\w+(?:[^\n\\]|\\\n|\\.)*", re.MULTILINE)
OWNER = re.compile(r"^#define (\w+)|(?:RM_FN|static inline)[^;{]*?\b(\w+(?:##\w+)*)\(", re.MULTILINE)
SWAPS = {
    "+": "-",
    "-": "+",
    "*": "+",
    "/": "*",
    "%": "/",
    "&&": "||",
    "||": "&&",
    "<<": ">>",
    ">>": "<<",
    "<": "<=",
    "<=": "<",
    ">": ">=",
    ">=": ">",
    "==": "!=",
    "!=": "==",
    "&": "|",
    "|": "&",
    "^": "|",
    "+=": "-=",
    "-=": "+=",
    "|=": "&=",
    "&=": "|=",
    "~": "",
    "!": "",
}
WIDTHS = {
    "uint64_t": "uint32_t",
    "int64_t": "int32_t",
    "uint32_t": "uint16_t",
    "int32_t": "int16_t",
    "uint16_t": "uint8_t",
    "int16_t": "int8_t",
    "uint8_t": "int8_t",
    "int8_t": "uint8_t",
    "double": "float",
    "UINT64_C": "UINT32_C",
}
FUNCTIONS = {
    "ceil": "floor",
    "floor": "ceil",
    "trunc": "floor",
    "rint": "trunc",
    "fabs": "",
    "fmod": "remainder",
    "ceilf": "floorf",
    "floorf": "ceilf",
    "truncf": "floorf",
    "rintf": "truncf",
    "fabsf": "",
    "sqrt": "",
    "sqrtf": "",
    "copysign": "fmax",
    "copysignf": "fmaxf",
    "fma": "hypot",
}
TYPE = re.compile(r"(?:const )?(?:u?int\d+_t|double|float|bool|(?:WORD|T|CODE)|rm_?(?:##)?\w*(?:##\w+)*)$")


@dataclass(frozen=True)
class Mutant:
    """One wrong variant: `text[start:end]` of the header becomes `new`. `what` is for people."""

    key: str
    header: str
    owner: str
    what: str
    line: int
    start: int
    end: int
    new: str

    @property
    def name(self):
        """As it is printed, and stands among the reasons: what follows `|` is for people."""
        return f"{self.key} | {self.header} {self.owner} {self.what}"

    def applied(self, text):
        return text[: self.start] + self.new + text[self.end :]


@dataclass(frozen=True)
class Token:
    kind: str
    text: str
    start: int

    @property
    def end(self):
        return self.start + len(self.text)


def tokens_of(text):
    """The tokens between comments and directives."""
    left_out = [(found.start(), found.end()) for found in DIRECTIVE.finditer(text)]
    found, place = [], 0
    while place < len(text):
        inside = next((end for start, end in left_out if start <= place < end), 0)
        if inside:
            place = inside
            continue
        match = TOKEN.match(text, place)
        if match.lastgroup not in ("space", "comment", "string"):
            found.append(Token(match.lastgroup, match[0], place))
        place = match.end()
    return found


def units_of(text):
    """The units of a header."""
    return c_units([start for start, _ in _owners(text)], tokens_of(text))


def _owners(text):
    """Where each function and macro begins, and its name."""
    return [(found.start(), found[1] or found[2]) for found in OWNER.finditer(text)]


def mutants_of(header, text):
    """Every mutant of a header, in the order of the text."""
    tokens = tokens_of(text)
    owners = _owners(text)
    units = {place: unit for unit in units_of(text) for place in unit.places}
    starts, count, made = [token.start for token in tokens], Counter(), []

    def owner_at(start):
        return next((name for place, name in reversed(owners) if place <= start), "")

    for rule, start, end, new in sorted(_changes(text, tokens, owner_at), key=lambda one: one[1:3]):
        owner = owner_at(start)
        old = " ".join(text[start:end].replace("\\\n", " ").split())
        what = f"`{old}` -> `{' '.join(new.replace(chr(92), ' ').split())}`"
        at = starts[bisect_right(starts, start) - 1]  # of what is changed, or of the sign before it
        count[start, rule] += 1
        line = text.count("\n", 0, start) + 1
        key = units[at].key(rule, units[at].places[at], count[start, rule])
        made.append(Mutant(key, header, owner, what, line, start, end, new))
    return made


def _changes(text, tokens, owner_at):
    for place, token in enumerate(tokens):
        before = tokens[place - 1] if place else Token("sign", ";", 0)
        after = tokens[place + 1] if place + 1 < len(tokens) else Token("sign", ";", len(text))
        if _is_defined_name(text, token):
            continue
        match token.kind:
            case "number":
                yield from (("constant", token.start, token.end, new) for new in _numbers(token.text))
            case "word" if token.text in WIDTHS:
                yield "width", token.start, token.end, WIDTHS[token.text]
            case "word" if token.text in FUNCTIONS:
                yield "function", token.start, token.end, FUNCTIONS[token.text]
            case "word" if token.text == "if" and after.text == "(":
                closing = _closing(tokens, place + 1)
                yield from (("guard", tokens[place + 1].start, tokens[closing].end, f"({new})") for new in "01")
            case "word" if token.text == "return" and owner_at(token.start).endswith("_undefined"):
                yield from _predicate(text, tokens, place)
            case "sign" if token.text == "?":
                yield from _arms(text, tokens, place)
            case "sign" if token.text == "(":
                yield from _cast(text, tokens, place)
            case "sign" if token.text in SWAPS and not _is_pointer(token, before, after):
                yield "operator", token.start, token.end, SWAPS[token.text]


def _is_defined_name(text, token):
    """Whether the token is in the head of a definition: `#define NAME(parameters)`."""
    begin = text.rfind("\n", 0, token.start) + 1
    head = re.match(r"#define \w+(\([^)]*\))?", text[begin:])
    return head is not None and token.start < begin + head.end()


def _numbers(text):
    """The constant, one more, one less."""
    digits = re.match(r"0[xX][0-9a-fA-F.]+|[\d.]+", text)[0]
    rest = text[len(digits) :]
    if "p" in rest.lower():
        sign = re.search(r"[+-]?\d+", rest)
        return [f"{digits}p{int(sign[0]) + by}{rest[sign.end() :]}" for by in (1, -1)]
    if digits.lower().startswith("0x"):
        return [f"{int(digits, 16) ^ by:#x}{rest}" for by in (1, 2)] if "." not in digits else []
    if "." in digits:
        return [f"{float(digits) + by}{rest}" for by in (1.0, -1.0)]
    return [f"{int(digits) + by}{rest}" for by in (1, -1) if int(digits) + by >= 0]


def _is_pointer(token, before, after):
    """Whether `*` and `&` are of a declaration or an address, or a sign is none of arithmetic."""
    if token.text in ("*", "&"):
        typed = re.search(r"(_t|_cell|_run|_block|void|char|float|double|const)$", before.text) is not None
        return typed or before.text in ("(", ",", "=", "return") or before.kind == "paste"
    return (
        (
            token.text in "+-"
            and len(token.text) == 1
            and before.text in ("(", ",", "=", "?", ":", "return")
            and token.text == "+"
        )
        or (token.text in ("<", ">") and "include" in before.text)
        or after.kind == "paste"
    )


def _closing(tokens, opening):
    """The place of the parenthesis that closes the one at `opening`."""
    depth = 0
    for place in range(opening, len(tokens)):
        depth += {"(": 1, ")": -1}.get(tokens[place].text, 0)
        if depth == 0:
            return place
    return len(tokens) - 1


def _predicate(text, tokens, place):
    """`return …;` of a function that tells what is undefined: never."""
    end = next((one for one in tokens[place:] if one.text == ";"), None)
    if end is not None and text[tokens[place].end : end.start].strip() not in ("false", "true"):
        yield "guard", tokens[place].end, end.start, " false"


def _arms(text, tokens, place):
    """`a ? b : c` with the arms swapped."""
    colon = _at_depth(tokens, place + 1, (":",))
    end = None if colon is None else _at_depth(tokens, colon + 1, (";", ",", ")", ":"))
    if end is None:
        return
    first = text[tokens[place].end : tokens[colon].start].strip()
    second = text[tokens[colon].end : tokens[end].start].strip()
    if "\n" not in first + second and first != second:
        yield "arms", tokens[place].end, tokens[end].start, f" {second} : {first}"


def _at_depth(tokens, start, wanted):
    """The first of the signs that stands in no parentheses opened since."""
    depth = nested = 0
    for place in range(start, len(tokens)):
        text = tokens[place].text
        if depth == 0 and nested == 0 and text in wanted:
            return place
        nested += text == "?"
        nested -= text == ":" and depth == 0 and nested > 0
        depth += {"(": 1, ")": -1, "{": 1, "}": -1}.get(text, 0)
        if depth < 0:
            return None
    return None


def _cast(text, tokens, place):
    """`(type)x` without the type."""
    closing = _closing(tokens, place)
    inside = text[tokens[place].end : tokens[closing].start].strip()
    before = tokens[place - 1]
    if closing + 1 < len(tokens) and TYPE.match(inside) and before.kind != "word":
        follows = tokens[closing + 1]
        if follows.kind in ("word", "number") or follows.text in ("(", "-", "~"):
            yield "cast", tokens[place].start, tokens[closing].end, ""
