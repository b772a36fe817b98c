"""Names for places in code that survive every rename: what the reasons of surviving mutants are kept under.

A unit of Python is an outermost function or method, the fields of a class, or another statement of a module; a unit of
C is a function or a macro. Its digest is that of its syntax tree or tokens with names numbered in the order of their
first use: a module, function, local, attribute or class may get another name or place, a constant may not change. Left
out are docstrings, annotations, imports and sentences. Names of Python, of C, and of what is imported from elsewhere
stay as they are: `np.floor` is not `np.ceil`.

Units that are alike are told apart by their context, the digests of all units of their file, and there by their order.
"""

import ast
import builtins
import hashlib
import re
from collections import Counter
from dataclasses import dataclass, field

BUILTIN = frozenset(dir(builtins))
OWN = "refmlc"
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
SKIPPED = ("annotation", "returns", "type_comment", "type_params", "kind", "ctx")
NAMESPACE = {ast.Attribute: "attribute", ast.MatchClass: "attribute", ast.keyword: "keyword"}
C_WORDS = re.compile(
    r"auto|bool|break|case|char|const|continue|default|defined?|do|double|else|enum|extern|false|float|for|goto|if|inline"
    r"|int|long|register|return|short|(?:un)?signed|sizeof|static|struct|switch|true|typedef|union|void|volatile|while"
    r"|(?:ceil|copysign|fabs|floor|fmod|rint|sqrt|trunc)f?|fma|hypot|is(?:finite|inf|nan)|signbit|mem(?:cpy|set)|NAN"
    r"|INFINITY|u?int\d*_t|U?INT\d+_(?:C|MAX|MIN)|size_t|(?:DBL|FLT)_\w+"
)


@dataclass
class Unit:
    """A part of a file. `places`: the number of each node in it, by the node's id, or of each token, by its start."""

    words: list[str]
    places: dict[int, int] = field(repr=False)
    digest: str = ""
    context: str = ""

    def key(self, rule, place, count):
        """What a mutant is known by: so many of that rule were there before at that place."""
        return f"{self.digest}~{self.context} {rule} {place}.{count}"


def short(*words):
    """A digest that a line has room for."""
    return hashlib.sha256(" ".join(words).encode()).hexdigest()[:12]


def sample(mutants, number, seed=0):
    """So many of them, the same ones each time, whatever is renamed: in the order of a digest of their keys."""

    def rank(mutant):
        key = mutant.name.partition(" | ")[0]
        return hashlib.sha256(f"{seed} {re.sub('~[0-9a-f]+', '', key)}".encode()).digest(), key

    return sorted(mutants, key=rank)[:number]


# -------------------------------------------------------------------------------------------------- Python


def python_units(tree, is_code):
    """The units of a module, outer ones first; `is_code`: whether a text is C, no words of a message."""
    outside = _outside(tree)
    units = _of_body(tree.body, outside, is_code)
    functions = [(unit, node) for unit, node in units if isinstance(node, FUNCTIONS)]
    own = {id(unit): short(*unit.words) for unit, _ in functions}
    for unit, node in units:  # a constant is what its readers make of it
        if not isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            assigned = _names(node, ast.Store)
            unit.words += sorted(own[id(reader)] for reader, each in functions if assigned & _names(each, ast.Load))
    return _with_digests([unit for unit, _ in units])


def _of_body(body, outside, is_code):
    found = []
    for node in body:
        if is_no_code(node):
            continue
        normal = _Normal(outside, is_code)
        normal.add(node, fields_only=isinstance(node, ast.ClassDef))
        found.append((Unit(normal.words, normal.places), node))
        if isinstance(node, ast.ClassDef):
            inner = [each for each in node.body if isinstance(each, (*FUNCTIONS, ast.ClassDef))]
            found += _of_body(inner, outside, is_code)
    return found


def _names(tree, context):
    """The names that are loaded, or stored."""
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, context)}


