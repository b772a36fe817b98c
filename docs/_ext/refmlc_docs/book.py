"""The clauses of the specification as sections of a chapter.

A clause becomes: its title, the text, when it is undefined, how exact it is, its operators or node with hand-worked
examples, the plainest case of the suite as a program, what TVM does otherwise, why it was decided so, and the lines
that implement it.
"""

import re
import tomllib
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from importlib.resources import files
from inspect import Parameter
from types import NoneType, UnionType
from typing import ForwardRef, Union, get_args, get_origin

from refmlc.lang.ir import relax, tir
from refmlc.lang.library import OPERATORS
from refmlc.lang.library.definition import Operator
from refmlc.lang.ops.contract import Accuracy, Contract, Example
from refmlc.lang.ops.graph import BUILTINS, GRAPH_OPS
from refmlc.lang.ops.intrinsics import INTRINSICS
from refmlc.lang.ops.laws import LAWS
from refmlc.lang.ops.scalar import SCALAR_OPS
from refmlc.lang.ops.tile_operators import DEMANDED, TILE_MEANINGS, TILE_OPERATORS, TileOperand
from refmlc.lang.spec import AREAS, Clause, clauses
from refmlc_docs.cases import cases_by_clause, end_kind, examples, shown
from refmlc_docs.citations import ROOT, Citation, citations
from refmlc_docs.documents import heading_anchor
from refmlc_docs.markdown import clause_link, code_link, fence, folded, inline, prose, table

NOTATION = ROOT / "docs" / "reference" / "specification" / "notation.toml"
MOST_EXAMPLES = 6
MOST_CASES = 3
MOST_PLACES = 6
MOST_DEVIATIONS = 5


def chapter(file: str, first: str = "", last: str = "") -> str:
    """The clauses of `file` (`num-bits`), or those from `first` to `last`."""
    rows = [row for row in clauses().values() if row.file == f"{file}.toml"]
    chosen = [row for row in rows if (first or row.id) <= row.id <= (last or first or row.id)]
    if not chosen:
        message = f"{file} has no clause from {first} to {last}"
        raise ValueError(message)
    return "\n\n".join(section(row) for row in chosen)


def section(row: Clause) -> str:
    """One clause."""
    parts = [f"({row.id.lower()})=\n## {prose(row.title)} {{clause}}`{row.id}`", prose(row.text)]
    parts += [*_notation(row), *_nodes(row), *_library(row), *_named(row)]
    parts += _undefined(row)
    if row.exact:
        parts.append(f"**Exactness**: {prose(row.exact).rstrip('.')}.")
    parts += _scalar(row)
    parts += _suite(row)
    parts += _deviations(row)
    if row.decision:
        parts.append(f":::{{admonition}} Decision\n:class: decision\n\n{prose(row.decision)}\n:::")
    parts += _implementation(row)
    if row.source:
        parts.append(f"{{source}}`{row.source.strip().replace('`', chr(39))}`")
    return "\n\n".join(parts)


@cache
def notations() -> Mapping[str, str]:
    """Notation by clause, written by hand. An id that no clause has is an error."""
    rows = tomllib.loads(NOTATION.read_text(encoding="utf-8"))
    unknown = set(rows) - set(clauses())
    if unknown:
        message = f"{NOTATION.name} has {min(unknown)}, which is no clause"
        raise ValueError(message)
    return rows


def _notation(row: Clause) -> list[str]:
    text = notations().get(row.id)
    return [fence(text, "text", ":class: notation")] if text else []


def _undefined(row: Clause) -> list[str]:
    if not row.undefined:
        return []
    lines = [f"- {code_link(entry[:5])}: {prose(entry[7:])}" for entry in row.undefined]
    return ["**Undefined**, when", "\n".join(lines)]


# ------------------------------------------------------------------------------------------------------ rows


def _scalar(row: Clause) -> list[str]:
    contracts = [each.contract for each in SCALAR_OPS.values() if each.contract.clause == row.id]
    if not contracts:
        return []
    columns = ["operator", "TVMScript", "operands", "result", "exact"]
    lines = [[inline(each.name), _spelling(each), _dtypes(each), _result(each), _exact(each)] for each in contracts]
    if row.exact:
        columns, lines = columns[:4], [line[:4] for line in lines]
    parts = [table(columns, lines)]
    worked = [(each, example) for each in contracts for example in each.examples[:MOST_EXAMPLES]]
    if worked:
        head = "By hand:"
        equations = [_worked(contract, example) for contract, example in worked[: 2 * MOST_EXAMPLES]]
        width = max(len(dtypes) for _, dtypes in equations)
        text = "\n".join(f"{dtypes.ljust(width)}    {equation}" for equation, dtypes in equations)
        parts += [head, fence(text, "text", ":class: worked")]
    laws = [(each, law) for each in contracts for law in each.laws]
    if laws:
        stated = [f"- {inline(each.name)}: {prose(LAWS[law].text)}" for each, law in laws]
        parts.append(folded("Laws that the tests check", ["\n".join(stated)]))
    return parts


