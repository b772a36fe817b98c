"""The row of `conformance/known` that looks like a finding which no row explains.

| a finding       | is like a row where                                                                      |
|-----------------|------------------------------------------------------------------------------------------|
| another result  | the row is of a result, on the same operators; and of floats of that size, where both    |
|                 | are NaN or infinite alike, or none is, or one pass is guilty of both; or they are so of  |
|                 | any size; or the row reads what was never written, or outside of a buffer                |
| …               | or on those of a family (`conv1d`, `conv2d`), and values differ alike: NaN for any other |
| …               | or of its group (`max`, `argmin`: LIB-60…), over no elements, which the row never writes |
| …               | or of another type, and the row's operators are among those of the program               |
| …               | or the row's cases have what was applied to floats of 8 bits and less, plain or a cast   |
| …               | or, where no other row looks like it, an index of both divides a difference              |
| …               | or the bounds of a cast that wraps decide both: of a quotient, a comparison, `min`       |
| …               | or, of one pass of TensorIR that is guilty of both, the row has no scalar operator, nor  |
|                 | a cast, that did not compute the value; and NaN or infinities are wrong alike            |
| a dead process  | the row got the same signal, and has no operator and no branch that the program has not  |
| another failure | the row has its message, or the first error of the C compiler                            |
| …               | or the row has how it begins, and an operator of its program on the same dtype; of Relax |
|                 | on any: there a check is of shapes and attributes                                        |
| …               | or that alone, of a message that says in words of its own what is wrong (`is_specific`)  |
| …               | or that alone, where the row has no operator that could tell more                        |

Of a message without words (`DiagnosticError: error:`) it is a row that has none, on an operator of the program.
What counts as an operator is said in `program_uses`.

A message counts without the class of the exception, numbers, dtypes and names. Rows record only how a message begins
(`got`) where nobody needed the rest. Of an operator `cases` and `edges` of a row say more than its program.

What is wrong with narrow floats is wrong in TVM wherever they occur, so that there an operator that every loop nest has
tells more than one that it has not. Arithmetic says more than the casts around it.

Of results no row of an undefined program counts: a finding is on a defined one. Nor does one whose guilty pass is
another one than the finding's, where both are known (`blamed_pipeline`).

Of several rows it is the one that has more: operators of the program on their dtypes, operators, then the message with
its names, then more of the message. Without an operator a message that several rows have is that of none, unless one of
them alone has tensors without elements as the program has, no operator itself, or an operator of its group (LIB-60…);
and so is a check that says nothing else. Of results it is
first a row where values differ in the same way, then one on the same dtype.

Decision: that is no explanation (`refmlc.oracle.record`): another fault may end in the same check, and an operator may
be wrong twice. It sorts findings: a person reads the row before anything is filed.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from typing import TypeAlias, cast

from refmlc.diag import RefmlcError
from refmlc.lang.dtypes import SCALARS
from refmlc.lang.ir import IRModule
from refmlc.lang.library import OPERATORS
from refmlc.lang.ops.scalar import SCALAR_OPS
from refmlc.lang.script import read
from refmlc.oracle.finding import Finding
from refmlc.oracle.fuzz.finding_pattern import (
    ANY,
    CAST,
    DTYPES,
    OF_C_COMPILER,
    OF_CAST,
    PLAIN,
    Pattern,
    Uses,
    failure_words,
    group_of,
    kind_of,
    names_in_program,
)
from refmlc.oracle.fuzz.program_uses import (
    IN_INDEX,
    applied_in,
    branches_in,
    has_nothing,
    is_narrow,
    plainly,
    scalars_in,
    spelled,
    uses_in,
)
from refmlc.oracle.outcome import Kind
from refmlc.oracle.reasons import normalised
from refmlc.oracle.record import parts_of, rows_on_record


def row_like(
    says: Mapping[str, object], finding: Finding, pattern: Pattern, *, of_c: bool = False, guilty: str = ""
) -> str:
    """The id of the row that a finding of `pattern` looks like; empty: none, or one explains it.

    `of_c`: the target is `c`, so that the rows on it count too. `guilty`: the pass that is; empty: it is not known.
    """
    if pattern.row or not says:
        return ""
    message = "" if finding.verdict.kind is Kind.WRONG else finding.signature[2]
    return like_row(says, pattern, message, finding.case.module, of_c=of_c, guilty=guilty)


def like_row(
    says: Mapping[str, object],
    pattern: Pattern,
    message: str = "",
    module: IRModule | None = None,
    *,
    of_c: bool = False,
    guilty: str = "",
) -> str:
    """The id of the row; empty: none looks like it. `message` is a failure's, `module` the program of the finding."""
    rows = _rows(str(says.get("name", "")), str(says.get("version", "")), of_c)
    uses = pattern.uses if module is None else applied_in(module)
    if message.startswith(DEATHS):
        return "" if module is None else _like_death(rows, message, uses, branches_in(module))
    if message and not pattern.words:
        return next((row.id for row in rows if row.is_silent and met(row.uses, uses)), "")
    if message:
        is_bare = module is not None and BARE.search(pattern.words) is not None
        is_bare = is_bare or INDEX.fullmatch(pattern.words) is not None
        ranked = [(_rank(row, pattern.words, message, uses, is_bare=is_bare), row) for row in rows]
        alike = [(rank, row) for rank, row in ranked if rank is not None]
        begins = [row.begins for _, row in alike if row.of_c]
        alike = [(rank, row) for rank, row in alike if not (row.of_c and _is_begun(row.begins, begins))]
        if not any(rank[0] for rank, _ in alike) and module is not None:
            alike = [(rank, row) for rank, row in alike if row.nothing == has_nothing(module)]
            alike = [(rank, row) for rank, row in alike if not row.cases | row.uses] or alike
        rank, best = max(alike, key=lambda pair: pair[0], default=((0, False, 0), None))
        if best is not None and (rank[0] or len(alike) == 1 or module is None):
            return best.id
        of_group = [row.id for _, row in alike if not _groups(row.uses).isdisjoint(_groups(uses))]
        return of_group[0] if len(of_group) == 1 else ""
    rows = tuple(row for row in rows if not row.guilty or not guilty or row.guilty == guilty)
    nothing = module is not None and has_nothing(module)
    turned = frozenset[str]() if module is None else frozenset(name for name, _ in uses_in(module)) & TURNED
    results = [
        ((row.nothing and nothing, *by_result), row.id)
        for row in rows
        if (module is None or nothing or not row.nothing)
        and (by_result := _rank_of_result(row, pattern, turned, guilty, nothing=nothing)) is not None
    ]
    most = max(results, key=lambda pair: pair[0], default=((), ""))[1]
    return most or (_like_by_pass(rows, pattern) if guilty.startswith(LOWERING) else "")