def _outside(tree):
    """Names that come from other projects."""
    names = set()
    for node in ast.walk(tree):
        match node:
            case ast.ImportFrom(module=str(module), names=aliases) if module.split(".")[0] != OWN:
                names |= {each.asname or each.name for each in aliases}
            case ast.Import(names=aliases):
                others = [each for each in aliases if each.name.split(".")[0] != OWN]
                names |= {(each.asname or each.name).split(".")[0] for each in others}
            case _:
                continue
    return names


class _Normal:
    """A syntax tree as a list of words, in which names are numbers."""

    def __init__(self, outside, is_code):
        self._outside, self._is_code = outside, is_code
        self.words, self.places, self._numbers = [], {}, {}

    def add(self, node, *, fields_only=False):
        """The node and what is in it; of a class perhaps its fields only."""
        self.places[id(node)] = len(self.places) + 1
        self.words.append(f"({type(node).__name__}")
        if isinstance(node, ast.Constant):
            is_sentence = isinstance(node.value, str) and self._are_sentence(node.value)
            self.words.append("sentence" if is_sentence else repr(node.value))
        elif isinstance(node, ast.JoinedStr) and self._are_sentence(text_of(node), *texts_in(node)):
            for part in node.values:
                if isinstance(part, ast.FormattedValue):
                    self.add(part)
        else:
            for name, value in ast.iter_fields(node):
                if name not in SKIPPED:
                    self._add_field(node, name, value, fields_only)
        self.words.append(")")

    def _add_field(self, node, name, value, fields_only):
        self.words.append(name)
        for each in value if isinstance(value, list) else [value]:
            if is_no_code(each) or (fields_only and isinstance(each, (*FUNCTIONS, ast.ClassDef))):
                continue
            if isinstance(each, ast.AST):
                self.add(each)
            else:
                self.words.append(self._name(node, each) if isinstance(each, str) else repr(each))

    def _name(self, node, name):
        if self._stays(node, name):
            return name
        namespace = NAMESPACE.get(type(node), "name")
        numbers = self._numbers.setdefault(namespace, {})
        return f"{namespace}{numbers.setdefault(name, len(numbers))}"

    def _are_sentence(self, whole, *parts):
        """Whether a text is words of a message: nothing in it is code."""
        return " " in whole.strip() and not any(self._is_code(text) for text in (whole, *parts))

    def _stays(self, node, name):
        if isinstance(node, ast.Name):
            return name in BUILTIN or name in self._outside
        base = node
        while isinstance(base, ast.Attribute):
            base = base.value
        return isinstance(node, ast.Attribute) and isinstance(base, ast.Name) and base.id in self._outside


def is_no_code(node):
    """Whether a statement is nothing but a text, or an import."""
    match node:
        case ast.Expr(value=ast.Constant(value=str())) | ast.Import() | ast.ImportFrom():
            return True
        case ast.If(test=ast.Name(id="TYPE_CHECKING")):
            return True
        case _:
            return False


def text_of(node):
    """The text of an f-string without its values."""
    return "".join(texts_in(node))


def texts_in(node):
    """The texts between the values of an f-string."""
    return [part.value for part in node.values if isinstance(part, ast.Constant)]


# ------------------------------------------------------------------------------------------------------- C


def c_units(owners, tokens):
    """The units of a header: from each owner's start to the next one."""
    units = [Unit([], {}) for _ in range(len(owners) + 1)]
    numbers = [{} for _ in units]
    at = 0
    for token in tokens:
        while at < len(owners) and owners[at] <= token.start:
            at += 1
        known, of_c = numbers[at], C_WORDS.fullmatch(token.text)
        is_name = token.kind == "word" and not of_c
        units[at].words.append(f"name{known.setdefault(token.text, len(known))}" if is_name else token.text)
        units[at].places[token.start] = len(units[at].words)
    return _with_digests(units)


def _with_digests(units):
    """The units of a file, each with its digest and context."""
    for unit in units:
        unit.digest = short(*unit.words)
    together, count = sorted(unit.digest for unit in units), Counter()
    for unit in units:
        unit.context = short(*together, str(count[unit.digest]))[:6]
        count[unit.digest] += 1
    return units
