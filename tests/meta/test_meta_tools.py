"""What the tools say: lint, format, types."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("command", ["ruff check .", "ruff format --check .", "mypy"])
def test_the_tool_has_nothing_to_say(command):
    tool, *arguments = command.split()
    script = [sys.executable, "-m", tool, *arguments]
    done = subprocess.run(script, cwd=ROOT, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
