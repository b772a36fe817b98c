"""Sessions of `refmlc debug`: what is typed (`debug/*.stdin`), and all that is shown (`debug/*.stdout`).

The first line of the input gives the arguments of the command, separated by blanks, after a `#`.
"""

import os
from pathlib import Path

import pytest
from click.testing import CliRunner

from refmlc.cli import main

FOLDER = Path(__file__).parent / "debug"
SESSIONS = sorted(FOLDER.glob("*.stdin"))


@pytest.mark.parametrize("typed", SESSIONS, ids=lambda path: path.stem)
def test_session(typed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(FOLDER)
    first, _, rest = typed.read_text(encoding="utf-8").partition("\n")
    result = CliRunner().invoke(main, ["debug", *first.removeprefix("#").split()], input=rest)
    shown = typed.with_suffix(".stdout")
    if os.environ.get("REFMLC_UPDATE_GOLDEN"):
        shown.write_text(result.output, encoding="utf-8")
    assert result.exception is None or isinstance(result.exception, SystemExit)
    assert result.output == shown.read_text(encoding="utf-8")
