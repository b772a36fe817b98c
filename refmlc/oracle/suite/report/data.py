"""Reports as one JSON object: `{"ok": …, "reports": […]}`; `schema.json` beside this file describes it."""

from collections.abc import Sequence

from refmlc.oracle.suite.result import Report


def as_data(reports: Sequence[Report]) -> dict[str, object]:
    """The object."""
    return {"ok": all(report.ok for report in reports), "reports": [report.to_json() for report in reports]}