TYPE = "type"  # how a result of another shape or dtype differs
OF_TYPE = re.compile(r"the result.* is a tensor")
FAMILY = re.compile(r"\dd(?=[-_]|$)")
CODE = re.compile(r"RM\d+")
UNDEFINED = re.compile(r"RM3\d+")  # what a row expects: a finding of a result is on a defined program
MEMORY = ("RM304", "RM305")  # what is outside of a buffer, or was never written
DEATHS = ("the process", "no answer")  # they name no place, as a message without a word does not
FAILED = re.compile(r"\w+Error: ")
LOWERING = ("tirx.", "s_tir.")  # passes of TensorIR; a pass of Relax is run on demand
RUNS = re.compile(r"runs|SIG[A-Z]+")  # what a row got, where that is no message
SIGNAL = re.compile(r"SIG[A-Z]+")
COMPARISONS = frozenset(("lt", "le", "gt", "ge", "eq", "ne"))
GROUPS = ("float ", "half float ", "narrow float ", "int ", "uint ", "bool ")
SILENT = re.compile(r"DiagnosticError: error: *(\n|$)")
SPECIAL = ("nan", "inf")
LEGALIZE = "LegalizeOps"
ZEROS = "zero for zero"  # of another sign
TURNED = frozenset(f"{name}{IN_INDEX}" for name in ("floormod", "floordiv"))
BARE = re.compile(r"Check failed: .* is false:?$")  # a check that says nothing else
INDEX = re.compile(r"Index # out of bounds #|Index out of range\. size: #, got index #")  # whatever TVM looks up
CHECK = "Check failed"  # says nothing at all
FEW = 4  # words of a message that say little: then the dtype must be that of a case, or the operator one of Relax
ENOUGH = 5  # words of a message that is of no check, and tells of one cause
AFTER = re.compile(r" is false: | \(# vs. #\) : ")  # what a check says after its condition
RESULTS = (None, "legalize")
OF_C = "run-c"
Rank: TypeAlias = tuple[int, bool, int]


