"""Wrong variants of Python modules: one node of the syntax tree at a time. Nothing is chosen by hand.

| rule        | what becomes of it                                                             |
|-------------|--------------------------------------------------------------------------------|
| `compare`   | `<` is `<=`, `==` is `!=`, `in` is `not in`, …                                   |
| `logic`     | `and` is `or`; a `not` is left out                                               |
| `operator`  | `+` is `-`, `*` is `+`, `//` is `*`                                              |
| `constant`  | a number is one more, one less; True is False                                    |
| `condition` | what an `if`, a `while`, a filter asks always holds, or never                     |
| `statement` | a call whose value nobody uses is left out; so is a `raise`                       |
| `result`    | a returned truth is True, or False; a returned collection is empty                |
| `name`      | `min` is `max`, `low` is `high`, `all` is `any`                                   |
| `text`      | an operator in the C text that is written is another one                          |
"""

import ast
import copy
import hashlib
import re
from collections import Counter
from dataclasses import dataclass

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
OPERATOR = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.FloorDiv: ast.Mult, ast.Mod: ast.FloorDiv}
NAMES = {"min": "max", "max": "min", "all": "any", "any": "all", "low": "high", "high": "low"}
TEXT = (
    *((" < ", " <= "), (" <= ", " < "), (" > ", " >= "), (" >= ", " > "), (" == ", " != "), (" != ", " == ")),
    *((" + ", " - "), (" - ", " + "), (" * ", " + "), (" && ", " || "), (" || ", " && "), (" - 1", ""), (" + 1", "")),
    *((" & ", " | "), (" | ", " & "), ("++", "--"), ("+= ", "-= "), (" >> ", " << "), (" << ", " >> ")),
)
C_TEXT = re.compile(r"[;(){}\[\]]|RM_|rm_|^ ?[<>=!+*/&|-]+ ?$")


@dataclass(frozen=True)
class Mutant:
    """One wrong variant of a module: `source` is its text. `is_table`: the line is executed when it is loaded."""

    name: str
    module: str
    line: int
    source: str
    is_table: bool = False


def sample(mutants, number, seed=0):
    """So many of them, the same ones each time: in the order of a digest of their names."""

    def key(mutant):
        return hashlib.sha256(f"{seed} {mutant.name}".encode()).digest()

    return sorted(mutants, key=key)[:number]


def mutants_of(module, text):
    """Every mutant of a module, in the order of the text."""
    tree = ast.parse(text)
    starts = [0, *(found.end() for found in re.finditer("\n", text))]
    data = text.encode()
    offsets = [len(text[:start].encode()) for start in starts]
    owners, count, made = _owners(tree), Counter(), []
    for rule, node, new in _changes(tree):
        begin = offsets[node.lineno - 1] + node.col_offset
        end = offsets[node.end_lineno - 1] + node.end_col_offset
        old = " ".join(data[begin:end].decode().split())
        name = f"{module} {owners.get(id(node), '')} {rule} `{old}` -> `{new}`"
        count[name] += 1
        source = (data[:begin] + new.encode() + data[end:]).decode()
        if _is_python(source):
            made.append(Mutant(f"{name} #{count[name]}", module, node.lineno, source, id(node) not in owners))
    return made


def _is_python(source):
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


def _changes(tree):
    """Rule, node and the new text of the node."""
    left_out = _annotations(tree)
    for node in ast.walk(tree):
        if id(node) in left_out or not hasattr(node, "lineno"):
            continue
        for rule, new in _variants(node):
            yield rule, node, new if isinstance(new, str) else ast.unparse(new)


def _annotations(tree):
    """Nodes that are no code: docstrings, annotations, decorators, imports, the reasons that people read."""
    found = set()
    for node in ast.walk(tree):
        parts = []
        match node:
            case ast.Expr(value=ast.Constant(value=str())) | ast.Import() | ast.ImportFrom():
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
        case ast.BinOp(op=op) if type(op) in OPERATOR and not _is_text(node):
            yield "operator", f"({ast.unparse(_with(node, op=OPERATOR[type(op)]()))})"
        case ast.Constant(value=bool(value)):
            yield "constant", str(not value)
        case ast.Constant(value=int(value)):
            yield from (("constant", str(value + by)) for by in (1, -1))
        case ast.Constant(value=str(value)):
            yield from _texts(node, value)
        case ast.JoinedStr():
            yield from _joined(node)
        case ast.If(test=test) | ast.IfExp(test=test) | ast.While(test=test):
            yield from _conditions(node, test)
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


def _conditions(node, test):
    """The statement or expression with a condition that says nothing."""
    for new in (True, False):
        if isinstance(node, ast.While) and new:
            continue
        if isinstance(node, ast.IfExp):
            yield "condition", ast.unparse(_with(node, test=ast.Constant(new))).join("()")
        else:
            changed = ast.unparse(_with(node, test=ast.Constant(new))).replace("\n", "\n" + " " * node.col_offset)
            yield "condition", changed
    del test


def _with(node, **changes):
    changed = copy.copy(node)
    for name, value in changes.items():
        setattr(changed, name, value)
    return changed


def _is_text(node):
    """Whether an addition joins texts."""
    return any(isinstance(part, ast.JoinedStr | ast.Constant) and not isinstance(getattr(part, "value", None), int)
               for part in (node.left, node.right))  # fmt: skip


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
    whole = "".join(part.value for part in node.values if isinstance(part, ast.Constant))
    if "`" in whole or not C_TEXT.search(whole):
        return
    for place, part in enumerate(node.values):
        if isinstance(part, ast.Constant):
            for _, changed in _texts_of(part.value):
                values = [*node.values[:place], ast.Constant(changed), *node.values[place + 1 :]]
                yield "text", ast.JoinedStr(values)


def _texts_of(value):
    return [(old, value.replace(old, new, 1)) for old, new in TEXT if old in value]