def _spelling(row: Contract) -> str:
    symbol = row.notation.symbol
    return f"{inline(f'T.{row.text}')}" + (f" or {inline(symbol)}" if symbol else "")


def _dtypes(row: Contract) -> str:
    first = ", ".join(sorted(row.dtypes if row.dtypes is not None else row.accepts))
    return first if row.rest is None else f"{first}; then {', '.join(sorted(row.rest))}"


def _result(row: Contract) -> str:
    return {"same": "as the operand", "declared": "as declared"}.get(row.result, row.result)


def _exact(row: Contract) -> str:
    match row.accuracy:
        case Accuracy.EXACT:
            return "bits"
        case Accuracy.ROUNDED:
            return "rounded once"
        case Accuracy.ULP:
            return f"{row.ulps:g} ulp"
        case Accuracy.ONE_OF:
            return "one of a set"


def _worked(contract: Contract, example: Example) -> tuple[str, str]:
    """A hand-worked example as an equation, and its dtypes."""
    arguments = [str(argument) for argument in example.args]
    dtypes = ", ".join(dict.fromkeys([example.dtype, *example.rest]))
    declared = f" → {example.declared}" if example.declared else ""
    symbol = contract.notation.symbol
    if symbol and len(arguments) == 2:
        left = f"{arguments[0]} {symbol} {arguments[1]}"
    else:
        left = f"{contract.name}({', '.join(arguments)})"
    return f"{left} = {example.result}", f"{dtypes}{declared}"


def _library(row: Clause) -> list[str]:
    lines = [_operator(each) for each in OPERATORS.values() if each.clause == row.id]
    return ["\n".join(lines)] if lines else []


def _operator(row: Operator) -> str:
    """An operator of Relax: how it is called, what it gives."""
    attributes = [
        name if default is Parameter.empty else f"{name}={default!r}" for name, default in row.attributes.items()
    ]
    call = f"R.{row.name}({', '.join([*row.arguments, *(['*', *attributes] if attributes else [])])})"
    reason = f" Unsupported: {prose(row.reason)}." if row.reason else ""
    return f"- {inline(call)}: {prose(row.meaning)}{reason}"


def _named(row: Clause) -> list[str]:
    """Intrinsics of TensorIR; operators and functions of Relax that are not of the library; tile primitives."""
    relax_rows = {**GRAPH_OPS, **BUILTINS}
    named = [(f"T.{each.name}", each.meaning) for each in INTRINSICS.values() if each.clause == row.id]
    named += [(name, each.meaning) for name, each in relax_rows.items() if each.clause == row.id]
    named += [(f"tirx.tile.{name}", each.text) for name, each in TILE_MEANINGS.items() if each.clause == row.id]
    return ["\n".join(f"- {inline(name)}: {prose(meaning)}" for name, meaning in named)] if named else []


def tile_operators() -> str:
    """Every tile primitive: its operands, what it computes, its clause."""
    lines = [
        [
            inline(f"{name}({', '.join(map(_operand, TILE_OPERATORS[name]))})"),
            prose(each.text),
            clause_link(each.clause),
        ]
        for name, each in TILE_MEANINGS.items()
    ]
    return table(["operator and operands", "meaning", "clause"], lines)


def _operand(row: TileOperand) -> str:
    return row.name if row.default is DEMANDED else f"{row.name}={row.default!r}"


def _nodes(row: Clause) -> list[str]:
    """The node kinds whose case in the interpreter cites the clause, with their fields."""
    module = relax if row.id.startswith("RLX") else tir
    kinds = {name: kind for name, kind in vars(module).items() if isinstance(kind, type) and is_dataclass(kind)}
    cited = [each for each in citations().get(row.id, ()) if each.is_case and "run/interp" in each.file]
    heads = [each.text.splitlines()[0] for each in cited]
    lines = [node_line(kind) for head in heads for name, kind in kinds.items() if f".{name}(" in head]
    return [fence("\n".join(dict.fromkeys(lines)), "text", ":class: notation")] if lines else []


def node_line(kind: type) -> str:
    """A node kind with its fields and their types."""
    shown_fields = [f"{each.name}: {_type(each.type)}" for each in fields(kind) if each.name != "span"]
    line = f"{kind.__name__}({', '.join(shown_fields)})"
    return line if len(line) <= 90 else f"{kind.__name__}(\n" + "".join(f"    {each},\n" for each in shown_fields) + ")"


UNIONS = {
    frozenset(get_args(union)): name
    for name, union in {
        "Expr": tir.Expr, "Stmt": tir.Stmt, "relax.Expr": relax.Expr, "Binding": relax.Binding, "Block": relax.Block
    }.items()
}  # fmt: skip


