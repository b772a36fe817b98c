"""`refmlc debug` as a command: scripts, data, output of the program, status, a terminal, what is missing."""

import json
import os
import pty
import select
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from refmlc.cli import main

FOLDER = Path(__file__).parents[1] / "golden" / "debug"
GEMM = ("debug", "gemm.py", "--input", "A=ones", "--input", "B=ones")
REFMLC = (sys.executable, "-m", "refmlc")
Refmlc = Callable[..., Result]


@pytest.fixture
def refmlc(monkeypatch: pytest.MonkeyPatch) -> Refmlc:
    monkeypatch.chdir(FOLDER)
    return lambda *args, typed="": CliRunner().invoke(main, args, input=typed)


def test_commands_and_scripts_are_executed_in_order(refmlc: Refmlc, tmp_path: Path) -> None:
    script = tmp_path / "commands"
    script.write_text("s\nnow\n", encoding="utf-8")
    done = refmlc(*GEMM, "-c", "s 2", "--script", str(script))
    assert done.exit_code == 0
    assert [line for line in done.stdout.splitlines() if line.startswith("(refmlc)")] == [
        "(refmlc) s 2",
        "(refmlc) s",
        "(refmlc) now",
    ]
    assert "moment 1.4" in done.stdout


def test_a_command_that_fails_is_told_by_the_status(refmlc: Refmlc) -> None:
    done = refmlc(*GEMM, "-c", "foo", "-c", "s")
    assert done.exit_code == 2
    assert "moment 1.2" in done.stdout


def test_everything_as_one_object(refmlc: Refmlc) -> None:
    done = refmlc(*GEMM, "--break", "watch C[1, 1]", "--json", typed="p vi\nq\n")
    found = json.loads(done.stdout)
    # 1 loop, 1 + 4 * 18 statements for i = 0, 1 loop, 18 for j = 0; then the loop over k, the block, the init
    assert [one["command"] for one in found["commands"]] == ["", "p vi", "q"]
    assert found["commands"][1]["said"] == "1"
    assert found["stop"] == {
        "reason": "data breakpoint",
        "moment": "1.96",
        "text": "C[1, 1] = 0.0 is about to be stored",
    }


def test_wrong_options_end_in_one_message(refmlc: Refmlc) -> None:
    for wrong in (("--func", "nothing"), ("--script", "nowhere"), ("--tui", "-c", "s"), ("--input", "Z=ones")):
        done = refmlc(*GEMM, *wrong)
        assert done.exit_code == 2
        assert done.output.startswith("error[RM1")
        assert "Traceback" not in done.output


def test_a_break_that_is_wrong_is_told(refmlc: Refmlc) -> None:
    done = refmlc(*GEMM, "--break", "watch nothing[1]", "-c", "s")
    assert done.exit_code == 2
    assert "no variable is named `nothing` here" in done.output


def test_the_screen_without_its_library_says_what_is_missing(refmlc: Refmlc, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("refmlc.debug.screen", "refmlc.debug.screen.app"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setitem(sys.modules, "textual.app", None)
    done = refmlc(*GEMM, "--tui")
    assert done.exit_code == 2
    assert "refmlc[debug]" in done.output


def test_a_person_types_with_completion_and_history(tmp_path: Path) -> None:
    pytest.importorskip("readline", reason="this Python has no readline")
    history = tmp_path / "history"
    controller, terminal = pty.openpty()
    with subprocess.Popen(
        [*REFMLC, *GEMM],
        stdin=terminal,
        stdout=terminal,
        stderr=subprocess.DEVNULL,
        cwd=FOLDER,
        env={**os.environ, "REFMLC_HISTORY": str(history), "TERM": "dumb"},
    ) as process:
        os.close(terminal)
        shown = until(controller, "(refmlc) ")
        os.write(controller, b"backtr\t\n")
        shown += until(controller, "(refmlc) ")
        os.write(controller, b"q\n")
        assert process.wait(30) == 0
    os.close(controller)
    assert "> #0 gemm at gemm.py:6" in shown
    assert "backtrace" in history.read_text(encoding="utf-8")


ENDLESS = """
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def endless(A: T.Buffer((1,), "int32"), B: T.Buffer((1,), "int32")):
        for i in range(1 << 30):
            B[0] = A[0] + i

    @R.function(pure=False)
    def main(x: R.Tensor((1,), "int32")) -> R.Tensor((1,), "int32"):
        R.print(x, format="it runs {}")
        y = R.call_tir(Module.endless, (x,), out_ty=R.Tensor((1,), "int32"))
        return y
"""


def told_to_stop(process: "subprocess.Popen[bytes]", controller: int) -> None:
    """Somebody at a terminal who presses Ctrl-C at the prompt, and while the program runs."""
    until(controller, "(refmlc) ")
    shown = ""
    while not shown:  # readline hears what comes just after the prompt at the next key or signal only
        process.send_signal(signal.SIGINT)
        shown = until(controller, "(refmlc) ") if select.select([controller], [], [], 5)[0] else ""
    assert "`quit` ends" in shown
    os.write(controller, b"b 11 if i < 0\n")  # watched, so that it is interpreted
    until(controller, "(refmlc) ")
    os.write(controller, b"c\n")
    until(controller, "it runs [1]\r\n")
    process.send_signal(signal.SIGINT)
    assert "paused" in until(controller, "(refmlc) ")
    os.write(controller, b"bt\n")
    assert "main" in until(controller, "(refmlc) ")
    os.write(controller, b"s\n")
    assert "endless.py:1" in until(controller, "(refmlc) ")
    os.write(controller, b"\x04")
    assert process.wait(30) == 0


def test_an_interrupt_stops_the_program_and_not_the_debugger(tmp_path: Path) -> None:
    file = tmp_path / "endless.py"
    file.write_text(ENDLESS, encoding="utf-8")
    controller, terminal = pty.openpty()
    with subprocess.Popen(
        [*REFMLC, "debug", str(file), "--input", "x=ones"],
        stdin=terminal,
        stdout=terminal,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "REFMLC_HISTORY": "", "TERM": "dumb"},
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509 - as a terminal starts it
    ) as process:
        os.close(terminal)
        try:
            told_to_stop(process, controller)
        finally:
            process.kill()
    os.close(controller)


def test_a_pipe_that_nobody_reads_and_one_that_holds_anything(tmp_path: Path) -> None:
    script = tmp_path / "typed"
    script.write_bytes(b"s\r\n\xff\xfe\nq\n")
    with script.open("rb") as typed:
        done = subprocess.run([*REFMLC, *GEMM], stdin=typed, capture_output=True, cwd=FOLDER, timeout=120, check=False)
    assert done.returncode == 2  # the second line is no command
    assert b"moment 1.2" in done.stdout
    assert b"is not a command" in done.stdout
    assert b"Traceback" not in done.stderr
    reader, writer = os.pipe()
    os.close(reader)
    script.write_bytes(b"s\n" * 2000)
    with script.open("rb") as typed:
        done = subprocess.run(
            [*REFMLC, *GEMM], stdin=typed, stdout=writer, stderr=subprocess.PIPE, cwd=FOLDER, timeout=120, check=False
        )
    os.close(writer)
    assert b"Traceback" not in done.stderr


def until(controller: int, wanted: str) -> str:
    """What a terminal shows, up to `wanted`."""
    shown = ""
    while not shown.endswith(wanted):
        ready, _, _ = select.select([controller], [], [], 60)
        assert ready, f"{wanted!r} does not come after {shown!r}"
        shown += os.read(controller, 1024).decode()
    return shown
