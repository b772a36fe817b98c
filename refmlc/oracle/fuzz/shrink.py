"""The program of a finding made smaller: valid at each step, with the same verdict of the same implementation."""

import json

from refmlc.oracle.fuzz.batch import as_json, every, examined_by, implemented
from refmlc.oracle.fuzz.result import Found, Json
from refmlc.oracle.fuzz.settings import Settings
from refmlc.oracle.reduce.reduction import reduce_case
from refmlc.strategies.case import Case


def shrink(settings: Json, found: Json, seconds: float) -> Json:
    """The smaller case, sizes before and after, and whether there was time for all. Units: seconds."""
    known, finding = Settings.from_json(settings), Found.from_json(found)
    specs = [every(spec)[0] for spec in known.implementations]
    specs = [spec for spec in specs if implemented(spec, known.program_seconds).name == finding.path]

    def keeps(case: Case) -> bool:
        (each,) = examined_by(known, specs, [case], sanitize=False)
        return any(one.code.id == finding.code and one.verdict.kind.value == finding.verdict for one in each.findings)

    case = Case.from_json(json.dumps(finding.case))
    if not keeps(case):
        return {"problem": "it does not come out again"}
    made = reduce_case(case, keeps, seconds=seconds)
    return {
        "case": as_json(made.case or case),
        "lines": [len(str(finding.case["text"]).splitlines()), len(made.text.splitlines())],
        "statements": [made.before[1], made.after[1]],
        "tries": made.tries,
        "finished": made.finished,
    }
