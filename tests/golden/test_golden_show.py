"""Texts that TVM printed (the name begins with the generation) are shown as they are, to the letter.

`027_*` are by TVM 0.27; `2023_*`, `2022_*` are outputs in the course's editions of those years.
"""

from pathlib import Path

import pytest

from refmlc.lang.script import read, show

TEXTS = sorted((Path(__file__).parent / "show").glob("*.txt"))


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.stem)
def test_it_is_shown_as_tvm_prints_it(path):
    text = path.read_text("utf-8")
    dialect = {"027": "0.27"}.get(generation := path.stem.partition("_")[0], generation)
    assert show(read(text, path.name), dialect=dialect) == text


def test_there_are_texts_of_every_generation():
    assert {path.stem.partition("_")[0] for path in TEXTS} == {"027", "2023", "2022"}
