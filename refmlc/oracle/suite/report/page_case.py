"""A case as the page shows it: the module as runs of tokens, arguments and assertions as texts.

| key                                               | holds                                                         |
|---------------------------------------------------|---------------------------------------------------------------|
| `id`, `clauses`, `features`, `provenance`, `func` | as the file has them                                          |
| `module`                                          | the number of its module                                      |
| `marks`                                           | lines of the module where a call must stop                    |
| `calls`                                           | `args` and `wanted`, a text each                              |
| `results`                                         | by implementation: a verdict, null if not run, or its details |

A module is `text` and `runs`: classes of Pygments and lengths in turn, so that the page makes text of it and nothing
else.
"""

from collections.abc import Mapping, Sequence

from pygments.lexers import PythonLexer
from pygments.token import STANDARD_TYPES

from refmlc.diag.errors import RefmlcError
from refmlc.lang.ir import relax
from refmlc.oracle.evidence.case_file import CaseFile
from refmlc.oracle.evidence.literals import tensor_of
from refmlc.oracle.evidence.numbers import Data
from refmlc.oracle.evidence.replay import first_options
from refmlc.oracle.suite.answer_text import values_text
from refmlc.oracle.suite.result import CaseResult, Report
from refmlc.oracle.suite.verdict import Verdict
from refmlc.run.memory.tensor import Tensor
from refmlc.run.memory.values import kind_of
from refmlc.vm.parameters import parameters_of

MOST_TEXT = 20_000  # characters of a module
MOST_LINE = 1200  # characters of an argument


def module_data(text: str) -> dict[str, object]:
    """The module and its tokens."""
    shown = text.replace("\r\n", "\n").replace("\r", "\n").strip("\n")[:MOST_TEXT]
    runs: list[tuple[str, int]] = []
    for kind, value in PythonLexer(stripnl=False, ensurenl=False).get_tokens(shown):
        name = STANDARD_TYPES.get(kind, "")
        if runs and (runs[-1][0] == name or not value.strip()):
            runs[-1] = (runs[-1][0], runs[-1][1] + len(value))
        else:
            runs.append((name, len(value)))
    return {"text": shown, "runs": [part for run in runs for part in run]}


def case_data(case: CaseFile, module: int, results: Sequence[CaseResult | None], reports: Sequence[Report]) -> Data:
    """The case with its results in each report."""
    places = [str(call.assertion.get("place", "")).partition(":")[0] for call in case.calls]
    before = len(case.text) - len(case.text.lstrip("\r\n"))
    calls: list[Data] = [
        {"args": arguments_text(case, number), "wanted": wanted_text(call.assertion)}
        for number, call in enumerate(case.calls)
    ]
    return {
        "id": case.id,
        "clauses": list(case.clauses),
        "features": list(case.features),
        "provenance": case.provenance,
        "func": case.func,
        "module": module,
        "marks": [int(line) - before for line in dict.fromkeys(places) if line],
        "calls": calls,
        "results": [_result(result, report) for result, report in zip(results, reports, strict=True)],
    }


def _result(result: CaseResult | None, report: Report) -> Data:
    if result is None:
        return None
    verdict = "not scored" if result.verdict is None else result.verdict.value
    if result.verdict in (Verdict.PASS, None) and result.expected:
        return verdict
    data: dict[str, Data] = {"verdict": verdict, "expected": result.expected}
    if result.known:
        data |= {"known": result.known, "reason": report.reasons.get(result.known, "")}
        data["was"] = "" if result.was is None else result.was.value
    if result.unexpected:
        data["unexpected"] = result.unexpected
    calls: list[Data] = []
    for call in result.calls:
        rows: list[Data] = [[row.label, row.index, row.got, row.recorded, row.permitted] for row in call.rows]
        word = "not scored" if call.verdict is None else call.verdict.value
        calls.append({"verdict": word, "why": call.why, "got": _cut(call.got), "rows": rows})
    return {**data, "calls": calls}


def arguments_text(case: CaseFile, number: int) -> str:
    """The arguments of a call, a line each."""
    try:
        function = case.module.functions.get(case.func)
        parameters = [] if function is None or isinstance(function, relax.ExternFunc) else parameters_of(function)
        args = case.arguments(number)
    except RefmlcError:
        return "" if not case.calls[number].args else "(the module is not read)"
    lines = []
    for at, arg in enumerate(args):
        name = parameters[at].name if at < len(parameters) else f"argument {at}"
        value = values_text(arg) if isinstance(arg, Tensor) else repr(arg)
        lines.append(_cut(f"{name}: {kind_of(arg)}: {value}"))
    return "\n".join(lines)


def wanted_text(assertion: Mapping[str, Data]) -> str:
    """The expected result of a call, a line for each value."""
    match assertion:
        case {"kind": "return", "parts": list(recorded)}:
            return (
                "\n".join(_part(at, data) for at, data in enumerate(recorded) if isinstance(data, dict))
                or "it returns nothing"
            )
        case {"kind": "trap" | "undefined" | "reject" as kind, **rest}:
            at = f" at {rest['place']}" if rest.get("place") else ""
            return f"{kind} {rest.get('code', '')}{at}"
        case _:
            return "recorded only, not scored"


def _part(at: int, data: Mapping[str, Data]) -> str:
    label, rule = data.get("label", f"value {at + 1}"), data.get("rule", "exact")
    if rule == "kept":
        return f"{label}: unchanged"
    if rule == "any":
        return f"{label}: anything"
    if rule == "hash":
        return f"{label}: {data.get('dtype')} {data.get('shape')}, SHA-256 {data.get('sha256')}"
    if "dtype" not in data:
        return f"{label}: {data.get('value', data.get('extents'))}"
    try:
        tensor = tensor_of(first_options(data))
    except RefmlcError as failure:
        return f"{label}: {failure.diagnostic.message}"
    rules = {"certified": ", or within a proved interval", "one of": ", or one of a set"}
    also = f", at most {data.get('ulps')} ulp away" if rule == "ulp" else rules.get(str(rule), "")
    return _cut(f"{label}: {kind_of(tensor)}: {values_text(tensor)}{also}")


def _cut(text: str) -> str:
    return text if len(text) <= MOST_LINE else f"{text[:MOST_LINE]}…"
