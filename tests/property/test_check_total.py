"""The rules are total: whatever text is read, the check ends, and each finding can be shown."""

import json
import re
from pathlib import Path

from hypothesis import given, strategies as st

from refmlc.diag import Exhausted, RefmlcError
from refmlc.diag.render import render_line, render_text, to_json
from refmlc.lang.script import read
from refmlc.lang.wellformed import check_module

PROGRAMS = [
    path.read_text(encoding="utf-8")
    for path in sorted((Path(__file__).parents[1] / "programs").glob("*.py"))
    if path.stat().st_size < 8000
]
TOKENS = [re.findall(r"\w+|\s+|.", text) for text in PROGRAMS]
WORDS = sorted({word for tokens in TOKENS for word in tokens if word[0].isalnum()})


@st.composite
def mutated(draw):
    """A program of the course with a few words replaced by words of such programs."""
    tokens = list(draw(st.sampled_from(TOKENS)))
    places = [index for index, token in enumerate(tokens) if token[0].isalnum()]
    for _ in range(draw(st.integers(1, 3))):
        tokens[draw(st.sampled_from(places))] = draw(st.sampled_from(WORDS))
    return "".join(tokens)


@given(mutated())
def test_findings_of_any_module_can_be_shown(text):
    try:
        findings = check_module(read(text, "mutated.py"))
    except Exhausted:
        return
    except RefmlcError as failure:
        findings = (failure.diagnostic,)
    for found in findings:
        assert found.code.id in render_text(found)
        assert render_line(found).count("\n") == 0
        json.dumps(to_json(found))
    assert [found.span.line for found in findings if found.span] == sorted(f.span.line for f in findings if f.span)


@given(st.text(max_size=200))
def test_any_text_ends_in_a_module_or_a_finding(text):
    found = None
    try:
        check_module(read(text))
    except RefmlcError as failure:
        found = failure.diagnostic
    assert found is None or render_text(found).startswith(f"error[{found.code.id}]: ")