@dataclass(frozen=True)
class RowLooks:
    """What a row looks like. `exactly`: its messages with dtypes and names; `begins`: how the message begins.

    `of_c`: on the target `c`. `is_silent`: its message has no words. `signal`: what ends the process, `SIGSEGV`.
    `groups`: of the dtypes of its program; one of float32 is taken to hold of float16 too. `how`: how values differ.
    `uses`: operators of its program, `cases`: those that its cases name. `nothing`: a tensor has no elements.
    `is_undefined`: its program is, so that no result of a defined one is like it. `guilty`: the pass that is.
    `scalars`: the scalar operators and casts of its program.
    """

    id: str
    exactly: frozenset[str]
    messages: frozenset[str]
    begins: str
    operators: frozenset[str]
    groups: tuple[str, ...]
    how: str
    uses: Uses
    cases: Uses
    nothing: bool
    is_code: bool
    is_undefined: bool
    of_c: bool
    is_silent: bool
    signal: str
    branches: frozenset[str]
    guilty: str
    scalars: Uses


@cache
def _rows(name: str, version: str, of_c: bool) -> tuple[RowLooks, ...]:
    """What each row about a program that runs looks like."""
    says = {"name": name, "version": version} if version else {"name": name}
    actions = (*RESULTS, OF_C) if of_c else RESULTS
    return tuple(_looks(row) for row in rows_on_record(says) if row.get("action") in actions or _ends_in_a_pass(row))


def _ends_in_a_pass(row: Mapping[str, object]) -> bool:
    """Whether TVM stops with a message in a pass that every program goes through when it is compiled."""
    got, passes = str(row.get("got")), _words(row, "steps")
    return row.get("action") == "pass" and FAILED.match(got) is not None and passes[-1].startswith(LOWERING)


