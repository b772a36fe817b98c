"""What leaves the command: no text from outside is obeyed by a terminal, and no encoding is too small for it.

Every command runs on a program, in a file, with an implementation, whose names and messages hold what terminals obey.
"""

import json
import os
import re
import subprocess
import sys

import click
import pytest
from click.testing import CliRunner

from refmlc.cli import main

EVIL = "\x1b]0;pwn\x07\x1b[5;7;31mX\x9b2J\x1b[2J\u202e\u2066\x85\x7f[/b][link=http:]"
SAID = EVIL + "\r\x08"
PAINTED = re.compile(r"\x1b\[[0-9;]*m")
SPINNING = re.compile(r"\x1b\[\?25[lh]|\r?\x1b\[2K|\x1b\[1A|\r")  # rich, where it shows that the command works
OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
ENCODINGS = ("ascii", "cp1252", "latin-1", "utf-8")

LITERAL = json.dumps(EVIL)
PROGRAM = f"""
# {EVIL.replace(chr(0x85), "")}
from tvm.script import ir as I, tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def main(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
        for i in range(4):
            with T.sblock({LITERAL}):
                vi = T.axis.spatial(4, i)
                T.sblock_attr({{{LITERAL}: {LITERAL}}})
                B[vi] = A[vi] * T.float32(2)

    @T.prim_func
    def packed(A: T.Buffer((4,), "float32")):
        T.evaluate(T.call_packed({LITERAL}, A.data))
"""
# Its results are wrong, and its refusals, its name and what it says to standard error are hostile.
LIAR = f"""
import json, sys
for line in sys.stdin:
    request = json.loads(line)
    sys.stderr.write({json.dumps(SAID)})
    answer = {{"ok": True}}
    if request["do"] == "hello":
        answer = {{"name": {json.dumps(SAID)}, "version": {json.dumps(SAID)}, "passes": True}}
    if request["do"] in ("run", "passes"):
        answer = {{"stop": "trap" if request["do"] == "run" else "unsupported", "message": {json.dumps(SAID)}}}
    print(json.dumps(answer), flush=True)
"""
CHAPTER = """
# Chapter

```python
raise ValueError('\\x1b]0;pwn\\x07 \\u202e')
```
"""
CASE = f"""
format = 1
id = {LITERAL}
func = "main"
module = {json.dumps(PROGRAM)}

[[calls]]
args = [
  {{dtype = "float32", shape = [4], values = ["0x1p0", "0x1p1", "0x1p2", "0x1p3"]}},
  {{dtype = "float32", shape = [4], values = ["0x1p0", "0x1p1", "0x1p2", "0x1p3"]}},
]
assert = {{kind = "open"}}
"""

A = ("--input", "A=ones")
COMMANDS = {
    "bench": ("bench native --tiny --only 1 --rounds 1",),
    "cache": ("cache",),
    "check": ("check FILE --calls 1 --impl IMPL --impl interp", "check FILE --calls 1 --impl WORD", "check WORD",
              "check FILE WORD --calls 1 --impl interp --case OUT"),
    "conform": ("conform --impl IMPL --case scalar.add* --jobs 1", "conform --impl WORD", "conform WORD"),
    "course": ("course CHAPTER",),
    "dap": ("dap --port WORD",),
    "debug": ("debug FILE --func main --input A=ones --command step --command list --command print.WORD",
              "debug FILE --func packed --input A=ones --command continue"),
    "demo": ("demo WORD",),
    "prove": ("prove FILE FILE --func main --calls 2", "prove FILE FILE --func WORD", "prove FILE", "prove FILE WORD"),
    "equiv": ("equiv FILE FILE --func main --calls 2", "equiv FILE FILE --func WORD", "equiv FILE WORD"),
    "explain": ("explain", "explain RM304", "explain RM103", "explain WORD"),
    "fuzz": ("fuzz --dir WORD --programs 1 --batch 1 --jobs 1 --shrink 0 --impl IMPL", "fuzz --aim WORD",
             "fuzz --dir WORD --show coverage", "fuzz merge WORD --into OUT", "fuzz merge CASE --into OUT",
             "fuzz ledger WORD", "fuzz ledger CASE", "fuzz page WORD -o OUT"),
    "import": ("import WORD -o x.py", "import FILE -o x.py"),
    "layout": ("layout S[4:1@laneid] --shape 2,2 --page OUT", "layout WORD --shape 4", "layout S[4] --shape WORD"),
    "mcp": ("mcp --port WORD",),
    "native": ("native FILE", "native FILE --why", "native FILE --func WORD"),
    "passes": ("passes FILE --impl IMPL", "passes SNAPSHOTS"),
    "play": ("play --port WORD",),
    "reduce": ("reduce FILE --while true --out OUT --time 2s", "reduce FILE --code WORD --out OUT"),
    "replay": ("replay CASE --impl IMPL", "replay FILE"),
    "report": ("report CASE --impl IMPL --time 1s", "report FILE --impl WORD"),
    "run": ("run FILE --func main --input A=ones", "run FILE --func packed --input A=ones", "run FILE --func WORD"),
    "show": ("show FILE", "show WORD"),
    "spec": ("spec", "spec TIR-201", "spec NUM-704", "spec WORD"),
    "trace": ("trace FILE --func main --input A=ones -o OUT --format json", "trace FILE --func WORD -o OUT"),
    "vscode": ("vscode -o OUT", "vscode --install --editor WORD"),
    "watch": ("watch ABSENT --calls 1",),  # what is there is watched without end
    "why": ("why FILE --func main --input A=ones --element B[1]", "why FILE --func main --element WORD"),
}  # fmt: skip
LINES = [line for lines in COMMANDS.values() for line in lines]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("out")
    (made / "liar.py").write_text(LIAR)
    name = EVIL.replace("/", "_")
    for kind, text in (("py", PROGRAM), ("md", CHAPTER), ("toml", CASE)):
        (made / f"{name}.{kind}").write_text(text)
    snapshots = [{"name": name, "text": text} for name, text in (("a", PROGRAM), (EVIL, PROGRAM.replace("(2)", "(3)")))]
    (made / f"{name}.jsonl").write_text("".join(json.dumps(one) + "\n" for one in snapshots))
    return made


