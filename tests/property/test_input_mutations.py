"""Hostile input through all that reading makes possible: read, check, show, read again.

Nothing in it is executed (an audit hook listens), nothing ends in a Python exception or in a bug of refmlc (RM901), and
nothing takes more than `SECONDS` of the processor.
"""

import importlib
import pkgutil
import sys
import time
from collections import Counter

import pytest
from mutated_inputs import grafted, graphs, mutated, mutated_bytes, mutated_graph, pieces, statements

import refmlc.diag
import refmlc.lang.library
import refmlc.lang.script
import refmlc.lang.wellformed
from refmlc.diag import Internal, RefmlcError
from refmlc.diag.render import render_text
from refmlc.frontends import from_tvm
from refmlc.frontends.tvm_json import from_json
from refmlc.lang.script import read, show
from refmlc.lang.wellformed import check_module

SECONDS = 3.0
FORBIDDEN = ("exec", "import", "open", "os.", "subprocess.", "socket.", "ctypes.", "shutil.", "pty.", "webbrowser.")
ALLOWED = ("os.putenv",)


class Listener:
    """What the audit hook hears while it is told to listen; hooks cannot be taken away again."""

    def __init__(self):
        self.heard = []
        self.on = False
        sys.addaudithook(self)

    def __call__(self, event, args):
        if event == "open" and args[0] == "<unknown>":  # Python looks for the line of a syntax error
            return
        if self.on and event.startswith(FORBIDDEN) and event not in ALLOWED:
            self.heard.append((event, str(args)[:80]))


@pytest.fixture(scope="module")
def listener():
    for package in (
        refmlc.diag,
        refmlc.lang.script,
        refmlc.lang.wellformed,
        refmlc.lang.library,
    ):  # what is imported late, before
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            importlib.import_module(found.name)
    assert graphs()
    assert pieces()
    assert statements()
    return Listener()


def from_bytes(seed):
    data = mutated_bytes(seed)
    text = data.decode("utf-8", "surrogateescape")
    return from_tvm(text) if text.startswith("{") else read(data)


KINDS = {
    "texts": lambda seed: read(mutated(seed)),
    "trees": lambda seed: read(grafted(seed)),
    "graphs": lambda seed: from_json(mutated_graph(seed)),
    "bytes": from_bytes,
}


def story(kind, seed):
    """How far the input of a seed came, and the finding that ended it."""
    stage = "read"
    try:
        module = kind(seed)
        stage = "check"
        findings = check_module(module)
        for found in findings:
            render_text(found)
        stage = "show"
        text = show(module)
        stage = "read again"
        read(text)
    except Internal:
        raise
    except RefmlcError as failure:
        ended, code = failure.diagnostic, failure.code.id
    else:
        return "refused by the check" if findings else "through"
    assert "\x1b" not in render_text(ended)
    return f"{stage} {code}"


def run(listener, kind, seeds):
    """The stories of these seeds, counted. Fails at what must not be, with its seed."""
    counts = Counter()
    for seed in seeds:
        begin = time.thread_time()
        listener.heard.clear()
        listener.on = True
        try:
            told = story(KINDS[kind], seed)
        except Exception as unexpected:  # noqa: BLE001 - the seed must be told with whatever came
            pytest.fail(f"{kind}, seed {seed}: {unexpected!r}")
        finally:
            listener.on = False
        assert not listener.heard, f"{kind}, seed {seed}: {listener.heard}"
        assert time.thread_time() - begin < SECONDS, f"{kind}, seed {seed}: slow"
        counts[told] += 1
    return counts


@pytest.mark.parametrize(("kind", "number"), [("texts", 150), ("trees", 250), ("graphs", 250), ("bytes", 100)])
def test_hostile_input_ends_in_a_module_or_a_finding(listener, kind, number):
    counts = run(listener, kind, range(1000, 1000 + number))
    assert counts["through"] + counts["refused by the check"] > number // 30


@pytest.mark.soak
@pytest.mark.parametrize("part", range(9))
@pytest.mark.parametrize("kind", KINDS)
def test_much_hostile_input(listener, kind, part):
    run(listener, kind, range(100_000 + part * 1250, 101_250 + part * 1250))
