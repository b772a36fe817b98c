"""Wrong variants of Python modules: one node of the syntax tree at a time. Nothing is chosen by hand.

| rule        | what becomes of it                                                             |
|-------------|--------------------------------------------------------------------------------|
| `compare`   | `<` is `<=`, `==` is `!=`, `in` is `not in`, …                                   |
| `logic`     | `and` is `or`; a `not` is left out                                               |
| `operator`  | `+` is `-`, `*` is `+`, `//` is `*`, `&` is `|`, `<<` is `>>`; so do `+=` and the like |
| `arguments` | the first two arguments of a call are swapped                                     |
| `constant`  | a number is one more, one less; True is False                                    |
| `condition` | what an `if`, a `while`, a filter asks always holds, or never                     |
| `statement` | a call whose value nobody uses is left out; so is a `raise`                       |
| `result`    | a returned truth is True, or False; a returned collection is empty                |
| `name`      | `min` is `max`, `low` is `high`, `all` is `any`                                   |
| `text`      | an operator in the C text that is written is another one                          |
"""

import ast
import copy
import re
from collections import Counter
from dataclasses import dataclass

from units import python_units, text_of

COMPARE = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
OPERATOR = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.FloorDiv: ast.Mult,
    ast.Div: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.BitXor: ast.BitOr,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
}
NAMES = {"min": "max", "max": "min", "all": "any", "any": "all", "low": "high", "high": "low"}
TEXT = (
    *((" < ", " <= "), (" <= ", " < "), (" > ", " >= "), (" >= ", " > "), (" == ", " != "), (" != ", " == ")),
    *((" + ", " - "), (" - ", " + "), (" * ", " + "), (" && ", " || "), (" || ", " && "), (" - 1", ""), (" + 1", "")),
    *((" & ", " | "), (" | ", " & "), ("++", "--"), ("+= ", "-= "), (" >> ", " << "), (" << ", " >> ")),
)
C_TEXT = re.compile(r"[;(){}\[\]]|RM_|rm_|^ ?[<>=!+*/&|-]+ ?$")


SHORT = 72
COMMUTATIVE = ("min", "max", "add_up", "mul_up", "join", "united", "structural_equal", "isinstance", "zip")


@dataclass(frozen=True)
class Mutant:
    """One wrong variant of a module: `source` is its text. `is_table`: the line is executed when it is loaded.

    `key` survives renames (`units`), `what` is for people. `first` and `last` are the lines of the statement: of one
    that holds others, its head.
    """

    key: str
    module: str
    owner: str
    what: str
    line: int
    source: str
    is_table: bool = False
    first: int = 0
    last: int = 0
    begin: tuple[int, int] = (0, 0)
    end: tuple[int, int] = (0, 0)

    @property
    def place(self):
        """Its module and function."""
        return f"{self.module} {self.owner}"

    @property
    def name(self):
        """As it is printed, and stands among the reasons: what follows `|` is for people."""
        return f"{self.key} | {self.place} {self.what}"

    def within(self, begin, end):
        """Whether what is changed stands between two places, line and column."""
        return begin <= self.begin and self.end <= end


def mutants_of(module, text, *, all_compile=True):
    """Every mutant of a module, in the order of the text; not `all_compile`: those too that are no Python (quicker)."""
    tree = ast.parse(text)
    starts = [0, *(found.end() for found in re.finditer("\n", text))]
    data = text.encode()
    offsets = [len(text[:start].encode()) for start in starts]
    owners, heads, count, made = _owners(tree), _heads(tree), Counter(), []
    units = {place: unit for unit in units_of(tree) for place in unit.places}
    for rule, node, new, said in _changes(tree):
        begin = offsets[node.lineno - 1] + node.col_offset
        end = offsets[node.end_lineno - 1] + node.end_col_offset
        old = ast.unparse(node.test) if rule == "condition" else " ".join(data[begin:end].decode().split())
        count[id(node), rule] += 1
        source = (data[:begin] + new.encode() + data[end:]).decode()
        if not all_compile or is_python(source):
            of_module = id(node) not in owners
            places = (node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset)
            unit = units[id(node)]
            key = unit.key(rule, unit.places[id(node)], count[id(node), rule])
            names = module, owners.get(id(node), ""), f"`{shortened(old)}` -> `{shortened(said)}`"
            made.append(Mutant(key, *names, node.lineno, source, of_module, *heads[id(node)], *places))
    return made


