"""Refusals and failures of an implementation that are on record for its version: `conformance/known`.

A row explains a refusal where both hold; `explained` says which explain a wrong result:

| what                                            | of the row                                               |
|-------------------------------------------------|----------------------------------------------------------|
| the message, but for numbers and names          | is one of `messages`                                     |
| the operators and dtypes of the program         | are at least those of `parts`, which all its witnesses have |

Decision: a message alone explains nothing: another fault may end in the same check.
"""

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import as_file, files
from pathlib import Path
from typing import TypeAlias, cast

from refmlc.diag import RefmlcError
from refmlc.lang.dtypes import DType
from refmlc.lang.ir import IRModule, relax, tir
from refmlc.lang.ir.node import Node
from refmlc.lang.ir.visit import walk
from refmlc.lang.script import read
from refmlc.oracle.implementations.implementation import Stopped
from refmlc.oracle.reasons import normalised

TELLING_WORDS = 5
LEAST_ALIKE = 0.5
EVERYWHERE = frozenset(("add", "multiply", "sub", "subtract"))

WRONG_STAGES = ("wrong", "undefined", "ill-formed")
"""How a stage after a pass is wrong; otherwise the pass itself ends."""

ANY_OPERATOR = "*"
"""What `nodes` of a row call an operator, where each has the fault."""

SEVERAL = "+"
"""Between the operators of a cause that no operator has alone."""

PLAIN_ACTIONS = ("run", "legalize")
"""Of rows on the compiler, which every importer reaches."""

DECIDED = "decided here"
"""The kind of a row where TVM's documentation says nothing, or both: nobody is wrong."""


@dataclass(frozen=True)
class KnownRefusal:
    """A row, as far as refusals are concerned."""

    id: str
    messages: frozenset[str]
    parts: frozenset[str]

    def explains(self, message: str, module: IRModule) -> bool:
        """Whether the refusal of `module` with `message` is this one."""
        return normalised(message) in self.messages and self.parts <= parts_of(module)


@dataclass(frozen=True)
class KnownRow:
    """A row, as far as results are concerned. `takes`: each an expression, what it is taken for, and a dtype.

    `operator` with operands that hold `operand`, `nan` or `inf`, has another result. `decided`: it is decided here.
    """

    id: str
    title: str
    decided: bool = False
    takes: tuple[tuple[str, str, str], ...] = ()
    operator: str = ""
    operand: str = ""


def parts_of(module: IRModule) -> frozenset[str]:
    """The operators and dtypes that occur in a module."""
    nodes = [node for function in module.functions.values() for node in walk(function)]
    dtypes = (getattr(node, "dtype", None) for node in nodes)
    names = {str(dtype) for dtype in dtypes if isinstance(dtype, DType)}
    return frozenset({*filter(None, map(operator_of, nodes)), *names})


def operator_of(node: Node) -> str:
    """The operator, intrinsic or operator of a graph that a node is; empty: it is none."""
    match node:
        case tir.Apply(op=name) | tir.Call(callee=str(name)) | relax.Op(name=name):
            return name
        case tir.Cast():
            return "cast"
    return ""


def file_for(name: str, version: str, folder: Path) -> Path | None:
    """The file of recorded deviations in `folder` that fits this implementation best; 0.2 does not match 0.27."""
    base = name.partition(":")[0]
    fitting = [path for path in folder.glob("*.toml") if _fits(path.stem, base, version)]
    return max(fitting, key=lambda path: len(path.stem), default=None)


def _fits(stem: str, base: str, version: str) -> bool:
    required_name, dash, number = stem.partition("-")
    return required_name == base and (not dash or f"{version}.".startswith(f"{number}."))


IMPORTERS = ("import", "torch")
"""The actions of rows of importers, whose messages are no refusals of modules."""


@cache
def known_refusals(name: str, version: str) -> tuple[KnownRefusal, ...]:
    """The rows of an implementation's file that explain refusals of modules by this version. Fails: RM109."""
    return tuple(
        KnownRefusal(str(row["id"]), _texts(row["messages"]), _texts(row.get("parts", ())))
        for row in _tables(name, version)
        if "messages" in row and row.get("action") not in IMPORTERS
    )


@cache
def known_results(name: str, version: str) -> tuple[KnownRow, ...]:
    """The rows of an implementation's file that explain results of this version. Fails: RM109."""
    return tuple(
        KnownRow(
            str(row["id"]),
            str(row["title"]),
            row["kind"] == DECIDED,
            tuple((each["expression"], each["as"], each["of"]) for each in _pairs(row.get("takes", ()))),
            str(row.get("operator", "")),
            str(row.get("operand", "")),
        )
        for row in _tables(name, version)
        if "takes" in row or "operator" in row
    )


