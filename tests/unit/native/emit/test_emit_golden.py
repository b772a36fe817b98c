"""The C of whole functions, beside the module: `REFMLC_UPDATE_GOLDEN=1` writes it anew, to be read before it stays."""

import os
from pathlib import Path

import pytest

from refmlc.lang.wellformed.reader_checks import read_file
from refmlc.native.emit import emit_module
from refmlc.native.options import Grade, Options

FOLDER = Path(__file__).parents[3] / "golden" / "native"
WAYS = {"": Options(Grade.UNCHECKED), ".guarded": Options(Grade.GUARDED)}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.py")), ids=lambda path: path.stem)
def test_the_text(path, way):
    text = emit_module(read_file(path), WAYS[way]).text
    golden = path.with_suffix(f"{way}.c")
    if os.environ.get("REFMLC_UPDATE_GOLDEN"):
        golden.write_text(text, encoding="utf-8")
    assert text == golden.read_text(encoding="utf-8")


def test_equal_modules_give_equal_text():
    path = FOLDER / "stencil.py"
    assert emit_module(read_file(path), Options()).text == emit_module(read_file(path), Options()).text