def units_of(code):
    """The units of a module, whose syntax tree or text is given."""
    return python_units(ast.parse(code) if isinstance(code, str) else code, C_TEXT.search)


def shortened(text):
    """So much of a text as tells people what is meant."""
    return text if len(text) <= SHORT else f"{text[: SHORT - 1]}…"


def is_python(source):
    """Whether a text compiles."""
    try:
        compile(source, "mutant", "exec")
    except SyntaxError:
        return False
    return True


def _owners(tree):
    """The function that each node stands in, by the node's id."""
    found = {}
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef):
            found.update((id(node), function.name) for node in ast.walk(function))
    return found


def _heads(tree):
    """The first and last line of the statement that each node stands in, without the statements in that."""
    found = {}
    for node in ast.walk(tree):  # outer ones first, so that inner ones have the last word
        if isinstance(node, ast.stmt | ast.match_case | ast.ExceptHandler):
            first = node.pattern.lineno if isinstance(node, ast.match_case) else node.lineno
            body = getattr(node, "body", None) or getattr(node, "cases", None)
            inner = body and (body[0].pattern if isinstance(body[0], ast.match_case) else body[0])
            last = max(first, inner.lineno - 1) if inner else node.end_lineno
            found.update((id(each), (first, last)) for each in ast.walk(node))
    return found


def _changes(tree):
    """Rule, node, the new text of the node, and how it is called."""
    left_out = _annotations(tree)
    for node in ast.walk(tree):
        if id(node) in left_out or not hasattr(node, "lineno"):
            continue
        for rule, new in _variants(node):
            text = new if isinstance(new, str) else ast.unparse(new)
            if rule == "condition":
                yield rule, node, _in_place(node, text), ast.unparse(new.test)
            else:
                yield rule, node, text, text


def _annotations(tree):
    """Nodes that are no code: docstrings, annotations, decorators, imports, what `zip` checks of ourselves."""
    found = set()
    for node in ast.walk(tree):
        parts = []
        match node:
            case ast.Expr(value=ast.Constant(value=str())) | ast.Import() | ast.ImportFrom():
                parts = [node]
            case ast.If(test=ast.Name(id="TYPE_CHECKING")) | ast.keyword(arg="strict"):
                parts = [node]
            case ast.arg(annotation=annotation) if annotation is not None:
                parts = [annotation]
            case ast.AnnAssign(annotation=annotation):
                parts = [annotation]
            case ast.FunctionDef(returns=returns, decorator_list=decorators):
                parts = [*decorators, *([returns] if returns else [])]
            case ast.ClassDef(decorator_list=decorators):
                parts = decorators
            case _:
                continue
        found.update(id(inner) for part in parts for inner in ast.walk(part))
    return found