def _texts(value: object) -> frozenset[str]:
    return frozenset(cast("Iterable[str]", value))


def _pairs(value: object) -> Iterable[Mapping[str, str]]:
    return cast("Iterable[Mapping[str, str]]", value)


def _tables(name: str, version: str) -> list[dict[str, object]]:
    """The rows of an implementation's file, and of the one that it names with `also`, that hold for this version."""
    with as_file(files("refmlc.oracle.suite") / "data" / "known") as folder:
        path, rows = file_for(name, version, folder), list[dict[str, object]]()
        while path is not None:
            table = _table(path.read_text(encoding="utf-8"))
            deviations = cast("list[dict[str, object]]", table.get("deviation", []))
            rows += [row for row in deviations if version in cast("list[str]", row.get("versions", [version]))]
            path = folder / str(table["also"]) if "also" in table else None
    return rows


@cache
def _table(text: str) -> Mapping[str, object]:
    """What a file of rows holds; to read it takes most of a second, and each finding asks for it."""
    return tomllib.loads(text)


def rows_on_record(says: Mapping[str, object]) -> list[dict[str, object]]:
    """The rows for the version of an implementation, with all that they hold. Fails: RM109."""
    name, version = _introduced(says)
    return _tables(name, version) if name and version else []


def known_row(says: Mapping[str, object], answer: Stopped, module: IRModule) -> str:
    """The id of the row that explains a refusal; empty: none. `says`: how the implementation introduces itself."""
    name, version = _introduced(says)
    rows = known_refusals(name, version) if name and version else ()
    return next((row.id for row in rows if row.explains(answer.message, module)), "")


RecordedStep: TypeAlias = "Sequence[object]"


def scheduled_rows(says: Mapping[str, object]) -> list[tuple[str, str, Sequence[RecordedStep], object]]:
    """The id, the module, the steps and the result of each row that is a trace of a schedule."""
    name, version = _introduced(says)
    rows: list[tuple[str, str, Sequence[RecordedStep], object]] = []
    for row in _tables(name, version) if name and version else ():
        match row:
            case {"action": "schedule" | "schedule-run", "steps": list(steps), "module": str(text), "id": str(row_id)}:
                rows.append((row_id, text, steps, row.get("got")))
    return rows


def known_nodes(says: Mapping[str, object], cause: Sequence[str], refusal: str = "", action: str = "import") -> str:
    """The id of the row whose `nodes` have words of a cause: an operator, what matters, how it is wrong.

    Where that is no more than an operator, or any (`*`), a refusal must have the message of the row too; then the
    operator may be one of several. Rows of another importer than `action` say nothing. Of several rows it is the one
    that names the operator, with the most words, then the first.
    """
    name, version = _introduced(says)
    known: list[tuple[tuple[bool, int], str]] = []
    for row in _tables(name, version) if name and version else ():
        if row.get("action", action) in (action, *PLAIN_ACTIONS):
            nodes = cast("Iterable[str]", row.get("nodes", ()))
            known += [(_rank_of_node(node), str(row["id"])) for node in nodes if _has_node(node, cause, refusal, row)]
    return max(known, key=lambda pair: pair[0], default=((False, 0), ""))[1]


def _rank_of_node(node: str) -> tuple[bool, int]:
    """How much one of the `nodes` of a row says."""
    operator, *words = node.split()
    return operator != ANY_OPERATOR, len(words)


def _has_node(node: str, cause: Sequence[str], refusal: str, row: Mapping[str, object]) -> bool:
    """Whether one of the `nodes` of a row has a cause."""
    operator, *words = node.split()
    if not set(words) <= set(cause[1:]):
        return False
    is_bare = operator == ANY_OPERATOR or words == ["failed"]
    begins = bool(refusal) and _begins(refusal, row)
    if operator in (cause[0], ANY_OPERATOR):
        return begins if is_bare and refusal else True
    return is_bare and begins and operator in cause[0].split(SEVERAL)


def _begins(refusal: str, row: Mapping[str, object]) -> bool:
    """Whether a refusal begins as one that the row has; the cut off end of a class or a number says nothing."""
    begins = [str(row["got"]), *cast("Iterable[str]", row.get("messages", ()))]
    return any(normalised(refusal).startswith(normalised(each)) for each in begins)


