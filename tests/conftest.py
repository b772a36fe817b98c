"""Profiles: `ci` (the same examples every time, the default), `dev` (a few, new ones each time), `soak` (long).

REFMLC_PROFILE chooses. The default finds nothing new, so that whoever runs the tests sees what everybody sees.
`--sample 8` runs an eighth of the tests, always the same ones; `-m quick` those of `quick.py`. What a test needs
besides is asked by `needs.py`. A machine that has more runs what a bare one has left: REFMLC_RAN names the folder in
which that one notes the files with `skipped` tests and the tests that `passed`, and `--besides` is told of the latter.
"""

import gc
import os
import signal
from collections import Counter
from itertools import groupby
from pathlib import Path
from zlib import crc32

import pytest
from in_browser import chromium
from needs import missing, need
from quick import FILES, MOST

from refmlc.testing import profiles

HERE = Path(__file__).parent
QUICK = frozenset(HERE / name for files in FILES.values() for name in files)
PROFILE = os.environ.get("REFMLC_PROFILE") or "ci"

profiles.load(PROFILE)


def pytest_addoption(parser):
    """The options `--sample` and `--besides`."""
    parser.addoption("--sample", type=int, default=1, metavar="N", help="run one test in N, chosen by its name")
    parser.addoption("--besides", default="", metavar="FILE", help="leave out the tests that it names, a line each")


def pytest_configure(config):
    """Hear interrupts, and let what is started hear them, although a shell that runs this behind it ignores them."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if missing("compiler"):  # which refmlc says once in a process: no test is to blame
        warning = "refmlc.native.compile.failures.NativeWarning"
        config.addinivalue_line("filterwarnings", f"ignore:no C compiler is found:{warning}")


def pytest_ignore_collect(collection_path, config):
    """With `-m quick`, import no other files: that alone would take half a minute."""
    if config.option.markexpr == "quick" and collection_path.name.startswith("test_"):
        return collection_path not in QUICK or None
    return None


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Look for no cycles while tests are collected, nor later among them: they stay until the end."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def mark_quick(items):
    """Mark at most `MOST` tests of each file that `quick.py` lists, evenly chosen."""
    for path, group in groupby(items, key=lambda item: item.path):
        if path in QUICK:
            tests = list(group)
            for item in tests[:: -(-len(tests) // MOST)]:
                item.add_marker(pytest.mark.quick)


def pytest_collection_modifyitems(config, items):
    """Mark what is quick; leave out `soak`, unless the profile is soak, what passed, and what is not of the sample."""
    mark_quick(items)
    every, besides, chosen, left = config.getoption("sample"), config.getoption("besides"), [], []
    passed = frozenset(Path(besides).read_text(encoding="utf-8").split("\n") if besides else ())
    for item in items:
        is_soak = PROFILE != "soak" and item.get_closest_marker("soak")
        is_out = is_soak or noted(item.nodeid) in passed or crc32(item.nodeid.encode()) % every
        (left if is_out else chosen).append(item)
    if left:
        config.hook.pytest_deselected(items=left)
        items[:] = chosen


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    """Skip what needs something that is missing."""
    for marker in item.iter_markers("needs"):
        need(*marker.args)


def pytest_terminal_summary(terminalreporter):
    """A line for each reason why tests were skipped; a need that is missing comes with the command that brings it."""
    reports = terminalreporter.stats.get("skipped", ())
    reasons = {(report.nodeid, type(report).__name__): reason_of(report) for report in reports}
    tests = Counter(reason for (_, kind), reason in reasons.items() if kind == "TestReport")
    files = Counter(reason for (_, kind), reason in reasons.items() if kind != "TestReport")
    if reasons:
        terminalreporter.section("skipped")
    for reason in sorted({*tests, *files}):
        counts = [(tests[reason], "test"), (files[reason], "file")]
        shown = " and ".join(f"{count} {what}{'s' * (count > 1)}" for count, what in counts if count)
        terminalreporter.write_line(f"{shown}: {reason}")
    if "REFMLC_RAN" in os.environ:
        passed = {noted(report.nodeid) for report in terminalreporter.stats.get("passed", ())}
        skipped = {report.nodeid.partition("::")[0] for report in reports}
        for name, names in (("passed", passed), ("skipped", skipped)):
            text = "".join(f"{each}\n" for each in sorted(names))
            Path(os.environ["REFMLC_RAN"], name).write_text(text, encoding="utf-8")


def noted(nodeid):
    """The name of a test in one line, without what no file of text takes."""
    return nodeid.encode("unicode_escape").decode("ascii")


def reason_of(report):
    """The reason of a skip, as it was given."""
    text = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    return text.removeprefix("Skipped: ")


@pytest.fixture(scope="module")
def browser():
    """A running Chromium."""
    yield from chromium()
