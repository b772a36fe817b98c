"""`install_tvm` and `python -m refmlc.tvm`: each in a process of its own."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import tvm
from tvm import relax
from tvm.ir.module import IRModule
from tvm.script import tir as T, relax as R
import tvm.relax.transform as passes
import numpy as np

@tvm.script.ir_module
class M:
    @R.function
    def main(x: R.Tensor((2,), "float32")):
        with R.dataflow():
            y = R.add(x, x)
            R.output(y)
        return y

print(isinstance(M, IRModule), passes is relax.transform)
print(relax.VirtualMachine(relax.build(M, target="llvm"), tvm.cpu())["main"](np.ones(2, "float32")))
"""


def python(*arguments, cwd, path=()):
    found = subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, cwd=cwd, check=False, env=environment(path)
    )
    return found.returncode, found.stdout, found.stderr


def environment(path):

    root = str(Path(__file__).parents[3])
    return {**os.environ, "PYTHONPATH": os.pathsep.join([*map(str, path), root])}


def test_a_script(tmp_path):
    (tmp_path / "script.py").write_text(PROGRAM)
    assert python("-m", "refmlc.tvm", "script.py", cwd=tmp_path)[:2] == (0, "True True\n[2. 2.]\n")


def test_a_notebook(tmp_path):
    cells = [
        {"cell_type": "markdown", "source": ["# text"]},
        {"cell_type": "code", "source": PROGRAM.splitlines(keepends=True)},
        {"cell_type": "code", "source": ["!pip install something\n", "M['main'].params[0].name"]},
    ]
    (tmp_path / "notebook.ipynb").write_text(json.dumps({"cells": cells}))
    status, text, _ = python("-m", "refmlc.tvm", "notebook.ipynb", cwd=tmp_path)
    assert (status, text) == (0, "True True\n[2. 2.]\n'x'\n")


def test_without_a_file(tmp_path):
    assert python("-m", "refmlc.tvm", cwd=tmp_path)[0] == 2


@pytest.mark.parametrize("name", ["missing.py", "folder"])
def test_what_is_no_file_is_told_in_a_line(tmp_path, name):
    (tmp_path / "folder").mkdir()
    assert python("-m", "refmlc.tvm", name, cwd=tmp_path) == (2, "", f"the file {name} does not exist\n")


@pytest.mark.parametrize("text", ["{", "{}", "[]", '{"cells": [1]}', '{"cells": [{"cell_type": "code"}]}'])
def test_what_is_no_notebook_is_told_in_a_line(tmp_path, text):
    (tmp_path / "bad.ipynb").write_text(text)
    status, out, err = python("-m", "refmlc.tvm", "bad.ipynb", cwd=tmp_path)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert err.startswith("bad.ipynb is not a notebook: ")


def test_modules_are_the_same_objects_under_both_names(tmp_path):
    code = (
        "import refmlc; refmlc.install_tvm(); refmlc.install_tvm()\n"
        "import tvm, refmlc.tvm, tvm.relax.op\n"
        "print(tvm is refmlc.tvm, tvm.relax.op is refmlc.tvm.relax.op)\n"
    )
    assert python("-c", code, cwd=tmp_path)[1] == "True True\n"


def test_what_is_not_covered(tmp_path):
    code = (
        "import refmlc; refmlc.install_tvm()\n"
        "for name in ('tvm.micro', 'tvm.te.schedule', 'tvm.relax.nothing'):\n"
        "    try:\n"
        "        __import__(name)\n"
        "    except ModuleNotFoundError as reason:\n"
        "        print(reason)\n"
    )
    lines = python("-c", code, cwd=tmp_path)[1].splitlines()
    assert len(lines) == 3
    assert lines[0] == "`tvm.micro` is not covered: refmlc provides `tvm` here and has no such module"


def test_real_tvm_stays_what_it_is(tmp_path):
    real = tmp_path / "site" / "tvm"
    real.mkdir(parents=True)
    (real / "__init__.py").write_text("real = True\n")
    code = (
        "import refmlc\n"
        "try:\n"
        "    refmlc.install_tvm()\n"
        "except refmlc.RefmlcError as reason:\n"
        "    print(reason)\n"
        "import tvm; print(tvm.real)\n"
    )
    lines = python("-c", code, cwd=tmp_path, path=[tmp_path / "site"])[1].splitlines()
    assert lines[0].startswith("error[RM112]")
    assert lines[-1] == "True"