def _looks(row: Mapping[str, object]) -> RowLooks:
    try:
        module = read(str(row.get("module", "")), "row.py")
    except RefmlcError:
        module = None
    parts, names = (
        (frozenset[str](), frozenset[str]()) if module is None else (parts_of(module), names_in_program(module))
    )
    dtypes = parts | {str(each[0]) for each in _types(row.get("expected"))}
    groups = {group_of(SCALARS[name]) for name in dtypes if name in SCALARS}
    got = str(row["got"]) if isinstance(row.get("got"), str) else ""
    is_code = CODE.fullmatch(got) is not None
    recorded = [got, *map(str, cast("Iterable[object]", row.get("messages", ())))]
    of_compiler = _words(row, "c_error")
    said_nothing = of_compiler or CODE.fullmatch(got) or RUNS.fullmatch(got)
    messages = frozenset[str]() if of_compiler else frozenset(filter(None, recorded[bool(said_nothing) :]))
    said = got.rpartition("`")[0] if got.count("`") % 2 else got  # a name that is cut off is none
    says_nothing = is_code or of_compiler or RUNS.fullmatch(got) or got.startswith(DEATHS)
    begins = "" if says_nothing else failure_words(said, names).rstrip()
    return RowLooks(
        str(row["id"]),
        frozenset(map(normalised, messages)),
        frozenset(failure_words(message, names) for message in messages)
        | frozenset(f"{OF_C_COMPILER}{error}" for error in of_compiler),
        begins,
        frozenset(name for name in parts - PLAIN if not _is_dtype(name) and (not is_code or got in MEMORY)),
        tuple(f"{group} " for group in (*groups, *(["half float"] if "float" in groups else []))),
        "" if got else how_of(row.get("got"), row.get("expected")),
        frozenset() if module is None else uses_in(module),
        frozenset(_uses_of_cases(cast("Iterable[str]", (*_words(row, "cases"), *_words(row, "edges"))))),
        module is not None and has_nothing(module),
        is_code,
        UNDEFINED.fullmatch(str(row.get("expected"))) is not None,
        row.get("action") == OF_C,
        SILENT.match(got) is not None,
        got if SIGNAL.fullmatch(got) else "",
        frozenset() if module is None else branches_in(module),
        str(row.get("guilty", "")),
        frozenset() if module is None else plainly(scalars_in(module)),
    )


def _rank(row: RowLooks, words: str, message: str, uses: Uses, *, is_bare: bool) -> Rank | None:
    """How much of a failure a row has; None: it does not look like it. `is_bare`: only an operator tells."""
    on_dtype = bool(met(row.cases | row.uses, uses))
    operators, others = (families(name for name, _ in each) for each in (uses, row.cases | row.uses))
    has_operator = on_dtype or not operators.isdisjoint(others)
    if words in row.messages and (has_operator or not is_bare):
        return on_dtype + has_operator, normalised(message) in row.exactly, len(words)
    few = len(row.begins.split()) < FEW
    if row.begins and words.startswith(row.begins):
        of_graph = {name for name, _ in row.uses} & {name for name, _ in uses} - SCALARS_OF_CASES
        told = row.uses if not few else _of_graph(row.uses) if row.begins != CHECK else frozenset()
        if met(row.cases | told, uses):
            return 2, False, len(row.begins)
        if of_graph and not few:
            return 1, False, len(row.begins)
        if row.of_c or is_specific(row.begins) or (not few and not row.cases | row.uses):
            return 0, False, len(row.begins)
    return None


def _of_graph(uses: Uses) -> Uses:
    """The uses of operators of Relax."""
    return frozenset((name, dtype) for name, dtype in uses if name in CLAUSES)


def _like_death(rows: Iterable[RowLooks], message: str, uses: Uses, branches: frozenset[str]) -> str:
    """The row whose program ends the process by the same signal, for what the program has; empty: none does.

    A branch that a row has says more than operators: the compiler need not ask what is computed there.
    """
    alike = [
        ((len(row.branches), len(met(row.uses, uses))), row.id)
        for row in rows
        if row.signal and row.signal in message and row.branches <= branches
        if row.branches or _has_all(row.uses, uses)
    ]
    return max(alike, default=((0, 0), ""))[1]


def _has_all(row_uses: Uses, uses: Uses) -> bool:
    """Whether a program has what a row applies, but for comparisons; of TensorIR some of it to the same dtype."""
    names, others = ({name for name, _ in each} for each in (row_uses, uses))
    has_dtype = bool(met(row_uses, uses)) or (bool(_groups(row_uses)) and names.isdisjoint(SCALARS_OF_CASES))
    return has_dtype and names - COMPARISONS <= others


def _is_begun(begins: str, others: Iterable[str]) -> bool:
    """Whether another message begins so and continues: the longer one says more."""
    return bool(begins) and any(other != begins and other.startswith(begins) for other in others)