def _type(annotation: object) -> str:
    """A type in the words of a grammar: `Expr*` for many, `Expr?` where there may be none."""
    parts = frozenset(get_args(annotation))
    if parts in UNIONS:
        return UNIONS[parts]
    match get_origin(annotation), get_args(annotation):
        case (kind, (inner, rest)) if kind is tuple and rest is Ellipsis:
            inside = _type(inner)
            return f"({inside})*" if " " in inside else f"{inside}*"
        case (kind, inner) if kind is tuple:
            return f"({', '.join(map(_type, inner))})"
        case (_, inner) if NoneType in inner:
            rest = frozenset(inner) - {NoneType}
            named = UNIONS.get(rest) or " | ".join(_type(each) for each in inner if each is not NoneType)
            return f"({named})?" if " " in named else f"{named}?"
        case (kind, (key, value)) if kind is Mapping or kind is dict:
            return f"{{{_type(key)}: {_type(value)}}}"
        case (kind, inner) if kind in (Union, UnionType):
            return " | ".join(map(_type, inner))
    match annotation:
        case str(text):
            return _spelled(text)
        case type(__name__=name):
            return name
        case ForwardRef(__forward_arg__=text):
            return _spelled(text)
        case _:
            return str(annotation)


def _spelled(text: str) -> str:
    """A type that is written as a string."""
    text = text.replace('"', "")
    text = re.sub(r"tuple\[([\w.]+), \.\.\.\]", r"\1*", text)
    return re.sub(r"^([\w.*]+) \| None$", r"\1?", text)


# ----------------------------------------------------------------------------------------------------- suite


def _suite(row: Clause) -> list[str]:
    """The plainest case as a program, up to two more to open, and how many there are."""
    total = len(cases_by_clause().get(row.id, ()))
    chosen = examples(row.id, MOST_CASES)
    if not chosen:
        return [f"*No case of the suite shows it: {prose(reason)}*"] if (reason := unshown().get(row.id)) else []
    first, *others = chosen
    head = {"undefined": "Counterexample", "reject": "A text that is refused"}.get(end_kind(first), "Example")
    blocks = [f"({row.id.lower()}-example)=\n**{head}** {{case}}`{first.id}`", *shown(first)]
    if others and row.undefined and head != "Counterexample" and end_kind(others[0]) == "undefined":
        counter, *others = others
        blocks += [f"**Counterexample** {{case}}`{counter.id}`", *shown(counter)]
    blocks += [folded(f"{case.id} ({case.provenance})", shown(case)) for case in others]
    few = "One case shows" if total == 1 else f"{total} cases show"
    return [*blocks, f"{{count}}`{few} this clause; the examples are taken from them.`"]


@cache
def unshown() -> Mapping[str, str]:
    """Clauses that no program can show, with the reason."""
    text = (files("refmlc.oracle.suite") / "data" / "frozen" / "unshown.toml").read_text(encoding="utf-8")
    return {row["clause"]: row["reason"] for row in tomllib.loads(text)["unshown"]}


@cache
def deviations() -> Mapping[str, tuple[dict[str, str], ...]]:
    """What TVM 0.27 does otherwise, by clause."""
    text = (files("refmlc.oracle.suite") / "data" / "known" / "tvm-0.27.toml").read_text(encoding="utf-8")
    rows = defaultdict(list)
    for each in tomllib.loads(text)["deviation"]:
        for name in each["clauses"]:
            rows[name].append(each)
    return {name: tuple(each) for name, each in rows.items()}


def _deviations(row: Clause) -> list[str]:
    known = deviations().get(row.id, ())
    if not known:
        return []
    lines = [f"- {prose(each['title'])} ([{each['kind']}](../findings.md#{heading_anchor(each)}))" for each in known]
    if len(lines) > MOST_DEVIATIONS:
        return [folded(f"Where TVM 0.27 differs: {len(lines)} recorded deviations", ["\n".join(lines)])]
    return ["**Where TVM 0.27 differs**", "\n".join(lines)]


def _implementation(row: Clause) -> list[str]:
    places = citations().get(row.id, ())
    if not places:
        return []
    lines = [f"- {{place}}`{_place(each)}`" for each in distinct(places)[:MOST_PLACES]]
    left = len(distinct(places)) - MOST_PLACES
    if left > 0:
        lines.append(f"- and {left} more")
    first = places[0]
    code = [fence(first.text, "python")] if first.first != first.last or first.is_case else []
    return [folded(f"Implementation: {first.file}:{first.line}", [*code, "\n".join(lines)])]


def distinct(places: tuple[Citation, ...]) -> list[Citation]:
    """One citation for each function of each file."""
    return list({(each.file, each.name): each for each in reversed(places)}.values())[::-1]


def _place(row: Citation) -> str:
    return f"{row.file}:{row.line}" + (f" {row.name}" if row.name else "")


def index() -> str:
    """Every clause by id: the last page of the book."""
    areas: dict[str, list[Clause]] = defaultdict(list)
    for row in clauses().values():
        areas[row.id[:3]].append(row)
    parts = []
    for area, rows in areas.items():
        lines = [f"- {clause_link(row.id)} {prose(row.title)}" for row in rows]
        parts.append("\n".join([f"## {AREAS[area]}\n", *lines]))
    return "\n\n".join(parts)
