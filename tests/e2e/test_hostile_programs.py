"""NAT-008, from outside: programs whose names are C do nothing but what they compute; each would make a file."""

import gzip
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from refmlc import read_file
from refmlc.frontends.tvm_json import from_json
from refmlc.vm import VirtualMachine, build
from refmlc.vm.tiers import Tier

pytestmark = pytest.mark.needs("compiler")

PROGRAMS = Path(__file__).parents[1] / "programs"
BLOCK = """
from tvm.script import tirx as T

@T.prim_func(s_tir=True)
def main(A: T.Buffer((4,), "int32"), B: T.Buffer((4,), "int32")):
    for i in range(4):
        with T.sblock({name!r}):
            v = T.axis.spatial(4, i)
            {where}
            B[v] = A[v]
"""
CODE = "extern int system(const char *); system({command});"


def names(target):
    """Names of blocks, each of which made a file, or broke the C; the command is written without a quote or with."""
    for command in (f'"touch {target}"', f"(const char[]){{{','.join(map(str, f'touch {target}'.encode()))},0}}"):
        code = CODE.format(command=command)
        yield f"*/ {{ {code} }} /*"
        yield f"*\\ {{ {code} }} //"
        yield f"a*\\\n/ {{ {code} }} /*"
        yield f"a*??/\n/ {{ {code} }} /*"
        yield f"\n#define int64_t {{ {code} }} int64_t\n"
        yield f"a\n{code}\n"
    yield from ("*/ this is no C", "/*", "*\\", '"', "'", "\\", "*/", "//", "a\nb", "é*/", "\x1b]0;x\x07*/")


def refmlc(folder, *words):
    environment = {**os.environ, "REFMLC_CACHE_DIR": str(folder / "cache"), "PYTHONIOENCODING": "utf-8"}
    return subprocess.run(
        [sys.executable, "-m", "refmlc", *words],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )


@pytest.mark.parametrize("where", ["pass", "T.where(A[i] < 9)"])
def test_no_name_of_a_block_is_executed(tmp_path, where):
    """Every name is compiled and called, in the tier that is C throughout."""
    target = tmp_path / "made"
    for name in names(target):
        text = BLOCK.format(name=name, where="" if where == "pass" else where)
        executable = build(text_of(tmp_path, text), tier="native")
        a, b = np.arange(4, dtype="int32"), np.zeros(4, "int32")
        VirtualMachine(executable)["main"](a, b)
        assert b.tolist() == [0, 1, 2, 3], name
        assert executable.report["main"].tier is Tier.NATIVE, name
        assert not target.exists(), name


def text_of(folder, text):
    path = folder / "program.py"
    path.write_text(text, encoding="utf-8")
    return read_file(path)


@pytest.mark.parametrize("number", [0, 1, 6, 12])
def test_no_command_executes_a_name(tmp_path, number):
    target = tmp_path / "made"
    text = BLOCK.format(name=list(names(target))[number], where="T.where(A[i] < 9)" if number == 1 else "")
    (tmp_path / "x.py").write_text(text, encoding="utf-8")
    checked = refmlc(tmp_path, "check", "x.py")
    run = refmlc(tmp_path, "run", "--tier", "native", "x.py", "--input", "A=ones")
    printed = refmlc(tmp_path, "native", "x.py")
    assert not target.exists()
    assert (checked.returncode, run.returncode, printed.returncode) == (0, 0, 0), (checked, run, printed)
    assert "RM703" not in checked.stdout + checked.stderr
    outside = re.sub(r"/\* [A-Za-z0-9_ .,:()\[\]-]* \*/", "", printed.stdout)
    assert "system" not in outside
    assert not re.search(r"[^\n -~]|\\", printed.stdout)
    assert (tmp_path / "cache").exists()


def test_no_variable_of_a_saved_model_is_executed(tmp_path):
    """A Relax variable of TVM's JSON may be called anything."""
    target = tmp_path / "made"
    saved = json.loads(gzip.decompress((PROGRAMS / "tvm_saved.json.gz").read_bytes()))["s0000"]["json"]
    code = CODE.format(command=json.dumps(f"touch {target}"))
    constructor = f"static void __attribute__((constructor)) p(void){{{code}}}"
    for name in (f"lv*\\\n/ {constructor}\n// ", f"lv*/ {constructor} /*", f"lv*??/\n/ {constructor}\n//"):
        assert '"lv"' in saved
        module = from_json(saved.replace('"lv"', json.dumps(name)))
        machine = VirtualMachine(build(module, tier="native"))
        given = np.linspace(-3, 3, 12, dtype="float32").reshape(3, 4)
        assert np.array_equal(machine["main"](given).numpy(), abs(given))
        assert machine.native.counts.native > 0
        assert not target.exists()
