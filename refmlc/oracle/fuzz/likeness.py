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
its names, then more of the message. A row that has no more of a message than that a check failed counts where no other
has it. Without an operator a message that several rows have is that of none, and so is a check that says nothing else,
unless they say that they have one cause (`why`: As …), or one of them alone has tensors without elements as the program
has, no operator itself, or an operator of its group (LIB-60…). Of results it is first a row where values differ in the
same way, then one on the same dtype.

Decision: that is no explanation (`refmlc.oracle.record`): another fault may end in the same check, and an operator may
be wrong twice. It sorts findings: a person reads the row before anything is filed.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

from refmlc.lang.ir import IRModule
from refmlc.lang.library import OPERATORS
from refmlc.lang.ops.scalar import SCALAR_OPS
from refmlc.oracle.finding import Finding
from refmlc.oracle.fuzz.finding_pattern import (
    ANY,
    CAST,
    OF_CAST,
    Pattern,
    Uses,
)
from refmlc.oracle.fuzz.program_uses import (
    COMPARISONS,
    IN_INDEX,
    applied_in,
    branches_in,
    has_nothing,
    is_narrow,
    plainly,
    spelled,
    uses_in,
)
from refmlc.oracle.fuzz.row_looks import AFTER_PASSES, DEATHS, LOWERING, TYPE, RowLooks, looks_of_rows
from refmlc.oracle.outcome import Kind
from refmlc.oracle.reasons import normalised


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
    rows = looks_of_rows(str(says.get("name", "")), str(says.get("version", "")), of_c)
    uses = pattern.uses if module is None else applied_in(module)
    if message.startswith(DEATHS):
        return "" if module is None else _like_death(rows, message, uses, branches_in(module))
    if message and not pattern.words:
        return next((row.id for row in rows if row.is_silent and met(row.uses, uses)), "")
    if message:
        return _like_message(rows, pattern.words, message, module, uses)
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
    by_pass = guilty.startswith(LOWERING) or (of_c and guilty == AFTER_PASSES)
    return most or (_like_by_pass(rows, pattern, guilty) if by_pass else "")


def _like_message(rows: Iterable[RowLooks], words: str, message: str, module: IRModule | None, uses: Uses) -> str:
    """The row that a failure looks like, by its message and the operators of the program."""
    is_bare = module is not None and BARE.search(words) is not None
    is_bare = is_bare or INDEX.fullmatch(words) is not None
    ranked = [(_rank(row, words, message, uses, is_bare=is_bare), row) for row in rows]
    alike = _without_begun([(rank, row) for rank, row in ranked if rank is not None])
    if not any(rank[0] for rank, _ in alike) and module is not None:
        alike = [(rank, row) for rank, row in alike if row.nothing == has_nothing(module)]
        alike = [(rank, row) for rank, row in alike if not row.cases | row.uses] or alike
    rank, best = max(alike, key=lambda pair: pair[0], default=((0, False, 0), None))
    if best is not None and (rank[0] or len(alike) == 1 or module is None):
        return best.id
    bases = {row.base for _, row in alike}
    if len(bases) == 1:
        return bases.pop()
    of_group = [row.id for _, row in alike if not _groups(row.uses).isdisjoint(_groups(uses))]
    return of_group[0] if len(of_group) == 1 else ""


def _without_begun(alike: Sequence[tuple["Rank", RowLooks]]) -> list[tuple["Rank", RowLooks]]:
    """Rows without those whose message another one continues: on the target `c`, and where a check is all it says."""
    begins = [row.begins for _, row in alike]
    of_c = [row.begins for _, row in alike if row.of_c]
    kept = [(rank, row) for rank, row in alike if not (row.of_c and _is_begun(row.begins, of_c))]
    return [(rank, row) for rank, row in kept if not (row.begins == CHECK and _is_begun(row.begins, begins))]


OF_TYPE = re.compile(r"the result.* is a tensor")
FAMILY = re.compile(r"\dd(?=[-_]|$)")
GROUPS = ("float ", "half float ", "narrow float ", "int ", "uint ", "bool ")
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
Rank: TypeAlias = tuple[int, bool, int]


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


def _like_by_pass(rows: Iterable[RowLooks], pattern: Pattern, guilty: str) -> str:
    """Of the rows on the guilty pass the one all of whose scalars the wrong element has, and the most; empty: none."""
    how, uses = _without_group(pattern.words), plainly(pattern.uses)
    alike = [
        (len(row.scalars), row.id)
        for row in rows
        if row.guilty == guilty and (row.of_c or guilty != AFTER_PASSES)
        if row.scalars and row.scalars <= uses and _is_wrong_alike(how, row)
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


SCALARS_OF_CASES = frozenset(map(spelled, SCALAR_OPS))
CLAUSES = {spelled(name): operator.clause[:-1] for name, operator in OPERATORS.items()}
