"""The page of a finding: well-formed, self-contained, escaped, and it says what was found."""

import re
from collections.abc import Sequence
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from faulty import Faulty, floats, found, program

from refmlc.diag import RefmlcError
from refmlc.lang.ir import IRModule
from refmlc.oracle.blame import blame
from refmlc.oracle.evidence import write_page
from refmlc.oracle.evidence.listing import Mark, lines_of
from refmlc.oracle.evidence.page import heat, level
from refmlc.oracle.implementations.implementation import Answer, Prepared, Stop, Stopped
from refmlc.run.memory.tensor import Tensor

VOID = {"meta", "link", "br", "hr", "img", "input", "rect"}
EVIL = '<script>alert("x")</script>'
SCALE = f"""
@T.prim_func(s_tir=True)
def main(A: T.Buffer((2, 3), "float32"), B: T.Buffer((2, 3), "float32")):
    # {EVIL} &amp; <b>
    T.func_attr({{"note": "</pre><img src=x onerror=alert(1)>"}})
    for i, j in T.grid(2, 3):
        with T.sblock("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] * T.float32(3)
"""


class Checked(HTMLParser):
    """Tags that are opened and closed in order, and what a page may not hold."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> str:
    asked = program(SCALE, floats([[1, 2, 3], [4, 5, 6]]), floats([[0] * 3] * 2), func="main")
    named = type(asked)(asked.module, asked.func, asked.given, name=EVIL)
    implementation = Faulty(3, 5, name=f'faulty"{EVIL}')
    path = tmp_path_factory.mktemp("page") / "page.html"
    write_page(found(named, implementation), path, blame(named, 0, implementation))
    return path.read_text(encoding="utf-8")


def checked(text: str) -> Checked:
    parser = Checked()
    parser.feed(text)
    parser.close()
    assert parser.open == []
    return parser


def test_the_page_is_well_formed(text: str) -> None:
    assert text.startswith("<!DOCTYPE html>")
    assert {"html", "head", "body", "svg", "details", "table"} <= set(checked(text).tags)


def test_the_page_needs_nothing_else_and_runs_nothing(text: str) -> None:
    page = checked(text)
    assert not {"script", "link", "img", "iframe", "object", "embed", "form", "base"} & set(page.tags)
    assert not [name for name, _ in page.attributes if name.startswith("on") or name in ("src", "href", "srcset")]
    styles = " ".join(re.findall(r"<style>(.*?)</style>", text, re.DOTALL))
    assert "url(" not in styles
    assert "@import" not in styles
    assert ("content", "default-src 'none'; style-src 'unsafe-inline'") in page.attributes


def test_names_and_texts_that_look_like_html_are_text(text: str) -> None:
    assert "<script" not in text
    assert "<img" not in text
    said = "".join(checked(text).text)
    assert said.count(EVIL) >= 3  # the name of the case, of the implementation, the comment
    assert "</pre><img src=x onerror=alert(1)>" in said


def test_the_page_says_what_was_found(text: str) -> None:
    said = re.sub(r"\s+", " ", "".join(checked(text).text))
    for part in ("RM701", "6 of 6 elements", "[0, 0]", "5.0", "3.0", "refmlc replay rm701-", "certified", "scaled"):
        assert part in said, part
    assert "A[0, 0] = 1.0 argument `A[0, 0]`" in said
    assert "block `B` at vi = 0, vj = 0" in said
    assert text.count('class="l0"') == 1
    assert len(re.findall(r'<rect x="\d+" y="\d+"', text)) == 6


def test_the_line_of_the_store_is_marked(text: str) -> None:
    marked = re.findall(r'<div class="row marked" id="L(\d+)">', text)
    assert marked == ["11"]
    assert "writes `B[0, 0]`" in "".join(checked(text).text)


def test_both_schemes_and_narrow_screens_are_provided_for(text: str) -> None:
    assert "prefers-color-scheme: dark" in text
    assert "width=device-width" in text


class Crashing(Faulty):
    """It takes every module and ends at every call."""

    def prepare(self, module: IRModule) -> Prepared | Stopped:
        return self

    def run(self, func: str, args: Sequence[object]) -> Answer:
        del func, args
        return Stopped(Stop.CRASHED, "the process ended with signal 11")


def test_a_crash_has_a_page_without_a_difference(tmp_path: Path) -> None:
    asked = program(SCALE, floats([[1, 2, 3], [4, 5, 6]]), floats([[0] * 3] * 2))
    finding = found(asked, Crashing(0, 0, name="crashing"))
    write_page(finding, tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text()
    said = "".join(checked(text).text)
    assert "RM703" in said
    assert "the process ended with signal 11" in said
    assert "<svg" not in text


def test_a_contradiction_shows_both_programs(tmp_path: Path) -> None:
    asked = program(SCALE, floats([[1, 2, 3], [4, 5, 6]]), floats([[0] * 3] * 2))
    other = program(SCALE.replace("float32(3)", "float32(7)"), *asked.given)
    write_page(replace(found(asked, Faulty(3, 5)), other=other), tmp_path / "page.html")
    said = "".join(checked((tmp_path / "page.html").read_text()).text)
    assert "The equivalent program" in said
    assert "T.float32(7)" in said


def test_a_path_that_cannot_be_written_is_one_message(tmp_path: Path) -> None:
    asked = program(SCALE, floats([[1, 2, 3], [4, 5, 6]]), floats([[0] * 3] * 2))
    with pytest.raises(RefmlcError, match="RM109"):
        write_page(found(asked, Faulty(3, 5)), tmp_path / "no" / "page.html")


def test_levels_follow_the_steps() -> None:
    assert [level(steps) for steps in (0, 1, 2, 4, 5, 17, 257, 65537, None)] == [0, 1, 2, 2, 3, 4, 5, 6, 7]


def test_the_map_of_a_large_tensor_has_tiles_with_their_worst_element() -> None:
    right = np.ones((100, 50), "float32")
    wrong = right.copy()
    wrong[99, 49] = np.nextafter(np.float32(1), np.float32(2))
    wrong[98, 48] = 2
    found = heat(Tensor.from_numpy(wrong), Tensor.from_numpy(right))
    assert found is not None
    assert (found.rows, found.columns, found.step) == (34, 25, (3, 2))
    assert [(tile.row, tile.column, tile.level) for tile in found.tiles] == [(32, 24, 6), (33, 24, 1)]
    assert found.tiles[1].title == "[99, 49]: 1.0000001, expected 1.0 (1 ulp)"


def test_tensors_without_a_map_have_none() -> None:
    empty, some = np.ones((0, 3), "float32"), np.ones((1, 3), "float32")
    assert heat(Tensor.from_numpy(empty), Tensor.from_numpy(empty)) is None
    assert heat(Tensor.from_numpy(some), Tensor.from_numpy(empty)) is None


def test_a_listing_escapes_and_marks() -> None:
    lines = lines_of('x = "<b>"\ny = 1 < 2 & 3\n', [Mark(2, "here"), Mark(2, "here")])
    assert [line.number for line in lines] == [1, 2]
    assert "<b>" not in lines[0].html
    assert "&lt;b&gt;" in lines[0].html
    assert (lines[0].marks, lines[1].marks) == ((), ("here",))
