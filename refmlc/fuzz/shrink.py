"""The program of a finding made smaller: valid at each step, and the finding keeps its signature."""

import json

from refmlc.fuzz.batch import as_json, examined_by, name_of
from refmlc.fuzz.result import Found, Json
from refmlc.fuzz.settings import Settings
from refmlc.reduce.reduction import reduce_case
from refmlc.strategies.case import Case


def shrink(settings: Json, found: Json, seconds: float) -> Json:
    """The smaller case, sizes before and after, and whether there was time for all. Units: seconds."""
    known, finding = Settings.from_json(settings), Found.from_json(found)

    def keeps(case: Case) -> bool:
        (each,) = examined_by(known, [case], sanitize=False)
        return any(name_of(one) == finding.signature for one in each.findings)

    made = reduce_case(Case.from_json(json.dumps(finding.case)), keeps, seconds=seconds)
    if made.case is None:
        return {"problem": "there is no case"}
    return {
        "case": as_json(made.case),
        "lines": [len(str(finding.case["text"]).splitlines()), len(made.text.splitlines())],
        "statements": [made.before[1], made.after[1]],
        "tries": made.tries,
        "finished": made.finished,
    }
