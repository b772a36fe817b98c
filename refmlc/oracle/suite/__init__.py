"""Conformance: the frozen suite of cases, and implementations asked to answer it.

>>> from refmlc.oracle.suite import run_conformance_test
>>> run_conformance_test("cmd:./my-implementation")  # doctest: +SKIP

| file                                      | holds                                                                    |
|-------------------------------------------|--------------------------------------------------------------------------|
| `suite`                                   | the cases of `conformance/`; what keeps released ones as they are        |
| `data`                                    | a link to `conformance/`                                                 |
| `score`                                   | which verdict an answer gets, and what is shown of it                    |
| `runner`, `runner_cases`, `runner_border` | a suite asked of an object, which may raise whatever it likes            |
| `runner_workers`                          | a suite asked in workers of a word                                       |
| `coverage`                                | how many cases show each clause                                          |
| `result`, `expectations`                  | the verdicts, the result of a run; known deviations of an implementation |
| `export`, `schema`                        | modules and cases as JSON, and what describes them                       |
| `runner_assertion`, `report`              | conformance as a test; JUnit XML, JSON, the page                         |
"""

from typing import TYPE_CHECKING

from refmlc.lazy import attach

if TYPE_CHECKING:
    from refmlc.oracle.suite.expectations import load_expectations
    from refmlc.oracle.suite.result import SuiteReport
    from refmlc.oracle.suite.runner import run_suite
    from refmlc.oracle.suite.runner_assertion import Nonconformant, run_conformance_test
    from refmlc.oracle.suite.suite import Suite, load_suite

__all__ = [
    "Nonconformant",
    "Suite",
    "SuiteReport",
    "load_expectations",
    "load_suite",
    "run_conformance_test",
    "run_suite",
]

__getattr__, __dir__ = attach(
    __name__,
    {
        "refmlc.oracle.suite.expectations": ("load_expectations",),
        "refmlc.oracle.suite.result": ("SuiteReport",),
        "refmlc.oracle.suite.runner": ("run_suite",),
        "refmlc.oracle.suite.runner_assertion": ("Nonconformant", "run_conformance_test"),
        "refmlc.oracle.suite.suite": ("Suite", "load_suite"),
    },
)
