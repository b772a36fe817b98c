r"""Documents whose commands are executed: the blocks of a page in order, in one folder, each output compared.

| in a page                                   | is                                                                    |
|---------------------------------------------|-----------------------------------------------------------------------|
| a block whose first line is `# name.py`     | a file of this name (.py, .toml, .yml, .txt), this line included      |
| a `console` block                           | commands after `$ `, continued by `\`; below each its whole output    |
| `…` alone in a line of output               | any number of lines                                                   |
| `…` within a line of output                 | any characters; a line's trailing spaces are not compared             |
| `# exit status 1` at the end of a command   | the status, which is 0 otherwise                                      |
| `<!-- needs: tvm -->` before a block        | a block that is executed only with this need (`needs.py`)             |
| `<!-- not run: why -->` before a block      | a block that is never executed                                        |

`PYTHON` in a command is REFMLC_TVM_PYTHON.
"""

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import needs

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(
    r"(?:^<!-- (?P<mark>needs|not run): (?P<what>.+?) -->\n)?^```(?P<language>\w+)\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
FILE = re.compile(r"# (?P<name>[\w-]+\.(?:py|toml|yml|txt))\n")
STATUS = re.compile(r"\s*# exit status (\d+)$")
ANY_LINES, ANY = "…", "…"
SECONDS = 300


@dataclass(frozen=True)
class Command:
    """A command of a block, the output below it, and the status it ends with."""

    line: str
    output: str
    status: int


@dataclass(frozen=True)
class Block:
    """A fenced block: its text, and what stands in the comment before it."""

    language: str
    text: str
    needs: tuple[str, ...]
    is_run: bool

    @property
    def file(self):
        """The name of the file that it is, or an empty text."""
        matched = FILE.match(self.text)
        return matched["name"] if matched else ""

    @property
    def commands(self):
        """The commands of a `console` block."""
        parts = re.split(r"^\$ ", self.text, flags=re.MULTILINE)
        assert not parts[0].strip(), f"output without a command: {parts[0]}"
        return [command_of(part) for part in parts[1:]]


def command_of(part):
    """A command and what stands below it."""
    lines = part.splitlines()
    last = next(number for number, line in enumerate(lines) if not line.endswith("\\"))
    line = "\n".join(lines[: last + 1])
    status = STATUS.search(line)
    return Command(STATUS.sub("", line), "\n".join(lines[last + 1 :]), int(status[1]) if status else 0)


def blocks_of(path):
    """The blocks of a page."""
    for match in BLOCK.finditer(path.read_text(encoding="utf-8")):
        asked = tuple(match["what"].split(", ")) if match["mark"] == "needs" else ()
        assert set(asked) <= set(needs.NEEDS), asked
        yield Block(match["language"], match["text"], asked, match["mark"] != "not run")


def pattern(expected):
    """What the output of a command must match."""
    parts = []
    for line in expected.rstrip().splitlines():
        if line.strip() == ANY_LINES:
            parts.append(r"(?:.*\n)*?")
        else:
            parts.append(".*?".join(map(re.escape, line.rstrip().split(ANY))) + r"[ ]*\n")
    return re.compile("".join(parts))


def agrees(expected, output):
    """Whether an output is as shown; empty lines at its ends are not compared."""
    return pattern(expected).fullmatch(output.strip("\n") + "\n" if output.strip() else "") is not None


def environment(folder):
    """Variables of the commands: `refmlc` and `python` are those of this tree, and nothing is painted."""
    programs = folder / ".programs"
    programs.mkdir()
    for name, words in (("refmlc", f"{sys.executable} -m refmlc"), ("python", sys.executable)):
        (programs / name).write_text(f'#!/bin/sh\nexec {words} "$@"\n', encoding="utf-8")
        (programs / name).chmod(0o755)
    path = os.pathsep.join([str(programs), os.environ["PATH"]])
    return {
        **os.environ, "PATH": path, "PYTHONPATH": str(ROOT), "COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb",
        "LANG": "C.UTF-8", "PYTHON": needs.TVM_PYTHON, "REFMLC_PROFILE": "ci",
    }  # fmt: skip


def run_page(path, folder, available=()):
    """Execute the blocks of a page in `folder`: those that need nothing, and those whose needs are `available`."""
    surroundings = environment(folder)
    for block in blocks_of(path):
        if not block.is_run or not set(block.needs) <= set(available):
            continue
        if block.file:
            (folder / block.file).write_text(block.text, encoding="utf-8")
        elif block.language == "console":
            for command in block.commands:
                run_command(command, folder, surroundings)


def run_command(command, folder, surroundings):
    """Execute a command. Fails: AssertionError where the output or the status is another than the page shows."""
    done = subprocess.run(
        ["/usr/bin/env", "bash", "-c", re.sub(r"\bPYTHON\b", '"$PYTHON"', command.line)],
        cwd=folder, env=surroundings, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
        timeout=SECONDS,
    )  # fmt: skip
    shown = f"$ {command.line}\n{done.stdout}"
    assert done.returncode == command.status, f"exit status {done.returncode}, not {command.status}\n{shown}"
    assert agrees(command.output, done.stdout), f"the page shows\n{command.output}\n--- and it is\n{shown}"
