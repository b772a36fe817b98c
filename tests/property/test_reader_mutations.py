"""Mutated texts through the reader: only findings, with a place, never a traceback, none above 2 s of CPU time."""

import os
import random
import time
from collections import Counter

import pytest
from mutated_inputs import PROGRAMS, mutated

from refmlc.diag import Exhausted, IllFormed, Malformed, Unsupported
from refmlc.lang.script import read


def outcome(text):
    """What the reader makes of `text`: `read`, or the kind of the finding."""
    begin = time.thread_time()
    try:
        read(text)
    except (Malformed, IllFormed, Unsupported, Exhausted) as found:
        result = type(found).__name__
        assert found.diagnostic.span is not None or found.code.id == "RM604"  # noqa: PT017 - any of four kinds
    else:
        result = "read"
    assert time.thread_time() - begin < 2
    return result


def run(seeds):
    counts = Counter()
    for seed in seeds:
        try:
            counts[outcome(mutated(seed))] += 1
        except Exception as unexpected:  # noqa: BLE001 - the seed must be told with whatever came
            pytest.fail(f"seed {seed}: {unexpected!r}")
    return counts


def test_programs_are_read():
    assert len(PROGRAMS) >= 20
    assert {outcome(text) for text in PROGRAMS} == {"read"}


@pytest.mark.parametrize("part", range(4))
def test_mutated_texts(part):
    counts = run(range(part * 500, part * 500 + 500))
    assert counts["read"] > 25
    assert counts["Malformed"] > 100


@pytest.mark.soak
@pytest.mark.parametrize("part", range(10))
def test_many_mutated_texts(part):
    run(range(10_000 + part * 10_000, 20_000 + part * 10_000))


@pytest.mark.soak
def test_random_bytes():
    for seed in range(2000):
        data = random.Random(seed).randbytes(200)  # noqa: S311 - a seed to reproduce
        with pytest.raises((Malformed, Exhausted)):
            read(data)


def test_nothing_is_executed():
    marker = "REFMLC_EXECUTED"
    for text in (
        f"import os\nos.environ['{marker}'] = '1'\n",
        f"@T.prim_func\ndef f(a: T.handle):\n    __import__('os').environ.setdefault('{marker}', '1')\n",
        f'@T.prim_func(private=exec(\'import os; os.environ["{marker}"]="1"\'))\ndef f(a: T.handle):\n    pass\n',
        f"@T.prim_func\ndef f(A: T.Buffer((\"__import__('os').environ.setdefault('{marker}', '1')\",))):\n    pass\n",
        "@T.prim_func\ndef f(a: T.handle):\n    a.__class__.__subclasses__()\n",
    ):
        with pytest.raises(Malformed):
            read(text)
    assert marker not in os.environ
