"""The program of a finding made smaller: valid at each step, with the same verdict of the same implementation."""

import json

from refmlc.oracle.fuzz.batch import as_json, every, examined_by, implemented
from refmlc.oracle.fuzz.result import FindingRecord, Json
from refmlc.oracle.fuzz.settings import Settings
from refmlc.oracle.reduce.reduction import reduce_case
from refmlc.strategies.case import Case


def shrink(settings: Json, finding_data: Json, seconds: float) -> Json:
    """The smaller case, sizes before and after, and whether there was time for all. Units: seconds."""
    campaign_settings, finding = Settings.from_json(settings), FindingRecord.from_json(finding_data)
    specs = [every(spec)[0] for spec in campaign_settings.implementations]
    specs = [spec for spec in specs if implemented(spec, campaign_settings.program_seconds).name == finding.path]

    def keeps(case: Case) -> bool:
        (each,) = examined_by(campaign_settings, specs, [case], sanitize=False)
        return any(
            candidate.code.id == finding.code and candidate.verdict.kind.value == finding.verdict
            for candidate in each.findings
        )

    case = Case.from_json(json.dumps(finding.case))
    if not keeps(case):
        return {"problem": "the finding does not occur again"}
    reduction = reduce_case(case, keeps, seconds=seconds)
    return {
        "case": as_json(reduction.case or case),
        "lines": [len(str(finding.case["text"]).splitlines()), len(reduction.text.splitlines())],
        "statements": [reduction.before[1], reduction.after[1]],
        "tries": reduction.tries,
        "finished": reduction.finished,
    }
