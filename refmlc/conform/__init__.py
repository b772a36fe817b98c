"""Conformance: the frozen suite of cases, and implementations asked to answer it.

>>> from refmlc.conform import run_conformance_test
>>> run_conformance_test("cmd:./my-implementation")  # doctest: +SKIP

| file                                      | holds                                                             |
|-------------------------------------------|-------------------------------------------------------------------|
| `suite`, `freeze`                         | the cases of `conformance/`; what keeps released ones as they are |
| `data`                                    | a link to `conformance/`                                          |
| `verdict`, `score`, `score_call`, `score_shown` | the verdicts; which one an answer gets, and what is shown of it |
| `runner`, `runner_cases`, `runner_border` | a suite asked of an object, which may raise whatever it likes     |
| `runner_part`, `runner_workers`           | a suite asked in workers of a word                                |
| `coverage`                                | how many cases show each clause                                   |
| `result`, `expectations`                  | what comes of a run; what is known of an implementation           |
| `export`, `schema`                        | modules and cases as JSON, and what describes them                |
| `runner_assertion`, `report`              | conformance as a test; JUnit XML, JSON, the page                  |
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from refmlc.conform.expectations import load_expectations
    from refmlc.conform.result import Report
    from refmlc.conform.runner import run_suite
    from refmlc.conform.runner_assertion import Nonconformant, run_conformance_test
    from refmlc.conform.suite import Suite, load_suite

__all__ = ["Nonconformant", "Report", "Suite", "load_expectations", "load_suite", "run_conformance_test", "run_suite"]

_HOME = {
    "Nonconformant": "runner_assertion",
    "Report": "result",
    "Suite": "suite",
    "load_expectations": "expectations",
    "load_suite": "suite",
    "run_conformance_test": "runner_assertion",
    "run_suite": "runner",
}


def __getattr__(name: str) -> object:
    """The object called `name`, from its module."""
    if name not in _HOME:
        raise AttributeError(f"module 'refmlc.conform' has no attribute {name!r}")
    value: object = getattr(import_module(f"refmlc.conform.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """The names of the package."""
    return sorted(__all__)
