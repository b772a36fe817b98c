"""The words of docstrings, comments, messages, clauses and file names: plain English in the rooms of CLEAN.

A room is added when it is clean; none is taken out. A phrase is wrong in every place, so no line is exempt.
"""

import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2] / "refmlc"
CLEAN = (
    "cli",
    "debug",
    "diag",
    "frontends",
    "lang/arith",
    "lang/builder",
    "lang/drawing",
    "lang/dtypes",
    "lang/ir",
    "lang/library",
    "lang/script",
    "lang/ops",
    "lang/spec",
    "lang/te",
    "lang/wellformed",
    "native",
    "observe/bounds",
    "observe/sanitize",
    "observe/why",
    "oracle",
    "rewrite",
    "run",
    "strategies",
    "system",
    "testing",
    "tools",
    "tvm",
    "vm",
)
PHRASES = {
    r"\bto be had\b": "available; `no … is named …`",
    r"\b(come|comes|came|coming) to\b": "reach; end; the result of",
    r"\b(comes?|came) of\b": "the result of",
    r"\b[Ww]hoever\b": "the caller; name who it is",
    r"\b[Ww]ho (asks|writes|has|is|waits|looks|uses|calls|wants|says|answers)\b": "the caller; name who it is",
    r"\b(is|are|was|were|be) (told|asked)\b": "reported; called; requested",
    r"\bone's own\b": "custom",
    r"\b[Ww]hat (is|was|are|were) (said|told|asked|looked at|meant|made|found|given)\b": "the noun for it",
    r"\bit looks [a-z]+:": "state the fact",
    r"\bso many\b(?! cases\.)": "the name of the number; `that many`",
    r"\bheld against\b": "compared with",
    r"\bis due\b": "is needed",
    r"\b(is|are) no (value|tensor|number|list|JSON|TOML|module|call|function|case|file|string)s?\b": "is not a …",
    r"\b(goes|go|went) on\b": "continues",
    r"\bmakes? of it\b": "the result",
}
NAMES = frozenset(
    (
        "absent",
        "aimed",
        "asked",
        "bare",
        "both",
        "building",
        "calling",
        "checking",
        "closed",
        "compiling",
        "copying",
        "covered",
        "drawn",
        "found",
        "generated",
        "given",
        "held",
        "inside",
        "judging",
        "keep",
        "kept",
        "known",
        "lifting",
        "linking",
        "made",
        "making",
        "matching",
        "moved",
        "needs",
        "private",
        "reading",
        "rest",
        "sanitized",
        "shaped",
        "shaping",
        "shown",
        "tell",
        "told",
        "unknown",
        "wanted",
        "watching",
        "written",
    )
)
FILES = sorted(
    path
    for room in CLEAN
    for path in (ROOT / room).rglob("*")
    if path.suffix in (".py", ".html", ".js") and "stand_ins" not in path.parts
)
CLAUSES = sorted((ROOT.parent / "conformance" / "spec").glob("*.toml"))


@cache
def texts():
    return {path: path.read_text(encoding="utf-8") for path in (*FILES, *CLAUSES)}


@pytest.mark.parametrize("phrase", PHRASES)
def test_phrases_of_the_dialect_are_gone(phrase):
    wrong = [
        f"{path.relative_to(ROOT.parent)}:{number}: {line.strip()}"
        for path, text in texts().items()
        if re.search(phrase, text)
        for number, line in enumerate(text.splitlines(), 1)
        if re.search(phrase, line)
    ]
    assert wrong == [], f"write instead: {PHRASES[phrase]}"


def test_files_are_named_by_nouns():
    assert [str(path.relative_to(ROOT.parent)) for path in FILES if path.stem in NAMES] == []