def _variants(node):
    match node:
        case ast.Compare(ops=[op]) if type(op) in COMPARE:
            yield "compare", _with(node, ops=[COMPARE[type(op)]()])
        case ast.Compare(ops=[first, second]) if type(first) in COMPARE and type(second) in COMPARE:
            yield "compare", _with(node, ops=[COMPARE[type(first)](), second])
            yield "compare", _with(node, ops=[first, COMPARE[type(second)]()])
        case ast.BoolOp(op=op):
            yield "logic", f"({ast.unparse(_with(node, op=ast.Or() if isinstance(op, ast.And) else ast.And()))})"
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield "logic", f"({ast.unparse(operand)})"
        case ast.UnaryOp(op=ast.USub(), operand=operand) if not isinstance(operand, ast.Constant):
            yield "operator", operand
        case ast.BinOp(op=op) if type(op) in OPERATOR and not _is_text(node) and not _is_types(node):
            yield "operator", f"({ast.unparse(_with(node, op=OPERATOR[type(op)]()))})"
        case ast.AugAssign(op=op) if type(op) in OPERATOR and not isinstance(node.value, ast.JoinedStr):
            yield "operator", _with(node, op=OPERATOR[type(op)]())
        case ast.Call(args=[first, second, *_]) if _may_swap(node, first, second):
            yield "arguments", _with(node, args=[second, first, *node.args[2:]])
        case ast.Constant(value=bool(value)):
            yield "constant", str(not value)
        case ast.Constant(value=int(value)):
            yield from (("constant", str(value + by)) for by in (1, -1))
        case ast.Constant(value=str(value)):
            yield from _texts(node, value)
        case ast.JoinedStr():
            yield from _joined(node)
        case ast.If() | ast.IfExp() | ast.While():
            yield from _conditions(node)
        case ast.Expr(value=ast.Call()) | ast.Raise():
            yield "statement", "pass"
        case ast.Return(value=ast.Compare() | ast.BoolOp() | ast.UnaryOp(op=ast.Not())):
            yield from (("result", f"return {new}") for new in ("True", "False"))
        case ast.Name(id=name) if name in ("min", "max", "all", "any"):
            yield "name", NAMES[name]
        case ast.Attribute(attr=name) if name in ("low", "high"):
            yield "name", _with(node, attr=NAMES[name])
        case _:
            return


def _may_swap(node, first, second):
    """Whether two arguments can change places: names and what is computed, not the texts and types of a message."""
    callee = ast.unparse(node.func)
    plain = (ast.Name, ast.Attribute, ast.Subscript, ast.BinOp, ast.Call, ast.UnaryOp)
    if callee in COMMUTATIVE:
        return False
    return isinstance(first, plain) and isinstance(second, plain) and ast.dump(first) != ast.dump(second)


def _conditions(node):
    """The statement or expression with a condition that says nothing."""
    for new in (False,) if isinstance(node, ast.While) else (True, False):
        yield "condition", _with(node, test=ast.Constant(new))


def _in_place(node, text):
    """A text for the place of `node`: an expression in brackets, a statement as far to the right."""
    return f"({text})" if isinstance(node, ast.IfExp) else text.replace("\n", "\n" + " " * node.col_offset)


def _with(node, **changes):
    changed = copy.copy(node)
    for name, value in changes.items():
        setattr(changed, name, value)
    return changed


def _is_text(node):
    """Whether an addition joins texts."""
    return any(isinstance(part, ast.JoinedStr | ast.Constant) and not isinstance(getattr(part, "value", None), int)
               for part in (node.left, node.right))  # fmt: skip


def _is_types(node):
    """Whether `|` unites types."""
    leaves = [leaf for leaf in ast.walk(node) if isinstance(leaf, ast.Name | ast.Attribute)]
    names = {leaf.id if isinstance(leaf, ast.Name) else leaf.attr for leaf in leaves}
    types = {"int", "float", "bool", "str", "tuple", "list", "dict"}
    return isinstance(node.op, ast.BitOr) and any(name in types or re.match("[A-Z][a-z]", name) for name in names)


def _texts(node, value):
    """A constant text of C with another operator."""
    if "`" in value or not C_TEXT.search(value):
        return
    for old, new in TEXT:
        if old in value:
            yield "text", ast.Constant(value.replace(old, new, 1))
    del node


def _joined(node):
    """An f-string of C with another operator in one of its parts."""
    whole = text_of(node)
    if "`" in whole or not C_TEXT.search(whole):
        return
    for place, part in enumerate(node.values):
        if isinstance(part, ast.Constant):
            for _, changed in _texts_of(part.value):
                values = [*node.values[:place], ast.Constant(changed), *node.values[place + 1 :]]
                yield "text", ast.JoinedStr(values)


def _texts_of(value):
    return [(old, value.replace(old, new, 1)) for old, new in TEXT if old in value]
