"""A plugin of pytest that notes which texts the tests of the reader and of the static rules see refused.

`PYTHONPATH=tests/suite_authors REFMLC_GATHERED=FILE pytest -p gather_rejects tests/unit/lang/script
tests/unit/lang/wellformed tests/golden/test_golden_diagnostics.py`; the tests assert the codes, so the codes are
theirs. FILE: rows of text, code, `line:column`, test.
"""

import functools
import json
import os
from pathlib import Path

import refmlc
import refmlc.lang.script.reader.text as reading
import refmlc.lang.wellformed.reading as checking
from refmlc.diag.errors import IllFormed, Malformed
from refmlc.lang import script

REFUSED, TEST = {}, [""]


def noting(of):
    @functools.wraps(of)
    def noted(text, *args, **more):
        try:
            return of(text, *args, **more)
        except (Malformed, IllFormed) as failure:
            if isinstance(text, str):
                note(text, failure.diagnostic)
            raise

    return noted


def note(text, diagnostic):
    span = diagnostic.span
    REFUSED.setdefault(text, [diagnostic.code.id, "" if span is None else f"{span.line}:{span.column + 1}", TEST[0]])


def noting_findings(of):
    def noted(module):
        findings = of(module)
        if findings and module.source is not None:
            note(module.source.text, findings[0])
        return findings

    return noted


reading.read = script.read = checking.script.read = noting(reading.read)
checking.read = refmlc.read = noting(checking.read)
checking.check_module = noting_findings(checking.check_module)


def pytest_runtest_setup(item):
    TEST[0] = item.nodeid


def pytest_sessionfinish():
    rows = [[text, *told] for text, told in REFUSED.items()]
    Path(os.environ["REFMLC_GATHERED"]).write_text(json.dumps(rows), encoding="utf-8")
