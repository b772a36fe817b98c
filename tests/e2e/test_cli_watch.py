"""`refmlc watch` as a process: what is written is checked, failures do not end it, Ctrl-C does, with 130."""

import json
import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
RIGHT = """
@T.prim_func
def copy(A: T.Buffer((3,), "float32"), B: T.Buffer((3,), "float32")):
    for i in range(3):
        B[i] = A[i]
"""
WRONG = RIGHT.replace("A[i]", "A[i + 1]")
SECONDS = 60


class Watch:
    """A running `refmlc watch`, of which the output is awaited."""

    def __init__(self, folder, *words):
        command = [sys.executable, "-m", "refmlc", "watch", ".", "--impl", "interp", "--calls", "2", *words]
        self.process = subprocess.Popen(
            command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            env={**os.environ, "PYTHONPATH": str(ROOT), "NO_COLOR": "1", "PYTHONUNBUFFERED": "1", "COLUMNS": "100"},
        )  # fmt: skip
        self.text = ""

    def until(self, words):
        """Read until `words` are printed. Fails: AssertionError after a minute."""
        deadline = time.monotonic() + SECONDS
        stream = self.process.stdout
        while words not in self.text:
            assert select.select([stream], [], [], max(0, deadline - time.monotonic()))[0], self.text
            piece = os.read(stream.fileno(), 1 << 16)
            assert piece, self.text
            self.text += piece.decode()
        before, _, self.text = self.text.partition(words)
        return before + words

    def end(self):
        """Interrupt it; the status."""
        self.process.send_signal(signal.SIGINT)
        try:
            self.text += self.process.communicate(timeout=SECONDS)[0].decode()
        finally:
            self.process.kill()
        return self.process.returncode


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "k.py").write_text(RIGHT)
    (tmp_path / "other.py").write_text("import os\n")
    return tmp_path


def test_what_is_written_is_checked_until_an_interrupt(folder):
    watch = Watch(folder)
    watch.until("watching 1 module; Ctrl-C ends it")
    (folder / "k.py").write_text(WRONG)
    assert "error[RM304]" in watch.until("1 finding (RM304)")
    (folder / "k.py").write_text("@T.prim_func\ndef f(:\n")
    watch.until("error[RM101]")
    (folder / "new.py").write_text(RIGHT)
    watch.until("new.py")
    watch.until("no findings")
    (folder / "k.contract.toml").write_text('assume = ["A: finite"]\n')
    (folder / "k.py").write_text(RIGHT)
    watch.until("no findings")
    (folder / "other.py").write_text("import sys\n")
    assert watch.end() == 130
    assert "Traceback" not in watch.text
    assert "other.py" not in watch.text
    assert "interrupted" in watch.text


def test_every_file_first_and_data(folder):
    watch = Watch(folder, "--all", "--json")
    text = watch.until('"summary": "1 function, 2 calls')
    assert json.loads(text[text.index("{") :] + watch.until("\n}\n"))["file"] == "k.py"
    assert watch.end() == 130
