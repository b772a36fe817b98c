"""What TVM's reader sees of its callers stays the same when the modules of their files are remembered."""

import subprocess
import sys
from pathlib import Path

SIDE = Path(__file__).parent / "tvm_side"
PROGRAM = """
import inspect, sys
sys.path.insert(0, {side!r})
import source_frames

def seen():
    return [(each.filename, each.function, each.code_context) for each in inspect.stack(context=1)[1:]]

def called():
    return seen()

asked = []
look = inspect.getmodule
inspect.getmodule = lambda *arguments: asked.append(1) or look(*arguments)
space = {{"called": called}}
exec(compile("def of_no_file(): return called()", "no_file", "exec"), space)
before = (called(), space["of_no_file"]())
source_frames.remember_modules()
after = (called(), space["of_no_file"]())
at = len(asked)
again = (called(), space["of_no_file"]())
names = [[row[:2] for part in both for row in part] for both in (before, after, again)]
assert names[0] == names[1] == names[2], names
assert ("no_file", "of_no_file", None) in after[1] and after[0][0] == before[0][0], after
print(at, len(asked))
"""


def test_callers_are_the_same_and_their_modules_are_looked_for_once(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM.format(side=str(SIDE)), "utf-8")
    done = subprocess.run([sys.executable, str(program)], check=False, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    first, second = map(int, done.stdout.split())
    assert 0 < first == second