def words(line, folder):
    name = folder / EVIL.replace("/", "_")
    places = {
        "FILE": f"{name}.py", "CHAPTER": f"{name}.md", "CASE": f"{name}.toml", "SNAPSHOTS": f"{name}.jsonl",
        "OUT": f"{name}.out", "ABSENT": f"{name}.absent", "WORD": EVIL,
        "IMPL": f"cmd:{sys.executable} {folder / 'liar.py'}",
        "print.WORD": f"print {EVIL}",
    }  # fmt: skip
    return [places.get(word, word) for word in line.split()]


def ran(line, folder, monkeypatch, encoding="utf-8", *extra):
    monkeypatch.chdir(folder)
    monkeypatch.setenv("COLUMNS", "200")
    return CliRunner(charset=encoding).invoke(main, [*words(line, folder), *extra], color=True)


def test_every_command_is_tried():
    assert set(COMMANDS) == set(main.list_commands(click.Context(main)))


@pytest.mark.parametrize("line", LINES)
def test_nothing_is_obeyed(line, folder, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    done = ran(line, folder, monkeypatch)
    assert done.exit_code in (0, 1, 2, 3), done.output
    assert OBEYED.findall(PAINTED.sub("", done.stdout)) == []
    assert OBEYED.findall(SPINNING.sub("", PAINTED.sub("", done.stderr))) == []
    assert "\x1b[5;7;31m" not in done.output
    assert "\x1b]8" not in done.output


@pytest.mark.parametrize("line", [line for line in LINES if not line.startswith("dap")])
def test_json_is_escaped_and_loses_nothing(line, folder, monkeypatch):
    done = ran(line, folder, monkeypatch, "utf-8", "--json")
    assert OBEYED.findall(done.output) == []
    json.loads(done.stdout)


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_json_loses_nothing(encoding, folder, monkeypatch):
    done = ran("spec", folder, monkeypatch, encoding, "--json", f"{EVIL}\U000e0001 é → 𝔸")
    assert f"`{EVIL}\U000e0001 é → 𝔸`" in json.loads(done.stdout_bytes.decode(encoding))["error"]["message"]


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("line", [line for line in LINES if not line.startswith("conform --impl")])
def test_no_encoding_is_too_small(line, encoding, folder, monkeypatch):
    """The same exit status as with UTF-8, and not one character that the encoding lacks."""
    done = ran(line, folder, monkeypatch, encoding)
    assert done.exit_code in (0, 1, 2, 3), done.stderr_bytes
    done.stdout_bytes.decode(encoding)
    done.stderr_bytes.decode(encoding)
    assert b"UnicodeEncodeError" not in done.stderr_bytes


C = {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}
MAIN = "FILE --func main --input A=ones"


@pytest.mark.parametrize("settings", [{"PYTHONIOENCODING": "ascii"}, {"PYTHONIOENCODING": "cp1252"}, C], ids=str)
@pytest.mark.parametrize("line", ["explain RM304", f"run {MAIN}", f"why {MAIN} --element B[1]"])
def test_as_a_process(line, settings, folder):
    cleared = {name: value for name, value in os.environ.items() if not name.startswith(("LC_", "LANG", "PYTHONIO"))}
    command = [sys.executable, "-m", "refmlc", *words(line, folder)]
    done = subprocess.run(command, capture_output=True, check=False, env={**cleared, **settings}, cwd=folder)
    assert done.returncode == 0, done.stderr
    assert done.stdout
