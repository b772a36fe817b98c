"""What a failure looks like where it leaves refmlc: in a script, a notebook, a debugger of one's own."""

import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import refmlc
from refmlc.diag import Diagnostic, catalogue as codes, fail
from refmlc.diag.entry import entry_point
from refmlc.diag.frames import OURS, entries
from refmlc.frontends import from_tvm
from refmlc.lang import te
from refmlc.lang.builder import BlockBuilder
from refmlc.rewrite.schedule import Schedule
from refmlc.testing import assert_defined, assert_equivalent

MISSPELT = """\
@T.prim_func(s_tir=True)
def copy(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
    for i in range(4):
        B[i] = AA[i]
"""
MESSAGE = """\
error[RM104]: `AA` is not defined
 --> copy.py:4:16
  |
4 |         B[i] = AA[i]
  |                ^^
  = help: a name like it is `A`
  = help: `refmlc explain RM104`"""
BEYOND = MISSPELT.replace("AA[i]", "A[i + 1]")


def modules():
    return refmlc.read(BEYOND, "copy.py")


def arrays():
    return np.ones(4, "float32"), np.zeros(4, "float32")


def frames_of(failure: refmlc.RefmlcError) -> list[str]:
    files = [entry.tb_frame.f_code.co_filename for entry in entries(failure.__traceback__)]
    return [file for file in files if file.startswith(OURS)]


def test_str_is_the_message_of_the_command():
    with pytest.raises(refmlc.Malformed) as caught:
        refmlc.read(MISSPELT, "copy.py")
    assert str(caught.value) == refmlc.render(caught.value) == refmlc.render(caught.value.diagnostic) == MESSAGE
    assert "\x1b[1;31merror[RM104]\x1b[0m" in refmlc.render(caught.value, color=True)
    assert repr(caught.value) == "<Malformed copy.py:4:16: error[RM104]: `AA` is not defined>"


def test_a_pickled_failure_is_the_same():
    with pytest.raises(refmlc.Malformed) as caught:
        refmlc.read(MISSPELT, "copy.py")
    copy = pickle.loads(pickle.dumps(caught.value))  # noqa: S301 - made here
    assert type(copy) is refmlc.Malformed
    assert copy.diagnostic == caught.value.diagnostic
    assert str(copy) == MESSAGE


CALLS = {
    "read": lambda: refmlc.read(MISSPELT),
    "read_file": lambda: refmlc.read_file("missing.py"),
    "build": lambda: refmlc.build(modules(), tier="fast"),
    "call": lambda: refmlc.VirtualMachine(refmlc.build(modules(), tier="interp"))["copy"](*arrays()),
    "native": lambda: refmlc.VirtualMachine(refmlc.build(modules(), tier="native"))["copy"](*arrays()),
    "arguments": lambda: refmlc.VirtualMachine(refmlc.build(modules()))["copy"](1, 2, 3),
    "function": lambda: refmlc.VirtualMachine(refmlc.build(modules()))["swap"],
    "defined": lambda: assert_defined(modules()),
    "equivalent": lambda: assert_equivalent(BEYOND.replace(" + 1", ""), BEYOND),
    "from_tvm": lambda: from_tvm(MISSPELT),
    "te": lambda: te.create_prim_func([te.compute((4,), lambda i: te.placeholder((4,), name="A")[i, i])]),
    "schedule": lambda: Schedule(modules()).get_block("C"),
    "builder": lambda: BlockBuilder().emit(3),
}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.needs("compiler")] * (name == "native")) for name in CALLS]
)
def test_at_most_two_frames_are_ours(name, monkeypatch):
    monkeypatch.delenv("REFMLC_TRACEBACK", raising=False)
    with pytest.raises(refmlc.RefmlcError) as caught:
        CALLS[name]()
    assert 1 <= len(frames_of(caught.value)) <= 2


def test_all_frames_stay_where_that_is_asked_for(monkeypatch):
    monkeypatch.setenv("REFMLC_TRACEBACK", "1")
    with pytest.raises(refmlc.RefmlcError) as caught:
        CALLS["call"]()
    assert len(frames_of(caught.value)) > 5


def test_the_frames_of_a_function_that_is_called_back_stay():
    registry = refmlc.FunctionRegistry()

    def own(*_):
        raise ValueError("not today")

    refmlc.register_func("own", own, registry=registry)
    source = '@T.prim_func(s_tir=True)\ndef copy(A: T.Buffer((4,), "float32")):\n    T.call_packed("own", A[0])\n'
    vm = refmlc.VirtualMachine(refmlc.build(refmlc.read(source), registry=registry))
    with pytest.raises(refmlc.Trap) as caught:
        vm["copy"](np.ones(4, "float32"))
    cause = caught.value.__cause__
    assert isinstance(cause, ValueError)
    assert [entry.tb_frame.f_code.co_name for entry in entries(cause.__traceback__)] == ["own"]


def test_a_bug_keeps_all_frames():
    def deep():
        raise fail(codes.BUG, "ours")

    @entry_point
    def outer():
        return deep()

    with pytest.raises(refmlc.Internal) as caught:
        outer()
    names = [entry.tb_frame.f_code.co_name for entry in entries(caught.value.__traceback__)]
    assert names[1:] == ["entry", "outer", "deep"]
    assert any("in deep" in line for line in caught.value._render_traceback_())


def test_a_script_ends_in_a_handful_of_lines(tmp_path: Path):
    script = tmp_path / "train.py"
    script.write_text(f"import refmlc\n\nmodule = refmlc.read({MISSPELT!r}, 'copy.py')\n", encoding="utf-8")
    ended = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)
    lines = ended.stderr.splitlines()
    assert ended.stderr.endswith(f"refmlc.diag.errors.Malformed: {MESSAGE}\n")
    files = [line for line in lines if line.startswith("  File ")]
    assert files[0].startswith(f'  File "{script}", line 3')
    assert len(files) <= 3
    assert len(lines) <= 18


def test_a_notebook_shows_the_message_and_the_line_of_the_cell():
    names: dict[str, object] = {"refmlc": refmlc, "TEXT": MISSPELT}
    with pytest.raises(refmlc.Malformed) as caught:
        exec(compile("\nmodule = refmlc.read(TEXT, 'copy.py')", "<cell 3>", "exec"), names)  # noqa: S102
    shown = caught.value._render_traceback_()
    assert shown[: len(MESSAGE.splitlines())] == refmlc.render(caught.value, color=True).splitlines()
    assert shown[-1] == "<cell 3>:2"
    assert len("\n".join(shown)) < 1000


def test_a_program_of_tvm_ends_in_the_message(tmp_path: Path):
    script = tmp_path / "mine.py"
    script.write_text(f"from tvm.script import tirx as T\n\n\n{MISSPELT}", encoding="utf-8")
    ended = subprocess.run([sys.executable, "-m", "refmlc.tvm", script], capture_output=True, text=True, check=False)
    assert ended.returncode == 2
    assert ended.stderr.startswith("error[RM104]: `AA` is not defined\n")
    assert f"{script}:4: " in ended.stderr
    assert "Traceback" not in ended.stderr


def test_render_takes_a_diagnostic():
    assert refmlc.render(Diagnostic(codes.BAD_USAGE, "so")) == "error[RM112]: so\n  = help: `refmlc explain RM112`"
