"""Mutated texts through the reader: only findings, with a place, never a traceback, none above 2 s of CPU time."""

import os
import random
import re
import time
from collections import Counter
from pathlib import Path

import pytest

from refmlc.diag import Exhausted, IllFormed, Malformed, Unsupported
from refmlc.script import read

PROGRAMS = [path.read_text(encoding="utf-8") for path in sorted(Path(__file__).parents[1].glob("programs/*.py"))]
TOKEN = re.compile(r"\w+|\s+|.", re.DOTALL)
NUMBERS = (
    *("0", "-1", "9" * 30, "1e400", "0x" + "f" * 60, "None", '"n"', "True", "1.5", "[]", "()", "{}"),
    *("T", "T.int32", "n", "lambda: 0", "1 << 9", "2**70", "range(3)", "T.grid(1)", "A", "*[1, 2]", "1:2"),
)
CHARACTERS = (
    *("\0", "\ud800", "\ufeff", "é", "\t", "\\", "\n\n", "#", "'", '"""', "f'{x}'", ";", "@", "*", "**"),
    *(":=", "...", "\x0c", "\u2028", "\U0001f600"),
)


def flip(choose, text):
    at = choose.randrange(len(text))
    return text[:at] + chr(ord(text[at]) ^ (1 << choose.randrange(7))) + text[at + 1 :]


def delete(choose, text):
    at = choose.randrange(len(text))
    return text[:at] + text[at + choose.randrange(1, 40) :]


def duplicate(choose, text):
    at = choose.randrange(len(text))
    end = at + choose.randrange(1, 80)
    return text[:end] + text[at:end] + text[end:]


def of_tokens(choose, text, kind, change):
    tokens = TOKEN.findall(text)
    places = [number for number, token in enumerate(tokens) if kind(token)]
    if places:
        a, b = choose.choice(places), choose.choice(places)
        change(tokens, a, b)
    return "".join(tokens)


def swap(choose, text):
    def change(tokens, a, b):
        tokens[a], tokens[b] = tokens[b], tokens[a]

    return of_tokens(choose, text, lambda token: not token.isspace(), change)


def rename(choose, text):
    def change(tokens, a, b):
        tokens[a] = tokens[b]

    return of_tokens(choose, text, str.isidentifier, change)


def renumber(choose, text):
    def change(tokens, a, b):
        tokens[a] = choose.choice(NUMBERS)

    return of_tokens(choose, text, str.isdigit, change)


def insert(choose, text):
    at = choose.randrange(len(text))
    what = choose.choice(
        (
            choose.choice(CHARACTERS),
            "(" * choose.choice((5, 150, 300, 5000)),
            choose.choice("-~+") * choose.choice((3, 200, 9000)),
            "9" * choose.choice((20, 400, 5000)),
            " + 1" * choose.choice((3, 500, 5000)),
            "x" * choose.choice((100, 100_000)),
        )
    )
    return text[:at] + what + text[at:]


def nest(choose, text):
    at = choose.randrange(len(text))
    end = text.find("\n", at)
    depth = choose.choice((2, 50, 119, 199, 201, 3000))
    opening, closing = choose.choice((("(", ")"), ("T.exp(", ")"), ("[", "]"), ("A[", "]"), ("not (", ")")))
    return text[:at] + opening * depth + text[at:end] + closing * depth + text[end:]


def lines(choose, text):
    rows = text.split("\n")
    a, b = choose.randrange(len(rows)), choose.randrange(len(rows))
    match choose.randrange(3):
        case 0:
            rows[a], rows[b] = rows[b], rows[a]
        case 1:
            del rows[a]
        case _:
            rows.insert(a, rows[b])
    return "\n".join(rows)


MUTATIONS = (flip, delete, duplicate, swap, rename, rename, rename, renumber, renumber, insert, nest, lines, lines)


def mutated(seed):
    choose = random.Random(seed)  # noqa: S311 - a seed to reproduce, nothing secret
    text = choose.choice(PROGRAMS)
    for _ in range(choose.choice((1, 1, 1, 2, 3, 6))):
        text = choose.choice(MUTATIONS)(choose, text) or "x"
    return text


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
