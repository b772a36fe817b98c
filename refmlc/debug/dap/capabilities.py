"""The capabilities that the server announces: exactly those that work.

| exception filter | stops                                                                                    |
|------------------|------------------------------------------------------------------------------------------|
| `nan`, `inf`     | before a NaN or an infinity (an infinity) is stored, except for a constant of the text   |
| `undefined`      | at every kind of undefined behaviour; `RM304` …: at this kind                            |
| `trap`           | at assertions, missing packed functions, …                                               |
| `other`          | at unsupported constructs, exhausted budgets, …                                          |
"""

from collections.abc import Mapping

from refmlc.diag.catalogue import CODES

NUMBERS = {
    "nan": "NaN or infinity is stored",
    "inf": "Infinity is stored",
}
GROUPS = {
    "undefined": "Undefined behaviour of any kind",
    "trap": "Traps: assertions, missing functions",
    "other": "Everything else that ends the program",
}
DEFAULTS = tuple(GROUPS)


def kinds() -> Mapping[str, str]:
    """The kinds of undefined behaviour, with their titles."""
    return {name: code.title for name, code in CODES.items() if name.startswith("RM3")}


def failures(filters: frozenset[str]) -> frozenset[str]:
    """The kinds of failures in the words of `Session.failures`."""
    selected = {name for name in filters if name in ("undefined", "trap") or name in CODES}
    if "other" in filters:
        selected |= {name for name in CODES if name[2] not in "34"}
    return frozenset(selected)


def filters() -> list[dict[str, object]]:
    """The exception filters, as the client lists them."""
    rows: list[dict[str, object]] = [
        {
            "filter": name, "label": label, "default": False, "supportsCondition": True,
            "conditionDescription": "an expression of TVMScript, e.g. vi == 3",
        }
        for name, label in NUMBERS.items()
    ]  # fmt: skip
    rows += [{"filter": name, "label": label, "default": True} for name, label in GROUPS.items()]
    rows += [{"filter": name, "label": f"{name}: {title}", "default": False} for name, title in kinds().items()]
    return rows


def capabilities() -> dict[str, object]:
    """The answer to `initialize`."""
    works = (
        "ConfigurationDoneRequest", "FunctionBreakpoints", "ConditionalBreakpoints", "HitConditionalBreakpoints",
        "EvaluateForHovers", "StepBack", "SetVariable", "RestartFrame", "GotoTargetsRequest", "StepInTargetsRequest",
        "CompletionsRequest", "RestartRequest", "ExceptionInfoRequest", "DelayedStackTraceLoading",
        "LoadedSourcesRequest", "LogPoints", "SetExpression", "TerminateRequest", "DataBreakpoints",
        "ReadMemoryRequest", "CancelRequest", "BreakpointLocationsRequest", "SteppingGranularity",
        "ExceptionFilterOptions", "ClipboardContext",
    )  # fmt: skip
    return {
        **{f"supports{name}": True for name in works},
        "exceptionBreakpointFilters": filters(),
        "completionTriggerCharacters": ["[", "("],
    }