def known_passes(says: Mapping[str, object], name: str, verdict: str, pattern: str) -> list[str]:
    """The ids of the rows on the pass `name` that are wrong so: by another result, a code, a message.

    A row is on the last pass of its steps; one of a plain program on the pass that its `why` begins with, or on any one
    that stops with its message.
    """
    base, version = _introduced(says)
    known: list[str] = []
    for row in _tables(base, version) if base and version else ():
        steps = cast("list[object]", row.get("steps", ()))
        got = normalised(got) if isinstance(got := row.get("got"), str) else ""
        if row.get("action") in ("pass", "pass-run") and steps:
            alike = str(steps[-1]).partition("(")[0] == name and _alike(got, verdict, pattern)
        elif "action" not in row and verdict not in WRONG_STAGES:
            alike = bool(got) and is_message(got) and got in pattern  # a build stops there too
        else:
            plain = "action" not in row and str(row["why"]).split()[:1] == [name.rpartition(".")[2]]
            alike = plain and verdict in WRONG_STAGES and row["kind"] == "wrong result"
        known += [str(row["id"])] if alike else []
    return known


def most_alike(says: Mapping[str, object], ids: Sequence[str], text: str, pattern: str = "") -> str:
    """Of these rows the one whose program has the most that the program of `text` has too; empty: none is alike.

    A row that got the pattern says more than one of another result, whatever its operators are; any other row with
    operators must share one. Then operators and kinds of nodes count.
    """
    base, version = _introduced(says)
    operators, kinds = _operators_and_kinds(text)
    alike: list[tuple[bool, float, str]] = []
    for row in _tables(base, version) if ids else ():
        if row["id"] not in ids:
            continue
        others, other_kinds = _operators_and_kinds(str(row.get("module", "")))
        got = bool(pattern) and row.get("got") == pattern
        if other_kinds and (got or not others or operators & others):
            shared = len(operators & others) + len(kinds & other_kinds)
            alike.append((got, shared / len(others | other_kinds), str(row["id"])))
    return max(alike, default=(False, 0.0, ""))[2]


def _operators_and_kinds(text: str) -> tuple[frozenset[str], frozenset[str]]:
    """The operators of a program, but for those of every loop nest; the classes of its nodes."""
    try:
        module = read(text, "the program")
    except RefmlcError:
        return frozenset(), frozenset()
    kinds = (type(node).__name__ for function in module.functions.values() for node in walk(function))
    return _operators_and_dtypes(module)[0], frozenset(kinds)


def is_message(got: str) -> bool:
    """Whether what a row got is the message of an exception that tells of one cause."""
    return ": " in got and len(got.split()) >= TELLING_WORDS


def _alike(got: str, verdict: str, pattern: str) -> bool:
    """Whether a stage or pass is wrong as a row says; undefined code may show as another result, once compiled."""
    if verdict not in WRONG_STAGES:
        return bool(got) and got in pattern
    return got in ("", pattern)


def known_rows(says: Mapping[str, object]) -> tuple[KnownRow, ...]:
    """The rows that may explain results of an implementation that introduces itself so."""
    name, version = _introduced(says)
    return known_results(name, version) if name and version else ()


def similar_rows(says: Mapping[str, object], module: IRModule, pass_name: str) -> list[KnownRow]:
    """The rows that share operators or the pass with a finding on `module`, the most alike first.

    Names alone show nothing: these are rows to read before an issue is filed. The dtypes count a little.
    """
    name, version = _introduced(says)
    operators, dtypes = _operators_and_dtypes(module)
    scored: list[tuple[float, KnownRow]] = []
    for row in _tables(name, version) if name and version else ():
        if "module" not in row:
            continue
        try:
            others, other_dtypes = _operators_and_dtypes(read(str(row["module"]), "row.py"))
        except RefmlcError:
            continue
        alike = len(operators & others) / max(len(operators | others), 1)
        alike += 0.1 * len(dtypes & other_dtypes) / max(len(dtypes | other_dtypes), 1) if alike else 0.0
        alike += 1.0 if pass_name and re.search(rf"\b{re.escape(pass_name)}\b", str(row["why"])) else 0.0
        if alike >= LEAST_ALIKE:
            scored.append((alike, KnownRow(str(row["id"]), str(row["title"]), row["kind"] == DECIDED)))
    return [row for _, row in sorted(scored, key=lambda pair: -pair[0])]


def _operators_and_dtypes(module: IRModule) -> tuple[frozenset[str], frozenset[str]]:
    """The operators that occur in a module, but for those of every loop nest; the dtypes."""
    every = parts_of(module)
    dtypes = frozenset(
        str(name) for name in every if name.rstrip("0123456789") in ("float", "bfloat", "int", "uint", "bool", "handle")
    )
    return every - dtypes - EVERYWHERE, dtypes


def _introduced(says: Mapping[str, object]) -> tuple[str, str]:
    """The name and the version of an implementation; empty where it does not say them."""
    words = str(says.get("name", "")).split()
    version = str(says.get("version", "") or (words[1] if len(words) > 1 else ""))
    return (words[0] if words else "", version)