def is_specific(words: str) -> bool:
    """Whether a message says in words of its own what is wrong: of a check, what follows the condition."""
    _, check, said = words.rpartition("Check failed: ")
    after = AFTER.search(said)
    said = said if not check else said[after.end() :] if after else ""
    return len(said.split()) >= (FEW if check else ENOUGH) and not said.endswith(":") and "LLVM" not in said


def met(row_uses: Uses, uses: Uses) -> Uses:
    """Those uses that a row has too."""
    return frozenset((name, dtype) for name, dtype in uses if {(name, dtype), (name, ANY)} & row_uses)


def _rank_of_result(
    row: RowLooks, pattern: Pattern, turned: frozenset[str], guilty: str, *, nothing: bool
) -> tuple[int, ...] | None:
    """How much a row of a result has of another one; None: it does not look like it. `turned`: what indices have."""
    how = TYPE if OF_TYPE.match(pattern.words) else _without_group(pattern.words)
    is_another = how == TYPE and row.how not in ("", TYPE)  # a wrong dtype shows in values too, values in no dtype
    if row.messages or row.is_undefined or is_another:
        return None
    same = how == row.how
    if _has_operators(row, pattern, how, guilty):
        uses = frozenset((spelled(name), dtype) for name, dtype in pattern.uses)
        on_dtype = bool(met(row.uses, uses))
        return (2, same, on_dtype, not row.is_code) if on_dtype or not any(map(is_narrow, uses)) else (1, 0, 0)
    if nothing and row.nothing and row.is_code and _is_of_group(row.operators | pattern.operators):
        return 1, 0, 0
    narrow = {use for use in pattern.uses if is_narrow(use)} & row.cases
    arithmetic = sum(name != CAST for name, _ in narrow)
    if narrow:
        return 1, arithmetic, len(narrow)
    wraps = sum(name.endswith(OF_CAST) for name, _ in pattern.uses & row.uses)
    return (0, 0, wraps) if wraps or not turned.isdisjoint(name for name, _ in row.uses) else None


def _like_by_pass(rows: Iterable[RowLooks], pattern: Pattern) -> str:
    """Of the rows on the guilty pass the one all of whose scalars the wrong element has, and the most; empty: none."""
    how, uses = _without_group(pattern.words), plainly(pattern.uses)
    alike = [
        (len(row.scalars), row.id)
        for row in rows
        if row.guilty and row.scalars and row.scalars <= uses and _is_wrong_alike(how, row)
    ]
    return max(alike, default=(0, ""))[1]


def _is_wrong_alike(how: str, row: RowLooks) -> bool:
    """Whether values differ as those of a row do; of integers, and of finite floats, that is as far as it is known."""
    if row.messages or row.is_undefined or row.is_code:
        return False
    if how.partition(" ")[0] in ("value", "sign"):
        return bool(row.how) and frozenset(SPECIAL).isdisjoint(row.how.split())
    return how == (row.how or ZEROS)


def _has_operators(row: RowLooks, pattern: Pattern, how: str, guilty: str) -> bool:
    """Whether a row is of a result on the same operators, and how values differ is no reason against it."""
    named = {(spelled(name), ANY) for name in pattern.operators}
    if not named:
        return False
    if pattern.operators == row.operators or named <= row.cases:
        has_dtype = not pattern.words.startswith(GROUPS) or pattern.words.startswith(row.groups)
        is_special = how == row.how and not frozenset(SPECIAL).isdisjoint(how.split())
        is_plain = frozenset(SPECIAL).isdisjoint((*how.split(), *row.how.split()))
        of_pass = guilty not in ("", LEGALIZE) and row.guilty == guilty  # an operator may be legalised wrong twice
        return row.is_code or (has_dtype and (is_plain or of_pass)) or is_special
    if not how or how.split(maxsplit=1)[0] != row.how.split(" ")[0] or not row.operators:
        return False
    is_special = how == row.how or how.split(maxsplit=1)[0] in SPECIAL
    of_family = is_special and families(pattern.operators) == families(row.operators)
    return of_family or (how == TYPE and row.operators < pattern.operators)


def _is_of_group(operators: frozenset[str]) -> bool:
    """Whether operators are of one group of the specification, LIB-601 and LIB-602: they are legalised alike."""
    groups = {OPERATORS[name].clause[:-1] if name in OPERATORS else name for name in operators}
    return len(groups) == 1 and len(operators) > 1


def _groups(uses: Uses) -> frozenset[str]:
    """The groups of the specification that the operators of Relax in a program are of."""
    return frozenset(CLAUSES[name] for name, _ in uses if name in CLAUSES)


def families(operators: Iterable[str]) -> frozenset[str]:
    """Operators without the number of their dimensions: `nn.conv1d` and `nn.conv2d` are one."""
    return frozenset(FAMILY.sub("nd", operator) for operator in operators)


def _without_group(words: str) -> str:
    """How values differ, without the dtype: `nan for finite`."""
    group = next((each for each in GROUPS if words.startswith(each)), "")
    return " ".join(words.removeprefix(group).split()[:3])


def how_of(got: object, expected: object) -> str:
    """How the values of a row differ: in their type, else as the first pair of them that does."""
    if got is not None and expected is not None and _types(got) != _types(expected):
        return TYPE
    for one, other in zip(_numbers(got), _numbers(expected), strict=False):
        if one != other and not (one != one and other != other):  # noqa: PLR0124 - NaN is NaN
            return f"{kind_of(one)} for {kind_of(other)}"
    return ""


def _types(value: object) -> list[tuple[object, ...]]:
    """The dtypes and shapes of tensors as a row writes them."""
    match value:
        case [str(dtype), list(elements), list(shape)]:
            return [(dtype, *shape)] if elements is not None else []
        case [str(dtype), elements]:
            return [(dtype, *_shape(elements))]
        case list(parts):
            return [each for part in parts for each in _types(part)]
    return []


def _shape(elements: object) -> Iterator[int]:
    while isinstance(elements, list):
        yield len(elements)
        elements = elements[0] if elements else None


def _numbers(value: object) -> Iterator[float]:
    """The numbers of tensors as a row writes them: a dtype, nested values, the shape where the values do not say it."""
    match value:
        case [str(), list(elements), *_]:
            yield from _leaves(elements)
        case [str(), int() | float() as number]:
            yield number
        case list(parts):
            for part in parts:
                yield from _numbers(part)


def _leaves(value: object) -> Iterator[float]:
    if isinstance(value, list):
        for part in value:
            yield from _leaves(part)
    elif isinstance(value, int | float):
        yield value


SCALARS_OF_CASES = frozenset(map(spelled, SCALAR_OPS))
CLAUSES = {spelled(name): operator.clause[:-1] for name, operator in OPERATORS.items()}


def _uses_of_cases(names: Iterable[str]) -> Iterator[tuple[str, str]]:
    """What cases are about: `scalar.lt.bool`, `op.cumsum.empty`, and edges: `truncmod bfloat16`."""
    for name in names:
        match name.replace(" ", ".").split("."):
            case ["scalar", operator, dtype]:
                yield operator, dtype
            case ["op", operator, _]:
                yield operator, ANY
            case ["cast", source, target]:
                yield from ((CAST, f"{one} {other}") for one in _meant(source) for other in _meant(target))
            case [operator, dtype]:
                yield operator, dtype


def _meant(pattern: str) -> list[str]:
    """The dtypes that the pattern of an edge means: `float8_*`."""
    return [name for name in map(str, SCALARS) if fnmatchcase(name, pattern)]


def _words(row: Mapping[str, object], key: str) -> Sequence[str]:
    return cast("Sequence[str]", row.get(key, ()))


def _is_dtype(name: str) -> bool:
    return name in SCALARS or DTYPES.fullmatch(name) is not None
